//! An array that is not written: what reads of it would request.
//!
//! Objects have the sizes and shards the indices that they would have if each whole chunk took the
//! same number of bytes. So the planner of reads says what it would request of the real ones.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use zarr_array::store::{
    AsyncStore, Capabilities, Key, Layer, MemoryStore, ObjectMeta, Prefix, ReadRange, Store,
    StoreError, Version,
};
use zarr_array::{Array, AxisSelection, ChunkLayout, Selection};
use zarr_grid::{Axis, unravel};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, Codec, IndexLocation, Sharding};

use super::sample::order;
use super::shapes::{Shape, product, real, touched};
use crate::ReportError;

/// The most objects of one read that are planned; of more, some all over the read are.
const PLANNED: u64 = 32;

/// Places of each read that are tried.
const PLACES: u64 = 16;

/// Bytes of the checksum after an index, which is left out here.
const CHECKSUM: u64 = 4;

/// What reads of one kind request on average, over places all over the array.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Requests {
    /// Objects that hold selected elements.
    pub(super) objects: f64,
    pub(super) requests: f64,
    pub(super) bytes: f64,
}

/// Answers for the chunks of an array.
#[derive(Debug)]
struct Unwritten {
    /// The document.
    inner: MemoryStore,
    layout: ChunkLayout,
    shape: Vec<u64>,
    /// The lengths of the objects' chunks, and of the chunks in shards.
    object: Vec<u64>,
    inner_chunk: Option<Vec<u64>>,
    /// Bytes of a whole chunk as stored, and whether all chunks have as many.
    encoded: f64,
    is_fixed: bool,
    requests_in_flight: NonZeroUsize,
    /// The indices and sizes of shards, by the elements that they have on each axis.
    shards: Mutex<HashMap<Vec<u64>, Arc<Object>>>,
}

#[derive(Debug)]
struct Object {
    size: u64,
    index: Vec<u8>,
}

impl Unwritten {
    /// The size, and the index, of the object with this key; `None` if it is no chunk.
    fn object(&self, key: &Key) -> Option<Arc<Object>> {
        let chunk = self.layout.chunk_of_key(key)?;
        let held = clipped(&chunk, &self.object, &self.shape);
        let mut known = self.shards.lock().unwrap_or_else(PoisonError::into_inner);
        let object = known.entry(held).or_insert_with_key(|held| Arc::new(self.made(held)));
        Some(Arc::clone(object))
    }

    fn made(&self, held: &[u64]) -> Object {
        let Some(inner) = &self.inner_chunk else {
            return Object { size: self.encoded_len(held, &self.object), index: Vec::new() };
        };
        let counts: Vec<u64> =
            self.object.iter().zip(inner).map(|(all, one)| all.div_ceil(*one)).collect();
        let (mut size, mut index) = (0_u64, Vec::new());
        for chunk in (0..product(&counts)).map_while(|number| unravel(number, &counts)) {
            let elements = clipped(&chunk, inner, held);
            let (offset, len) = match elements.contains(&0) {
                true => (u64::MAX, u64::MAX),
                false => (size, self.encoded_len(&elements, inner)),
            };
            index.extend([offset, len].iter().flat_map(|number| number.to_le_bytes()));
            size = if offset == u64::MAX { size } else { size.saturating_add(len) };
        }
        let index_len = u64::try_from(index.len()).unwrap_or(u64::MAX);
        Object { size: size.saturating_add(index_len), index }
    }

    /// Bytes of a chunk of which so many elements lie within the array. What lies outside is the fill
    /// value, which a compressor stores in next to nothing.
    fn encoded_len(&self, held: &[u64], chunk: &[u64]) -> u64 {
        let axes = held.iter().zip(chunk);
        let share: f64 = axes.map(|(held, all)| real(*held) / real(*all)).product();
        let len = if self.is_fixed { self.encoded } else { self.encoded * share };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length")]
        let len = len.ceil() as u64;
        len.max(1)
    }
}

/// The lengths of the chunk with these numbers, of chunks of `lengths` that hold `all`.
fn clipped(chunk: &[u64], lengths: &[u64], all: &[u64]) -> Vec<u64> {
    let axes = chunk.iter().zip(lengths).zip(all);
    axes.map(|((number, length), all)| {
        all.saturating_sub(number.saturating_mul(*length)).min(*length)
    })
    .collect()
}

impl Layer for Unwritten {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.inner
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::new().requests_in_flight(self.requests_in_flight)
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        let Some(object) = self.object(key) else { return Store::head(&self.inner, key) };
        let version = Some(Version::from_numbers([0; 4]));
        Ok(Some(ObjectMeta { size: object.size, version, modified: None }))
    }

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        match (self.object(key), range) {
            // Plans read indices, and no elements.
            (Some(object), ReadRange::Suffix(_)) => {
                out.clear();
                out.extend_from_slice(&object.index);
                Layer::head(self, key)
            }
            (_, range) => Store::get(&self.inner, key, range, out),
        }
    }
}

/// An array of this shape whose chunks would have `encoded` bytes each, unless the codecs determine it.
/// `None` if the codecs do not take the shape.
pub(super) fn array(
    like: &ArrayMetadata,
    codecs: &[Codec],
    shape: &Shape,
    encoded: f64,
    requests_in_flight: NonZeroUsize,
) -> Option<Array> {
    // As a new array of version 3, whatever the array is.
    let document = |lengths: &Vec<u64>, codecs: &[Codec]| {
        let new = ArrayBuilder::new(like.shape(), like.data_type().clone());
        let new = new.chunk_shape(lengths.clone()).fill_value(like.fill_value().clone());
        new.codecs(codecs.to_vec()).build().ok()
    };
    let plain = document(&shape.chunks, codecs)?;
    let plain = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), plain).ok()?;
    let fixed = plain.chunk_codec(&shape.chunks).ok()?.encoded_len();
    let object = shape.shards.as_ref().unwrap_or(&shape.chunks);
    let codecs = match &shape.shards {
        None => codecs.to_vec(),
        Some(_) => {
            let sharding = Sharding::new(shape.chunks.clone(), codecs.to_vec())
                .with_index([Codec::bytes()], IndexLocation::End);
            vec![Codec::ShardingIndexed(Box::new(sharding))]
        }
    };
    let metadata = document(object, &codecs)?;
    let store = Unwritten {
        inner: MemoryStore::new(),
        layout: ChunkLayout::new(&Prefix::root(), &metadata).ok()?,
        shape: like.shape().to_vec(),
        object: object.clone(),
        inner_chunk: shape.shards.as_ref().map(|_| shape.chunks.clone()),
        encoded: fixed.map_or(encoded, real),
        is_fixed: fixed.is_some(),
        requests_in_flight,
        shards: Mutex::default(),
    };
    Array::create(Arc::new(store), &Prefix::root(), metadata).ok()
}

/// What reads of these lengths request, at places all over the array.
pub(super) fn requests(array: &Array, lengths: &[u64]) -> Result<Requests, ReportError> {
    let free = array.shape().iter().zip(lengths).map(|(all, length)| all - length);
    let free: Vec<u64> = free.collect();
    let places = if free.iter().all(|free| *free == 0) { 1 } else { PLACES };
    let mut sum = Requests::default();
    for place in 0..places {
        let starts = free.iter().zip(spread(place, free.len()));
        let region: Selection = starts
            .zip(lengths)
            .map(|((free, at), length)| {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "below the length of the axis"
                )]
                let start = (at * (real(*free) + 1.0)) as u64;
                let start = start.min(*free);
                AxisSelection::from(start..start.saturating_add(*length))
            })
            .collect();
        let plan = array.layout().plan(&region)?;
        let planned = plan.len().min(PLANNED);
        let share = real(plan.len()) / real(planned.max(1)) / real(places);
        for number in order(plan.len()).take(usize::try_from(planned).unwrap_or(usize::MAX)) {
            for chunk in plan.chunks(number..number + 1)? {
                let Some(reads) = chunk.reads(array)? else { continue };
                let checksum = if reads.index.is_some() { CHECKSUM } else { 0 };
                sum.objects += share;
                sum.requests += share * real(reads.requests());
                sum.bytes += share * real(reads.bytes().saturating_add(checksum));
            }
        }
    }
    // Of the objects alone, the average over all places is known.
    let object: Vec<u64> = array.grid().axes().iter().map(Axis::max_edge).collect();
    let exact = touched(array.shape(), &object, lengths) / sum.objects.max(f64::MIN_POSITIVE);
    sum.objects *= exact;
    sum.requests *= exact;
    sum.bytes *= exact;
    Ok(sum)
}

/// A place between 0 and 1 on each axis. The first ones are spread evenly over all axes together:
/// steps of powers of the root of x^(axes + 1) = x + 1.
pub(super) fn spread(place: u64, axes: usize) -> impl Iterator<Item = f64> {
    let power = 1.0 / (real(u64::try_from(axes).unwrap_or(u64::MAX)) + 1.0);
    let root = (0..32).fold(1.5_f64, |root, _| (1.0 + root).powf(power));
    (0..axes).scan(1.0, move |step, _| {
        *step /= root;
        Some((0.5 + *step * real(place)).fract())
    })
}
