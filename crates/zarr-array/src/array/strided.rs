//! Reads and writes selections in memory of the caller that is not contiguous.

use std::borrow::Cow;

use zarr_view::{CopyElement, CopyError, Output, View, copy};

use super::Array;
use crate::counts::narrow;
use crate::error::ArrayError;
use crate::selection::Selection;
use crate::transfer::{Selected, Transfer};

impl Array {
    /// As [`read_into`](Array::read_into), but the elements go to the positions in `out` that a
    /// view of the selection's shape gives: columns of a matrix, or axes in another order. The
    /// bytes in between are not changed.
    ///
    /// Chunks are decoded directly to these positions. Lists of indices that go back and forth
    /// between chunks need a second buffer as large as the selection.
    ///
    /// # Errors
    /// As [`read`](Array::read); [`ArrayError::Shape`] if the shape of the view differs from the
    /// selection's, and [`ArrayError::Copy`] if it exceeds `out` or contains an element twice.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// use zarr_view::View;
    /// # let metadata = ArrayBuilder::new([2, 3], DataType::Uint8).chunk_shape([2, 2]).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    ///
    /// array.write([0..2, 0..3], &[1, 2, 3, 4, 5, 6])?;
    /// // Into the second of two columns, the last row first.
    /// let mut out = [0; 4];
    /// array.read_into_view((0..2, 2), &View::new(&[2], &[-2], 3)?, &mut out)?;
    /// assert_eq!(out, [0, 6, 0, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_into_view(
        &self,
        selection: impl Into<Selection>,
        view: &View,
        out: &mut [u8],
    ) -> Result<(), ArrayError> {
        let selection = selection.into();
        let selected = Selected::new(self, &selection)?;
        self.read_to(&selection, selected, Output::new(out, view, self.element_size())?)
    }

    /// As [`read_into_view`](Array::read_into_view), into an output of the selection's shape.
    ///
    /// # Errors
    /// As [`read_into_view`](Array::read_into_view), and [`ArrayError::Copy`] if the output has
    /// elements of another size.
    pub fn read_into_output(
        &self,
        selection: impl Into<Selection>,
        out: Output<'_>,
    ) -> Result<(), ArrayError> {
        let selection = selection.into();
        self.read_to(&selection, Selected::new(self, &selection)?, out)
    }

    fn read_to(
        &self,
        selection: &Selection,
        selected: Selected<'_>,
        out: Output<'_>,
    ) -> Result<(), ArrayError> {
        let (expected, found) = (self.element_size(), out.element_size());
        if expected != found {
            return Err(CopyError::ElementSize { expected, found }.into());
        }
        check_shape(selection, out.view())?;
        let mut out = out.into_reshaped(&selected.shape)?.expect(AXES_OF_ONE);
        let threads = self.threads_for(selected.length);
        let Some(order) = selected.order() else {
            let transfer = Transfer::in_view(selected, out.view().clone())?;
            let out = transfer.in_order_of_chunks(out)?;
            return self.read_in_order_of_chunks(&transfer, out, threads);
        };
        let mut elements = selected.zeroed()?;
        self.read_and_order(selected, &order, &mut elements, threads)?;
        let contiguous = View::contiguous(out.view().shape()).map_err(CopyError::from)?;
        Ok(out.copy_from(&contiguous, &elements, out.element(), &[])?)
    }

    /// As [`write`](Array::write), but the elements are at the positions in `elements` that a
    /// view of the selection's shape gives. A view may contain an element many times: strides of
    /// 0 write one value all along an axis.
    ///
    /// # Errors
    /// As [`write`](Array::write); [`ArrayError::Shape`] if the shape of the view differs from
    /// the selection's, and [`ArrayError::BufferLength`] if it exceeds `elements`.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Selection};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// use zarr_view::View;
    /// # let metadata = ArrayBuilder::new([2, 3], DataType::Uint8).chunk_shape([2, 2]).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    ///
    /// // A matrix of three rows and two columns, transposed.
    /// array.write_from_view([0..2, 0..3], &View::new(&[2, 3], &[1, 2], 0)?, &[1, 4, 2, 5, 3, 6])?;
    /// assert_eq!(array.read(Selection::whole(array.shape()))?, [1, 2, 3, 4, 5, 6]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_from_view(
        &self,
        selection: impl Into<Selection>,
        view: &View,
        elements: &[u8],
    ) -> Result<(), ArrayError> {
        let selection = selection.into();
        let selected = Selected::new(self, &selection)?;
        let view = view_of_axes(&selection, &selected, view)?;
        let needed = view.span().end.saturating_mul(self.element_size());
        if needed > elements.len() {
            let wide = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
            let (found, expected) = (wide(elements.len()), wide(needed));
            return Err(ArrayError::BufferLength { found, expected });
        }
        let transfer = Transfer::in_view(selected, view.clone())?;
        let gathered = || self.gathered(&view, elements);
        if transfer.has_lists() {
            return self.write(selection, &gathered()?);
        }
        self.write_transfer(&selection, &transfer, elements, || gathered().ok().map(Cow::Owned))
    }

    /// The elements of a view, in C order.
    fn gathered(&self, view: &View, elements: &[u8]) -> Result<Vec<u8>, ArrayError> {
        let contiguous = View::contiguous(view.shape()).map_err(CopyError::from)?;
        let mut out = zarr_view::zeroed(view.len().saturating_mul(self.element_size()))?;
        self.copy_elements(view, elements, &contiguous, &mut out)?;
        Ok(out)
    }

    /// Copies elements from the positions of one view to those of another.
    pub(super) fn copy_elements(
        &self,
        source: &View,
        elements: &[u8],
        target: &View,
        out: &mut [u8],
    ) -> Result<(), CopyError> {
        copy(source, elements, target, out, CopyElement::try_from(self.element_size())?, &[])
    }
}

/// The view with an axis of length 1 inserted for each axis that the selection gives by one
/// index.
fn view_of_axes(
    selection: &Selection,
    selected: &Selected<'_>,
    view: &View,
) -> Result<View, ArrayError> {
    check_shape(selection, view)?;
    let reshaped = view.reshape(&selected.shape).map_err(CopyError::from)?;
    Ok(reshaped.expect(AXES_OF_ONE))
}

const AXES_OF_ONE: &str = "axes of length 1 fit into every view";

fn check_shape(selection: &Selection, view: &View) -> Result<(), ArrayError> {
    let expected = selection.shape();
    if view.shape().iter().copied().eq(expected.iter().map(|length| narrow(*length))) {
        return Ok(());
    }
    Err(ArrayError::Shape { found: view.shape().to_vec(), expected })
}
