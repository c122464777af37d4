//! Selections as arrays of the crate `ndarray`.

use ndarray::{ArrayD, ArrayView, Dimension, IxDyn};

use super::{Array, Element};
use crate::error::ArrayError;
use crate::selection::Selection;
use crate::transfer::Selected;

impl Array {
    /// Reads a [`Selection`] as an array of its shape, with as many axes as the type says: `Ix2`
    /// for two, `IxDyn` for any number. An axis of which one index is selected has length 1.
    ///
    /// # Errors
    /// [`ArrayError::Axes`] if the array has another number of axes; otherwise as
    /// [`read_as`](Array::read_as).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Selection};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let builder = ArrayBuilder::new([2, 3], DataType::Float32).chunk_shape([2, 2]);
    /// # let metadata = builder.fill_value(0.5).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// use ndarray::{Ix2, arr2};
    ///
    /// array.write_ndarray([0..2, 1..2], arr2(&[[1.0_f32], [2.0]]).view())?;
    /// let whole = array.read_ndarray::<f32, Ix2>(Selection::whole(array.shape()))?;
    /// assert_eq!(whole, arr2(&[[0.5, 1.0, 0.5], [0.5, 2.0, 0.5]]));
    ///
    /// // Of any layout, such as columns from the right to the left.
    /// array.write_ndarray([0..2, 0..2], whole.slice(ndarray::s![.., 1..;-1]))?;
    /// let left = array.read_ndarray::<f32, Ix2>([0..2, 0..2])?;
    /// assert_eq!(left, arr2(&[[0.5, 1.0], [0.5, 2.0]]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_ndarray<T: Element, D: Dimension>(
        &self,
        selection: impl Into<Selection>,
    ) -> Result<ndarray::Array<T, D>, ArrayError> {
        let selection = selection.into();
        self.check_axes::<D>()?;
        let elements = self.read_as(&selection)?;
        self.shaped(&selection, elements)
    }

    /// Refuses arrays of another number of axes.
    pub(super) fn check_axes<D: Dimension>(&self) -> Result<(), ArrayError> {
        let axes = self.shape().len();
        match D::NDIM {
            Some(requested) if requested != axes => Err(ArrayError::Axes { axes, requested }),
            _ => Ok(()),
        }
    }

    /// The elements of a selection, in its shape.
    pub(super) fn shaped<T: Element, D: Dimension>(
        &self,
        selection: &Selection,
        elements: Vec<T>,
    ) -> Result<ndarray::Array<T, D>, ArrayError> {
        dimensions(selection)
            .and_then(|shape| ArrayD::from_shape_vec(shape, elements).ok())
            // The number of axes has been checked.
            .and_then(|array| array.into_dimensionality().ok())
            .map_or_else(|| Err(Selected::new(self, selection)?.too_large()), Ok)
    }

    /// Writes a [`Selection`] from an array of its shape, of any strides.
    ///
    /// # Errors
    /// [`ArrayError::Shape`] if the shapes differ; otherwise as [`write_as`](Array::write_as).
    pub fn write_ndarray<T: Element, D: Dimension>(
        &self,
        selection: impl Into<Selection>,
        elements: ArrayView<'_, T, D>,
    ) -> Result<(), ArrayError> {
        let selection = selection.into();
        check_shape(&selection, elements.shape())?;
        match elements.as_slice() {
            Some(elements) => self.write_as(selection, elements),
            None => self.write_as(selection, &elements.iter().copied().collect::<Vec<T>>()),
        }
    }
}

/// Refuses elements whose shape differs from the selection's.
pub(super) fn check_shape(selection: &Selection, found: &[usize]) -> Result<(), ArrayError> {
    let expected = selection.shape();
    let wide = |length: &usize| u64::try_from(*length).unwrap_or(u64::MAX);
    if expected.iter().copied().eq(found.iter().map(wide)) {
        return Ok(());
    }
    Err(ArrayError::Shape { found: found.to_vec(), expected })
}

/// The elements in C order, in the same memory if they are in C order already.
#[cfg(feature = "async")]
pub(super) fn in_order<T: Element, D: Dimension>(elements: ndarray::Array<T, D>) -> Vec<T> {
    if !elements.is_standard_layout() {
        return elements.iter().copied().collect();
    }
    let length = elements.len();
    let (mut memory, offset) = elements.into_raw_vec_and_offset();
    drop(memory.drain(..offset.unwrap_or(0)));
    memory.truncate(length);
    memory
}

fn dimensions(selection: &Selection) -> Option<IxDyn> {
    let sizes: Option<Vec<usize>> =
        selection.shape().into_iter().map(|size| usize::try_from(size).ok()).collect();
    Some(IxDyn(&sizes?))
}
