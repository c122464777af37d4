//! Writes selections without blocking the thread: chunks are encoded and stored elsewhere.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use super::AsyncArray;
use super::buffer_pool::BufferPool;
use super::turns::Turns;
use crate::array::worker::{ChunkBuffers, Worker};
use crate::array::{Array, Element, Source, WriteAs};
use crate::error::ArrayError;
use crate::selection::AnySelection;
use crate::selection::Selection;
use crate::threads::{self, ArrayFuture};
use crate::transfer::{Selected, Transfer};

impl AsyncArray {
    /// As [`write`](Array::write), without blocking the thread. The future borrows nothing, so it
    /// can be spawned, and it runs on any executor. `elements` can be anything that holds bytes:
    /// a vector, an `Arc<[u8]>`, a static slice.
    ///
    /// Threads that all operations of the process share encode the chunks and wait for the store.
    /// Each read and write keeps to the array's [number of threads](Array::with_threads), and to
    /// its [chunks in flight](AsyncArray::with_chunks_in_flight).
    ///
    /// Dropping the future cancels the write: chunks that are being written are finished, so each
    /// chunk is old or new, and no other is begun. It is then unknown which were written.
    ///
    /// # Errors
    /// As [`write`](Array::write). After the first error no chunk is begun, and when the error is
    /// returned nothing is being written any more.
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, ArrayError};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([3], DataType::Int16).chunk_shape([2]).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// array.asynchronous().write(0..2, vec![1, 0, 2, 0]).await?;
    /// tokio::spawn(array.asynchronous().write_as(2..3, [-1_i16])).await??;
    /// assert_eq!(array.asynchronous().read_as::<i16>(0..3).await?, [1, 2, -1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write(
        &self,
        selection: impl Into<AnySelection>,
        elements: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> ArrayFuture<()> {
        let array = self.0.clone();
        match selection.into() {
            AnySelection::Product(selection) => {
                Box::pin(async move { array.write_owned(selection, elements).await })
            }
            points @ AnySelection::Points(_) => {
                array.detached(move |array| array.write(points, &elements))
            }
        }
    }

    /// As [`write_as`](Array::write_as), without blocking the thread; see [`write`](Self::write).
    /// Elements that are not in C order are first copied to C order.
    ///
    /// # Errors
    /// As [`write_as`](Array::write_as).
    ///
    /// # Panics
    /// If encoding panics, on the thread that polls.
    pub fn write_as<T: WriteAs + Send + Sync + 'static>(
        &self,
        selection: impl Into<AnySelection>,
        elements: impl Source<T> + Send + Sync + 'static,
    ) -> ArrayFuture<()> {
        let (array, selection) = (self.0.clone(), selection.into());
        let selection = match selection {
            AnySelection::Product(selection) => selection,
            points @ AnySelection::Points(_) => {
                return array.detached(move |array| array.write_as(points, &elements));
            }
        };
        Box::pin(async move {
            AnySelection::from(&selection).check_shape(elements.shape())?;
            if elements.as_slice().is_some() {
                return T::write_async(array, selection, InOrder(elements, PhantomData)).await;
            }
            let in_order = threads::DECODERS.run(move || elements.to_vec());
            let in_order = in_order.await.map_err(threads::interrupted)?;
            T::write_async(array, selection, in_order).await
        })
    }
}

impl Array {
    /// Writes elements of a fixed size.
    pub(in crate::array) async fn write_elements_async<T: Element>(
        &self,
        selection: Selection,
        elements: impl AsRef<[T]> + Send + Sync + 'static,
    ) -> Result<(), ArrayError> {
        let bytes = match self.bytes_of(elements.as_ref())? {
            Cow::Borrowed(_) => None,
            Cow::Owned(bytes) => Some(bytes),
        };
        match bytes {
            None => self.write_owned(selection, Bytes(elements, PhantomData)).await,
            Some(bytes) => self.write_owned(selection, bytes).await,
        }
    }

    async fn write_owned<E: AsRef<[u8]> + Send + Sync + 'static>(
        &self,
        selection: Selection,
        elements: E,
    ) -> Result<(), ArrayError> {
        let write = Arc::new(Write { array: self.clone(), selection, elements });
        let (parts, bytes) = {
            let transfer = write.transfer()?;
            self.check_codecs_write()?;
            (transfer.parts(), transfer.selected.length)
        };
        let buffers: BufferPool<ChunkBuffers> = BufferPool::default();
        let job = Arc::clone(&write);
        let turns = Turns::new(self, parts, bytes, move |turn| {
            let transfer = job.transfer()?;
            let elements = job.elements.as_ref();
            let mut worker = Worker::with_buffers(&job.array, buffers.take());
            turn.begin();
            while let Some(parts) = turn.next() {
                transfer.for_each_part(parts, |part| {
                    if turn.goes_on() {
                        job.array.write_selected_part(&transfer, part, elements, &mut worker)?;
                        turn.one_more();
                    }
                    Ok(())
                })?;
            }
            buffers.give(worker.buffers);
            Ok(())
        });
        let Err((cause, log)) = turns.run_to_end().await else { return Ok(()) };
        // Searching for values that would be lost visits all elements.
        let error = move || {
            let Ok(transfer) = write.transfer() else { return cause };
            let elements = || Some(Cow::Borrowed(write.elements.as_ref()));
            write.array.write_error(&write.selection, &transfer, elements, cause, log)
        };
        Err(threads::DECODERS.run(error).await.map_err(threads::interrupted)?)
    }
}

/// A write in progress.
struct Write<E> {
    array: Array,
    selection: Selection,
    elements: E,
}

impl<E: AsRef<[u8]>> Write<E> {
    fn transfer(&self) -> Result<Transfer<'_>, ArrayError> {
        let selected = Selected::new(&self.array, &self.selection)?;
        Transfer::new(selected, self.elements.as_ref().len())
    }
}

/// Elements that lie in memory in C order.
struct InOrder<E, T>(E, PhantomData<fn() -> T>);

impl<E: Source<T>, T> AsRef<[T]> for InOrder<E, T> {
    fn as_ref(&self) -> &[T] {
        self.0.as_slice().unwrap_or_default()
    }
}

/// Elements as bytes, on machines where they have the little-endian form.
struct Bytes<E, T>(E, PhantomData<fn() -> T>);

impl<E: AsRef<[T]>, T: Element> AsRef<[u8]> for Bytes<E, T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(self.0.as_ref())
    }
}
