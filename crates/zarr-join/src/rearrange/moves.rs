//! The moves of stored chunks to their new keys.

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::parallel;
use zarr_array::store::{Key, Links, StoreExt as _};

use super::array_marker::away;
use super::{Placed, RearrangeCounts, Rearrangement};
use crate::error::rearrange::refused;

/// A stored chunk that the rearranged array has.
#[derive(Debug)]
pub(super) struct ChunkMove {
    /// The number of the inserted span that it comes from, if it is inserted.
    pub(super) inserted: Option<usize>,
    pub(super) from: Key,
    /// The chunk's numbers in the rearranged array.
    pub(super) to: Vec<u64>,
}

/// The meaning of objects with keys of the other encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OtherKeys {
    InTheWay,
    Inserted,
}

/// The move of each stored chunk, or its removal.
#[derive(Debug, Default)]
pub(super) struct Moves {
    /// Chunks that the rearranged array has, inserted chunks last.
    pub(super) moves: Vec<ChunkMove>,
    /// The array's own chunks that it does not have.
    pub(super) removed: Vec<Key>,
}

impl Moves {
    pub(super) fn counts(&self, in_place: bool) -> RearrangeCounts {
        let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let inserted = wide(self.inserted().len());
        let kept = wide(self.moves.len()) - inserted;
        let copies = match in_place {
            true => inserted,
            false => wide(self.moves.len()).saturating_mul(2),
        };
        RearrangeCounts { kept, removed: wide(self.removed.len()), inserted, copies }
    }

    /// The moves of chunks of inserted arrays.
    pub(super) fn inserted(&self) -> &[ChunkMove] {
        let own = self.moves.partition_point(|moved| moved.inserted.is_none());
        self.moves.get(own..).unwrap_or_default()
    }
}

impl Rearrangement {
    /// Lists the stored chunks of the array and of inserted arrays, in time and memory proportional
    /// to their number.
    pub(super) fn moves(&self) -> Result<Moves, ArrayError> {
        self.listed(OtherKeys::InTheWay, false)
    }

    /// As [`moves`](Self::moves) for an array that is rearranged on its own. In place, chunks may be
    /// past the end that an interruption of the same change left.
    pub(super) fn moves_alone(&self) -> Result<Moves, ArrayError> {
        self.listed(OtherKeys::InTheWay, self.is_in_place())
    }

    /// As [`moves`](Self::moves) while chunks of inserted arrays are at keys of the other encoding.
    pub(super) fn moves_again(&self) -> Result<Moves, ArrayError> {
        self.listed(OtherKeys::Inserted, false)
    }

    fn listed(&self, others: OtherKeys, in_place: bool) -> Result<Moves, ArrayError> {
        let (mut moves, mut past_end) = (Moves::default(), Vec::new());
        let mut own: Vec<_> = self.placed.iter().filter(|placed| placed.is_own()).collect();
        own.sort_by_key(|placed| placed.chunks.start);
        let layout = self.array.layout();
        let (prefix, rank) = (layout.prefix(), layout.grid().rank());
        let away = away(layout.key_encoding());
        for key in self.array.store().list(prefix, Links::Follow) {
            let key = key?;
            let Some(index) = layout.chunk_of_key(&key) else {
                if others == OtherKeys::InTheWay
                    && prefix.strip(&key).is_some_and(|name| away.decode(name, rank).is_some())
                {
                    let reason =
                        format!("{key} is in the way: chunks have such keys while they are moved");
                    return Err(refused(self.array.prefix(), reason));
                }
                layout.check_chunk_folder(&**self.array.store(), &key)?;
                continue;
            };
            if !layout.is_occupied(&index) {
                past_end.push((key, index));
                continue;
            }
            let number = index[self.axis];
            let after = own.partition_point(|placed| placed.chunks.start <= number);
            let placed = after.checked_sub(1).and_then(|before| own.get(before));
            match placed.filter(|placed| placed.chunks.contains(&number)) {
                Some(placed) => {
                    let to = self.moved(index, placed.chunks.start, placed.at);
                    moves.moves.push(ChunkMove { inserted: None, from: key, to });
                }
                None => moves.removed.push(key),
            }
        }
        parallel::each(&past_end, self.array.threads_to_move(), |(key, index)| {
            match in_place && self.is_inserted(key, index)? {
                true => Ok(()),
                false => {
                    let reason = format!(
                        "chunk {key} is past the array's end: discard it first, by a resize to the \
                         array's own shape"
                    );
                    Err(refused(self.array.prefix(), reason))
                }
            }
        })?;
        for (number, placed) in self.placed.iter().enumerate() {
            let Some(other) = &placed.inserted else { continue };
            for chunk in other.stored_chunks() {
                let chunk = chunk?;
                if chunk.occupied {
                    let to = self.moved(chunk.index, 0, placed.at);
                    moves.moves.push(ChunkMove { inserted: Some(number), from: chunk.key, to });
                }
            }
        }
        Ok(moves)
    }

    /// Whether a chunk past the end has the bytes of the inserted chunk that comes to its place.
    fn is_inserted(&self, key: &Key, index: &[u64]) -> Result<bool, ArrayError> {
        if !self.rearranged.layout().is_occupied(index) {
            return Ok(false);
        }
        let mut index = index.to_vec();
        let Some(number) = index.get_mut(self.axis) else { return Ok(false) };
        let before = self.placed.iter().rev().find(|placed| placed.at <= *number);
        let Some(Placed { inserted: Some(other), at, .. }) = before else { return Ok(false) };
        *number -= at;
        let put = self.array.store().read(key)?;
        Ok(put.is_some() && put == other.store().read(&other.layout().key(&index)?)?)
    }

    /// The numbers of a chunk of a span that moves from `start` to `at` on the axis.
    fn moved(&self, mut index: Vec<u64>, start: u64, at: u64) -> Vec<u64> {
        // The sum is less than the number of chunks, which was checked.
        let slot = index.iter_mut().skip(self.axis).take(1);
        slot.for_each(|number| *number = *number - start + at);
        index
    }

    /// The array that a chunk is from.
    pub(super) fn source(&self, moved: &ChunkMove) -> &Array {
        let placed = moved.inserted.and_then(|number| self.placed.get(number));
        placed.and_then(|placed| placed.inserted.as_ref()).unwrap_or(&self.array)
    }
}
