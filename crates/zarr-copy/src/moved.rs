//! Encoded chunks that move between plain chunks and shards, and are not decoded.
//!
//! A *unit* is what is encoded as a whole: a plain chunk, or an inner chunk of a shard. If the
//! units of source and target have the same place, shape, codecs and fill value, their bytes are
//! equal, too. So each chunk of the target is assembled from units of the source as they are stored,
//! also damaged ones. A unit that is not stored is not stored in the target.

use std::collections::{BTreeMap, HashMap};
use std::io::IoSlice;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use zarr_array::store::ReadRange;
use zarr_array::{Array, ArrayError, ShardContent, parallel};
use zarr_codec::{NewInnerChunks, Scratch, ShardPiece};
use zarr_grid::Axis;
use zarr_metadata::Codec;
use zarr_store::{Key, StoreExt as _};

use crate::error::{TransferError, grid_error, source, target};
use crate::parts::Share;
use crate::tasks::budget::{largest, size_of_elements};

/// Chunks of the target between two looks at the marker.
const BATCH: usize = 256;

/// Small units of one shard share a request, up to this many bytes and units.
const REQUEST: u64 = 4 << 20;
const UNITS_PER_REQUEST: usize = 1024;

/// How units move from one array to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moves {
    /// The shape of a unit.
    edges: Vec<u64>,
    /// Whether they are inner chunks of the source.
    from_shards: bool,
    /// Whether they are inner chunks of the target.
    to_shards: bool,
}

/// The units of an array, of one kind.
struct Units<'m> {
    edges: Vec<u64>,
    codecs: &'m [Codec],
    are_inner: bool,
}

impl Moves {
    /// `None` if the source's units are not the target's.
    pub(crate) fn of(from: &Array, to: &Array) -> Option<Self> {
        if from.members().is_some() || from.metadata().fill_value() != to.metadata().fill_value() {
            return None;
        }
        let targets = units(to);
        units(from).into_iter().find_map(|of_source| {
            let is_same = |of_target: &&Units<'_>| {
                of_target.edges == of_source.edges && of_target.codecs == of_source.codecs
            };
            let of_target = targets.iter().find(is_same)?;
            Some(Self {
                edges: of_source.edges,
                from_shards: of_source.are_inner,
                to_shards: of_target.are_inner,
            })
        })
    }

    /// The number of units of arrays of this shape.
    pub(crate) fn count(&self, shape: &[u64]) -> u64 {
        let axes = shape.iter().zip(&self.edges);
        axes.fold(1, |all, (length, edge)| all.saturating_mul(length.div_ceil((*edge).max(1))))
    }

    /// The numbers of the units, on each axis, with elements in these ranges.
    fn units_in(&self, ranges: &[Range<u64>]) -> Vec<Range<u64>> {
        let axes = ranges.iter().zip(&self.edges);
        // No edge is 0.
        let at = |element: u64, edge: u64| element.checked_div(edge).unwrap_or(0);
        axes.map(|(range, edge)| at(range.start, *edge)..range.end.div_ceil((*edge).max(1)))
            .collect()
    }
}

/// The chunks of an array, if all have one shape, and the inner chunks of its shards.
fn units(array: &Array) -> Vec<Units<'_>> {
    let codecs = array.metadata().codecs();
    let edges: Option<Vec<u64>> = array.grid().axes().iter().map(Axis::regular_edge).collect();
    let plain = edges.map(|edges| Units { edges, codecs, are_inner: false });
    let inner = match codecs {
        [Codec::ShardingIndexed(shards)] => Some(Units {
            edges: shards.chunk_shape.clone(),
            codecs: &shards.codecs,
            are_inner: true,
        }),
        _ => None,
    };
    plain.into_iter().chain(inner).collect()
}

/// The numbers on each axis, in C order.
fn each_of(ranges: &[Range<u64>]) -> impl Iterator<Item = Vec<u64>> {
    let counts: Vec<u64> =
        ranges.iter().map(|range| range.end.saturating_sub(range.start)).collect();
    let all = counts.iter().fold(1, |all: u64, count| all.saturating_mul(*count));
    (0..all).filter_map(move |number| {
        let within = zarr_grid::unravel(number, &counts)?;
        let at = within.iter().zip(ranges).map(|(at, range)| range.start.saturating_add(*at));
        Some(at.collect())
    })
}

/// Moves the units of a copy.
pub(crate) struct Mover<'a> {
    pub(crate) moves: &'a Moves,
    pub(crate) from: &'a Array,
    pub(crate) to: &'a Array,
    pub(crate) share: &'a Share<'a>,
    /// Bytes that encoded units may take in memory.
    pub(crate) memory: u64,
}

/// The shards of the source that a batch needs, by their index; `None` if one is not stored.
type Contents = HashMap<Vec<u64>, Option<ShardContent>>;

/// Units of one object of the source, by their number in the chunk of the target.
struct Request {
    key: Key,
    /// `None`: the whole object is one unit.
    ranges: Option<Vec<Range<u64>>>,
    numbers: Vec<usize>,
}

/// The reason why a chunk was not moved.
enum Failed {
    /// Its units take more than the memory that it may use now.
    Large,
    Error(TransferError),
}

impl From<TransferError> for Failed {
    fn from(error: TransferError) -> Self {
        Self::Error(error)
    }
}

impl Mover<'_> {
    /// Moves these chunks of the target. Returns the bytes that were put.
    pub(crate) fn run(&self, chunks: &[Vec<u64>]) -> Result<u64, TransferError> {
        let bytes = AtomicU64::new(0);
        let mut contents = Contents::new();
        for batch in chunks.chunks(BATCH) {
            self.load(batch, &mut contents)?;
            self.share.check()?;
            let (at_once, memory) = self.at_once();
            let large = Mutex::new(Vec::new());
            parallel::each(batch, at_once, |chunk| {
                match self.chunk(chunk, &contents, at_once, memory) {
                    Ok(put) => {
                        bytes.fetch_add(put, Ordering::Relaxed);
                        Ok(())
                    }
                    Err(Failed::Large) => {
                        large.lock().unwrap_or_else(PoisonError::into_inner).push(chunk.clone());
                        Ok(())
                    }
                    Err(Failed::Error(error)) => Err(error),
                }
            })?;
            // Those that need more than their part of the memory, one at a time.
            for chunk in large.into_inner().unwrap_or_else(PoisonError::into_inner) {
                match self.chunk(&chunk, &contents, NonZeroUsize::MIN, self.memory) {
                    Ok(put) => bytes.fetch_add(put, Ordering::Relaxed),
                    Err(Failed::Large) => return Err(self.too_large(&chunk, &contents)?),
                    Err(Failed::Error(error)) => return Err(error),
                };
            }
        }
        Ok(bytes.into_inner())
    }

    /// How many chunks are moved at once, and the memory of each: as many as fit if no unit is larger
    /// than its elements.
    fn at_once(&self) -> (NonZeroUsize, u64) {
        let one = largest(self.to.grid()).saturating_mul(size_of_elements(self.to));
        let fit = self.memory.checked_div(one.max(1)).unwrap_or(1);
        let fit = NonZeroUsize::new(usize::try_from(fit).unwrap_or(usize::MAX));
        let at_once = fit.unwrap_or(NonZeroUsize::MIN).min(self.requests());
        let parts = u64::try_from(at_once.get()).unwrap_or(u64::MAX);
        (at_once, self.memory.checked_div(parts).unwrap_or(self.memory))
    }

    /// The requests that the stores answer at once.
    fn requests(&self) -> NonZeroUsize {
        parallel::requests(&**self.from.store()).max(parallel::requests(&**self.to.store()))
    }

    /// Reads the indices of the shards of the source that these chunks need, and forgets others.
    fn load(&self, chunks: &[Vec<u64>], contents: &mut Contents) -> Result<(), TransferError> {
        if !self.moves.from_shards {
            return Ok(());
        }
        let mut needed = Contents::new();
        let mut missing = Vec::new();
        for chunk in chunks {
            let region = self.region(chunk)?;
            let parts = self.from.grid().chunks(&region);
            let mut parts = parts.map_err(|error| grid_error(self.to, error))?;
            while let Some(part) = parts.next_part() {
                let shard = part.chunk().to_vec();
                if let Some(known) = contents.remove(&shard) {
                    needed.insert(shard, known);
                } else if !needed.contains_key(&shard) {
                    needed.insert(shard.clone(), None);
                    missing.push(shard);
                }
            }
        }
        let read = parallel::map(&missing, parallel::requests(&**self.from.store()), |shard| {
            self.from.shard_content(shard, None).map_err(source)
        })?;
        needed.extend(missing.into_iter().zip(read));
        *contents = needed;
        Ok(())
    }

    /// The elements of a chunk of the target within the array.
    fn region(&self, chunk: &[u64]) -> Result<Vec<Range<u64>>, TransferError> {
        self.to.layout().chunk_region(chunk).map_err(|error| grid_error(self.to, error))
    }

    /// Moves one chunk of the target, unless none of its units is stored.
    fn chunk(
        &self,
        chunk: &[u64],
        contents: &Contents,
        at_once: NonZeroUsize,
        memory: u64,
    ) -> Result<u64, Failed> {
        let requests = self.requests_of(chunk, contents)?;
        let known = requests.iter().flat_map(|request| request.ranges.iter().flatten());
        if known.fold(0, |sum: u64, range| sum.saturating_add(len(range))) > memory {
            return Err(Failed::Large);
        }
        let held = AtomicU64::new(0);
        let threads = self.requests().get().checked_div(at_once.get());
        let threads = threads.and_then(NonZeroUsize::new).unwrap_or(NonZeroUsize::MIN);
        let read = parallel::map(&requests, threads, |request| {
            let units = self.read(request)?;
            let bytes = units.iter().map(|(_, bytes)| wide(bytes.len())).sum::<u64>();
            match held.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > memory {
                true => Err(Failed::Large),
                false => Ok(units),
            }
        })?;
        Ok(self.put(chunk, read.into_iter().flatten().collect())?)
    }

    /// Puts the chunk of the target that has these units.
    fn put(&self, chunk: &[u64], units: Vec<(usize, Vec<u8>)>) -> Result<u64, TransferError> {
        let key = self.to.layout().key(chunk)?;
        let store = self.to.store();
        if !self.moves.to_shards {
            let Some((_, bytes)) = units.into_iter().next() else { return Ok(0) };
            store.put(&key, &bytes)?;
            return Ok(wide(bytes.len()));
        }
        // A late put of an overtaken run must find an object, even one without inner chunks.
        if units.is_empty() && self.share.trusts_objects() {
            return Ok(0);
        }
        let failed = |cause| target(ArrayError::Chunk { key: key.to_string(), cause });
        let shape = self.to.layout().chunk_shape(chunk);
        let shape = shape.map_err(|error| grid_error(self.to, error))?;
        let codec = self.to.chunk_codec(&shape).map_err(target)?;
        let (shard, _) = codec.plain_shard().expect("its only codec makes shards");
        let new: NewInnerChunks =
            units.into_iter().map(|(number, bytes)| (number, Some(bytes))).collect();
        let mut index = Vec::new();
        let assembled = shard.rewrite(None, &new, &mut index, &mut Scratch::new());
        let (pieces, _) = assembled.map_err(failed)?;
        let pieces: Vec<IoSlice<'_>> = pieces
            .iter()
            .filter_map(|piece| match piece {
                ShardPiece::New(bytes) => Some(IoSlice::new(bytes)),
                ShardPiece::Old(_) => None,
            })
            .collect();
        store.put_vectored(&key, &pieces)?;
        Ok(pieces.iter().map(|piece| wide(piece.len())).sum())
    }

    /// The units of a chunk of the target, as they are to be read.
    fn requests_of(
        &self,
        chunk: &[u64],
        contents: &Contents,
    ) -> Result<Vec<Request>, TransferError> {
        let units = self.moves.units_in(&self.region(chunk)?);
        let number_of = |unit: &[u64]| self.number_in_target(chunk, &units, unit);
        if !self.moves.from_shards {
            let requests = each_of(&units).map(|unit| {
                let key = self.from.layout().key(&unit)?;
                Ok(Request { key, ranges: None, numbers: vec![number_of(&unit)?] })
            });
            return requests.collect();
        }
        let mut found: BTreeMap<Vec<u64>, Vec<(Range<u64>, usize)>> = BTreeMap::new();
        for unit in each_of(&units) {
            let (shard, within) = self.in_source(&unit).map_err(|e| grid_error(self.to, e))?;
            let content = contents.get(&shard).and_then(Option::as_ref);
            if let Some(range) = content.and_then(|content| content.bytes_of(&within)) {
                found.entry(shard).or_default().push((range, number_of(&unit)?));
            }
        }
        let mut requests = Vec::new();
        for (shard, mut units) in found {
            let key = self.from.layout().key(&shard)?;
            units.sort_unstable_by_key(|(range, _)| (range.start, range.end));
            let mut rest = &*units;
            while !rest.is_empty() {
                let mut bytes = 0_u64;
                let fits = |(range, _): &&(Range<u64>, usize)| {
                    bytes = bytes.saturating_add(len(range));
                    bytes <= REQUEST
                };
                let count = rest.iter().take(UNITS_PER_REQUEST).take_while(fits).count().max(1);
                let (these, others) = rest.split_at(count);
                let (ranges, numbers) = these.iter().cloned().unzip();
                requests.push(Request { key: key.clone(), ranges: Some(ranges), numbers });
                rest = others;
            }
        }
        Ok(requests)
    }

    /// The shard of the source with a unit, and the unit's index within it.
    fn in_source(&self, unit: &[u64]) -> Result<(Vec<u64>, Vec<u64>), zarr_grid::GridError> {
        let element = unit.iter().zip(&self.moves.edges).map(|(at, edge)| at.saturating_mul(*edge));
        let (shard, within) = self.from.layout().locate(&element.collect::<Vec<_>>())?;
        let within = within.iter().zip(&self.moves.edges);
        Ok((shard, within.map(|(at, edge)| at.checked_div(*edge).unwrap_or(0)).collect()))
    }

    /// The number of a unit in a chunk of the target: 0 if the chunk is the unit. `units` are those
    /// of the chunk within the array.
    fn number_in_target(
        &self,
        chunk: &[u64],
        units: &[Range<u64>],
        unit: &[u64],
    ) -> Result<usize, TransferError> {
        let shape = self.to.layout().chunk_shape(chunk);
        let shape = shape.map_err(|error| grid_error(self.to, error))?;
        let mut number = 0_u64;
        for (((size, edge), range), at) in shape.iter().zip(&self.moves.edges).zip(units).zip(unit)
        {
            let count = size.checked_div(*edge).unwrap_or(1);
            let within = at.saturating_sub(range.start);
            number = number.saturating_mul(count).saturating_add(within);
        }
        Ok(usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// Reads units, each with its number in the chunk of the target.
    fn read(&self, request: &Request) -> Result<Vec<(usize, Vec<u8>)>, TransferError> {
        let Request { key, ranges, numbers } = request;
        let mut bytes = Vec::new();
        let range = ranges.as_deref().map_or(ReadRange::All, ReadRange::Ranges);
        let found = self.from.get_object(key, range, &mut bytes).map_err(source)?;
        let Some(ranges) = ranges else {
            return Ok(match found {
                None => Vec::new(),
                Some(_) => {
                    numbers.iter().map(|number| (*number, std::mem::take(&mut bytes))).collect()
                }
            });
        };
        if found.is_none() {
            // Its index was read.
            let keys = vec![key.to_string()];
            return Err(TransferError::ChangedMeanwhile { keys, count: 1 });
        }
        if let ([number], [_]) = (&**numbers, &**ranges) {
            return Ok(vec![(*number, bytes)]);
        }
        let mut rest = &*bytes;
        let units = numbers.iter().zip(ranges).map(|(number, range)| {
            let len = usize::try_from(len(range)).unwrap_or(usize::MAX);
            let (unit, after) = rest.split_at_checked(len).unwrap_or((rest, &[]));
            rest = after;
            (*number, unit.to_vec())
        });
        Ok(units.collect())
    }

    /// The error for a chunk of the target that does not fit in the memory.
    fn too_large(
        &self,
        chunk: &[u64],
        contents: &Contents,
    ) -> Result<TransferError, TransferError> {
        let mut needed = 0_u64;
        for request in self.requests_of(chunk, contents)? {
            let bytes = match &request.ranges {
                Some(ranges) => ranges.iter().map(len).fold(0, u64::saturating_add),
                None => {
                    let size = self.from.store().size(&request.key);
                    size.map_err(source)?.unwrap_or(0)
                }
            };
            needed = needed.saturating_add(bytes);
        }
        let key = self.to.layout().key(chunk)?.to_string();
        Ok(TransferError::Object { key, size: needed, limit: self.memory })
    }
}

fn len(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

fn wide(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
