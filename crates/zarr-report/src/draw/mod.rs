//! Pictures: the chunk grid as SVG, as text or as JSON, and a plane of values as PNG or as text.
//!
//! A picture of chunks has one vertical and one horizontal axis. Axes with more chunks than a picture
//! can show are divided into cells of several chunks each, so the size of the picture does not grow
//! with the array. Stored chunks are counted per cell while the store is listed.

mod picture;
mod svg;
mod terminal;
mod values;

use zarr_array::ChunkLayout;

pub use self::picture::{Axes, ChunkPicture, ChunksToDraw, SVG_CELLS};
pub use self::terminal::{ROWS, columns_for};
pub use self::values::ValuePicture;

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Characters per line.
    pub columns: usize,
    /// Whether text may have colours.
    pub color: bool,
    /// Whether there are more than 256 colours.
    pub true_color: bool,
}

/// The last two axes that are divided into more than one chunk: the vertical and the horizontal axis
/// of a picture for which none are given.
#[must_use]
pub fn divided_axes(layout: &ChunkLayout) -> Axes {
    let axes = layout.grid().axes();
    let numbered = axes.iter().enumerate().rev();
    let mut cut = numbered.filter(|(_, axis)| axis.occupied() != 1).map(|(number, _)| number);
    let across = cut.next().or(axes.len().checked_sub(1));
    (cut.next(), across)
}
