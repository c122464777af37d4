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

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use zarr_codec::{AnyChunkCodec, Options, ReadUnits};
use zarr_grid::SelectedChunks;
use zarr_metadata::{ArrayBuilder, ChunkGrid, Codec, DataType, FillValue, RawBits};

use crate::array::Array;
use crate::array::recent::Recent;
use crate::counts::{PerAxis, bytes_of, narrow, wide};
use crate::parallel;
use crate::selection::AnySelection;
use crate::store::{MemoryStore, Prefix, Version};
use units::Units;

mod units;

/// Bytes between two rows of a window that are copied with them: a range costs as much as copying
/// these.
const NEAR: u64 = 256;

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
        let (touched, wanted) = match selection {
            AnySelection::Product(selection) => {
                let selected = units.layout().select(selection).ok()?;
                (selected.len(), self.region_at_once(&units, &selected))
            }
            AnySelection::Points(points) => {
                let all = units.grid().occupied_chunks().unwrap_or(u64::MAX);
                (wide(points.len()).min(all), None)
            }
        };
        if narrow(touched).saturating_mul(largest) > cache.kept.limit() {
            return None;
        }
        let array = Self { cache: None, ..self.clone() };
        let store = Units::new(array, units.layout().clone(), Arc::clone(cache), wanted);
        let settings = Self {
            hierarchy: units.hierarchy,
            shared: units.shared,
            cache: None,
            range_cost: Some(NEAR),
            ..self.clone()
        };
        Some(settings.with_store(Arc::new(store)))
    }

    /// The region of the units that a selection touches, if the units of an object are to be read at
    /// once: a request takes long, and the selection has no gaps. From a store that is near, each is
    /// read alone, by as many threads as there are.
    fn region_at_once(
        &self,
        units: &Self,
        selected: &SelectedChunks<'_>,
    ) -> Option<Vec<Range<u64>>> {
        if self.store().capabilities().requests_in_flight <= parallel::cores() {
            return None;
        }
        let (mut first, mut last) = (PerAxis::new(), PerAxis::new());
        for axis in selected.axes() {
            let others = axis.parts().remaining().checked_sub(1)?;
            let start = axis.parts().next()?.chunk;
            let end = axis.parts().nth(narrow(others))?.chunk;
            if end.checked_sub(start)? > others {
                return None;
            }
            first.push(start);
            last.push(end);
        }
        let region = |chunk: &[u64]| units.layout().chunk_region(chunk).ok();
        let (first, last) = (region(&first)?, region(&last)?);
        Some(first.iter().zip(&last).map(|(first, last)| first.start..last.end).collect())
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

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
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
