//! The picture as PNG, with transparent pixels, and the colour bar below it.

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::canvas::Canvas;
use super::colors::Colors;
use super::plane::{Plane, color};
use super::text;

/// Pixels around the colour bar and its labels.
const MARGIN: usize = 8;

/// The height of the colour bar.
const BAR: usize = 12;

/// The most data in a chunk of the file: its length has 31 bits.
const CHUNK: usize = 1 << 20;

/// The least room between the labels at its ends.
const APART: usize = 32;

/// Each value takes `down` rows of pixels and `across` columns. A plane without values is one
/// transparent pixel, because PNG has no empty pictures.
pub(super) fn encode(
    plane: &Plane,
    (down, across): (usize, usize),
    caption: &[String],
) -> io::Result<Vec<u8>> {
    let (height, width) = (plane.height() * down, plane.width * across);
    let legend = plane.colors.as_ref().map(|colors| Legend::new(colors, caption));
    let (below, least) = legend.as_ref().map_or((0, 0), |legend| (legend.height(), legend.width()));
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
    file(&canvas)
}

/// The file: 8 bits each of red, green, blue and opacity per pixel, not interlaced.
fn file(canvas: &Canvas) -> io::Result<Vec<u8>> {
    const DEPTH_AND_COLOR: [u8; 5] = [8, 6, 0, 0, 0];
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_be_bytes();
    let height = canvas.pixels.len() / canvas.width;
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let header = [&size(canvas.width)[..], &size(height), &DEPTH_AND_COLOR].concat();
    chunk(&mut file, *b"IHDR", &header);
    for part in compressed(canvas)?.chunks(CHUNK) {
        chunk(&mut file, *b"IDAT", part);
    }
    chunk(&mut file, *b"IEND", &[]);
    Ok(file)
}

/// The rows as differences from the row above: most rows of an enlarged picture repeat it.
fn compressed(canvas: &Canvas) -> io::Result<Vec<u8>> {
    const UP: u8 = 2;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let mut above = vec![0; canvas.width * 4];
    for row in canvas.pixels.chunks_exact(canvas.width) {
        let row = row.as_flattened();
        let differences = row.iter().zip(&above).map(|(this, above)| this.wrapping_sub(*above));
        encoder.write_all(&[UP])?;
        encoder.write_all(&differences.collect::<Vec<_>>())?;
        above.copy_from_slice(row);
    }
    encoder.finish()
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    file.extend(length.to_be_bytes());
    let start = file.len();
    file.extend(kind);
    file.extend(data);
    let checksum = crc32fast::hash(file.get(start..).unwrap_or_default());
    file.extend(checksum.to_be_bytes());
}

/// The colour bar with its labels, on white, so that it can be read on any background.
struct Legend<'a> {
    colors: &'a Colors,
    least: Vec<char>,
    greatest: Vec<char>,
    /// Lines below the bar.
    caption: Vec<Vec<char>>,
}

impl<'a> Legend<'a> {
    fn new(colors: &'a Colors, caption: &[String]) -> Self {
        let (least, greatest) = colors.labels();
        let (least, greatest) =
            (text::drawable(least.unwrap_or_default()), text::drawable(&greatest));
        let caption = caption.iter().map(|line| text::drawable(line)).collect();
        Self { colors, least, greatest, caption }
    }

    fn height(&self) -> usize {
        MARGIN + BAR + MARGIN / 2 + text::HEIGHT * (1 + self.caption.len()) + MARGIN / 2
    }

    /// The least width, which long labels need.
    fn width(&self) -> usize {
        let apart = if self.least.is_empty() { 0 } else { APART };
        let labels = text::width(&self.least) + apart + text::width(&self.greatest);
        let lines = self.caption.iter().map(|line| text::width(line));
        lines.max().unwrap_or(0).max(labels) + 2 * MARGIN
    }

    /// Draws it from a row down, over the width of the picture.
    fn draw(&self, canvas: &mut Canvas, top: usize) {
        let width = canvas.width;
        for row in top..top + self.height() {
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
        for (at, words) in self.caption.iter().enumerate() {
            text::draw(canvas, (line + text::HEIGHT * (at + 1), left), words);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "pixels are few")]
fn fraction(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
