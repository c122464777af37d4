//! A cache of decoded chunks, within a limit: windows that are read again cost a copy.
//!
//! A handle with a cache reads through a second array of the same shape. The chunks of that array are
//! units: the inner chunks of shards, and chunks that are no shards. Its only codec is `bytes`, and its
//! store, [`Units`], answers with units that are kept, or decodes them with the array itself. So every
//! selection is read as of any other array.
//!
//! 1. A unit counts while the version of its object is the one of which it was decoded. Each read looks
//!    that version up once per object.
//! 2. All units of an object that a read uses are of one version.
//! 3. What cannot be so read, for any reason, is read as without the cache: a fault is reported by the
//!    same error, and nothing depends on what is kept.

use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use zarr_codec::{AnyChunkCodec, Options, ReadUnits, Slice};
use zarr_metadata::{ArrayBuilder, ChunkGrid, Codec, DataType, FillValue, RawBits};
use zarr_view::{CopyError, Output, View};

use crate::array::Array;
use crate::array::read::region_reader::RegionReader;
use crate::array::recent::Recent;
use crate::array::worker::ChunkBuffers;
use crate::counts::{PerAxis, bytes_of, narrow, wide};
use crate::error::{ArrayError, grid_error};
use crate::layout::ChunkLayout;
use crate::selection::AnySelection;
use crate::store::{
    Capabilities, DirEntry, GetInto, Key, Links, Listing, LockGuard, MemoryStore, ObjectMeta,
    Operation, Prefix, PutMode, PutOutcome, ReadRange, Store, StoreError, Version,
};
use crate::transfer::ChunkRegion;

/// Bytes between two rows of a window that are copied with them: a range costs as much as copying
/// these.
const NEAR: u64 = 256;

/// How long after a write the clock of a file system may give another write the same time.
const TICK: Duration = Duration::from_millis(50);

/// After so many reads in a row that failed because of what the store tells of versions, it is no
/// accident: a server refuses look-ups, or its look-ups and reads tell different versions.
const FUTILE: u32 = 3;

/// The same, where all times are whole seconds, or every other second.
const LONG_TICK: Duration = Duration::from_millis(2050);

/// The units of an array that are kept, shared by its handles.
pub(super) struct Cache {
    kept: Recent<Unit>,
    /// The array of units, and the cost of the largest; `None` if the array is read without the cache.
    units: OnceLock<Option<(Array, usize)>>,
    /// Whether the store turned out to tell no versions that the cache can use.
    is_off: AtomicBool,
    /// How many reads in a row failed because of what the store tells of versions.
    futile: AtomicU32,
}

/// A unit, and the version of its object.
#[derive(Clone, Debug)]
struct Unit {
    elements: Arc<Vec<u8>>,
    version: Version,
}

impl Cache {
    fn new(bytes: usize) -> Self {
        let (kept, units) = (Recent::new(bytes), OnceLock::new());
        Self { kept, units, is_off: AtomicBool::new(false), futile: AtomicU32::new(0) }
    }

    /// An empty one with the same limit, for another array.
    pub(super) fn emptied(&self) -> Arc<Self> {
        Arc::new(Self::new(self.kept.limit()))
    }
}

impl Array {
    /// Keeps decoded chunks in memory, of shards the inner chunks, up to this number of bytes: elements
    /// that are read again cost a copy. Clones made afterwards share them. With 0, the default, nothing
    /// is kept. Where shards are nested, the inner chunks of the outermost shard are kept.
    ///
    /// Each read asks the store for the version of each object that it touches. What was decoded of
    /// another version is dropped, so reads see every write that changes the version: those through
    /// other handles and of other processes too. The version of a file is its time and size, as is that
    /// of an object on a server without ETags. A file that is mapped into memory and changed in place
    /// may keep its version, and so may an object that is replaced within a second on a server whose
    /// clock is behind. What was used longest ago makes room for others.
    ///
    /// A read that touches a chunk or inner chunk decodes all of it. Without the cache are: reads that
    /// touch more than fits into it, arrays with a chunk (of shards, an inner chunk) larger than the limit,
    /// strings and byte strings, virtual joins, stores that tell no versions or refuse look-ups, and
    /// objects that were written in the last 50 milliseconds, whose next version may have the same time
    /// (2 seconds where the store has times in whole seconds).
    ///
    /// A handle with a cache gets another store ([`with_store`](Self::with_store)) only if the objects
    /// are the same: equal versions there mean equal bytes.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, Codec, DataType};
    /// let shards = [Codec::sharding([2, 2], [Codec::bytes(), Codec::zstd(3)])];
    /// let builder = ArrayBuilder::new([8, 8], DataType::Uint8).chunk_shape([8, 8]).codecs(shards);
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), builder.build()?)?;
    /// let array = array.with_cache(64 << 20);
    /// array.write([2..4, 1..3], &[1, 2, 3, 4])?;
    /// assert_eq!(array.read([2..4, 1..3])?, [1, 2, 3, 4]); // decodes two inner chunks
    /// assert_eq!(array.read([3..5, 0..2])?, [0, 3, 0, 0]); // decodes one more
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_cache(mut self, bytes: usize) -> Self {
        if self.cache.as_ref().map_or(0, |cache| cache.kept.limit()) != bytes {
            self.cache = (bytes > 0).then(|| Arc::new(Cache::new(bytes)));
        }
        self
    }

    /// The array through which a read of so many bytes goes; `None` without the cache.
    pub(super) fn through_cache(&self, selection: &AnySelection, length: usize) -> Option<Self> {
        let cache = self.cache.as_ref()?;
        if length == 0 || length > cache.kept.limit() || cache.is_off.load(Ordering::Relaxed) {
            return None;
        }
        let units = cache.units.get_or_init(|| self.array_of_units(cache.kept.limit()));
        let (units, largest) = units.as_ref()?.clone();
        let touched = match selection {
            AnySelection::Product(selection) => units.layout().select(selection).ok()?.len(),
            AnySelection::Points(points) => {
                wide(points.len()).min(units.grid().occupied_chunks().unwrap_or(u64::MAX))
            }
        };
        if narrow(touched).saturating_mul(largest) > cache.kept.limit() {
            return None;
        }
        let store = Units {
            array: Self { cache: None, ..self.clone() }.with_threads(NonZeroUsize::MIN),
            layout: units.layout().clone(),
            cache: Arc::clone(cache),
            versions: Mutex::default(),
            is_futile: AtomicBool::new(false),
        };
        let settings = Self {
            hierarchy: units.hierarchy,
            shared: units.shared,
            cache: None,
            range_cost: Some(NEAR),
            ..self.clone()
        };
        Some(settings.with_store(Arc::new(store)))
    }

    /// An array of the same shape with units as chunks and elements as raw bytes; `None` if the array
    /// has no units that could be kept.
    fn array_of_units(&self, limit: usize) -> Option<(Self, usize)> {
        let size = self.element_size();
        let raw = RawBits::new(size).filter(|_| self.members().is_none())?;
        let first: Vec<u64> =
            self.grid().axes().iter().map(|axis| axis.edge(0)).collect::<Option<_>>()?;
        let AnyChunkCodec::Fixed(codec) = self.chunk_codec(&first).ok()? else { return None };
        let grid = match codec.units() {
            // All shards, of whatever shape, consist of whole inner chunks.
            ReadUnits::InnerChunks { shape, .. } => {
                let chunk_shape = shape.iter().map(|edge| wide(*edge).max(1)).collect();
                ChunkGrid::Regular { chunk_shape }
            }
            _ => self.metadata().chunk_grid().clone(),
        };
        let data_type = DataType::RawBits(raw);
        let fill = FillValue::from_bytes(&data_type, self.fill()).ok()?;
        let builder = ArrayBuilder::new(self.shape(), data_type).chunk_grid(grid);
        let metadata = builder.codecs([Codec::bytes()]).fill_value(fill).build().ok()?;
        let (nowhere, root) = (Arc::new(MemoryStore::new()), Prefix::root());
        let units = Self::with_metadata(nowhere, &root, metadata, Options::new()).ok()?;
        let edges = units.grid().axes().iter().map(|axis| narrow(axis.max_edge()));
        let largest = bytes_of(&edges.collect::<PerAxis<usize>>(), size)?;
        let cost = Recent::<Unit>::cost(first.len(), largest);
        (cost <= limit).then_some((units, cost))
    }
}

/// The store of the units during one read: its objects are units that are kept, or are decoded for it.
struct Units {
    /// The array itself, without the cache, on one thread.
    array: Array,
    layout: ChunkLayout,
    cache: Arc<Cache>,
    /// By the number of the object's chunk.
    versions: Mutex<HashMap<Vec<u64>, Arc<OnceLock<Seen>>>>,
    /// Whether this read counts as futile.
    is_futile: AtomicBool,
}

/// An object as this read sees it.
#[derive(Clone)]
enum Seen {
    Missing,
    Version(Version),
    /// It has no version, or the next one may look like it, or the look-up failed.
    Unclear,
}

impl Units {
    /// The elements of the unit with this key; `None` if its object is missing.
    fn unit(&self, key: &Key) -> Result<Option<Unit>, ArrayError> {
        let unclear = || StoreError::unsupported(Operation::Get, key, "version");
        let unit = self.layout.chunk_of_key(key).ok_or_else(unclear)?;
        let grid = |cause| grid_error(self.array.prefix(), cause);
        let region = self.layout.chunk_region(&unit).map_err(grid)?;
        let starts: PerAxis<u64> = region.iter().map(|range| range.start).collect();
        let (chunk, within) = self.array.layout().locate(&starts).map_err(grid)?;
        let object = self.array.layout().key(&chunk)?;
        let version = match self.seen(&chunk, &object) {
            Seen::Version(version) => version,
            Seen::Unclear => return Err(unclear().into()),
            Seen::Missing => {
                self.cache.kept.remove(&unit);
                return Ok(None);
            }
        };
        if let Some(kept) = self.cache.kept.get(&unit).filter(|kept| kept.version == version) {
            return Ok(Some(kept));
        }
        let lengths: PerAxis<usize> =
            region.iter().map(|range| narrow(range.end.saturating_sub(range.start))).collect();
        let boxed =
            |start: &u64, count: &usize| Slice { start: narrow(*start), count: *count, step: 1 };
        let in_chunk: PerAxis<Slice> =
            within.iter().zip(&lengths).map(|(start, count)| boxed(start, count)).collect();
        let is_whole = self.array.layout().chunk_region(&chunk).map_err(grid)? == region;
        let shape = self.layout.chunk_shape(&unit).map_err(grid)?;
        let shape: PerAxis<usize> = shape.iter().map(|edge| narrow(*edge)).collect();
        let chunk_shape = self.array.layout().chunk_shape(&chunk).map_err(grid)?;
        let part = ChunkRegion::of_chunk(&chunk, &chunk_shape, &in_chunk, is_whole);
        let (elements, read) = self.decoded(&part, object, &shape, &lengths)?;
        if read.as_ref() != Some(&version) {
            self.count_as_futile();
            return Err(unclear().into());
        }
        self.cache.futile.store(0, Ordering::Relaxed);
        let unit_of = Unit { elements: Arc::new(elements), version };
        self.cache.kept.insert(&unit, unit_of.clone(), unit_of.elements.len());
        Ok(Some(unit_of))
    }

    /// How this read sees an object. One thread looks it up, and others wait for it.
    fn seen(&self, chunk: &[u64], object: &Key) -> Seen {
        let seen = {
            let mut versions = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(versions.entry(chunk.to_vec()).or_default())
        };
        let look = || match self.array.store().head(object) {
            Ok(None) => Seen::Missing,
            Ok(Some(ObjectMeta { version: None, .. })) => {
                self.cache.is_off.store(true, Ordering::Relaxed);
                Seen::Unclear
            }
            Ok(Some(ObjectMeta { version: Some(version), modified, .. }))
                if modified.is_none_or(is_past) =>
            {
                Seen::Version(version)
            }
            Ok(Some(_)) => Seen::Unclear,
            Err(error) => {
                if error.cannot_list() {
                    self.count_as_futile();
                }
                Seen::Unclear
            }
        };
        seen.get_or_init(look).clone()
    }

    /// Counts the read, once, as one that failed because of what the store tells of versions.
    fn count_as_futile(&self) {
        let Cache { futile, is_off, .. } = &*self.cache;
        if !self.is_futile.swap(true, Ordering::Relaxed)
            && futile.fetch_add(1, Ordering::Relaxed).saturating_add(1) >= FUTILE
        {
            is_off.store(true, Ordering::Relaxed);
        }
    }

    /// Decodes a part of a chunk into a box of this shape, which it may fill in part, and the version of
    /// its object; `None` if the object is missing now.
    fn decoded(
        &self,
        part: &ChunkRegion<'_>,
        object: Key,
        shape: &[usize],
        lengths: &[usize],
    ) -> Result<(Vec<u8>, Option<Version>), ArrayError> {
        let array = &self.array;
        let view = View::contiguous(shape).map_err(CopyError::from)?;
        let size = array.element_size();
        let mut elements = zarr_view::zeroed(view.len().saturating_mul(size))?;
        let mut out = Output::new(&mut elements, &view, size)?;
        let ranges: PerAxis<_> = lengths.iter().map(|length| 0..*length).collect();
        let mut out = out.shrink(&ranges)?;
        let codec = array.fixed_codec(part.chunk_shape)?;
        let mut reader = RegionReader::new(array, part, object.clone(), &*codec, out.view())?;
        let ChunkBuffers { mut encoded, mut scratch, mut gathered, .. } = ChunkBuffers::default();
        while let Some(range) = reader.need() {
            let found = array.store().get(&object, range, &mut encoded);
            let buffers = (&mut scratch, &mut gathered);
            reader.supply(array, part, (found, &encoded), &mut out, buffers)?;
        }
        let version = reader.version().cloned();
        Ok((elements, version))
    }
}

/// Whether the clock has gone on since this time: what is written from now on has another.
fn is_past(modified: SystemTime) -> bool {
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    let tick = if since.subsec_nanos() == 0 { LONG_TICK } else { TICK };
    modified.elapsed().is_ok_and(|elapsed| elapsed >= tick)
}

impl std::fmt::Debug for Units {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Units").field("array", &self.array).finish_non_exhaustive()
    }
}

/// Only what reads of chunks ask for: nothing else reaches this store.
impl Store for Units {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        out.clear();
        let Some(unit) = self.found(key)? else { return Ok(None) };
        range.copy(key, &unit.elements, out)?;
        Ok(Some(unit.meta()))
    }

    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        let Some(unit) = self.found(key)? else { return Ok(GetInto::Missing) };
        if unit.elements.len() != out.len() {
            return Ok(GetInto::Unsupported);
        }
        out.copy_from_slice(&unit.elements);
        Ok(GetInto::Read(unit.meta()))
    }

    fn put_opts(
        &self,
        key: &Key,
        _: &[IoSlice<'_>],
        _: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        Err(StoreError::unsupported(Operation::Put, key, "writes"))
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        Err(StoreError::unsupported(Operation::Delete, key, "writes"))
    }

    fn list(&self, _: &Prefix, _: Links) -> Listing<'_, Key> {
        Box::new(std::iter::empty())
    }

    fn list_dir(&self, _: &Prefix) -> Listing<'_, DirEntry> {
        Box::new(std::iter::empty())
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        Err(StoreError::unsupported(Operation::Lock, key, "locks"))
    }

    /// As many threads decode at once as requests of the array's store may be in flight.
    fn capabilities(&self) -> Capabilities {
        let requests = self.array.store().capabilities().requests_in_flight;
        Capabilities::new().requests_in_flight(requests)
    }
}

impl Units {
    /// As [`unit`](Self::unit); whoever reads falls back on any error, so its text does not matter.
    fn found(&self, key: &Key) -> Result<Option<Unit>, StoreError> {
        let failed = |error| StoreError::io(Operation::Get, key, io::Error::other(error));
        self.unit(key).map_err(failed)
    }
}

impl Unit {
    fn meta(&self) -> ObjectMeta {
        let (size, version) = (wide(self.elements.len()), Some(self.version.clone()));
        ObjectMeta { size, version, modified: None }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Many threads read windows of an array of which few units fit, and never see more kept.
    #[test]
    fn no_more_than_the_limit_is_kept() {
        let builder = ArrayBuilder::new([64, 64], DataType::Uint8).chunk_shape([32, 64]);
        let metadata = builder.codecs([Codec::sharding([8, 16], [Codec::bytes()])]).build();
        let store = Arc::new(MemoryStore::new());
        let plain = Array::create(store, &Prefix::root(), metadata.unwrap()).unwrap();
        let all: Vec<u8> = (0..4096_u16).map(|n| n.to_le_bytes()[0] ^ n.to_le_bytes()[1]).collect();
        plain.write([0..64, 0..64], &all).unwrap();
        let unit = Recent::<Unit>::cost(2, 128);
        for fit in [1, 3, 40] {
            let array = plain.clone().with_cache(fit * unit + unit / 2);
            let kept = &array.cache.as_ref().unwrap().kept;
            thread::scope(|scope| {
                for first in 0..8_u64 {
                    let (array, all) = (array.clone().with_threads(NonZeroUsize::MIN), &all);
                    scope.spawn(move || {
                        for at in 0..200_u64 {
                            let (row, column) = ((at * 13 + first * 7) % 60, (at * 29) % 60);
                            let found = array.read([row..row + 4, column..column + 4]).unwrap();
                            let start = narrow(row * 64 + column);
                            assert_eq!(found[..4], all[start..start + 4]);
                            assert!(kept.is_consistent());
                        }
                    });
                }
            });
            // The array has 32 units.
            assert_eq!(kept.bytes(), fit.min(32) * unit);
        }
    }
}
