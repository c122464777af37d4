//! Pictures: the chunk grid as SVG, as text or as JSON, and a plane of values as PNG or as text.
//!
//! A picture of chunks has one vertical and one horizontal axis. Axes with more chunks than a picture
//! can show are divided into cells of several chunks each, so the size of the picture does not grow
//! with the array. Stored chunks are counted per cell while the store is listed.

mod picture;
mod screen;
mod svg;
mod terminal;
mod values;

pub use self::picture::{Axes, ChunkPicture, ChunksToDraw, SVG_CELLS, divided_axes};
pub use self::screen::Screen;
pub use self::svg::AxisLabels;
pub use self::terminal::{ROWS, columns_for};
pub use self::values::ValuePicture;
