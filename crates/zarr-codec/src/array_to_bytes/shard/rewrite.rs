//! A shard with some inner chunks replaced, assembled from ranges of the old one.
//!
//! Inner chunks that do not change are neither decoded nor examined: a damaged one moves as it is.
//! In a shard with its inner chunks in C order, as this crate writes them, they stay in this order.
//! In others the old bytes come first, in their order, then the new ones. Bytes that several inner
//! chunks share, as an index may say, are moved once.

use std::collections::BTreeMap;
use std::ops::Range;

use zarr_metadata::IndexLocation;
use zarr_view::{CopyError, View};

use super::{ShardCodec, ShardIndex};
use crate::bytes_to_bytes::reserve;
use crate::error::ChunkError;
use crate::length::widen;
use crate::scratch::Scratch;

/// Some bytes of a shard, from [`ShardCodec::rewrite`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardPiece<'n> {
    /// These bytes of the old shard.
    Old(Range<u64>),
    /// New bytes: an encoded inner chunk, or the index.
    New(&'n [u8]),
}

/// The inner chunks of a shard that change, by their number in C order: the encoded bytes of each;
/// `None` if it is not to be stored.
pub type NewInnerChunks = BTreeMap<usize, Option<Vec<u8>>>;

/// The entries and the pieces of the new shard.
struct Assembly<'n> {
    /// An offset and a length for each inner chunk in C order, little-endian.
    entries: Vec<u8>,
    pieces: Vec<ShardPiece<'n>>,
    /// The length so far.
    len: u64,
}

impl<'n> Assembly<'n> {
    fn add(&mut self, number: usize, piece: ShardPiece<'n>) {
        let len = match &piece {
            ShardPiece::Old(range) => range.end - range.start,
            ShardPiece::New(bytes) => widen(bytes.len()),
        };
        self.enter(number, (self.len, len));
        self.append(piece, len);
    }

    fn enter(&mut self, number: usize, (offset, length): (u64, u64)) {
        if let Some(slot) = self.entries.as_chunks_mut::<16>().0.get_mut(number) {
            let (first, second) = slot.split_at_mut(8);
            first.copy_from_slice(&offset.to_le_bytes());
            second.copy_from_slice(&length.to_le_bytes());
        }
    }

    fn append(&mut self, piece: ShardPiece<'n>, len: u64) {
        self.len = self.len.saturating_add(len);
        match (self.pieces.last_mut(), &piece) {
            (Some(ShardPiece::Old(last)), ShardPiece::Old(next)) if last.end == next.start => {
                last.end = next.end;
            }
            _ => self.pieces.push(piece),
        }
    }
}

impl ShardCodec {
    /// The number of inner chunks, stored or not.
    #[must_use]
    pub fn inner_chunks(&self) -> usize {
        self.grid.iter().product()
    }

    /// A shard in which the `new` inner chunks replace those of the old one, whose index is `old`;
    /// `None` if there is no old shard. The encoded index of the new shard is written to `index`.
    ///
    /// Returns the bytes of the new shard one after another, and whether no inner chunk is stored in it.
    ///
    /// # Errors
    /// [`ChunkError`] if memory is exhausted.
    ///
    /// # Examples
    /// ```
    /// use zarr_codec::{AxisEdges, Chain, NewInnerChunks, Scratch, ShardPiece};
    /// use zarr_metadata::{Codec, DataType};
    /// use zarr_view::View;
    ///
    /// let codecs = [Codec::sharding([2], [Codec::bytes()])];
    /// let chain = Chain::bind(&codecs, &DataType::Uint8, &[AxisEdges::one(6)])?;
    /// let (codec, mut scratch, mut old) = (chain.for_shape(&[6])?, Scratch::new(), Vec::new());
    /// codec.encode(&[1, 2, 3, 4, 5, 6], &View::contiguous(&[6])?, &[0], &mut old, &mut scratch)?;
    /// let shard = codec.shard().ok_or("a shard")?;
    /// let index = shard.read_index(&old, &mut scratch)?;
    /// let new = NewInnerChunks::from([(1, Some(vec![7, 8]))]);
    /// let mut encoded = Vec::new();
    /// let (pieces, is_empty) = shard.rewrite(Some(&index), &new, &mut encoded, &mut scratch)?;
    /// assert_eq!(pieces[..3], [ShardPiece::Old(0..2), ShardPiece::New(&[7, 8]), ShardPiece::Old(4..6)]);
    /// assert!(!is_empty && matches!(pieces[3..], [ShardPiece::New(index)] if index.len() == 52));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rewrite<'n>(
        &self,
        old: Option<&ShardIndex>,
        new: &'n NewInnerChunks,
        index: &'n mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<(Vec<ShardPiece<'n>>, bool), ChunkError> {
        let chunks = self.inner_chunks();
        let mut assembly = self.assembly()?;
        let unchanged = |number: &usize| !new.contains_key(number);
        let kept = |number: usize| Some((number, old?.range(number)?));
        let in_order = (0..chunks).filter_map(kept).map(|(_, range)| range);
        if in_order.is_sorted_by(|a, b| a.end <= b.start) {
            for number in 0..chunks {
                match (new.get(&number), kept(number)) {
                    (Some(Some(bytes)), _) => assembly.add(number, ShardPiece::New(bytes)),
                    (None, Some((_, range))) => assembly.add(number, ShardPiece::Old(range)),
                    (Some(None), _) | (None, None) => {}
                }
            }
        } else {
            let mut ranges: Vec<(Range<u64>, usize)> = (0..chunks)
                .filter(unchanged)
                .filter_map(kept)
                .map(|(number, range)| (range, number))
                .collect();
            ranges.sort_unstable_by_key(|(range, number)| (range.start, range.end, *number));
            // The end of the old bytes that have been moved.
            let mut moved = 0_u64;
            for (range, number) in ranges {
                let len = range.end - range.start;
                let fresh = range.start.max(moved)..range.end.max(moved);
                // Bytes before `moved` lie right before the end, as ranges are sorted by their starts.
                let at = assembly.len.saturating_sub(moved.saturating_sub(range.start));
                assembly.enter(number, (at, len));
                if !fresh.is_empty() {
                    let more = fresh.end - fresh.start;
                    moved = fresh.end;
                    assembly.append(ShardPiece::Old(fresh), more);
                }
            }
            for (number, bytes) in new {
                if let Some(bytes) = bytes {
                    assembly.add(*number, ShardPiece::New(bytes));
                }
            }
        }
        let Assembly { entries, mut pieces, .. } = assembly;
        let is_empty = entries.iter().all(|byte| *byte == u8::MAX);
        self.encode_entries(&entries, index, scratch)?;
        let index = ShardPiece::New(index);
        match self.location {
            IndexLocation::Start => pieces.insert(0, index),
            IndexLocation::End => pieces.push(index),
        }
        Ok((pieces, is_empty))
    }

    /// Encodes the index of a shard that has inner chunks of these lengths one after another, each with
    /// its number in C order. Returns whether it comes before or after them.
    ///
    /// # Errors
    /// [`ChunkError`] if memory is exhausted.
    pub fn new_index(
        &self,
        inner_chunks: impl IntoIterator<Item = (usize, u64)>,
        index: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<IndexLocation, ChunkError> {
        let mut assembly = self.assembly()?;
        for (number, length) in inner_chunks {
            assembly.enter(number, (assembly.len, length));
            assembly.len = assembly.len.saturating_add(length);
        }
        self.encode_entries(&assembly.entries, index, scratch)?;
        Ok(self.location)
    }

    /// An empty shard.
    fn assembly<'n>(&self) -> Result<Assembly<'n>, ChunkError> {
        let mut entries = Vec::new();
        let length = self.inner_chunks() * 16;
        reserve(&mut entries, length).map_err(|kind| self.place.chunk_error(kind))?;
        // All bits of an entry are set where no inner chunk is stored.
        entries.resize(length, u8::MAX);
        let len = match self.location {
            IndexLocation::Start => self.index_len(),
            IndexLocation::End => 0,
        };
        Ok(Assembly { entries, pieces: Vec::new(), len })
    }

    fn encode_entries(
        &self,
        entries: &[u8],
        index: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        let whole = View::contiguous(self.index.shape());
        let whole = whole.map_err(|error| self.place.chunk_error(CopyError::from(error).into()))?;
        self.index.encode(entries, &whole, &[0; 8], index, scratch)?;
        Ok(())
    }
}
