//! The picture as PNG, with transparent pixels, and what the colours stand for below it.

use std::io;

use super::canvas::Canvas;
use super::colors::Colors;
use super::plane::{Plane, color};
use super::text;

/// Pixels around the colour bar and its labels.
const MARGIN: usize = 8;

/// The height of the colour bar.
const BAR: usize = 12;

/// The least room between the labels at its ends.
const APART: usize = 32;

/// Each value takes `down` rows of pixels and `across` columns. A plane without values is one
/// transparent pixel, because PNG has no empty pictures.
pub(super) fn encode(plane: &Plane, (down, across): (usize, usize)) -> io::Result<Vec<u8>> {
    let (height, width) = (plane.height() * down, plane.width * across);
    let legend = plane.colors.as_ref().map(Legend::new);
    let (below, least) = legend.as_ref().map_or((0, 0), |legend| (Legend::HEIGHT, legend.width()));
    let mut canvas = Canvas::new(height + below, width.max(least));
    for row in 0..height {
        for column in 0..width {
            if let Some(color) = plane.color(row / down, column / across) {
                canvas.set((row, column), color);
            }
        }
    }
    if let Some(legend) = legend {
        legend.draw(&mut canvas, height);
    }
    if canvas.pixels.is_empty() {
        canvas = Canvas::new(1, 1);
    }
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let height = canvas.pixels.len() / canvas.width;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, size(canvas.width), size(height));
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(canvas.pixels.as_flattened())?;
    writer.finish()?;
    Ok(bytes)
}

/// The colour bar with its labels, on white, so that it can be read on any background.
struct Legend<'a> {
    colors: &'a Colors,
    least: Vec<char>,
    greatest: Vec<char>,
}

impl<'a> Legend<'a> {
    const HEIGHT: usize = MARGIN + BAR + MARGIN / 2 + text::HEIGHT + MARGIN / 2;

    fn new(colors: &'a Colors) -> Self {
        let (least, greatest) = colors.labels();
        let (least, greatest) =
            (text::drawable(least.unwrap_or_default()), text::drawable(&greatest));
        Self { colors, least, greatest }
    }

    /// The least width, which long labels need.
    fn width(&self) -> usize {
        let apart = if self.least.is_empty() { 0 } else { APART };
        text::width(&self.least) + apart + text::width(&self.greatest) + 2 * MARGIN
    }

    /// Draws it from a row down, over the width of the picture.
    fn draw(&self, canvas: &mut Canvas, top: usize) {
        let width = canvas.width;
        for row in top..top + Self::HEIGHT {
            for column in 0..width {
                canvas.set((row, column), [u8::MAX; 3]);
            }
        }
        let (left, right) = (MARGIN, width - MARGIN);
        for column in left..right {
            let place = fraction(column - left, right - left - 1);
            for row in top + MARGIN..top + MARGIN + BAR {
                canvas.set((row, column), color(self.colors.share(place)));
            }
        }
        let line = top + MARGIN + BAR + MARGIN / 2;
        text::draw(canvas, (line, left), &self.least);
        text::draw(canvas, (line, right - text::width(&self.greatest)), &self.greatest);
    }
}

#[expect(clippy::cast_precision_loss, reason = "pixels are few")]
fn fraction(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
