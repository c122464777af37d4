//! Reading, writing and changing arrays without blocking the thread.

mod buffer_pool;
mod change;
mod chunk_read;
mod read;
#[cfg(test)]
mod tests;
mod turns;
mod variable;
mod write;

use std::num::NonZeroUsize;

use super::Array;
use crate::threads;

/// The operations of an [`Array`] that access the store, without blocking the thread; made by
/// [`Array::asynchronous`]. It has the array's settings.
///
/// Methods have the names of the blocking ones. Methods that change, open or create an array return
/// an [`Array`], which has all methods that need no store.
#[derive(Clone, Debug)]
pub struct AsyncArray(Array);

impl AsyncArray {
    /// Sets the number of chunks in flight for each asynchronous read and write. A chunk is in
    /// flight from its first request until it has been decoded or stored. It bounds the requests in
    /// progress, and the memory for encoded chunks.
    ///
    /// The default is one per thread if the store answers as fast as a thread can ask. It is two
    /// per decoding thread if the store has an asynchronous interface. For a remote store it is the
    /// store's number of [requests in flight](crate::store::Capabilities::requests_in_flight), as
    /// long as the chunks take no more than 256 MiB.
    #[must_use]
    pub fn with_chunks_in_flight(mut self, chunks: NonZeroUsize) -> Self {
        self.0.in_flight = Some(chunks);
        self
    }
}

impl Array {
    /// The operations that access the store, without blocking the thread, by the same names.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([3], DataType::Uint8).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let array = array.asynchronous();
    /// array.write(1..3, vec![7, 8]).await?;
    /// assert_eq!(array.read(0..3).await?, [0, 7, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn asynchronous(&self) -> AsyncArray {
        AsyncArray(self.clone())
    }

    /// The number of threads of an operation in which each thread has one chunk in flight: the set
    /// or the best number of chunks in flight.
    fn threads_in_flight(&self, threads: NonZeroUsize) -> NonZeroUsize {
        if threads::is_far(&**self.store()) {
            return self.in_flight.unwrap_or(threads);
        }
        let threads = threads.min(threads::cores());
        self.in_flight.map_or(threads, |chunks| threads.min(chunks))
    }
}
