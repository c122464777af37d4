//! A list of indices along one axis, sorted by chunk.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::axis::Axis;
use crate::error::GridError;
use crate::num::{to_u64, to_usize};
use crate::selection::axis_part::{AxisPart, PartIndices};

/// Indices in any order and with repetitions, sorted by chunk.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    /// The index of each within its chunk, and its position in the list.
    in_chunk: Vec<u64>,
    in_selection: Vec<u64>,
    groups: Vec<Group>,
}

/// The indices of one chunk.
#[derive(Debug, Clone)]
struct Group {
    chunk: u64,
    edge: u64,
    members: Range<usize>,
}

impl Listed {
    pub(crate) fn new(axis: &Axis, indices: &[u64]) -> Result<Listed, GridError> {
        let mut chunks = vec![0; indices.len()];
        let mut in_chunk = vec![0; indices.len()];
        axis.chunks_of(indices, &mut chunks, &mut in_chunk)?;
        let mut in_selection: Vec<u64> = (0..to_u64(indices.len())).collect();
        if !chunks.is_sorted() {
            in_selection.sort_by_key(|&at| chunks[to_usize(at)]);
            in_chunk = in_selection.iter().map(|&at| in_chunk[to_usize(at)]).collect();
            chunks = in_selection.iter().map(|&at| chunks[to_usize(at)]).collect();
        }
        let mut end = 0;
        let groups = chunks.chunk_by(|a, b| a == b).map(|same| {
            let members = end..end + same.len();
            end = members.end;
            Group { chunk: same[0], edge: axis.span(same[0]).1, members }
        });
        let groups = groups.collect();
        Ok(Listed { in_chunk, in_selection, groups })
    }

    /// Number of chunks.
    pub(crate) fn chunks(&self) -> usize {
        self.groups.len()
    }

    /// Number of indices.
    pub(crate) fn selected(&self) -> u64 {
        to_u64(self.in_selection.len())
    }

    /// The indices of the chunk that is number `at` among those touched.
    pub(crate) fn part(&self, at: usize) -> Option<AxisPart<'_>> {
        let Group { chunk, edge, members } = self.groups.get(at)?;
        let indices = PartIndices::List {
            in_chunk: &self.in_chunk[members.clone()],
            in_selection: &self.in_selection[members.clone()],
        };
        Some(AxisPart { chunk: *chunk, edge: *edge, indices, is_whole: false })
    }
}
