//! Text within pictures.

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};
use zarr_metadata::Printable;

use super::canvas::Canvas;

const SIZE: RasterHeight = RasterHeight::Size16;
const WEIGHT: FontWeight = FontWeight::Regular;

/// The height of a line in pixels.
pub(super) const HEIGHT: usize = SIZE.val();

/// The most characters of a text: units come from the store, and may be of any length.
const LONGEST: usize = 48;

/// A text as it can be drawn: the font has Latin-1, and other characters are replaced by similar
/// ones.
pub(super) fn drawable(text: &str) -> Vec<char> {
    let text = Printable(text).to_string();
    let mut letters = text.chars().map(alike);
    let mut drawn: Vec<char> = letters.by_ref().take(LONGEST).collect();
    if letters.next().is_some() {
        drawn.truncate(LONGEST - 3);
        drawn.extend(['.'; 3]);
    }
    drawn
}

/// A character of the font: powers and minus signs of units without raising them.
fn alike(letter: char) -> char {
    let letter = match letter {
        '\u{2070}' | '\u{2080}' => '0',
        // 4 to 9 above the line, and 1 to 9 below it.
        '\u{2074}'..='\u{2079}' => digit(letter, '\u{2070}'),
        '\u{2081}'..='\u{2089}' => digit(letter, '\u{2080}'),
        '\u{2010}'..='\u{2015}' | '\u{207b}' | '\u{208b}' | '\u{2212}' => '-',
        '\u{207a}' | '\u{208a}' => '+',
        // The letter mu is the sign of a millionth, and so on.
        '\u{3bc}' => '\u{b5}',
        '\u{212b}' => '\u{c5}',
        '\u{2218}' | '\u{2da}' | '\u{ba}' => '\u{b0}',
        '\u{2219}' | '\u{22c5}' | '\u{2022}' => '\u{b7}',
        '\u{2018}' | '\u{2019}' | '\u{2032}' => '\'',
        '\u{201c}' | '\u{201d}' | '\u{2033}' => '"',
        letter => letter,
    };
    if get_raster(letter, WEIGHT, SIZE).is_some() { letter } else { '?' }
}

/// The plain digit of a raised or lowered digit; their code points follow the code point of 0.
fn digit(letter: char, zero: char) -> char {
    let value = u32::from(letter) - u32::from(zero);
    char::from_digit(value, 10).unwrap_or('?')
}

/// The width of a text in pixels.
pub(super) fn width(text: &[char]) -> usize {
    text.len() * get_raster_width(WEIGHT, SIZE)
}

/// Draws a text in black over the picture, with its upper left corner at a place.
pub(super) fn draw(canvas: &mut Canvas, (top, left): (usize, usize), text: &[char]) {
    for (at, letter) in text.iter().enumerate() {
        let Some(raster) = get_raster(*letter, WEIGHT, SIZE) else { continue };
        let left = left + at * get_raster_width(WEIGHT, SIZE);
        for (row, line) in raster.rows().enumerate() {
            for (column, ink) in line.iter().enumerate() {
                canvas.darken((top + row, left + column), *ink);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::drawable;

    #[test]
    fn units_are_drawn_with_the_letters_of_the_font() {
        let drawn = |text: &str| drawable(text).into_iter().collect::<String>();
        assert_eq!(drawn("W m⁻² sr⁻¹"), "W m-² sr-¹");
        assert_eq!(drawn("μg m⁻³ 10⁴ \u{2212}5 °C Å"), "µg m-³ 104 -5 °C Å");
        assert_eq!(drawn("温度"), "??");
        assert_eq!(drawn("a\u{1b}[31m"), "a\\u{1b}[31m");
        let long = drawn(&"long".repeat(1000));
        assert_eq!(long.len(), 48);
        assert!(long.ends_with("longl..."), "{long}");
    }
}
