//! Draws the picture with characters.

use anstyle::AnsiColor;

use zarr_metadata::Printable;

use super::picture::{Axes, ChunkPicture, PictureAxis, Stored};
use super::screen::Screen;
use crate::words;

/// The most rows of cells of a picture in characters.
pub const ROWS: u64 = 32;

/// The fewest cells of a line, in the narrowest terminals.
const FEWEST: usize = 16;

/// The number of cells that fit in a line of `columns` characters after the label of the vertical
/// axis.
#[must_use]
pub fn columns_for(shape: &[u64], (down, across): Axes, columns: usize) -> u64 {
    let labelled = down.or(across).and_then(|axis| shape.get(axis));
    let label = labelled.map_or(0, |length| words::count(*length).chars().count());
    // The ruler above two axes ends with the length of the horizontal one.
    let end = across.filter(|_| down.is_some()).and_then(|axis| shape.get(axis));
    let end = end.map_or(0, |length| " ... ".len() + words::count(*length).chars().count());
    let room = columns.saturating_sub(label + 2 + end).max(FEWEST);
    u64::try_from(room).unwrap_or(u64::MAX)
}

impl ChunkPicture {
    /// In characters, on lines of `cells` cells.
    #[must_use]
    pub fn text(&self, cells: u64, screen: Screen) -> String {
        draw(self, cells, screen)
    }
}

fn draw(picture: &ChunkPicture, wide: u64, screen: Screen) -> String {
    // Names come from stores: they are escaped. Symbols may have a style.
    let mut text = format!("{}\n", Printable(&picture.title));
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    let (down, across) = (&picture.down, &picture.across);
    if let (Some(down), Some(across)) = (&down.name, &across.name) {
        line(&Printable(format_args!("{down} downwards, {across} across")).to_string());
    }
    if picture.stored.is_empty() {
        line("no chunks");
        return text;
    }
    let wide = usize::try_from(wide).unwrap_or(FEWEST).max(1);
    let all: Vec<usize> = (0..across.cells.len()).collect();
    // A single axis continues on the next line; of two axes, the horizontal one fits.
    let lines: Vec<(usize, &[usize])> = match down.name {
        None => all.chunks(wide).map(|columns| (0, columns)).collect(),
        Some(_) => (0..down.cells.len()).map(|row| (row, all.as_slice())).collect(),
    };
    let label = |row: usize, columns: &[usize]| {
        let (side, cell): (&PictureAxis, usize) = match down.name {
            None => (across, columns.first().copied().unwrap_or(0)),
            Some(_) => (down, row),
        };
        side.cells.get(cell).map_or_else(String::new, |cell| words::count(cell.start))
    };
    let width = lines.iter().map(|(row, columns)| label(*row, columns).len()).max().unwrap_or(0);
    if down.name.is_some() {
        line(&format!("{:width$}  {}", "", ruler(across)));
    }
    for (row, columns) in &lines {
        let mut cells = format!("{:>width$}  ", label(*row, columns));
        for column in *columns {
            cells.push_str(&cell(picture, *row, *column, screen.color));
        }
        line(&cells);
    }
    let last = if down.name.is_some() { down } else { across };
    if last.name.is_some() {
        line(&format!("{:>width$}", words::count(last.extent)));
    }
    line(&legend(picture));
    for note in &picture.notes {
        line(&Printable(note).to_string());
    }
    text
}

/// The starts of the cells of the horizontal axis, as far as there is room.
fn ruler(side: &PictureAxis) -> String {
    let mut text = String::new();
    for (column, cell) in side.cells.iter().enumerate() {
        let label = words::count(cell.start);
        if text.len() <= column && (text.is_empty() || text.len() < column) {
            text.extend(std::iter::repeat_n(' ', column.saturating_sub(text.len())));
            text.push_str(&label);
        }
    }
    text.push_str(" ... ");
    text.push_str(&words::count(side.extent));
    text
}

fn symbol(stored: Stored, marked: bool) -> char {
    match (stored, marked) {
        (Stored::All, false) => '■',
        (Stored::Some, false) => '▨',
        (Stored::None, false) => '□',
        (Stored::All, true) => '●',
        (Stored::Some, true) => '◐',
        (Stored::None, true) => '○',
    }
}

fn cell(picture: &ChunkPicture, row: usize, column: usize, color: bool) -> String {
    let marked = picture.is_marked(row, column);
    let symbol = symbol(picture.stored(row, column), marked);
    if marked && color {
        let style = AnsiColor::Yellow.on_default().bold();
        format!("{style}{symbol}{style:#}")
    } else {
        symbol.to_string()
    }
}

/// The symbols that occur in the picture.
fn legend(picture: &ChunkPicture) -> String {
    let mut seen = Vec::new();
    for row in 0..picture.down.cells.len() {
        for column in 0..picture.across.cells.len() {
            let found = (picture.stored(row, column), picture.is_marked(row, column));
            if !seen.contains(&found) {
                seen.push(found);
            }
        }
    }
    let mut words = Vec::new();
    for marked in [false, true] {
        for (stored, word) in [
            (Stored::All, "stored"),
            (Stored::Some, "stored in part"),
            (Stored::None, "not stored"),
        ] {
            if seen.contains(&(stored, marked)) {
                let region = if marked { ", in the region" } else { "" };
                words.push(format!("{} {word}{region}", symbol(stored, marked)));
            }
        }
    }
    words.join("   ")
}
