//! Reading regions without blocking the thread: requests are awaited, chunks decoded elsewhere.

mod batches;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream::{self, TryStreamExt as _};
use tokio::sync::Semaphore;
use zarr_codec::{ChunkCodec, Scratch, Slice};
use zarr_view::{OwnedGrid, OwnedOutput};

use super::fetch::Fetch;
use super::{Array, decoders};
use crate::error::ArrayError;
use crate::region::Region;
use crate::store::{AsyncStore, Object, Offload, Operation, StoreError};
use crate::transfer::{Part, Transfer, region_len};

impl Array {
    /// As [`read`](Array::read), without blocking the thread. The future borrows nothing, so that it
    /// can be spawned, and runs on any executor.
    ///
    /// Several chunks are [in flight](Array::with_chunks_in_flight) at once: asked of the store by
    /// its [asynchronous face](crate::store::Store::asynchronous), or on threads where it may block,
    /// and decoded, while other requests go on, by a pool of a thread for each core that all reads of
    /// the process share. A store that answers as fast as a thread can ask, such as a folder, is read
    /// by the same threads. Each read keeps to the array's [number of threads](Array::with_threads).
    ///
    /// Dropped, the future is given up: requests end, and what is being decoded ends with its chunk.
    ///
    /// # Errors
    /// As [`read`](Array::read), the first that is met. No chunk is begun after it.
    ///
    /// # Panics
    /// If decoding does, on the thread that polls.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Region};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let builder = ArrayBuilder::new([3], DataType::Uint8).chunk_shape([2]);
    /// # let metadata = builder.fill_value(7).build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let writer = array.clone();
    /// tokio::task::spawn_blocking(move || writer.write(&Region::from(1..2), &[5])).await??;
    /// let whole = Region::whole(array.shape());
    /// let elements = tokio::spawn(array.read_async(&whole)).await??;
    /// assert_eq!(elements, [7, 5, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_async(
        &self,
        region: &Region,
    ) -> impl Future<Output = Result<Vec<u8>, ArrayError>> + Send + use<> {
        self.read_async_into(region, Vec::new())
    }

    /// As [`read_async`](Array::read_async), in place of what `buffer` held, whose memory is used
    /// again if it is large enough.
    ///
    /// The buffer goes in and comes back by value, since decoding may still be writing to it when
    /// the future is dropped: it is then gone, as it is after an error.
    ///
    /// # Errors
    /// As [`read_async`](Array::read_async).
    pub fn read_async_into(
        &self,
        region: &Region,
        buffer: Vec<u8>,
    ) -> impl Future<Output = Result<Vec<u8>, ArrayError>> + Send + use<> {
        let (array, region) = (self.clone(), region.clone());
        async move {
            let buffer = array.room_in(buffer, &region)?;
            match array.face() {
                Some(store) => array.read_from(store, &region, buffer).await,
                None => array.read_in_batches(&region, buffer).await,
            }
        }
    }

    /// With a number of chunks in flight for each asynchronous read: from the request for the first
    /// of its bytes until it has been decoded. It bounds the requests under way, and the memory for
    /// encoded chunks.
    ///
    /// In place of one for each thread that decodes, where the store answers as fast as a thread can
    /// ask; two, if it has an asynchronous face; or, for a store far away, of as many as it is to have
    /// [requests in flight](crate::store::Store::requests_in_flight), as long as they take no more
    /// than 256 MiB.
    #[must_use]
    pub fn with_chunks_in_flight(mut self, chunks: NonZeroUsize) -> Self {
        self.in_flight = Some(chunks);
        self
    }

    /// The asynchronous face of the store; one on threads where it may block, if it is far away
    /// all the same; none if it answers as fast as a thread can ask.
    fn face(&self) -> Option<Arc<dyn AsyncStore>> {
        let store = self.store();
        store.asynchronous().or_else(|| {
            let far = store.requests_in_flight() > decoders::count();
            far.then(|| -> Arc<dyn AsyncStore> { Arc::new(Offload::new(Arc::clone(store))) })
        })
    }

    /// Reads the region through a face of its store, each chunk decoded on one thread.
    async fn read_from(
        &self,
        store: Arc<dyn AsyncStore>,
        region: &Region,
        buffer: Vec<u8>,
    ) -> Result<Vec<u8>, ArrayError> {
        let transfer = Transfer::new(self, region, buffer.len())?;
        let places = transfer.cut_owned(buffer, self.element_size())?;
        let read = Read::new(self, store, &transfer, &places);
        stream::iter((0..transfer.parts()).map(Ok))
            .try_for_each_concurrent(self.chunks_in_flight().get(), |number| read.part(number))
            .await?;
        // Every part has been decoded, and its place dropped with it.
        places.into_vec().map_err(|_| interrupted("a chunk is still being decoded"))
    }

    /// The memory of `buffer`, if it is large enough, for the elements of a region.
    fn room_in(&self, mut buffer: Vec<u8>, region: &Region) -> Result<Vec<u8>, ArrayError> {
        region.check(self.shape())?;
        let length = region_len(region, self.element_size())?;
        if buffer.capacity() < length {
            return self.room_for(region);
        }
        buffer.resize(length, 0);
        Ok(buffer)
    }

    fn chunks_in_flight(&self) -> NonZeroUsize {
        self.in_flight.unwrap_or_else(|| {
            let ahead = decoders::count().saturating_mul(NonZeroUsize::MIN.saturating_add(1));
            ahead.max(self.store().requests_in_flight().min(self.threads_that_fit()))
        })
    }
}

/// A read under way.
struct Read<'a> {
    array: &'a Array,
    store: Arc<dyn AsyncStore>,
    transfer: &'a Transfer<'a>,
    places: &'a OwnedGrid,
    encoded: Free<Vec<u8>>,
    scratch: Arc<Free<Scratch>>,
    /// One permit for each thread that may decode, if that is fewer than there are.
    threads: Semaphore,
}

impl<'a> Read<'a> {
    fn new(
        array: &'a Array,
        store: Arc<dyn AsyncStore>,
        transfer: &'a Transfer<'a>,
        places: &'a OwnedGrid,
    ) -> Self {
        // What waits for its turn waits where a thread finds it at once, unless there are too many.
        let few = array.threads.filter(|threads| *threads < decoders::count());
        let threads = few.map_or(Semaphore::MAX_PERMITS, NonZeroUsize::get);
        Self {
            array,
            store,
            transfer,
            places,
            encoded: Free::default(),
            scratch: Arc::default(),
            threads: Semaphore::new(threads),
        }
    }

    /// Reads the part of this number into its place.
    async fn part(&self, number: u64) -> Result<(), ArrayError> {
        let mut job = Job::new(self, number)?;
        let mut encoded = self.encoded.take();
        while let Some(range) = job.fetch.need() {
            let answer = self.store.get(&job.fetch.key, range, encoded);
            (job, encoded) = self.decode(job, answer.await).await?;
        }
        self.encoded.give(encoded);
        Ok(())
    }

    /// Takes the store's answer, on another thread.
    async fn decode(
        &self,
        mut job: Job,
        answer: Result<Option<Object>, StoreError>,
    ) -> Result<(Job, Vec<u8>), ArrayError> {
        let scratch = Arc::clone(&self.scratch);
        // The semaphore is never closed.
        let _thread = self.threads.acquire().await.ok();
        let decoded = decoders::DECODERS.run(move || {
            // For as long as it decodes, so that there are as many as threads that do.
            let mut kept = scratch.take();
            let encoded = job.supply(answer, &mut kept)?;
            scratch.give(kept);
            Ok((job, encoded))
        });
        decoded.await.map_err(interrupted)?
    }
}

/// Threads that cannot be had, or have been taken away.
fn interrupted(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ArrayError {
    StoreError::io(Operation::Get, "the decoding threads", std::io::Error::other(source)).into()
}

/// A part on its way, which any thread can take on.
struct Job {
    array: Array,
    part: Owned,
    fetch: Fetch<Arc<ChunkCodec>>,
    place: OwnedOutput,
}

impl Job {
    fn new(read: &Read<'_>, number: u64) -> Result<Self, ArrayError> {
        let part = Owned::new(read.transfer, number)?;
        let place = read.places.take(&part.number);
        let place = place.expect("each part is visited once, so that its place is there");
        let codec = read.array.chunk_codec(&part.chunk_shape)?;
        let key = read.array.chunk_key(&part.chunk)?;
        let fetch = Fetch::new(read.array, &part.part(), key, codec, place.view());
        Ok(Self { array: read.array.clone(), part, fetch, place })
    }

    /// Decodes what has come, and gives its memory back.
    fn supply(
        &mut self,
        answer: Result<Option<Object>, StoreError>,
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>, ArrayError> {
        let mut encoded = Vec::new();
        let found = answer.map(|object| {
            object.map(|object| {
                encoded = object.bytes;
                object.meta
            })
        });
        let (part, mut place) = (self.part.part(), self.place.lend());
        self.fetch.supply(&self.array, &part, found, &encoded, &mut place, scratch)?;
        Ok(encoded)
    }
}

/// A part that outlives the walk over the chunks.
struct Owned {
    chunk: Vec<u64>,
    chunk_shape: Vec<u64>,
    in_chunk: Vec<Slice>,
    number: Vec<usize>,
    is_whole: bool,
}

impl Owned {
    fn new(transfer: &Transfer<'_>, number: u64) -> Result<Self, ArrayError> {
        let mut owned = None;
        transfer.for_each_part(number..number.saturating_add(1), |part| {
            owned = Some(Self {
                chunk: part.chunk.to_vec(),
                chunk_shape: part.chunk_shape.to_vec(),
                in_chunk: part.in_chunk.to_vec(),
                number: part.number.to_vec(),
                is_whole: part.is_whole,
            });
            Ok(())
        })?;
        Ok(owned.expect("a number below how many parts there are"))
    }

    fn part(&self) -> Part<'_> {
        Part::of_chunk(&self.chunk, &self.chunk_shape, &self.in_chunk, self.is_whole)
    }
}

/// What nobody uses, as much as was in use at once.
#[derive(Default)]
struct Free<T>(Mutex<Vec<T>>);

impl<T: Default> Free<T> {
    fn take(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give(&self, free: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(free);
    }
}
