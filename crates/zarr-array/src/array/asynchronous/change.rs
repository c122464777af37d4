//! Creates and changes arrays without blocking the thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use zarr_codec::Options;
use zarr_metadata::ArrayMetadata;

use super::AsyncArray;
use crate::array::{Array, Source, WriteAs};
use crate::change::{Added, Resize};
use crate::error::ArrayError;
use crate::store::{AsPrefix, Store};
use crate::threads::{self, ArrayFuture};

impl AsyncArray {
    /// As [`create`](Array::create), without blocking the thread. The future borrows nothing, and
    /// can be awaited on any executor. Dropping it cancels the creation unless it has begun.
    ///
    /// # Errors
    /// As [`create`](Array::create).
    pub fn create(
        store: Arc<dyn Store>,
        prefix: &(impl AsPrefix + ?Sized),
        metadata: ArrayMetadata,
    ) -> ArrayFuture<Array> {
        Self::create_with(store, prefix, metadata, Options::new())
    }

    /// As [`create_with`](Array::create_with), without blocking the thread; see
    /// [`create`](Self::create).
    ///
    /// # Errors
    /// As [`create_with`](Array::create_with).
    pub fn create_with(
        store: Arc<dyn Store>,
        prefix: &(impl AsPrefix + ?Sized),
        metadata: ArrayMetadata,
        options: Options,
    ) -> ArrayFuture<Array> {
        let prefix = prefix.to_prefix();
        threads::change(move || Array::create_with(store, &prefix?, metadata, options))
    }

    /// As [`append`](Array::append), without blocking the thread. The future borrows nothing, so
    /// it can be spawned, and it runs on any executor. `elements` can be anything that holds
    /// bytes: a vector, an `Arc<[u8]>`, a static slice.
    ///
    /// A thread makes the whole change, so the document is never locked longer because the
    /// future is not polled. It keeps to the array's [number of threads](Array::with_threads), and
    /// to its [chunks in flight](AsyncArray::with_chunks_in_flight).
    ///
    /// Dropping the future cancels the change: chunks that are being written are finished, and no
    /// other step begins. The array is then as after an interruption: unchanged, or, if the
    /// document was already being written, complete.
    ///
    /// # Errors
    /// As [`append`](Array::append).
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::asynchronous::AsyncArray;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([2], DataType::Uint8).chunk_shape([2]).build()?;
    /// # let store = Arc::new(MemoryStore::new());
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let array = AsyncArray::create(store, &Prefix::root(), metadata).await?;
    /// let array = array.asynchronous().append(0, 3, vec![7; 3]).await?;
    /// assert_eq!(array.asynchronous().read(0..5).await?, [0, 0, 7, 7, 7]);
    /// let array = array.asynchronous().resize([3]).await?;
    /// let array = array.asynchronous().update_attributes(&[("units", Some(r#""K""#))]).await?;
    /// assert_eq!((array.shape(), array.metadata().attribute("units")), (&[3][..], Some(r#""K""#)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append(
        &self,
        axis: usize,
        added: impl Into<Added>,
        elements: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> ArrayFuture<Array> {
        let added = added.into();
        self.0.change_async(move |array| array.append(axis, added, &elements))
    }

    /// As [`append_as`](Array::append_as), without blocking the thread; see
    /// [`append`](Self::append).
    ///
    /// # Errors
    /// As [`append_as`](Array::append_as).
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    pub fn append_as<T: WriteAs + 'static>(
        &self,
        axis: usize,
        added: impl Into<Added>,
        elements: impl Source<T> + Send + Sync + 'static,
    ) -> ArrayFuture<Array> {
        let added = added.into();
        self.0.change_async(move |array| array.append_as(axis, added, &elements))
    }

    /// As [`resize`](Array::resize), without blocking the thread. Dropping the future cancels it
    /// as an [`append`](Self::append): the chunk that is being discarded is finished,
    /// and no other is begun.
    ///
    /// # Errors
    /// As [`resize`](Array::resize).
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    pub fn resize(&self, to: impl Into<Resize>) -> ArrayFuture<Array> {
        let to = to.into();
        self.0.change_async(move |array| array.resize(to))
    }

    /// As [`update_attributes`](Array::update_attributes), without blocking the thread. Dropping
    /// the future cancels the change unless it has begun.
    ///
    /// # Errors
    /// As [`update_attributes`](Array::update_attributes).
    pub fn update_attributes(&self, changes: &[(&str, Option<&str>)]) -> ArrayFuture<Array> {
        let changes = threads::owned(changes);
        self.0.change_async(move |array| array.update_attributes(&threads::borrowed(&changes)))
    }
}

impl Array {
    /// Runs a change on a thread where it may wait, until it is done or its future is dropped.
    fn change_async(
        &self,
        change: impl FnOnce(&Self) -> Result<Self, ArrayError> + Send + 'static,
    ) -> ArrayFuture<Self> {
        let (changed, threads) = (self.detached(change), self.threads);
        Box::pin(async move { Ok(Self { threads, dropped: None, ..changed.await? }) })
    }

    /// Runs an operation on a thread where it may wait, until it is done or its future is dropped.
    pub(super) fn detached<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, ArrayError> + Send + 'static,
    ) -> ArrayFuture<T> {
        let array = self.clone();
        Box::pin(async move {
            let dropped = Dropped::default();
            let handle = Self {
                threads: array.in_flight.map_or(array.threads, |chunks| {
                    Some(array.threads_in_flight(array.threads.unwrap_or(chunks)))
                }),
                dropped: Some(Arc::clone(&dropped.0)),
                ..array
            };
            threads::change(move || work(&handle)).await
        })
    }

    /// An error if no caller waits any more for the change that this handle makes.
    pub(crate) fn check_wanted(&self) -> Result<(), ArrayError> {
        match &self.dropped {
            Some(dropped) if dropped.load(Ordering::Relaxed) => {
                Err(threads::interrupted("its future was dropped"))
            }
            _ => Ok(()),
        }
    }
}

/// Tells the thread of a change that its future was dropped.
#[derive(Default)]
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
