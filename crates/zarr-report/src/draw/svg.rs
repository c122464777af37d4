//! Draws the picture as SVG.

use std::fmt::Write;
use std::ops::Range;

use zarr_metadata::Printable;

use super::picture::{ChunkPicture, PictureAxis, Stored};
use crate::words;

/// Pixels of the longer axis, the least of the shorter, and the height of a single axis.
const LONG: f64 = 720.0;
const SHORT: f64 = 280.0;
const BREADTH: f64 = 72.0;

/// Pixels that title and legend need horizontally.
const WORDS: f64 = 560.0;

/// Pixels around the grid, for labels.
const LEFT: f64 = 96.0;
const TOP: f64 = 72.0;
const RIGHT: f64 = 32.0;
const BOTTOM: f64 = 28.0;

/// Pixels per character of a label, and per line.
const CHARACTER: f64 = 8.0;
const LINE: f64 = 15.0;

/// Cells narrower than this get a faint outline, so that their content stays visible.
const NARROW: f64 = 10.0;

/// The legend explains the colours.
const STORED: &str = "#7aa6c8";
const STORED_IN_PART: &str = "#c3d7e6";
const NOT_STORED: &str = "#f4f4f4";
const REGION: &str = "fill=\"#f28e2b\" fill-opacity=\"0.35\" stroke=\"#d1660a\" stroke-width=\"2\"";

/// The region in the legend.
const REGION_WORDS: &str = "the region";

/// Inner chunks are drawn unless there are more than this.
const INNER: u64 = 256;

/// The label of an index of the axis with a name; `None` if it has none.
pub type AxisLabels<'a> = dyn Fn(&str, u64) -> Option<String> + 'a;

impl ChunkPicture {
    /// As SVG, with the labels of axes in place of indices.
    #[must_use]
    pub fn svg(&self, labels: &AxisLabels<'_>) -> String {
        draw(self, labels)
    }
}

fn draw(picture: &ChunkPicture, labels: &AxisLabels<'_>) -> String {
    let (across, down) = (&picture.across, &picture.down);
    let (width, height) = size(across, down);
    let words = LINE * float(u64::try_from(picture.notes.len()).unwrap_or(1)) + LINE;
    let total_width = (LEFT + width + RIGHT).max(WORDS);
    let total_height = TOP + height + BOTTOM + words;
    let mut svg = String::new();
    let mut line = |text: String| {
        svg.push_str(&text);
        svg.push('\n');
    };
    line(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total_width}\" height=\"{total_height}\" \
         viewBox=\"0 0 {total_width} {total_height}\" font-family=\"sans-serif\" font-size=\"12\">"
    ));
    line(format!("<title>{}</title>", escaped(&picture.title)));
    line("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>".to_owned());
    line(format!(
        "<text x=\"{LEFT}\" y=\"24\" font-size=\"15\" fill=\"#222222\">{}</text>",
        escaped(&picture.title)
    ));
    let x = Scale { start: LEFT, pixels: width, extent: across.extent };
    let y = Scale { start: TOP, pixels: height, extent: down.extent };
    for (row, rows) in down.cells.iter().enumerate() {
        // Equal neighbours are one rectangle: the picture of a million chunks stays small.
        let mut columns = across.cells.iter().enumerate().peekable();
        while let Some((column, cell)) = columns.next() {
            let stored = picture.stored(row, column);
            let mut range = cell.clone();
            while let Some((_, next)) =
                columns.next_if(|(next, _)| picture.stored(row, *next) == stored)
            {
                range.end = next.end;
            }
            let fill = match stored {
                Stored::All => STORED,
                Stored::Some => STORED_IN_PART,
                Stored::None => NOT_STORED,
            };
            line(format!("<rect {} fill=\"{fill}\"/>", rectangle(&x, &range, &y, rows)));
        }
    }
    // Outlines of chunks are drawn over outlines of inner chunks.
    for text in inner_lines(picture, &x, &y).into_iter().chain(outlines(picture, &x, &y)) {
        line(text);
    }
    if across.marked.is_some() || down.marked.is_some() {
        let runs =
            |side: &PictureAxis| side.marked.clone().unwrap_or_else(|| vec![0..side.extent; 1]);
        for rows in runs(down) {
            for columns in runs(across).iter().filter(|columns| !columns.is_empty()) {
                if !rows.is_empty() {
                    line(format!("<rect {} {REGION}/>", rectangle(&x, columns, &y, &rows)));
                }
            }
        }
    }
    for (place, label) in ticks(across, &x, labels, |longest| CHARACTER * (longest + 1.0)) {
        line(format!(
            "<text x=\"{place:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555555\">{}</text>",
            TOP - 8.0,
            escaped(&label)
        ));
    }
    if let Some(name) = &across.name {
        line(format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#222222\">{}</text>",
            LEFT + width / 2.0,
            TOP - 26.0,
            escaped(name)
        ));
    }
    if let Some(name) = &down.name {
        for (place, label) in ticks(down, &y, labels, |_| LINE) {
            line(format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555555\">{}</text>",
                LEFT - 8.0,
                place + 4.0,
                escaped(&label)
            ));
        }
        let middle = TOP + height / 2.0;
        line(format!(
            "<text x=\"18\" y=\"{middle:.1}\" text-anchor=\"middle\" fill=\"#222222\" \
             transform=\"rotate(-90 18 {middle:.1})\">{}</text>",
            escaped(name)
        ));
    }
    let mut at = TOP + height + BOTTOM;
    line(legend(picture, at));
    for words in &picture.notes {
        at += LINE;
        let words = escaped(words);
        line(format!("<text x=\"{LEFT}\" y=\"{at:.1}\" fill=\"#555555\">{words}</text>"));
    }
    line("</svg>".to_owned());
    svg
}

/// The colours that occur in the picture, each as a small square with its meaning.
fn legend(picture: &ChunkPicture, at: f64) -> String {
    let (rows, columns) = (picture.down.cells.len(), picture.across.cells.len());
    let occurs = |shade: Stored| {
        (0..rows).any(|row| (0..columns).any(|column| picture.stored(row, column) == shade))
    };
    let marked = picture.across.marked.is_some() || picture.down.marked.is_some();
    let outline = "stroke=\"#33475b\" stroke-width=\"0.5\"";
    let entries = [
        (occurs(Stored::All), format!("fill=\"{STORED}\" {outline}"), "stored"),
        (occurs(Stored::Some), format!("fill=\"{STORED_IN_PART}\" {outline}"), "stored in part"),
        (occurs(Stored::None), format!("fill=\"{NOT_STORED}\" {outline}"), "not stored"),
        (marked, REGION.to_owned(), REGION_WORDS),
    ];
    let mut text = String::new();
    let mut x = LEFT;
    for (_, style, words) in entries.into_iter().filter(|(occurs, ..)| *occurs) {
        if words == REGION_WORDS && occurs(Stored::All) {
            // As in the picture, where stored chunks show through.
            let at = at - 9.0;
            let _infallible = write!(
                text,
                "<rect x=\"{x:.1}\" y=\"{at:.1}\" width=\"10\" height=\"10\" fill=\"{STORED}\"/>"
            );
        }
        let _infallible = write!(
            text,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\" {style}/>\
             <text x=\"{:.1}\" y=\"{at:.1}\" fill=\"#555555\">{words}</text>",
            at - 9.0,
            x + 16.0
        );
        x += 40.0 + CHARACTER * float(u64::try_from(words.len()).unwrap_or(0));
    }
    text
}

/// Width and height in pixels: in proportion, unless one gets too short.
fn size(across: &PictureAxis, down: &PictureAxis) -> (f64, f64) {
    if down.name.is_none() {
        return (LONG, BREADTH);
    }
    let ratio = float(across.extent.max(1)) / float(down.extent.max(1));
    if ratio >= 1.0 { (LONG, (LONG / ratio).max(SHORT)) } else { ((LONG * ratio).max(SHORT), LONG) }
}

/// Converts elements to pixels.
struct Scale {
    start: f64,
    pixels: f64,
    extent: u64,
}

impl Scale {
    fn at(&self, element: u64) -> f64 {
        self.start + self.pixels * float(element) / float(self.extent.max(1))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a pixel is far coarser")]
fn float(n: u64) -> f64 {
    n as f64
}

fn rectangle(x: &Scale, columns: &Range<u64>, y: &Scale, rows: &Range<u64>) -> String {
    let (left, top) = (x.at(columns.start), y.at(rows.start));
    let (width, height) = (x.at(columns.end) - left, y.at(rows.end) - top);
    format!("x=\"{left:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{height:.2}\"")
}

/// The starts of chunks, with as many labels as there is room for: pixels by the characters of the
/// longest. The end of the array has an index, and no label.
fn ticks(
    side: &PictureAxis,
    scale: &Scale,
    labels: &AxisLabels<'_>,
    room: impl Fn(f64) -> f64,
) -> Vec<(f64, String)> {
    let label = |index: u64| labels(side.name.as_deref()?, index);
    let first = label(0);
    let end = words::count(side.extent);
    let longest = first.as_ref().unwrap_or(&end).chars().count();
    let room = room(float(u64::try_from(longest).unwrap_or(1)));
    let end = (scale.at(side.extent), end);
    let mut ticks: Vec<(f64, String)> = Vec::new();
    for cell in &side.cells {
        let place = scale.at(cell.start);
        let free = ticks.last().is_none_or(|(last, _)| place - last >= room);
        if free && (first.is_some() || end.0 - place >= room) {
            ticks.push((place, label(cell.start).unwrap_or_else(|| words::count(cell.start))));
        }
    }
    if first.is_none() {
        ticks.push(end);
    }
    ticks
}

/// The boundaries of cells, and the end of the array.
fn outlines(picture: &ChunkPicture, x: &Scale, y: &Scale) -> Vec<String> {
    let starts = |side: &PictureAxis| {
        let cells = side.cells.iter().map(|cell| cell.start);
        cells.chain([side.extent]).collect::<Vec<_>>()
    };
    let (columns, rows) = (starts(&picture.across), starts(&picture.down));
    let ends = |scale: &Scale, side: &PictureAxis| (scale.at(0), scale.at(side.extent));
    let (left, right) = ends(x, &picture.across);
    let (top, bottom) = ends(y, &picture.down);
    let narrowest = |scale: &Scale, starts: &[u64]| {
        let cells = starts.windows(2).map(|pair| match pair {
            [start, end] => scale.at(*end) - scale.at(*start),
            _ => scale.pixels,
        });
        cells.fold(scale.pixels, f64::min)
    };
    let narrow = narrowest(x, &columns).min(narrowest(y, &rows)) < NARROW;
    let opacity = if narrow { " stroke-opacity=\"0.3\"" } else { "" };
    let style = format!("stroke=\"#33475b\" stroke-width=\"1\"{opacity}");
    let down = columns.into_iter().map(|column| {
        let at = x.at(column);
        format!("<line x1=\"{at:.2}\" y1=\"{top:.2}\" x2=\"{at:.2}\" y2=\"{bottom:.2}\" {style}/>")
    });
    let across = rows.into_iter().map(|row| {
        let at = y.at(row);
        format!("<line x1=\"{left:.2}\" y1=\"{at:.2}\" x2=\"{right:.2}\" y2=\"{at:.2}\" {style}/>")
    });
    down.chain(across).collect()
}

/// The boundaries of inner chunks, as thin lines.
fn inner_lines(picture: &ChunkPicture, x: &Scale, y: &Scale) -> Vec<String> {
    let (across, down) = (&picture.across, &picture.down);
    let mut lines = Vec::new();
    let mut draw = |side: &PictureAxis, position: &dyn Fn(u64) -> String| {
        let Some(inner) = side.inner.filter(|inner| *inner > 0) else { return };
        if side.per_cell > 1 || side.extent / inner > INNER {
            return;
        }
        for cell in &side.cells {
            let mut at = cell.start.saturating_add(inner);
            while at < cell.end {
                let mut text = String::new();
                let _infallible = write!(
                    text,
                    "<line {} stroke=\"#b5c9d8\" stroke-width=\"0.8\"/>",
                    position(at)
                );
                lines.push(text);
                at = at.saturating_add(inner);
            }
        }
    };
    let (left, right) = (x.at(0), x.at(across.extent));
    let (top, bottom) = (y.at(0), y.at(down.extent));
    draw(across, &|at| {
        let at = x.at(at);
        format!("x1=\"{at:.2}\" y1=\"{top:.2}\" x2=\"{at:.2}\" y2=\"{bottom:.2}\"")
    });
    draw(down, &|at| {
        let at = y.at(at);
        format!("x1=\"{left:.2}\" y1=\"{at:.2}\" x2=\"{right:.2}\" y2=\"{at:.2}\"")
    });
    lines
}

fn escaped(text: &str) -> String {
    // XML does not allow most control characters, not even as references.
    let text = Printable(text).to_string();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn text_has_only_characters_of_xml() {
        assert_eq!(escaped("a\u{1b}<\u{fffe}\u{ffff}&"), r"a\u{1b}&lt;\u{fffe}\u{ffff}&amp;");
    }
}
