//! What a selection takes of an array.

use crate::array::{Array, variable};
use crate::error::ArrayError;
use crate::layout::Batches;
use crate::selection::Selection;
use crate::transfer::Selected;

impl Array {
    /// Cuts a selection into batches. Their elements, one batch after another, are the elements of
    /// the selection in C order.
    ///
    /// Batches end where chunks end, so no chunk is decoded for two of them unless a list of
    /// indices returns to it. A batch has at most `max_bytes` bytes of elements, unless a single
    /// row of chunks has more. Only the first axis with more than one index is cut. Elements of
    /// variable length count as 64 bytes each.
    ///
    /// # Errors
    /// [`ArrayError::Selection`] if the selection does not lie within the array.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Selection};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([35, 2], DataType::Uint8).chunk_shape([10, 1]).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// let selection = Selection::parse("5:", array.shape())?;
    /// let batches: Vec<_> = array.batches(selection, 40)?.map(|batch| batch.shape()).collect();
    /// assert_eq!(batches, [[15, 2], [15, 2]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn batches(
        &self,
        selection: impl Into<Selection>,
        max_bytes: u64,
    ) -> Result<Batches<'_>, ArrayError> {
        let size = match self.data_type().is_variable_length() {
            true => variable::TYPICAL,
            false => self.element_size(),
        };
        Batches::new(self.layout(), size, &selection.into(), max_bytes)
    }
}

impl<'a> Selected<'a> {
    /// Refuses arrays with elements of no fixed size.
    pub(crate) fn new(array: &'a Array, selection: &Selection) -> Result<Self, ArrayError> {
        array.fixed_chain()?;
        Self::in_layout(array.layout(), array.element_size(), selection)
    }
}
