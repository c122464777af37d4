//! Lists the stored chunks.

use crate::array::Array;
use crate::error::ArrayError;
use crate::layout::ChunkLayout;
use crate::store::{Key, Links, Store, StoreError};

/// A stored chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredChunk {
    /// Number of the chunk on each axis.
    pub index: Vec<u64>,
    /// Its key.
    pub key: Key,
    /// Whether the array has elements in it; false for chunks entirely past its end.
    pub occupied: bool,
}

impl Array {
    /// Every chunk in the store, in unspecified order.
    ///
    /// Lists the store as the iterator advances. The time depends on the number of objects; memory
    /// depends neither on this number nor on the size of the grid. Keys that belong to no chunk are
    /// skipped.
    ///
    /// # Errors
    /// [`ArrayError::Store`] as the last item if the store cannot be listed.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([30], DataType::Uint8).chunk_shape([10]).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write_as::<u8>(12..15, &[1, 2, 3])?;
    /// let chunks = array.stored_chunks().collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(chunks.len(), 1);
    /// assert_eq!(chunks[0].index, [1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stored_chunks(&self) -> impl Iterator<Item = Result<StoredChunk, ArrayError>> {
        self.layout().stored_chunks(self.store())
    }
}

impl ChunkLayout {
    /// An error if a listed object is in place of a folder of chunks and cannot be read: a symbolic
    /// link to a disk that is not mounted hides all chunks behind it.
    ///
    /// # Errors
    /// [`StoreError::DanglingLink`], or another error of the store.
    pub fn check_chunk_folder(&self, store: &dyn Store, key: &Key) -> Result<(), StoreError> {
        let name = self.prefix().strip(key).unwrap_or_default();
        if self.key_encoding().is_chunk_folder(name, self.grid().rank()) {
            store.head(key)?;
        }
        Ok(())
    }

    /// Every chunk of the array in `store`, in unspecified order: like [`Array::stored_chunks`],
    /// but also for arrays with an unsupported data type or unsupported codecs.
    ///
    /// # Errors
    /// [`ArrayError::Store`] as the last item if the store cannot be listed.
    pub fn stored_chunks(
        &self,
        store: &dyn Store,
    ) -> impl Iterator<Item = Result<StoredChunk, ArrayError>> {
        store.list(self.prefix(), Links::Follow).filter_map(|key| {
            let key = match key {
                Ok(key) => key,
                Err(error) => return Some(Err(error.into())),
            };
            let Some(index) = self.chunk_of_key(&key) else {
                return self.check_chunk_folder(store, &key).err().map(|error| Err(error.into()));
            };
            let occupied = self.is_occupied(&index);
            Some(Ok(StoredChunk { index, key, occupied }))
        })
    }
}
