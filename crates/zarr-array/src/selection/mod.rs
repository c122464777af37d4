//! Selections of elements: the selected indices of each axis.

mod any;
pub(crate) mod gather;
pub(crate) mod index_moves;
pub(crate) mod pieces;
pub(crate) mod points;
mod text;

use std::ops::Range;

use zarr_grid::AxisSelection;

pub use any::AnySelection;
pub use points::Points;
pub use text::SelectionError;

/// The elements of an array to read or write: the product of one [`AxisSelection`] per axis. This
/// is a range, a range with a step, a list of indices, a mask or a single index.
///
/// Methods that take a selection accept anything that converts to one: a range for an array of one
/// axis, an array of ranges, or a tuple with a selection per axis. Ranges and steps select like
/// numpy's basic slices. Several lists select like zarr-python's `oindex` and numpy's
/// `a[np.ix_(...)]`.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::store::{MemoryStore, Prefix};
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// use zarr_array::{Array, AxisSelection, Selection};
/// # let metadata = ArrayBuilder::new([4, 3], DataType::Uint8).chunk_shape([2, 2]).build()?;
/// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
///
/// array.write([0..4, 0..3], &[0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32])?;
/// assert_eq!(array.read([1..3, 0..2])?, [10, 11, 20, 21]);
/// assert_eq!(array.read((3, 1..3))?, [31, 32]);
/// assert_eq!(array.read(([3, 0, 3], 1..3))?, [31, 32, 1, 2, 31, 32]); // lists keep their order
/// let every_other = AxisSelection::Step { range: 0..4, step: -2 }; // rows 3 and 1
/// assert_eq!(array.read((every_other, 0))?, [30, 10]);
///
/// let selection = Selection::parse("::-2, [0, -1]", array.shape())?;
/// assert_eq!(selection.shape(), [2, 2]);
/// assert_eq!(array.read(&selection)?, [30, 32, 10, 12]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct Selection {
    axes: Vec<AxisSelection>,
}

impl Selection {
    /// The product of these selections.
    #[must_use]
    pub fn new(axes: Vec<AxisSelection>) -> Self {
        Self { axes }
    }

    /// The whole of an array of this shape.
    #[must_use]
    pub fn whole(shape: &[u64]) -> Self {
        shape.iter().map(|length| 0..*length).collect()
    }

    /// The selection along each axis, including axes given by one index.
    #[must_use]
    pub fn axes(&self) -> &[AxisSelection] {
        &self.axes
    }

    /// The shape of the selected elements: the number of indices on each axis, without the axes
    /// given by one [index](AxisSelection::Index).
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        let is_kept = |axis: &&AxisSelection| !matches!(axis, AxisSelection::Index(_));
        self.axes.iter().filter(is_kept).map(AxisSelection::len).collect()
    }

    /// The number of elements, `None` above 64 bits.
    #[must_use]
    pub fn elements(&self) -> Option<u64> {
        if self.axes.iter().any(AxisSelection::is_empty) {
            return Some(0);
        }
        self.axes.iter().try_fold(1_u64, |product, axis| product.checked_mul(axis.len()))
    }

    /// The smallest box that contains the selection.
    #[must_use]
    pub fn bounds(&self) -> Vec<Range<u64>> {
        self.axes.iter().map(AxisSelection::bounds).collect()
    }
}

impl<A: Into<AxisSelection>> FromIterator<A> for Selection {
    fn from_iter<I: IntoIterator<Item = A>>(axes: I) -> Self {
        Self { axes: axes.into_iter().map(Into::into).collect() }
    }
}

impl From<&Selection> for Selection {
    fn from(selection: &Selection) -> Self {
        selection.clone()
    }
}

/// For an array of one axis.
impl From<AxisSelection> for Selection {
    fn from(axis: AxisSelection) -> Self {
        Self { axes: vec![axis] }
    }
}

/// For an array of one axis.
impl From<Range<u64>> for Selection {
    fn from(range: Range<u64>) -> Self {
        AxisSelection::from(range).into()
    }
}

impl<const N: usize> From<[Range<u64>; N]> for Selection {
    fn from(ranges: [Range<u64>; N]) -> Self {
        ranges.into_iter().collect()
    }
}

impl From<&[Range<u64>]> for Selection {
    fn from(ranges: &[Range<u64>]) -> Self {
        ranges.iter().cloned().collect()
    }
}

impl<const N: usize> From<[AxisSelection; N]> for Selection {
    fn from(axes: [AxisSelection; N]) -> Self {
        Self { axes: axes.into() }
    }
}

impl From<Vec<AxisSelection>> for Selection {
    fn from(axes: Vec<AxisSelection>) -> Self {
        Self { axes }
    }
}

macro_rules! from_tuples {
    ($(($($axis:ident),+))*) => {$(
        /// One entry per axis.
        impl<$($axis: Into<AxisSelection>),+> From<($($axis,)+)> for Selection {
            #[expect(non_snake_case, reason = "the names of the types")]
            fn from(($($axis,)+): ($($axis,)+)) -> Self {
                Self { axes: vec![$($axis.into()),+] }
            }
        }
    )*};
}

from_tuples! { (A) (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) }
