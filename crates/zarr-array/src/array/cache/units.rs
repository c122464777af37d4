//! The store of a cache during one read.

use std::collections::HashMap;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use zarr_codec::Slice;
use zarr_grid::ChunkPart;
use zarr_view::{CopyError, Output, View};

use super::{Cache, Unit};
use crate::array::Array;
use crate::array::read::region_reader::RegionReader;
use crate::array::settled::Asked;
use crate::array::worker::ChunkBuffers;
use crate::counts::{PerAxis, narrow, wide};
use crate::error::{ArrayError, grid_error};
use crate::layout::ChunkLayout;
use crate::store::{
    Capabilities, DirEntry, GetInto, Key, Links, Listing, ObjectMeta, Operation, Prefix, ReadRange,
    Store, StoreError, Version,
};
use crate::transfer::ChunkRegion;

/// After so many reads in a row that failed because of what the store tells of versions, it is no
/// accident: a server refuses look-ups, or its look-ups and reads tell different versions.
const FUTILE: u32 = 3;

/// The store of the units during one read: its objects are units that are kept, or are decoded for it.
pub(super) struct Units {
    /// The array itself, without the cache, on one thread.
    array: Array,
    layout: ChunkLayout,
    cache: Arc<Cache>,
    /// The region that is read, of whole units, where the missing units of an object are read at once;
    /// `None` where each is read alone.
    wanted: Option<Vec<Range<u64>>>,
    /// By the number of the object's chunk.
    objects: Mutex<HashMap<Vec<u64>, Arc<Object>>>,
    /// Whether this read counts as futile.
    is_futile: AtomicBool,
}

/// An object as this read sees it.
#[derive(Default)]
struct Object {
    seen: OnceLock<Seen>,
    /// The units that were read at once; `None` if that failed.
    decoded: OnceLock<Option<HashMap<Vec<u64>, Unit>>>,
}

/// The version of an object.
enum Seen {
    Missing,
    Version(Version),
    /// It has no version, or the next one may look like it, or the look-up failed.
    Unclear,
}

impl Units {
    /// A read of an array without a cache: of this region, if its missing units are read at once.
    pub(super) fn new(
        array: Array,
        layout: ChunkLayout,
        cache: Arc<Cache>,
        wanted: Option<Vec<Range<u64>>>,
    ) -> Self {
        let (array, objects) = (array.with_threads(NonZeroUsize::MIN), Mutex::default());
        Self { array, layout, cache, wanted, objects, is_futile: AtomicBool::new(false) }
    }

    /// The elements of the unit with this key; `None` if its object is missing.
    fn unit(&self, key: &Key) -> Result<Option<Unit>, ArrayError> {
        let unclear = || StoreError::unsupported(Operation::Get, key, "version");
        let unit = self.layout.chunk_of_key(key).ok_or_else(unclear)?;
        let grid = |cause| grid_error(self.array.prefix(), cause);
        let region = self.layout.chunk_region(&unit).map_err(grid)?;
        let starts: PerAxis<u64> = region.iter().map(|range| range.start).collect();
        let (chunk, _) = self.array.layout().locate(&starts).map_err(grid)?;
        let object = {
            let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(objects.entry(chunk.clone()).or_default())
        };
        let version = match self.seen(&object, &self.array.layout().key(&chunk)?) {
            Seen::Version(version) => version,
            Seen::Unclear => return Err(unclear().into()),
            Seen::Missing => {
                self.cache.kept.remove(&unit);
                return Ok(None);
            }
        };
        if let Some(kept) = self.kept(&unit, version) {
            return Ok(Some(kept));
        }
        if let Some(wanted) = &self.wanted {
            let decode = || self.decode_missing(&chunk, wanted, version).ok();
            let decoded = object.decoded.get_or_init(decode).as_ref().ok_or_else(unclear)?;
            if let Some(unit) = decoded.get(&unit) {
                return Ok(Some(unit.clone()));
            }
        }
        Ok(self.decode(&chunk, &region, version)?.remove(&unit))
    }

    /// A unit that is kept, of this version.
    fn kept(&self, unit: &[u64], version: &Version) -> Option<Unit> {
        self.cache.kept.get(unit).filter(|kept| kept.version == *version)
    }

    /// Decodes by one read all units of a chunk that this read wants and that are not kept, and those
    /// between them.
    fn decode_missing(
        &self,
        chunk: &[u64],
        wanted: &[Range<u64>],
        version: &Version,
    ) -> Result<HashMap<Vec<u64>, Unit>, ArrayError> {
        let grid = |cause| grid_error(self.array.prefix(), cause);
        let all = self.array.layout().chunk_region(chunk).map_err(grid)?;
        let both = |(a, b): (&Range<u64>, &Range<u64>)| a.start.max(b.start)..a.end.min(b.end);
        let wanted: PerAxis<Range<u64>> = all.iter().zip(wanted).map(both).collect();
        let mut region: Option<Vec<Range<u64>>> = None;
        let mut parts = self.layout.grid().chunks(&wanted).map_err(grid)?;
        while let Some(part) = parts.next_part() {
            if self.kept(part.chunk(), version).is_some() {
                continue;
            }
            let unit = self.layout.chunk_region(part.chunk()).map_err(grid)?;
            match &mut region {
                None => region = Some(unit),
                Some(region) => {
                    for (range, unit) in region.iter_mut().zip(&unit) {
                        *range = range.start.min(unit.start)..range.end.max(unit.end);
                    }
                }
            }
        }
        region.map_or_else(|| Ok(HashMap::new()), |region| self.decode(chunk, &region, version))
    }

    /// Decodes the units of a chunk in a region, which consists of them, and keeps them. An error if
    /// the chunk's object has another version.
    fn decode(
        &self,
        chunk: &[u64],
        region: &[Range<u64>],
        version: &Version,
    ) -> Result<HashMap<Vec<u64>, Unit>, ArrayError> {
        let grid = |cause| grid_error(self.array.prefix(), cause);
        let (layout, size) = (self.array.layout(), self.array.element_size());
        let of_chunk = layout.chunk_region(chunk).map_err(grid)?;
        let starts: PerAxis<u64> = region.iter().map(|range| range.start).collect();
        let (_, within) = layout.locate(&starts).map_err(grid)?;
        let lengths = lengths(region);
        let boxed = |(start, count): (&u64, &usize)| Slice {
            start: narrow(*start),
            count: *count,
            step: 1,
        };
        let in_chunk: PerAxis<Slice> = within.iter().zip(&lengths).map(boxed).collect();
        let chunk_shape = layout.chunk_shape(chunk).map_err(grid)?;
        let part = ChunkRegion::of_chunk(chunk, &chunk_shape, &in_chunk, of_chunk == region);
        let mut parts = self.layout.grid().chunks(region).map_err(grid)?;
        let key = layout.key(chunk)?;
        let mut units = HashMap::new();
        if parts.len() == 1
            && let Some(unit) = parts.next_part()
        {
            let read = |out: Output<'_>| self.read_part(&part, key, version, out);
            units.insert(unit.chunk().to_vec(), self.unit_of(unit, version, read)?);
        } else {
            let view = View::contiguous(&lengths).map_err(CopyError::from)?;
            let mut elements = zarr_view::zeroed(view.len().saturating_mul(size))?;
            self.read_part(&part, key, version, Output::new(&mut elements, &view, size)?)?;
            while let Some(unit) = parts.next_part() {
                let ranges = unit.axes().iter().map(|axis| {
                    let range = axis.in_selection();
                    narrow(range.start)..narrow(range.end)
                });
                let ranges: PerAxis<Range<usize>> = ranges.collect();
                let from = view.shrink(&ranges).map_err(CopyError::from)?;
                let copy = |mut out: Output<'_>| {
                    Ok(out.copy_from(&from, &elements, out.element(), &[])?)
                };
                units.insert(unit.chunk().to_vec(), self.unit_of(unit, version, copy)?);
            }
        }
        self.cache.futile.store(0, Ordering::Relaxed);
        for (unit, of) in &units {
            self.cache.kept.insert(unit, of.clone(), of.elements.len());
        }
        Ok(units)
    }

    /// A unit with the elements that are put into its part of the array; it may reach beyond.
    fn unit_of(
        &self,
        unit: &ChunkPart<'_>,
        version: &Version,
        put: impl FnOnce(Output<'_>) -> Result<(), ArrayError>,
    ) -> Result<Unit, ArrayError> {
        let size = self.array.element_size();
        let shape: PerAxis<usize> = unit.chunk_shape().iter().map(|edge| narrow(*edge)).collect();
        let view = View::contiguous(&shape).map_err(CopyError::from)?;
        let mut elements = zarr_view::zeroed(view.len().saturating_mul(size))?;
        let ranges: PerAxis<_> = unit.axes().iter().map(|axis| 0..narrow(axis.len())).collect();
        put(Output::new(&mut elements, &view, size)?.shrink(&ranges)?)?;
        Ok(Unit { elements: Arc::new(elements), version: version.clone() })
    }

    /// How this read sees an object. One thread looks it up, and others wait for it.
    fn seen<'o>(&self, object: &'o Object, key: &Key) -> &'o Seen {
        let look = || {
            let asked = Asked::now(&self.array);
            match self.array.store().head(key) {
                Ok(None) => Seen::Missing,
                Ok(Some(ObjectMeta { version: None, .. })) => {
                    self.cache.is_off.store(true, Ordering::Relaxed);
                    Seen::Unclear
                }
                Ok(Some(meta)) if !asked.is_settled(&meta) => Seen::Unclear,
                Ok(Some(ObjectMeta { version: Some(version), .. })) => Seen::Version(version),
                Err(error) => {
                    if error.cannot_list() {
                        self.count_as_futile();
                    }
                    Seen::Unclear
                }
            }
        };
        object.seen.get_or_init(look)
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

    /// Reads a part of a chunk, whose object must have this version.
    fn read_part(
        &self,
        part: &ChunkRegion<'_>,
        object: Key,
        version: &Version,
        mut out: Output<'_>,
    ) -> Result<(), ArrayError> {
        let array = &self.array;
        let codec = array.fixed_codec(part.chunk_shape)?;
        let mut reader = RegionReader::new(array, part, object, &*codec, out.view())?;
        reader.read(array, part, &mut out, &mut ChunkBuffers::default())?;
        if reader.version() != Some(version) {
            self.count_as_futile();
            return Err(StoreError::unsupported(Operation::Get, reader.key(), "version").into());
        }
        Ok(())
    }
}

fn lengths(region: &[Range<u64>]) -> PerAxis<usize> {
    region.iter().map(|range| narrow(range.end - range.start)).collect()
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

    fn list(&self, _: &Prefix, _: Links) -> Listing<'_, Key> {
        Box::new(std::iter::empty())
    }

    fn list_dir(&self, _: &Prefix) -> Listing<'_, DirEntry> {
        Box::new(std::iter::empty())
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
