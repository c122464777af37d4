//! Lists the stored chunks.

use std::ops::ControlFlow;

use super::Array;
use crate::error::ArrayError;
use crate::layout::ChunkLayout;
use crate::store::{Key, Links, Store};

/// A chunk that is in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChunk {
    /// Number of the chunk on each axis.
    pub index: Vec<u64>,
    /// Its key.
    pub key: Key,
    /// Whether the array has elements in it; false for chunks that lie wholly past its end.
    pub occupied: bool,
}

impl Array {
    /// Calls `visit` with every chunk in the store, in unspecified order, until it breaks.
    ///
    /// Lists the store, so the time depends on the number of objects, not on the size of the grid.
    /// Keys that belong to no chunk are skipped.
    ///
    /// # Errors
    /// [`ArrayError::Store`] if the store cannot be listed.
    ///
    /// # Examples
    /// ```
    /// # use std::{ops::ControlFlow, sync::Arc};
    /// # use zarr_array::{Array, Region};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([30], DataType::Uint8).chunk_shape([10]).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write_as::<u8>(&Region::from(12..15), &[1, 2, 3])?;
    /// let mut found = Vec::new();
    /// array.stored_chunks(&mut |chunk| {
    ///     found.push(chunk.index);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(found, [[1]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stored_chunks(
        &self,
        visit: &mut dyn FnMut(StoredChunk) -> ControlFlow<()>,
    ) -> Result<(), ArrayError> {
        self.layout().stored_chunks(self.store(), visit)
    }
}

impl ChunkLayout {
    /// Calls `visit` with every chunk of the array in `store`, in unspecified order, until it breaks.
    ///
    /// Lists the store, so the time depends on the number of objects, not on the size of the grid.
    /// Keys that belong to no chunk are skipped.
    ///
    /// # Errors
    /// [`ArrayError::Store`] if the store cannot be listed.
    pub fn stored_chunks(
        &self,
        store: &dyn Store,
        visit: &mut dyn FnMut(StoredChunk) -> ControlFlow<()>,
    ) -> Result<(), ArrayError> {
        store.list(self.prefix(), Links::Follow, &mut |key| match self.chunk_of_key(&key) {
            Some(index) => {
                let occupied = self.is_occupied(&index);
                visit(StoredChunk { index, key, occupied })
            }
            None => ControlFlow::Continue(()),
        })?;
        Ok(())
    }
}
