//! The values of a plane of an array as a picture, in characters or as PNG.
//!
//! Of long axes every n-th index is read: a strided read, which takes the memory of the picture and
//! of the chunks being decoded. Colours go from the least value that was read to the greatest.
//! Missing elements are transparent: elements equal to the fill value, unless it is the 0 of integers, or
//! to a value that the attributes declare as missing, and NaN.

mod canvas;
mod colors;
mod plane;
mod png;
mod terminal;
mod text;

use zarr_array::{Array, Selection};
use zarr_metadata::Printable;

use self::plane::{Plane, Side};
use super::screen::Screen;
use super::svg::AxisLabels;
use crate::{ReportError, words};

/// The most pixels on a side of a PNG picture, and of an enlarged one.
const SIDE: u64 = 1024;
const ENLARGED: u64 = 512;

/// The most pixels of a value in the terminal, where few values need no whole screen.
const LARGEST: usize = 8;

/// A picture of the values of a plane of an array.
///
/// Of long axes every n-th index is read: a strided read, which takes the memory of the picture and of
/// the chunks being decoded. Colours go from the least value that was read to the greatest. Missing
/// values are transparent: elements equal to the fill value, unless it is the 0 of integers, or to a value
/// that the attributes declare as missing, and NaN.
pub struct ValuePicture {
    plane: Plane,
}

impl ValuePicture {
    /// Reads a region for a PNG picture. `progress` is called with the bytes read so far and the
    /// bytes to read: fewer than in the region if indices are left out.
    ///
    /// # Errors
    /// [`ReportError::NotNumbers`], [`ReportError::Plane`] unless the region has at most two axes of
    /// several indices, or the array's error.
    pub fn read(
        array: &Array,
        region: &Selection,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, ReportError> {
        Ok(Self { plane: Plane::read(array, region, SIDE, SIDE, progress)? })
    }

    /// Reads a region for a picture in characters on this screen.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_for_screen(
        array: &Array,
        region: &Selection,
        screen: Screen,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, ReportError> {
        let (height, width) = terminal::room(screen);
        Ok(Self { plane: Plane::read(array, region, height, width, progress)? })
    }

    /// The range of the colours, the indices left out, and the number of missing values, a line each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.plane.notes()
    }

    /// As PNG, with a title and the ends of both axes below it: labels, or indices where there are none.
    ///
    /// # Errors
    /// [`ReportError::Png`].
    pub fn png(&self, title: &str, labels: &AxisLabels<'_>) -> Result<Vec<u8>, ReportError> {
        let sides = ["down", "across"].into_iter().zip(&self.plane.sides);
        let sides = sides.filter_map(|(direction, side)| {
            let Side { name, ends } = side.as_ref()?;
            let [first, last] = ends.map(|at| labels(name, at).unwrap_or_else(|| words::count(at)));
            Some(format!("{direction}: {name}, {first} to {last}"))
        });
        let caption: Vec<String> = [title.to_owned()].into_iter().chain(sides).collect();
        let factors = self.plane.factors(ENLARGED, ENLARGED);
        png::encode(&self.plane, factors, &caption).map_err(ReportError::Png)
    }

    /// In characters: two pixels above each other in one, in colour; or shades.
    #[must_use]
    pub fn text(&self, screen: Screen) -> String {
        let (height, width) = terminal::room(screen);
        let (down, across) = self.plane.factors(height, width);
        let factors = (down.min(LARGEST), across.min(LARGEST));
        let mut text = terminal::draw(&self.plane, factors, screen);
        for words in &self.plane.words {
            text.push_str(&Printable(words).to_string());
            text.push('\n');
        }
        text
    }
}
