//! Reading regions without blocking the thread while the store answers.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use futures_util::stream::{self, TryStreamExt as _};
use zarr_codec::{Need, Scratch, Slice};
use zarr_view::OutputGrid;

use super::Array;
use super::fetch::Fetch;
use crate::error::ArrayError;
use crate::region::Region;
use crate::store::AsyncStore;
use crate::transfer::{Part, Transfer};

impl Array {
    /// As [`read`](Array::read), with up to `in_flight` chunks under way at once, asked of the
    /// asynchronous face of the array's own store.
    ///
    /// Decoding takes place on the thread that polls, while the other requests go on. To decode on
    /// several threads, read the [shares](crate::Plan::shares) of a plan in a task each.
    ///
    /// # Errors
    /// As [`read`](Array::read).
    ///
    /// # Examples
    /// ```
    /// # use std::num::NonZeroUsize;
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Region};
    /// # use zarr_array::store::{MemoryStore, Offload, Prefix};
    /// # use zarr_metadata::ArrayMetadata;
    /// # let document = br#"{"zarr_format": 3, "node_type": "array", "shape": [3],
    /// #   "data_type": "uint8", "fill_value": 7, "codecs": [{"name": "packbits"}],
    /// #   "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    /// #   "chunk_key_encoding": {"name": "default"}}"#;
    /// # let metadata = ArrayMetadata::from_json(document)?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// let store = Arc::new(MemoryStore::new());
    /// let array = Array::create(store.clone(), &Prefix::root(), metadata)?;
    /// array.write(&Region::from(1..2), &[5])?;
    /// let (whole, in_flight) = (Region::whole(array.shape()), NonZeroUsize::MIN);
    /// let store = Offload::new(store);
    /// let elements = runtime.block_on(array.read_async(&store, &whole, in_flight))?;
    /// assert_eq!(elements, [7, 5, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn read_async(
        &self,
        store: &dyn AsyncStore,
        region: &Region,
        in_flight: NonZeroUsize,
    ) -> Result<Vec<u8>, ArrayError> {
        let mut out = self.room_for(region)?;
        self.read_async_into(store, region, &mut out, in_flight).await?;
        Ok(out)
    }

    /// As [`read_async`](Array::read_async), into the caller's bytes.
    ///
    /// # Errors
    /// As [`read_into`](Array::read_into). If the future is dropped, `out` is partly written.
    pub async fn read_async_into(
        &self,
        store: &dyn AsyncStore,
        region: &Region,
        out: &mut [u8],
        in_flight: NonZeroUsize,
    ) -> Result<(), ArrayError> {
        let transfer = Transfer::new(self, region, out.len())?;
        let places = transfer.cut(out, self.element_size())?;
        let pool = Pool::default();
        stream::iter((0..transfer.parts()).map(Ok))
            .try_for_each_concurrent(in_flight.get(), |number| {
                self.fetch_part(store, &transfer, &places, number, &pool)
            })
            .await
    }

    /// Reads the part of this number into its place.
    async fn fetch_part(
        &self,
        store: &dyn AsyncStore,
        transfer: &Transfer<'_>,
        places: &OutputGrid<'_>,
        number: u64,
        pool: &Pool,
    ) -> Result<(), ArrayError> {
        let Some(owned) = Owned::new(transfer, number)? else { return Ok(()) };
        let part = owned.part();
        // Each part is visited once, so that its place has not been taken.
        let Some(mut place) = places.take(&owned.number) else { return Ok(()) };
        let codec = self.chunk_codec(part.chunk_shape)?;
        let mut fetch = Fetch::new(self, &part, &codec, place.view())?;
        let mut encoded = pool.encoded.take();
        loop {
            let bytes = std::mem::take(&mut encoded);
            let answer = match fetch.need() {
                Need::Nothing => break,
                Need::All => store.get(&fetch.key, bytes),
                Need::Ranges(ranges) => store.get_ranges(&fetch.key, ranges, bytes),
            };
            let found = answer.await.map(|object| {
                object.map(|object| {
                    encoded = object.bytes;
                    object.meta
                })
            });
            // For as long as it decodes, so that there are as many as threads that do.
            let mut scratch = pool.scratch.take();
            fetch.supply(found, &encoded, &mut place, &mut scratch)?;
            pool.scratch.give(scratch);
        }
        pool.encoded.give(encoded);
        Ok(())
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
    fn new(transfer: &Transfer<'_>, number: u64) -> Result<Option<Self>, ArrayError> {
        let mut owned = None;
        transfer.for_each_part(number..number.saturating_add(1), |part| {
            owned = Some(Self {
                chunk: part.chunk.to_vec(),
                chunk_shape: part.chunk_shape.to_vec(),
                in_chunk: part.in_chunk.clone(),
                number: part.number.clone(),
                is_whole: part.is_whole,
            });
            Ok(())
        })?;
        Ok(owned)
    }

    fn part(&self) -> Part<'_> {
        Part::of_chunk(&self.chunk, &self.chunk_shape, self.in_chunk.clone(), self.is_whole)
    }
}

/// Memory that is used again from chunk to chunk.
#[derive(Default)]
struct Pool {
    encoded: Free<Vec<u8>>,
    scratch: Free<Scratch>,
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
