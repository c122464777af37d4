//! Changes some inner chunks of a shard: the others stay as they are stored.
//!
//! 1. The index is read, and checked.
//! 2. Inner chunks that change in part are read, decoded, changed and encoded.
//! 3. The new shard is assembled from ranges of the old one and the new inner chunks, and replaces it
//!    at once. A store of files assembles it without reading the ranges here
//!    ([`Store::rewrite`](crate::store::Store::rewrite)); others get all bytes by one put.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSlice};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use zarr_codec::{
    ChunkCodec, ChunkError, Encoded, InnerChanges, NewInnerChunks, Scratch, ShardCodec, ShardIndex,
    ShardPiece, Slice,
};
use zarr_view::{CopyError, Output, View};

use crate::array::Array;
use crate::array::worker::ChunkBuffers;
use crate::array::write::change_to;
use crate::counts::{bytes_of, narrow, wide};
use crate::error::{ArrayError, chunk_error, is_out_of_memory};
use crate::parallel;
use crate::selection::gather::GatherBuffers;
use crate::selection::index_moves::{IndexMoves, Pair};
use crate::store::{
    Change, Current, Exclusion, Key, ObjectMeta, Operation, PutOutcome, ReadRange, Rewrite,
    RewritePiece, StoreError, UpdatePolicy, exclusively,
};

/// Encodes an inner chunk again, given its number and its old bytes; none if it is not stored.
pub(in crate::array) type EncodeInner<'f> = dyn Fn(usize, Option<&mut Vec<u8>>, &mut Scratch) -> Result<Option<Vec<u8>>, ChunkError>
    + Sync
    + 'f;

/// The inner chunks that change: number, and whether all of it is replaced.
pub(in crate::array) type Touched = BTreeMap<usize, bool>;

/// The shard that is to be changed.
enum Found {
    Missing,
    Shard(OldShard),
    /// It was replaced while it was read.
    Replaced,
}

/// The old shard, as far as it has been read.
struct OldShard {
    meta: ObjectMeta,
    /// `None` if it is damaged, and nothing of the shard is kept.
    index: Option<ShardIndex>,
    /// All of its bytes, or those of the inner chunks that change in part.
    bytes: OldBytes,
}

enum OldBytes {
    All,
    Inner(BTreeMap<usize, Vec<u8>>),
}

/// How to treat a shard of which nothing can be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::array) enum Damaged {
    /// As an error.
    Refuse,
    /// As a shard of fill values: the caller provides all elements within the array.
    Replace,
}

impl Array {
    /// Changes of single inner chunks of a stored chunk, if it is a shard that allows them.
    pub(in crate::array) fn inner_changes<'c>(
        &self,
        key: &Key,
        codec: &'c ChunkCodec,
    ) -> Result<Option<InnerChanges<'c>>, ArrayError> {
        let Some(changes) = codec.inner_changes() else { return Ok(None) };
        self.store().refuse_inflated(key, codec.ordinary_encoded())?;
        Ok(Some(changes))
    }

    /// Changes inner chunks of a shard, under the best exclusion that the store has.
    pub(in crate::array) fn change_shard(
        &self,
        key: &Key,
        shard: &ShardCodec,
        (policy, damaged): (UpdatePolicy, Damaged),
        touched: &Touched,
        (encoded, scratch, helpers): (&mut Vec<u8>, &mut Scratch, usize),
        encode: &EncodeInner<'_>,
    ) -> Result<(), ArrayError> {
        exclusively(&**self.store(), key, policy, |exclusion| {
            let how = (exclusion, damaged);
            let old = match self.old_shard(key, shard, how, touched, encoded, scratch)? {
                Found::Missing => None,
                Found::Shard(old) => Some(old),
                Found::Replaced => return Ok(PutOutcome::Changed),
            };
            let old_bytes = (old.as_ref(), encoded.as_slice());
            let new = encode_all(key, touched, old_bytes, (damaged, helpers), scratch, encode)?;
            let mut index = Vec::new();
            let (pieces, is_empty) = shard
                .rewrite(old.as_ref().and_then(|old| old.index.as_ref()), &new, &mut index, scratch)
                .map_err(|cause| chunk_error(key, cause))?;
            let content = if is_empty { Encoded::Empty } else { Encoded::Chunk };
            let can_delete = exclusion == Exclusion::Locked;
            let current = Current::new(old.is_some(), can_delete);
            match change_to(self.counted_as(content), current) {
                Change::Keep => Ok(PutOutcome::Written),
                Change::Delete => {
                    self.store().delete(key)?;
                    Ok(PutOutcome::Written)
                }
                Change::Put => self.put_shard(key, exclusion, old.as_ref(), &pieces, encoded),
            }
        })
    }

    /// The stored shard. Under a lock, its index and the inner chunks that change in part are read.
    /// Where only a conditional put excludes others, or nothing tells that the shard was replaced
    /// between two reads, all bytes are read at once.
    fn old_shard(
        &self,
        key: &Key,
        shard: &ShardCodec,
        (exclusion, damaged): (Exclusion, Damaged),
        touched: &Touched,
        encoded: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<Found, ArrayError> {
        let checked = |index: Result<ShardIndex, ChunkError>| match index {
            Ok(index) => Ok(Some(index)),
            Err(error) if damaged == Damaged::Replace && !is_out_of_memory(&error) => Ok(None),
            Err(cause) => Err(chunk_error(key, cause)),
        };
        let store = self.store();
        if exclusion == Exclusion::Locked {
            let Some(meta) = store.head(key)? else { return Ok(Found::Missing) };
            if meta.version.is_some() {
                let read = |ranges: &[Range<u64>], encoded: &mut Vec<u8>| {
                    let found = match store.get(key, ReadRange::Ranges(ranges), encoded) {
                        // Of a shorter one, if it was replaced.
                        Err(error @ StoreError::Range { .. }) => match store.head(key)? {
                            Some(now) if now == meta => return Err(error),
                            now => now,
                        },
                        found => found?,
                    };
                    let is_same = found.as_ref() == Some(&meta);
                    Ok(is_same || !crate::store::step!("shard: comparison of reads"))
                };
                let index = match shard.index_range(meta.size) {
                    Some(range) => {
                        if !read(&[range], encoded)? {
                            return Ok(Found::Replaced);
                        }
                        shard.parse_index(encoded, Some(meta.size), scratch)
                    }
                    None => Err(shard.too_short(meta.size)),
                };
                let index = checked(index)?;
                let partly = touched.iter().filter(|(_, is_whole)| !**is_whole);
                let stored = partly
                    .filter_map(|(number, _)| Some((*number, index.as_ref()?.range(*number)?)));
                let (numbers, ranges): (Vec<usize>, Vec<Range<u64>>) = stored.unzip();
                let bytes = |range: &Range<u64>| range.end - range.start;
                let sum = ranges.iter().map(bytes).fold(0, u64::saturating_add);
                // Inner chunks may share bytes, which are held once.
                if sum <= meta.size {
                    if !ranges.is_empty() && !read(&ranges, encoded)? {
                        return Ok(Found::Replaced);
                    }
                    let (mut inner, mut rest) = (BTreeMap::new(), encoded.as_slice());
                    for (number, range) in numbers.into_iter().zip(&ranges) {
                        let len = narrow(bytes(range));
                        let (part, after) = rest.split_at_checked(len).unwrap_or((rest, &[]));
                        inner.insert(number, part.to_vec());
                        rest = after;
                    }
                    let bytes = OldBytes::Inner(inner);
                    return Ok(Found::Shard(OldShard { meta, index, bytes }));
                }
            }
        }
        let Some(meta) = store.get(key, ReadRange::All, encoded)? else {
            return Ok(Found::Missing);
        };
        if exclusion == Exclusion::Conditional && meta.version.is_none() {
            // Without a version nothing can be expected of it.
            return Err(StoreError::NoExclusion { key: key.to_string() }.into());
        }
        let index = checked(shard.read_index(encoded, scratch))?;
        Ok(Found::Shard(OldShard { meta, index, bytes: OldBytes::All }))
    }

    /// Puts the new shard in the place of the old one.
    fn put_shard(
        &self,
        key: &Key,
        exclusion: Exclusion,
        old: Option<&OldShard>,
        pieces: &[ShardPiece<'_>],
        encoded: &mut Vec<u8>,
    ) -> Result<PutOutcome, ArrayError> {
        let store = self.store();
        let keeps = pieces.iter().any(|piece| matches!(piece, ShardPiece::Old(_)));
        if let Some(OldShard { meta, bytes: OldBytes::Inner(_), .. }) = old
            && keeps
        {
            let rewritten: Vec<RewritePiece<'_>> = pieces
                .iter()
                .map(|piece| match piece {
                    ShardPiece::Old(range) => RewritePiece::Old(range.clone()),
                    ShardPiece::New(bytes) => RewritePiece::New(bytes),
                })
                .collect();
            match store.rewrite(key, meta, &rewritten)? {
                Rewrite::Written => return Ok(PutOutcome::Written),
                Rewrite::Unsupported => {}
                _ => return Ok(PutOutcome::Changed),
            }
            let found = store.get(key, ReadRange::All, encoded)?;
            if crate::store::step!("shard: comparison with all bytes")
                && found.as_ref() != Some(meta)
            {
                return Ok(PutOutcome::Changed);
            }
        }
        let slice = |range: &Range<u64>| encoded.get(narrow(range.start)..narrow(range.end));
        let pieces: Option<Vec<IoSlice<'_>>> = pieces
            .iter()
            .map(|piece| match piece {
                ShardPiece::Old(range) => slice(range).map(IoSlice::new),
                ShardPiece::New(bytes) => Some(IoSlice::new(bytes)),
            })
            .collect();
        // The index was checked against the size.
        let pieces = pieces.ok_or_else(|| {
            let message = format!("it has {} bytes, fewer than its size", encoded.len());
            let cause = io::Error::new(io::ErrorKind::InvalidData, message);
            StoreError::io(Operation::Get, key, cause)
        })?;
        let version = old.and_then(|old| old.meta.version.as_ref());
        let mode = exclusion.mode(version);
        Ok(store.put_opts(key, &pieces, mode)?)
    }

    /// Writes a box of a shard.
    pub(in crate::array) fn write_box_of_shard(
        &self,
        key: &Key,
        changes: &InnerChanges<'_>,
        how: (UpdatePolicy, Damaged),
        region: &[Slice],
        (elements, view): (&[u8], &View),
        buffers: &mut ChunkBuffers,
    ) -> Result<(), ArrayError> {
        let parts: BTreeMap<usize, _> =
            changes.parts(region).into_iter().map(|part| (part.number, part)).collect();
        let touched = parts.iter().map(|(number, part)| (*number, part.is_whole)).collect();
        let ChunkBuffers { encoded, scratch, helpers, .. } = buffers;
        let memory = (encoded, scratch, *helpers);
        self.change_shard(key, changes.shard(), how, &touched, memory, &|number, old, scratch| {
            let Some(part) = parts.get(&number) else { return Ok(None) };
            let copied = |error: CopyError| changes.shard().inner_error(number, error.into());
            let source = view.shrink(&part.place).map_err(|error| copied(error.into()))?;
            if part.is_whole {
                return changes.encode(number, elements, &source, self.fill(), scratch);
            }
            changes.change(number, old, self.fill(), scratch, |whole, decoded| {
                let target = zarr_codec::sliced(whole, &part.indices)?;
                self.copy_elements(&source, elements, &target, decoded)
            })
        })
    }

    /// Moves single elements to a shard: for each inner chunk, the moves from `elements` to the inner
    /// chunk's elements in C order.
    pub(in crate::array) fn write_moves_to_shard(
        &self,
        key: &Key,
        changes: &InnerChanges<'_>,
        moves: &BTreeMap<usize, IndexMoves>,
        elements: &[u8],
        buffers: &mut ChunkBuffers,
    ) -> Result<(), ArrayError> {
        let touched = moves.keys().map(|number| (*number, false)).collect();
        let how = (self.policy, Damaged::Refuse);
        let size = self.element_size();
        let bytes = bytes_of(changes.shape(), size).unwrap_or(usize::MAX);
        let ChunkBuffers { encoded, scratch, helpers, .. } = buffers;
        let memory = (encoded, scratch, *helpers);
        self.change_shard(key, changes.shard(), how, &touched, memory, &|number, old, scratch| {
            let Some(moves) = moves.get(&number) else { return Ok(None) };
            changes.change(number, old, self.fill(), scratch, |whole, decoded| {
                let mut gathered = GatherBuffers::default();
                let between = gathered.room(bytes)?;
                let in_order = View::contiguous(changes.shape())?;
                self.copy_elements(whole, decoded, &in_order, between)?;
                moves.run(elements, between);
                self.copy_elements(&in_order, between, whole, decoded)
            })
        })
    }

    /// Replaces everything in a shard, except a box at its start, by the fill value.
    pub(in crate::array) fn keep_start_of_shard(
        &self,
        key: &Key,
        changes: &InnerChanges<'_>,
        lengths: &[usize],
        buffers: &mut ChunkBuffers,
    ) -> Result<(), ArrayError> {
        let shard = changes.shard();
        // The box of an inner chunk that is kept, if it is not all of it.
        let kept = |number: usize| -> Option<Vec<Range<usize>>> {
            let origin = changes.origin(number);
            let axes = origin.iter().zip(changes.shape()).zip(lengths);
            let kept: Vec<Range<usize>> = axes
                .map(|((start, size), length)| 0..length.saturating_sub(*start).min(*size))
                .collect();
            let is_all = kept.iter().zip(changes.shape()).all(|(range, size)| range.end == *size);
            (!is_all).then_some(kept)
        };
        let numbers: BTreeSet<usize> =
            (0..shard.inner_chunks()).filter(|number| kept(*number).is_some()).collect();
        let is_gone =
            |number: usize| kept(number).is_some_and(|ranges| ranges.iter().any(Range::is_empty));
        let touched = numbers.iter().map(|number| (*number, is_gone(*number))).collect();
        let how = (self.policy, Damaged::Refuse);
        let ChunkBuffers { encoded, scratch, helpers, .. } = buffers;
        self.change_shard(
            key,
            shard,
            how,
            &touched,
            (encoded, scratch, *helpers),
            &|number, old, scratch| {
                let (Some(kept), false) = (kept(number), is_gone(number)) else { return Ok(None) };
                if old.is_none() {
                    return Ok(None);
                }
                changes.change(number, old, self.fill(), scratch, |whole, decoded| {
                    for (axis, (range, size)) in kept.iter().zip(changes.shape()).enumerate() {
                        let mut past: Vec<_> =
                            changes.shape().iter().map(|size| 0..*size).collect();
                        if let Some(slot) = past.get_mut(axis).filter(|_| range.end < *size) {
                            *slot = range.end..*size;
                            let past = whole.shrink(&past)?;
                            Output::new(decoded, &past, self.element_size())?.fill(self.fill())?;
                        }
                    }
                    Ok(())
                })
            },
        )
    }
}

impl OldShard {
    fn inner(&self, number: usize, all: &[u8]) -> Option<Vec<u8>> {
        match &self.bytes {
            OldBytes::Inner(inner) => inner.get(&number).cloned(),
            OldBytes::All => {
                let range = self.index.as_ref()?.range(number)?;
                Some(all.get(narrow(range.start)..narrow(range.end))?.to_vec())
            }
        }
    }
}

/// The moves of a product of lists, by inner chunk: `axes` are the pairs of a position in elements of
/// shape `source` and an index in the chunk.
pub(in crate::array) fn moves_by_inner_chunk(
    changes: &InnerChanges<'_>,
    axes: &[Vec<Pair>],
    source: &[usize],
    element_size: usize,
) -> BTreeMap<usize, IndexMoves> {
    let mut products: Vec<(Vec<usize>, Vec<Vec<Pair>>)> = vec![(Vec::new(), Vec::new())];
    for (pairs, size) in axes.iter().zip(changes.shape()) {
        let mut units: BTreeMap<usize, Vec<Pair>> = BTreeMap::new();
        for (position, index) in pairs {
            units.entry(index / size).or_default().push((*position, index % size));
        }
        products = products
            .iter()
            .flat_map(|(index, before)| {
                units.iter().map(move |(unit, pairs)| {
                    let mut axes = before.clone();
                    axes.push(pairs.clone());
                    ([index.as_slice(), &[*unit]].concat(), axes)
                })
            })
            .collect();
    }
    let moves = products.into_iter().map(|(index, pairs)| {
        let moves = IndexMoves::new(&pairs, source, changes.shape(), element_size);
        (changes.number(&index), moves)
    });
    moves.collect()
}

/// Encodes the inner chunks that change, given the old shard and its bytes if all of them were read, on
/// this thread and `helpers` others.
fn encode_all(
    key: &Key,
    touched: &Touched,
    (old, bytes): (Option<&OldShard>, &[u8]),
    (damaged, helpers): (Damaged, usize),
    scratch: &mut Scratch,
    encode: &EncodeInner<'_>,
) -> Result<NewInnerChunks, ArrayError> {
    let one = |number: usize, is_whole: bool, scratch: &mut Scratch| {
        let mut inner = match old {
            Some(old) if !is_whole => old.inner(number, bytes),
            _ => None,
        };
        let result = match encode(number, inner.as_mut(), scratch) {
            Err(error) if damaged == Damaged::Replace && !is_out_of_memory(&error) => {
                encode(number, None, scratch)
            }
            result => result,
        };
        result.map_err(|cause| chunk_error(key, cause))
    };
    let mut new = NewInnerChunks::new();
    let threads = NonZeroUsize::new(helpers.saturating_add(1).min(touched.len()));
    let Some(threads) = threads.filter(|threads| threads.get() > 1) else {
        for (number, is_whole) in touched {
            new.insert(*number, one(*number, *is_whole, scratch)?);
        }
        return Ok(new);
    };
    let numbers: Vec<(usize, bool)> = touched.iter().map(|(n, is_whole)| (*n, *is_whole)).collect();
    let all = Mutex::new(&mut new);
    parallel::for_each(wide(numbers.len()), threads, Scratch::new, |scratch, range| {
        for (number, is_whole) in &numbers[narrow(range.start)..narrow(range.end)] {
            let encoded = one(*number, *is_whole, scratch)?;
            all.lock().unwrap_or_else(PoisonError::into_inner).insert(*number, encoded);
        }
        Ok::<_, ArrayError>(())
    })?;
    Ok(new)
}
