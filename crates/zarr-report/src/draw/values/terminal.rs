//! The picture in characters: two pixels above each other in one, in colour; or shades.

use std::fmt::Write as _;

use anstyle::{Ansi256Color, Color, RgbColor, Style};
use zarr_metadata::Printable;

use super::super::screen::Screen;
use super::plane::{self, Plane};

/// The most lines of a picture.
const LINES: u64 = 32;

/// The length of the colour bar.
const CELLS: u32 = 24;

/// Characters for values from the least to the greatest, where there are no colours.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// The most pixels down and across.
pub(super) fn room(screen: Screen) -> (u64, u64) {
    (LINES * 2, u64::try_from(screen.columns).unwrap_or(80).max(16))
}

pub(super) fn draw(plane: &Plane, (down, across): (usize, usize), screen: Screen) -> String {
    // Transparent lines alone would say nothing.
    let Some(colors) = &plane.colors else { return String::new() };
    let (height, width) = (plane.height() * down, plane.width * across);
    let is_true = screen.true_color;
    let mut picture = String::new();
    let style = |row: usize, column: usize| {
        let inside = row < height;
        let color = inside.then(|| plane.color(row / down, column / across)).flatten();
        color.map(|color| self::color(color, is_true))
    };
    for line in 0..height.div_ceil(2) {
        let mut text = String::new();
        let (upper, lower) = (line * 2, line * 2 + 1);
        for column in 0..width {
            if !screen.color {
                let share = |row: usize| plane.share(row.min(height - 1) / down, column / across);
                text.push(shade(share(upper), share(lower)));
                continue;
            }
            let (style, half) = match (style(upper, column), style(lower, column)) {
                (None, None) => (Style::new(), ' '),
                (Some(upper), None) => (Style::new().fg_color(Some(upper)), '▀'),
                (None, Some(lower)) => (Style::new().fg_color(Some(lower)), '▄'),
                (upper, lower) => (Style::new().fg_color(upper).bg_color(lower), '▀'),
            };
            let _infallible = write!(text, "{style}{half}{style:#}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        picture.push_str(&text);
    }
    // The colours of the range, between its ends.
    let mut bar = String::new();
    for cell in 0..CELLS {
        let share = colors.share(f64::from(cell) / f64::from(CELLS - 1));
        if screen.color {
            let color = self::color(plane::color(share), is_true);
            let style = Style::new().fg_color(Some(color));
            let _infallible = write!(bar, "{style}█{style:#}");
        } else {
            bar.push(shade(Some(share), Some(share)));
        }
    }
    let (least, greatest) = colors.labels();
    let least = least.map_or_else(String::new, |least| format!("{least} "));
    // The units come from the store.
    let _infallible = writeln!(picture, "{}{bar} {}", Printable(least), Printable(greatest));
    picture
}

/// The character of two values. Either may be missing.
fn shade(upper: Option<f64>, lower: Option<f64>) -> char {
    let share = match (upper, lower) {
        (Some(upper), Some(lower)) => f64::midpoint(upper, lower),
        (Some(share), None) | (None, Some(share)) => share,
        (None, None) => return ' ',
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 5")]
    let at = (share * 5.0) as usize;
    SHADES[at.min(SHADES.len() - 1)]
}

fn color(color: [u8; 3], is_true: bool) -> Color {
    let [red, green, blue] = color;
    match is_true {
        true => RgbColor(red, green, blue).into(),
        false => Ansi256Color(of_256(color)).into(),
    }
}

/// The nearest colour of the cube of 6 by 6 by 6 within the 256.
fn of_256(color: [u8; 3]) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let nearest = |part: u8| {
        let distances = LEVELS.iter().map(|level| level.abs_diff(part)).zip(0_u8..);
        distances.min().map_or(0, |(_, at)| at)
    };
    color.into_iter().fold(0, |code, part| code * 6 + nearest(part)) + 16
}

#[cfg(test)]
mod tests {
    use super::{of_256, shade};

    #[test]
    fn colors_of_the_cube() {
        assert_eq!(of_256([0, 0, 0]), 16);
        assert_eq!(of_256([255, 255, 255]), 231);
        assert_eq!(of_256([95, 135, 0]), 16 + 36 + 12);
        assert_eq!(of_256([70, 0, 80]), 16 + 36 + 1);
    }

    #[test]
    fn shades_grow_with_the_value() {
        assert_eq!(shade(None, None), ' ');
        assert_eq!(shade(Some(0.0), None), '·');
        assert_eq!(shade(Some(0.4), Some(0.6)), '▒');
        assert_eq!(shade(Some(1.0), Some(1.0)), '█');
    }
}
