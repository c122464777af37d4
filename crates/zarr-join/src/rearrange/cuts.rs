//! Spans that end inside shards: inner chunks move, as they are stored, to shards of their own.

use std::ops::Range;
use std::sync::Arc;

use zarr_array::store::MemoryStore;
use zarr_array::{Array, ArrayError, node};
use zarr_grid::Axis;
use zarr_metadata::{ChunkEdges, Codec};

use super::Span;
use super::moved_units::{Part, Targets, move_units};
use super::planning::with_axis;
use super::refill::{Refill, Remade};
use crate::error::rearrange::{RearrangeError, refused};

/// The spans with each part of a shard as an array in memory, whose bytes are taken from `room`. Shards are
/// cut where inner chunks end; other cuts stay as they are, and are refused later.
pub(super) fn cut(
    array: &Array,
    axis: usize,
    own: &Axis,
    spans: Vec<Span>,
    room: &mut u64,
) -> Result<(Vec<Span>, Option<Refill>), ArrayError> {
    let [Codec::ShardingIndexed(shards)] = array.metadata().codecs() else {
        return Ok((spans, None));
    };
    let Some(unit) = shards.chunk_shape.get(axis).copied().filter(|unit| *unit > 0) else {
        return Ok((spans, None));
    };
    let pieces = pieces(own, spans);
    let mut at = 0_u64;
    let mut remade = Vec::new();
    for piece in &pieces {
        if let Piece::Part(range) = piece {
            check_ends(axis, own, unit, range).map_err(|cause| refused(array.prefix(), cause))?;
            remade.push(Remade { range: range.clone(), at });
        }
        at = at.saturating_add(piece.length(axis));
    }
    if remade.is_empty() {
        return Ok((pieces.into_iter().filter_map(Piece::whole).collect(), None));
    }
    // Before the inner chunks are read.
    let refill = Refill::of(array, axis, remade)?;
    // The end of a regular grid may be a shard with fewer elements, as after a resize.
    let edge = own.regular_edge();
    let has_edge = |piece: &Piece| match piece {
        Piece::Whole(Span::Inserted(other)) => {
            let axis = other.grid().axes().get(axis);
            axis.is_none_or(|axis| axis.occupied() == 0 || axis.regular_edge() == edge)
        }
        Piece::Whole(Span::Kept(_)) => edge.is_some(),
        Piece::Part(_) => false,
    };
    // Arrays without elements may come after it.
    let has_elements = |piece: &Piece| piece.length(axis) > 0;
    let last = pieces.iter().rposition(has_elements).unwrap_or(0);
    let stays_regular = pieces.iter().take(last).all(has_edge);
    // A part has one shard on the axis.
    let stored = refill.own_by_number(array, axis);
    let mut spans = Vec::with_capacity(pieces.len());
    for (number, piece) in pieces.into_iter().enumerate() {
        spans.push(match piece {
            Piece::Whole(span) => span,
            Piece::Part(range) => {
                let length = (range.end - range.start).next_multiple_of(unit);
                let edge = edge.filter(|_| number == last && stays_regular).unwrap_or(length);
                if number != last && range.start + edge != range.end {
                    let (what, extent, end) = ("the kept part", own.extent(), range.start + edge);
                    let cause = RearrangeError::overhang(axis, what, extent, end);
                    return Err(refused(array.prefix(), cause));
                }
                let stored = own.chunk_of(range.start).and_then(|(shard, _)| stored.get(&shard));
                let stored = stored.map_or(&[][..], Vec::as_slice);
                Span::Inserted(part(array, axis, (unit, edge), (range, stored), room)?)
            }
        });
    }
    Ok((spans, Some(refill)))
}

/// A part of the new axis.
enum Piece {
    /// Of whole shards.
    Whole(Span),
    /// Of elements of one shard, but not all.
    Part(Range<u64>),
}

impl Piece {
    fn length(&self, axis: usize) -> u64 {
        match self {
            Self::Part(range) | Self::Whole(Span::Kept(range)) => range.end - range.start,
            Self::Whole(Span::Inserted(other)) => other.shape().get(axis).copied().unwrap_or(0),
        }
    }

    fn whole(self) -> Option<Span> {
        match self {
            Self::Whole(span) => Some(span),
            Self::Part(_) => None,
        }
    }
}

/// The spans, cut at the edges of shards that they have in part.
fn pieces(own: &Axis, spans: Vec<Span>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for span in spans {
        let Span::Kept(range) = span else {
            pieces.push(Piece::Whole(span));
            continue;
        };
        let shard = |index: u64| own.chunk_of(index).and_then(|(shard, _)| own.clipped(shard));
        // Within the axis, each index has a shard; its end is an edge.
        let (first, last) = (shard(range.start), shard(range.end));
        let head = first.filter(|shard| shard.start < range.start || range.end < shard.end);
        let middle = head.as_ref().map_or(range.start, |shard| shard.end.min(range.end));
        let tail = last.map_or(range.end, |shard| shard.start).max(middle);
        if range.start < middle {
            pieces.push(Piece::Part(range.start..middle));
        }
        if middle < tail {
            pieces.push(Piece::Whole(Span::Kept(middle..tail)));
        }
        if tail < range.end {
            pieces.push(Piece::Part(tail..range.end));
        }
    }
    pieces
}

/// Refuses a part that ends inside an inner chunk.
fn check_ends(
    axis: usize,
    own: &Axis,
    unit: u64,
    range: &Range<u64>,
) -> Result<(), RearrangeError> {
    for index in [range.start, range.end] {
        let within = index % unit;
        if within != 0 && index != own.extent() {
            let before = index - within;
            let after = before.saturating_add(unit).min(own.extent());
            return Err(RearrangeError::unaligned("inner chunk", axis, index, [before, after]));
        }
    }
    Ok(())
}

/// The inner chunks of this length of a part of a shard, as they are stored, in an array with one shard of
/// this length on the axis. Only these of its shards are stored.
fn part(
    array: &Array,
    axis: usize,
    (unit, edge): (u64, u64),
    (range, stored): (Range<u64>, &[Vec<u64>]),
    room: &mut u64,
) -> Result<Array, ArrayError> {
    let refuse = |cause: RearrangeError| refused(array.prefix(), cause);
    let wrong = |cause| ArrayError::Metadata { key: node::metadata_key(array.prefix()), cause };
    let (length, edges) = (range.end - range.start, ChunkEdges::Regular(edge));
    let document = with_axis(array.metadata(), axis, length, edges).map_err(wrong)?;
    let (store, options) = (Arc::new(MemoryStore::new()), array.options().clone());
    let new = Array::with_metadata(store, array.prefix(), document, options)?;
    let (index, after) = (range.start, range.end);
    let moved = move_units(
        &[Part { array, range, at: 0, inner: true }],
        axis,
        &new,
        Targets::Only(stored),
        Some(*room),
    )?;
    if moved.edges != [Some(unit)] {
        let before = index - index % unit;
        return Err(refuse(RearrangeError::unaligned("chunk", axis, index, [before, after])));
    }
    *room = room
        .checked_sub(moved.bytes)
        .ok_or_else(|| refuse(RearrangeError::refill(axis, moved.bytes, *room)))?;
    Ok(new)
}
