//! Encoded chunks that move between plain chunks and shards, and are not decoded.
//!
//! A *unit* is what is encoded as a whole: a plain chunk, or an inner chunk of a shard. If the
//! units of source and target have the same place, shape, codecs and fill value, their bytes are
//! equal, too. So each chunk of the target is assembled from units of its sources as they are stored,
//! also damaged ones. A unit that is not stored is not stored in the target. A copy has one source;
//! a join has one for each member, which fills a part of the target.

mod streamed;

use std::collections::{BTreeMap, HashMap};
use std::io::IoSlice;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use zarr_array::store::ReadRange;
use zarr_array::{Array, ArrayError, ShardContent, parallel};
use zarr_codec::{NewInnerChunks, Scratch, ShardPiece};
use zarr_store::{Key, StoreExt as _};

use crate::error::{TransferError, grid_error, source, target};
use crate::tasks::budget::size_of_elements;
use crate::units::{UnitMoves, each_of};

/// Chunks of the target between two looks at the marker.
const BATCH: usize = 256;

/// Small units of one shard share a request, up to this many bytes and units.
const REQUEST: u64 = 4 << 20;
const UNITS_PER_REQUEST: usize = 1024;

/// The work that moves units: a copy, or a join.
pub trait UnitWork: Sync {
    /// The error that it returns.
    type Error: From<TransferError> + Send;

    /// The error of reading the source with this number.
    fn failed(&self, source: usize, cause: ArrayError) -> Self::Error;

    /// Refuses to go on, before some chunks are moved.
    ///
    /// # Errors
    /// That of the work.
    fn before_batch(&self) -> Result<(), Self::Error>;

    /// Refuses to put a chunk, after its units were read, or could not be: then this error is
    /// returned, if there is one.
    ///
    /// # Errors
    /// That of the work.
    fn before_put(&self, chunk: &UnitChunk<'_>) -> Result<(), Self::Error>;

    /// A chunk was moved; bytes were put, unless none of its units is stored.
    fn moved(&self, bytes: u64);
}

/// A chunk of the target, which is assembled from units.
#[derive(Clone, Copy, Debug)]
pub struct UnitChunk<'c> {
    /// Its number on each axis.
    pub index: &'c [u64],
    /// The numbers of the sources that have units in it.
    pub sources: &'c [usize],
    /// The stored chunks and shards of these sources that have elements of it, each with the number
    /// of its source, if they are known: no others are asked for. A shard may have far more units.
    pub stored: Option<&'c [(usize, &'c Key)]>,
}

/// Moves encoded chunks, and inner chunks of shards, as they are stored.
pub struct UnitMover<'a, W: UnitWork> {
    /// The arrays that have the units.
    pub sources: &'a [(&'a Array, UnitMoves)],
    /// The target, whose chunks have units of one kind.
    pub to: &'a Array,
    /// Whether a shard without inner chunks is put, too.
    pub puts_empty: bool,
    /// Whether a chunk none of whose units is stored is removed, in case it is there.
    pub removes_empty: bool,
    /// Bytes that encoded units may take in memory. A larger chunk is put in pieces, if it can be.
    pub memory: u64,
    /// Bytes that the units of one chunk may take otherwise, if they need more than their part.
    pub most: u64,
    /// The most requests at once; `None`: as many as the stores answer.
    pub threads: Option<NonZeroUsize>,
    /// Whose chunks they are.
    pub work: &'a W,
}

/// The shards of the sources that a batch needs, by the source's number and their index; `None` if one
/// is not stored.
type Contents = HashMap<(usize, Vec<u64>), Option<ShardContent>>;

/// Units of one object of a source, by their number in the chunk of the target.
struct Request {
    source: usize,
    key: Key,
    /// `None`: the whole object is one unit.
    ranges: Option<Vec<Range<u64>>>,
    numbers: Vec<usize>,
}

/// The reason why a chunk was not moved.
enum Failed<E> {
    /// Its units take more than the memory that it may use now.
    Large,
    Error(E),
}

impl<E> From<E> for Failed<E> {
    fn from(error: E) -> Self {
        Self::Error(error)
    }
}

impl<W: UnitWork> UnitMover<'_, W> {
    /// Moves these chunks of the target.
    ///
    /// # Errors
    /// [`TransferError::Object`] for a chunk whose units take more than the memory; the errors of the
    /// work, and of the stores.
    pub fn run(&self, chunks: &[UnitChunk<'_>]) -> Result<(), W::Error> {
        let mut contents = Contents::new();
        for batch in chunks.chunks(BATCH) {
            if let Err(error) = self.load(batch, &mut contents) {
                return Err(batch.iter().find_map(|one| self.refused(one)).unwrap_or(error));
            }
            self.work.before_batch()?;
            let (at_once, memory) = self.at_once();
            let large = Mutex::new(Vec::new());
            // These are tried at once: some of their units would be read twice.
            let all_are_large = self.largest() > self.memory;
            parallel::each(batch, at_once, |chunk| {
                if all_are_large {
                    large.lock().unwrap_or_else(PoisonError::into_inner).push(*chunk);
                    return Ok(());
                }
                match self.chunk(chunk, &contents, at_once, memory) {
                    Ok(()) => Ok(()),
                    Err(Failed::Large) => {
                        large.lock().unwrap_or_else(PoisonError::into_inner).push(*chunk);
                        Ok(())
                    }
                    Err(Failed::Error(error)) => Err(error),
                }
            })?;
            // Those that need more than their part of the memory, one at a time.
            for chunk in large.into_inner().unwrap_or_else(PoisonError::into_inner) {
                if self.stream(&chunk, &contents)? {
                    continue;
                }
                match self.chunk(&chunk, &contents, NonZeroUsize::MIN, self.most) {
                    Ok(()) => {}
                    Err(Failed::Large) => return Err(self.too_large(&chunk, &contents)?.into()),
                    Err(Failed::Error(error)) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// How many chunks are moved at once, and the memory of each: as many as fit if no unit is larger
    /// than its elements.
    fn at_once(&self) -> (NonZeroUsize, u64) {
        let fit = self.memory.checked_div(self.largest().max(1)).unwrap_or(1);
        let fit = NonZeroUsize::new(usize::try_from(fit).unwrap_or(usize::MAX));
        let at_once = fit.unwrap_or(NonZeroUsize::MIN).min(self.requests());
        let parts = u64::try_from(at_once.get()).unwrap_or(u64::MAX);
        (at_once, self.memory.checked_div(parts).unwrap_or(self.memory))
    }

    /// The bytes of the elements of the largest chunk.
    fn largest(&self) -> u64 {
        self.to.grid().largest_chunk().saturating_mul(size_of_elements(self.to))
    }

    /// The requests that the stores answer at once.
    fn requests(&self) -> NonZeroUsize {
        let from = self.sources.iter().map(|(from, _)| parallel::requests(&**from.store()));
        let most = || from.fold(parallel::requests(&**self.to.store()), NonZeroUsize::max);
        self.threads.unwrap_or_else(most)
    }

    /// The sources of a chunk, with their numbers.
    fn sources_of(
        &self,
        chunk: &UnitChunk<'_>,
    ) -> impl Iterator<Item = (usize, &Array, &UnitMoves)> {
        chunk.sources.iter().filter_map(|number| {
            let (from, moves) = self.sources.get(*number)?;
            Some((*number, *from, moves))
        })
    }

    /// Reads the indices of the shards that these chunks need, and forgets others.
    fn load(&self, chunks: &[UnitChunk<'_>], contents: &mut Contents) -> Result<(), W::Error> {
        let mut needed = Contents::new();
        let mut missing = Vec::new();
        for chunk in chunks {
            let region = self.region(chunk)?;
            for (number, from, moves) in self.sources_of(chunk) {
                let units = moves.units_in(&region);
                if !moves.from_shards || units.iter().any(Range::is_empty) {
                    continue;
                }
                for unit in each_of(&units) {
                    let (shard, _) = self.shard_of(from, moves, &unit)?;
                    let shard = (number, shard);
                    if let Some(known) = contents.remove(&shard) {
                        needed.insert(shard, known);
                    } else if !needed.contains_key(&shard) {
                        needed.insert(shard.clone(), None);
                        missing.push(shard);
                    }
                }
            }
        }
        let read = parallel::map(&missing, self.requests(), |(number, shard)| {
            let Some((from, _)) = self.sources.get(*number) else { return Ok(None) };
            let read = from.shard_content(shard, None);
            read.map_err(|cause| self.work.failed(*number, cause))
        })?;
        needed.extend(missing.into_iter().zip(read));
        *contents = needed;
        Ok(())
    }

    /// The elements of a chunk of the target within the array.
    fn region(&self, chunk: &UnitChunk<'_>) -> Result<Vec<Range<u64>>, TransferError> {
        self.to.layout().chunk_region(chunk.index).map_err(|error| grid_error(self.to, error))
    }

    /// Moves one chunk of the target, unless none of its units is stored.
    fn chunk(
        &self,
        chunk: &UnitChunk<'_>,
        contents: &Contents,
        at_once: NonZeroUsize,
        memory: u64,
    ) -> Result<(), Failed<W::Error>> {
        let requests = self.requests_of(chunk, contents).map_err(W::Error::from)?;
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
        });
        let read = read.map_err(|failed| match failed {
            Failed::Large => Failed::Large,
            Failed::Error(error) => Failed::Error(self.refused(chunk).unwrap_or(error)),
        })?;
        self.work.before_put(chunk)?;
        let put = self.put(chunk, read.into_iter().flatten().collect());
        self.work.moved(put.map_err(W::Error::from)?);
        Ok(())
    }

    /// Why a chunk cannot be put, apart from an error of reading its units.
    fn refused(&self, chunk: &UnitChunk<'_>) -> Option<W::Error> {
        self.work.before_put(chunk).err()
    }

    /// Puts the chunk of the target that has these units.
    fn put(
        &self,
        chunk: &UnitChunk<'_>,
        units: Vec<(usize, Vec<u8>)>,
    ) -> Result<u64, TransferError> {
        let key = self.to.layout().key(chunk.index)?;
        let store = self.to.store();
        if units.is_empty() && self.removes_empty {
            store.delete(&key)?;
            return Ok(0);
        }
        let failed = |cause| target(ArrayError::Chunk { key: key.to_string(), cause });
        let shape = self.to.layout().chunk_shape(chunk.index);
        let shape = shape.map_err(|error| grid_error(self.to, error))?;
        // Other chunks may have sources whose units are of the other kind.
        let (inner, whole): (Vec<_>, Vec<_>) =
            self.sources_of(chunk).partition(|(.., moves)| moves.to_shards);
        let mixed = || TransferError::NoShard { key: key.to_string() };
        if !whole.is_empty() {
            let mut units = units.into_iter();
            let Some((_, bytes)) = units.next() else { return Ok(0) };
            if !inner.is_empty() || units.next().is_some() {
                return Err(mixed());
            }
            store.put(&key, &bytes)?;
            return Ok(wide(bytes.len()));
        }
        let codec = self.to.chunk_codec(&shape).map_err(target)?;
        let Some((shard, _)) = codec.plain_shard() else { return Err(mixed()) };
        if units.is_empty() && !self.puts_empty {
            return Ok(0);
        }
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
        chunk: &UnitChunk<'_>,
        contents: &Contents,
    ) -> Result<Vec<Request>, TransferError> {
        let region = self.region(chunk)?;
        let mut requests = Vec::new();
        for source in self.sources_of(chunk) {
            let units = source.2.units_in(&region);
            if units.iter().all(|range| !range.is_empty()) {
                self.requests_to(source, (chunk, &region), &units, contents, &mut requests)?;
            }
        }
        Ok(requests)
    }

    /// Adds the units of one source in a chunk of the target.
    fn requests_to(
        &self,
        (source, from, moves): (usize, &Array, &UnitMoves),
        (chunk, region): (&UnitChunk<'_>, &[Range<u64>]),
        units: &[Range<u64>],
        contents: &Contents,
        requests: &mut Vec<Request>,
    ) -> Result<(), TransferError> {
        let number_of = |unit: &[u64]| self.number_in_target(moves, (chunk, region), unit);
        if !moves.from_shards {
            let mut add = |key: Key, unit: &[u64]| {
                let numbers = vec![number_of(unit)?];
                requests.push(Request { source, key, ranges: None, numbers });
                Ok::<(), TransferError>(())
            };
            if let Some(stored) = chunk.stored {
                for (_, key) in stored.iter().filter(|(of, _)| *of == source) {
                    let index = from.layout().chunk_of_key(key);
                    let unit = index.and_then(|index| moves.unit_of_chunk(&index, units));
                    let unit = unit.ok_or_else(|| TransferError::NoShard { key: key.to_string() });
                    add((*key).clone(), &unit?)?;
                }
                return Ok(());
            }
            for unit in each_of(units) {
                let located = from.layout().locate(&moves.in_source(&unit));
                let (chunk, _) = located.map_err(|error| grid_error(self.to, error))?;
                add(from.layout().key(&chunk)?, &unit)?;
            }
            return Ok(());
        }
        let mut found: BTreeMap<Vec<u64>, Vec<(Range<u64>, usize)>> = BTreeMap::new();
        for unit in each_of(units) {
            let (shard, within) = self.shard_of(from, moves, &unit)?;
            let content = contents.get(&(source, shard.clone())).and_then(Option::as_ref);
            if let Some(range) = content.and_then(|content| content.bytes_of(&within)) {
                found.entry(shard).or_default().push((range, number_of(&unit)?));
            }
        }
        let most = REQUEST.min(self.memory / 4);
        for (shard, mut units) in found {
            let key = from.layout().key(&shard)?;
            units.sort_unstable_by_key(|(range, _)| (range.start, range.end));
            let mut rest = &*units;
            while !rest.is_empty() {
                let mut bytes = 0_u64;
                let fits = |(range, _): &&(Range<u64>, usize)| {
                    bytes = bytes.saturating_add(len(range));
                    bytes <= most
                };
                let count = rest.iter().take(UNITS_PER_REQUEST).take_while(fits).count().max(1);
                let (these, others) = rest.split_at(count);
                let (ranges, numbers) = these.iter().cloned().unzip();
                requests.push(Request { source, key: key.clone(), ranges: Some(ranges), numbers });
                rest = others;
            }
        }
        Ok(())
    }

    /// The shard of a source with a unit, and the unit's index within it.
    fn shard_of(
        &self,
        from: &Array,
        moves: &UnitMoves,
        unit: &[u64],
    ) -> Result<(Vec<u64>, Vec<u64>), TransferError> {
        let located = from.layout().locate(&moves.in_source(unit));
        let (shard, within) = located.map_err(|error| grid_error(self.to, error))?;
        let mut edges = moves.edges.clone();
        if let Some(axis) = moves.new_axis.filter(|axis| *axis < edges.len()) {
            edges.remove(axis);
        }
        let within = within.iter().zip(&edges);
        Ok((shard, within.map(|(at, edge)| at.checked_div(*edge).unwrap_or(0)).collect()))
    }

    /// The number of a unit in a chunk of the target: 0 if the chunk is the unit.
    fn number_in_target(
        &self,
        moves: &UnitMoves,
        (chunk, region): (&UnitChunk<'_>, &[Range<u64>]),
        unit: &[u64],
    ) -> Result<usize, TransferError> {
        let shape = self.to.layout().chunk_shape(chunk.index);
        let shape = shape.map_err(|error| grid_error(self.to, error))?;
        let mut number = 0_u64;
        for (((size, edge), range), at) in shape.iter().zip(&moves.edges).zip(region).zip(unit) {
            // No edge is 0.
            let units = |elements: u64| elements.checked_div(*edge).unwrap_or(0);
            let within = at - units(range.start);
            number = number * units(*size) + within;
        }
        Ok(usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// Reads units, each with its number in the chunk of the target.
    fn read(&self, request: &Request) -> Result<Vec<(usize, Vec<u8>)>, W::Error> {
        let Request { source, key, ranges, numbers } = request;
        let Some((from, _)) = self.sources.get(*source) else { return Ok(Vec::new()) };
        let mut bytes = Vec::new();
        let range = ranges.as_deref().map_or(ReadRange::All, ReadRange::Ranges);
        let found = from.get_object(key, range, &mut bytes);
        let found = found.map_err(|cause| self.work.failed(*source, cause))?;
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
            return Err(TransferError::changed(key).into());
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
        chunk: &UnitChunk<'_>,
        contents: &Contents,
    ) -> Result<TransferError, TransferError> {
        let mut needed = 0_u64;
        for request in self.requests_of(chunk, contents)? {
            let bytes = match &request.ranges {
                Some(ranges) => ranges.iter().map(len).fold(0, u64::saturating_add),
                None => match self.sources.get(request.source) {
                    Some((from, _)) => {
                        from.store().size(&request.key).map_err(source)?.unwrap_or(0)
                    }
                    None => 0,
                },
            };
            needed = needed.saturating_add(bytes);
        }
        let key = self.to.layout().key(chunk.index)?.to_string();
        Ok(TransferError::Object { key, size: needed, limit: self.most })
    }
}

fn len(range: &Range<u64>) -> u64 {
    range.end - range.start
}

fn wide(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
