//! Reads selections without blocking the thread: requests are awaited, and chunks decoded
//! elsewhere.

use std::iter;
use std::num::NonZeroUsize;
use std::sync::Arc;

use futures_util::stream::{self, TryStreamExt as _};
use tokio::sync::Semaphore;
use zarr_codec::Scratch;

use super::AsyncArray;
use super::buffer_pool::BufferPool;
use super::chunk_read::{Begun, ChunkRead, PendingRead};
use super::turns::Turns;
use crate::array::elements::typed::zeroed_bits;
use crate::array::read::Wanted;
use crate::array::worker::{ChunkBuffers, Worker};
use crate::array::{Array, Element, ReadAs};
use crate::error::ArrayError;
use crate::selection::AnySelection;
use crate::selection::Selection;
use crate::store::{AsyncStore, Object, Offload, StoreError};
use crate::threads::{self, ArrayFuture, DECODERS, interrupted};
use crate::transfer::{Selected, Transfer};

impl AsyncArray {
    /// As [`read`](Array::read), without blocking the thread. The future borrows nothing, so it
    /// can be spawned, and it runs on any executor.
    ///
    /// Several chunks are [in flight](AsyncArray::with_chunks_in_flight) at once. They are
    /// requested through the store's [asynchronous interface](crate::store::Store::asynchronous),
    /// or on threads that may block. While other requests are waiting, chunks are decoded by a pool
    /// with one thread per core, which all reads of the process share. The pool's own threads read
    /// a store that answers as fast as a thread can ask, such as a folder; a thread that may wait
    /// for the store reads single elements. Each read keeps to the array's [number of
    /// threads](Array::with_threads).
    ///
    /// Dropping the future cancels the read: requests end, and chunks that are being decoded are
    /// finished.
    ///
    /// # Errors
    /// As [`read`](Array::read): the first error. No further chunk is begun after it.
    ///
    /// # Panics
    /// If decoding panics, on the thread that polls.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let builder = ArrayBuilder::new([3], DataType::Uint8).chunk_shape([2]);
    /// # let metadata = builder.fill_value(7).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let writer = array.clone();
    /// tokio::task::spawn_blocking(move || writer.write(1..2, &[5])).await??;
    /// let elements = tokio::spawn(array.asynchronous().read(0..3)).await??;
    /// assert_eq!(elements, [7, 5, 7]);
    /// assert_eq!(array.asynchronous().read(([2, 1, 1],)).await?, [7, 5, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read(&self, selection: impl Into<AnySelection>) -> ArrayFuture<Vec<u8>> {
        self.read_into(selection, Vec::new())
    }

    /// As [`read`](Self::read), into `buffer`: its content is replaced, and its memory is reused if
    /// it is large enough.
    ///
    /// The buffer is passed and returned by value, because decoding may still be writing to it
    /// when the future is dropped. Then it is lost, as it is after an error.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_into(
        &self,
        selection: impl Into<AnySelection>,
        mut buffer: Vec<u8>,
    ) -> ArrayFuture<Vec<u8>> {
        let (array, selection) = (self.0.clone(), selection.into());
        let AnySelection::Product(selection) = selection else {
            return array.detached(move |array| {
                let wanted = Wanted::new(array, &selection)?;
                match buffer.capacity() < wanted.length() {
                    true => buffer = wanted.zeroed()?,
                    false => buffer.resize(wanted.length(), 0),
                }
                array.read_wanted(&selection, wanted, &mut buffer)?;
                Ok(buffer)
            });
        };
        Box::pin(async move {
            let room = |selected: &Selected<'_>| match buffer.capacity() < selected.length {
                true => selected.zeroed(),
                false => {
                    buffer.resize(selected.length, 0);
                    Ok(buffer)
                }
            };
            array.read_owned(&selection, room).await
        })
    }

    /// As [`read_as`](Array::read_as), without blocking the thread; see [`read`](Self::read).
    ///
    /// # Errors
    /// As [`read_as`](Array::read_as): the first error.
    ///
    /// # Panics
    /// If decoding panics, on the thread that polls.
    pub fn read_as<T: ReadAs>(&self, selection: impl Into<AnySelection>) -> ArrayFuture<T::Output> {
        match selection.into() {
            AnySelection::Product(selection) => T::read_async(self.0.clone(), selection),
            points @ AnySelection::Points(_) => {
                self.0.detached(move |array| T::read(array, &points))
            }
        }
    }
}

impl Array {
    /// Reads elements of a fixed size.
    pub(in crate::array) async fn read_elements_async<T: Element>(
        &self,
        selection: &Selection,
    ) -> Result<Vec<T>, ArrayError> {
        self.check_type::<T>()?;
        let room = |selected: &Selected<'_>| {
            zeroed_bits::<T>(selected.length).map(Bits).ok_or_else(|| selected.too_large())
        };
        let Bits(bits) = self.read_owned(selection, room).await?;
        self.elements(bits)
    }

    /// Reads a selection into memory of the same length.
    async fn read_owned<M: AsMut<[u8]> + Send + 'static>(
        &self,
        selection: &Selection,
        room: impl FnOnce(&Selected<'_>) -> Result<M, ArrayError>,
    ) -> Result<M, ArrayError> {
        let selected = Selected::new(self, selection)?;
        let mut memory = room(&selected)?;
        let kept = self.cache.is_some().then(|| AnySelection::from(selection.clone()));
        if let Some(selection) = kept
            && let Some(units) = self.through_cache(&selection, memory.as_mut().len())
        {
            let read = move || {
                let read = units.read_bytes(&selection, memory.as_mut());
                (read, memory)
            };
            let (read, filled) = threads::run_blocking(&**self.store(), read).await?;
            if read.is_ok() {
                return Ok(filled);
            }
            memory = filled;
        }
        let order = selected.order();
        let transfer = Transfer::new(selected, memory.as_mut().len())?;
        let Some(order) = order else {
            return self.read_in_order_of_chunks_async(selection, &transfer, memory).await;
        };
        let by_chunk = transfer.selected.zeroed()?;
        let by_chunk = self.read_in_order_of_chunks_async(selection, &transfer, by_chunk).await?;
        let ordered = DECODERS.run(move || {
            order.run(&by_chunk, memory.as_mut());
            memory
        });
        ordered.await.map_err(interrupted)
    }

    async fn read_in_order_of_chunks_async<M: AsMut<[u8]> + Send + 'static>(
        &self,
        selection: &Selection,
        transfer: &Transfer<'_>,
        memory: M,
    ) -> Result<M, ArrayError> {
        match self.face() {
            None if self.members().is_none() || !threads::is_far(&**self.store()) => {
                self.read_in_turns(selection, transfer, memory).await
            }
            store => self.read_from(store, transfer, memory).await,
        }
    }

    /// The asynchronous interface of the store. For a remote store without one, an interface on
    /// threads that may block; `None` if the store answers as fast as a thread can ask.
    ///
    /// An array that consists of others has `None`, too: each member is in its own store.
    pub(super) fn face(&self) -> Option<Arc<dyn AsyncStore>> {
        let store = self.store();
        if self.members().is_some() {
            return None;
        }
        store.asynchronous().or_else(|| {
            let far = store.capabilities().requests_in_flight > threads::cores();
            far.then(|| -> Arc<dyn AsyncStore> { Arc::new(Offload::new(Arc::clone(store))) })
        })
    }

    /// Reads on threads that wait for the store and decode.
    async fn read_in_turns<M: AsMut<[u8]> + Send + 'static>(
        &self,
        selection: &Selection,
        transfer: &Transfer<'_>,
        memory: M,
    ) -> Result<M, ArrayError> {
        let length = transfer.selected.length;
        let places = transfer.cut_owned(memory)?;
        let (array, selection, taken) = (self.clone(), selection.clone(), places.clone());
        let buffers: BufferPool<ChunkBuffers> = BufferPool::default();
        let turns = Turns::new(self, transfer.parts(), length, move |turn| {
            let transfer = Transfer::new(Selected::new(&array, &selection)?, length)?;
            let mut worker = Worker::with_buffers(&array, buffers.take());
            turn.begin();
            while let Some(parts) = turn.next() {
                transfer.for_each_part(parts, |part| {
                    if turn.goes_on() {
                        let place = taken.take(part.number);
                        let mut place =
                            place.expect("each part is visited once, so that its place is there");
                        array.read_part(part, &mut place.lend(), &mut worker)?;
                        turn.one_more();
                    }
                    Ok(())
                })?;
            }
            buffers.give(worker.buffers);
            Ok(())
        });
        turns.run().await?;
        // All parts have been read, and each thread has dropped its share of the places.
        places.into_inner().map_err(|_| interrupted("a chunk is still being decoded"))
    }

    /// Reads through the asynchronous interface of the store, or of the members' stores; each chunk
    /// is decoded on one thread.
    pub(super) async fn read_from<M: AsMut<[u8]> + Send + 'static>(
        &self,
        store: Option<Arc<dyn AsyncStore>>,
        transfer: &Transfer<'_>,
        memory: M,
    ) -> Result<M, ArrayError> {
        let places = transfer.cut_owned(memory)?;
        let read = Read::new(self, store);
        let mut regions = transfer.regions(0..transfer.parts());
        // One walk over the chunks: to begin anew for each may take a step for each chunk before it.
        let next = || Some(Ok(PendingRead::new(&regions.next_region()?, &places)));
        stream::iter(iter::from_fn(next))
            .try_for_each_concurrent(self.chunks_in_flight().get(), |part| read.part(part))
            .await?;
        // Every part has been decoded, and its place dropped with it.
        places.into_inner().map_err(|_| interrupted("a chunk is still being decoded"))
    }

    fn chunks_in_flight(&self) -> NonZeroUsize {
        self.in_flight.unwrap_or_else(|| {
            let ahead = threads::cores().saturating_mul(NonZeroUsize::MIN.saturating_add(1));
            ahead.max(self.store().capabilities().requests_in_flight.min(self.threads_that_fit()))
        })
    }
}

/// A read in progress.
struct Read<'a> {
    array: &'a Array,
    /// `None` for an array that consists of others.
    store: Option<Arc<dyn AsyncStore>>,
    encoded: BufferPool<Vec<u8>>,
    scratch: Arc<BufferPool<Scratch>>,
    /// One permit per thread that may decode, if fewer may decode than there are.
    threads: Semaphore,
}

impl<'a> Read<'a> {
    fn new(array: &'a Array, store: Option<Arc<dyn AsyncStore>>) -> Self {
        // Work waits in the pool's queue, where a thread finds it at once, unless too many would
        // wait.
        let few = array.threads.filter(|threads| *threads < threads::cores());
        let threads = few.map_or(Semaphore::MAX_PERMITS, NonZeroUsize::get);
        Self {
            array,
            store,
            encoded: BufferPool::default(),
            scratch: Arc::default(),
            threads: Semaphore::new(threads),
        }
    }

    /// Reads a part into its place.
    async fn part(&self, pending: PendingRead) -> Result<(), ArrayError> {
        let (mut chunk, store) = match &self.store {
            Some(store) => (Box::new(pending.begin(self.array)?), Arc::clone(store)),
            None => match self.begin_in_member(pending).await? {
                Some(begun) => begun,
                None => return Ok(()),
            },
        };
        let mut encoded = self.encoded.take();
        while let Some(range) = chunk.reader.need() {
            let answer = store.get(chunk.reader.key(), range, encoded);
            (chunk, encoded) = self.decode(chunk, answer.await).await?;
        }
        self.encoded.give(encoded);
        Ok(())
    }

    /// Begins to read a part from the member that holds it; `None` if it has been read already.
    /// Blocking work runs on a thread that may wait: opening a member, and reading several of its
    /// chunks one after another.
    async fn begin_in_member(
        &self,
        pending: PendingRead,
    ) -> Result<Option<(Box<ChunkRead>, Arc<dyn AsyncStore>)>, ArrayError> {
        let begun = match pending.begin_in_kept_member(self.array)? {
            Begun::Not(pending) => {
                let array = self.array.clone();
                let begin = move || pending.begin_in_member(&array);
                threads::run_blocking(&**self.array.store(), begin).await??
            }
            begun => begun,
        };
        Ok(match begun {
            Begun::ChunkRead(chunk, store) => Some((chunk, store)),
            Begun::Done | Begun::Not(_) => None,
        })
    }

    /// Processes the store's answer on another thread.
    async fn decode(
        &self,
        mut chunk: Box<ChunkRead>,
        answer: Result<Option<Object>, StoreError>,
    ) -> Result<(Box<ChunkRead>, Vec<u8>), ArrayError> {
        let scratch = Arc::clone(&self.scratch);
        // The semaphore is never closed.
        let _thread = self.threads.acquire().await.ok();
        let decoded = DECODERS.run(move || {
            // A permit for the time of decoding, so that there are as many buffers as decoding
            // threads.
            let mut kept = scratch.take();
            let encoded = chunk.supply(answer, &mut kept)?;
            scratch.give(kept);
            Ok((chunk, encoded))
        });
        decoded.await.map_err(interrupted)?
    }
}

/// The bit patterns of elements as memory.
struct Bits<T>(Vec<T>);

impl<T: bytemuck::Pod> AsMut<[u8]> for Bits<T> {
    fn as_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
