//! The picture as PNG, with transparent pixels.

use std::io;

use super::Plane;

/// Each value takes so many pixels down and across. A plane without values is one transparent pixel,
/// because PNG has no empty pictures.
pub(super) fn encode(plane: &Plane, (down, across): (usize, usize)) -> io::Result<Vec<u8>> {
    let (height, width) = (plane.height() * down, plane.width * across);
    let mut pixels = Vec::with_capacity(height * width * 4);
    for row in 0..height {
        for column in 0..width {
            match plane.color(row / down, column / across) {
                Some([red, green, blue]) => pixels.extend([red, green, blue, u8::MAX]),
                None => pixels.extend([0; 4]),
            }
        }
    }
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (mut height, mut width) = (size(height), size(width));
    if pixels.is_empty() {
        pixels.extend([0; 4]);
        (height, width) = (1, 1);
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(bytes)
}
