//! Encoded chunks, and inner chunks of shards, that move to other places along an axis.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_array::{Array, ArrayError, node};
use zarr_copy::{TransferError, UnitChunk, UnitMover, UnitMoves, UnitWork};
use zarr_metadata::Codec;

use super::refill::MOST;
use crate::error::rearrange::{RearrangeError, refused};

/// Bytes that encoded chunks may take in memory on their way, unless one new chunk needs more.
const MEMORY: u64 = 256 << 20;

/// New chunks that are known at a time: an array that is hardly stored may have far more.
const AT_ONCE: usize = 1 << 14;

/// Elements of an array that get another place along an axis.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) array: &'a Array,
    /// Their indices on the axis.
    pub(super) range: Range<u64>,
    /// The index that the first of them gets.
    pub(super) at: u64,
    /// Whether only inner chunks of shards move, and no whole chunks with elements that have no place.
    pub(super) inner: bool,
}

impl Part<'_> {
    /// The indices that they get.
    fn place(&self) -> Range<u64> {
        self.at..self.at + (self.range.end - self.range.start)
    }

    /// How their encoded chunks move, if there is one that has no elements of another part.
    fn moves_to(&self, to: &Array, axis: usize) -> Option<UnitMoves> {
        let mut place: Vec<Range<u64>> = to.shape().iter().map(|length| 0..*length).collect();
        let mut first = vec![0; place.len()];
        place[axis] = self.place();
        first[axis] = self.range.start;
        let whole = self.array.metadata().codecs();
        let are_alike = |own: &[Codec], new: &[Codec]| own == new && !(self.inner && own == whole);
        let moves = UnitMoves::new(self.array, to, &place, None, are_alike)?;
        let is_last = self.place().end == to.shape()[axis];
        let one =
            moves.edge(axis).filter(|edge| is_last || *edge <= self.range.end - self.range.start);
        one.and_then(|_| moves.beginning_at(&first))
    }

    /// The length of their encoded chunks on the axis, if they can move.
    pub(super) fn edge_in(&self, to: &Array, axis: usize) -> Option<u64> {
        self.moves_to(to, axis)?.edge(axis)
    }
}

/// What [`move_units`] has done.
pub(super) struct Moved {
    /// The length of the encoded chunks of each part on the axis; `None` if it still is to be encoded.
    pub(super) edges: Vec<Option<u64>>,
    /// The bytes that were put.
    pub(super) bytes: u64,
}

/// The chunks of an array to which encoded chunks move.
pub(super) enum Targets<'a> {
    /// All with elements of the parts.
    All,
    /// These alone: no others of the parts are stored. A chunk is removed, in case it is there, if none
    /// of what moves to it is stored.
    Only(&'a [Vec<u64>]),
}

/// Moves the encoded chunks of these parts to an array of the same data type, if they can be its own.
/// A chunk that moves may reach past the end of its part: what comes after the part has to be put
/// later.
///
/// `room`: the bytes that the array may get, if it is in memory.
pub(super) fn move_units(
    parts: &[Part<'_>],
    axis: usize,
    to: &Array,
    targets: Targets<'_>,
    room: Option<u64>,
) -> Result<Moved, ArrayError> {
    let moves = parts.iter().map(|part| part.moves_to(to, axis));
    let moves: Vec<Option<UnitMoves>> = moves.collect();
    let edges = moves.iter().map(|moves| moves.as_ref().and_then(|moves| moves.edge(axis)));
    let edges = edges.collect();
    let of = parts.iter().zip(moves);
    let of: Vec<_> = of.filter_map(|(part, moves)| Some((part, moves?))).collect();
    let places: Vec<Range<u64>> = of.iter().map(|(part, _)| part.place()).collect();
    let sources: Vec<_> = of.into_iter().map(|(part, moves)| (part.array, moves)).collect();
    let work = Moving { to, axis, room, bytes: AtomicU64::new(0) };
    let most = room.unwrap_or(MOST);
    let mover = UnitMover {
        sources: &sources,
        to,
        puts_empty: false,
        removes_empty: matches!(targets, Targets::Only(_)),
        memory: MEMORY.min(most),
        most,
        threads: None,
        work: &work,
    };
    let run = |chunks: &[(Vec<u64>, Vec<usize>)]| {
        let chunks = chunks.iter();
        let chunks = chunks.map(|(index, sources)| UnitChunk { index, sources, stored: None });
        let chunks: Vec<UnitChunk<'_>> = chunks.collect();
        mover.run(&chunks).map_err(|cause| of_array(to, cause))
    };
    let grid = |cause| ArrayError::Grid { key: node::metadata_key(to.prefix()), cause };
    let mut chunks = Vec::new();
    let mut visit = |index: Vec<u64>| {
        let on_axis = &to.layout().chunk_region(&index).map_err(grid)?[axis];
        let overlaps = |(number, place): (usize, &Range<u64>)| {
            (place.start < on_axis.end && on_axis.start < place.end).then_some(number)
        };
        let sources: Vec<usize> = places.iter().enumerate().filter_map(overlaps).collect();
        if !sources.is_empty() {
            chunks.push((index, sources));
        }
        if chunks.len() == AT_ONCE {
            run(&chunks)?;
            chunks.clear();
        }
        Ok::<(), ArrayError>(())
    };
    match targets {
        Targets::Only(indices) => indices.iter().cloned().try_for_each(&mut visit)?,
        Targets::All => {
            let mut region: Vec<Range<u64>> = to.shape().iter().map(|length| 0..*length).collect();
            let ends = (places.first(), places.last());
            region[axis] =
                ends.0.map_or(0, |place| place.start)..ends.1.map_or(0, |place| place.end);
            let mut found = to.grid().chunks(&region).map_err(grid)?;
            while let Some(part) = found.next_part() {
                visit(part.chunk().to_vec())?;
            }
        }
    }
    run(&chunks)?;
    Ok(Moved { edges, bytes: work.bytes.into_inner() })
}

/// A change that moves encoded chunks.
struct Moving<'a> {
    to: &'a Array,
    axis: usize,
    room: Option<u64>,
    bytes: AtomicU64,
}

impl UnitWork for Moving<'_> {
    type Error = TransferError;

    fn failed(&self, _: usize, cause: ArrayError) -> TransferError {
        TransferError::Source(cause)
    }

    fn before_batch(&self) -> Result<(), TransferError> {
        Ok(())
    }

    fn before_put(&self, _: &UnitChunk<'_>) -> Result<(), TransferError> {
        let (axis, bytes) = (self.axis, self.bytes.load(Ordering::Relaxed));
        match self.room.filter(|room| bytes > *room) {
            Some(room) => Err(TransferError::Target(refused(
                self.to.prefix(),
                RearrangeError::refill(axis, bytes, room),
            ))),
            None => Ok(()),
        }
    }

    fn moved(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// The error of an array whose encoded chunks did not move.
fn of_array(array: &Array, cause: TransferError) -> ArrayError {
    match cause {
        TransferError::Source(cause) | TransferError::Target(cause) => cause,
        TransferError::ChangedMeanwhile { mut keys, .. } if !keys.is_empty() => {
            refused(array.prefix(), RearrangeError::written(keys.swap_remove(0)))
        }
        cause => {
            let (path, remedy) = (node::display(array.prefix()), cause.remedy());
            ArrayError::Refused { path, cause: Box::new(cause), remedy }
        }
    }
}
