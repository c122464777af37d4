//! The boxes in which two arrays are read, and their elements.

use std::ops::Range;

use zarr_array::store::StoreError;
use zarr_array::{Array, ArrayError, ByteStrings};
use zarr_grid::{Grid, GridError};

use super::node::{DiffError, DiffNode};

/// The elements of a piece of an array.
pub(super) enum Piece {
    Fixed(Vec<u8>, usize),
    Variable(ByteStrings),
}

impl Piece {
    pub(super) fn read(array: &Array, region: &[Range<u64>]) -> Result<Self, ArrayError> {
        Ok(match array.data_type().is_variable_length() {
            true => Self::Variable(array.read_as::<Vec<u8>>(region)?),
            false => Self::Fixed(array.read(region)?, array.element_size().max(1)),
        })
    }

    pub(super) fn elements(&self) -> Box<dyn Iterator<Item = &[u8]> + '_> {
        match self {
            Self::Fixed(bytes, size) => Box::new(bytes.chunks_exact(*size)),
            Self::Variable(elements) => Box::new(elements.iter()),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let bytes = match self {
            Self::Fixed(bytes, _) => bytes.len(),
            Self::Variable(elements) => elements.iter().map(<[u8]>::len).sum(),
        };
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// Whether an error concerns one chunk, so that others can still be read.
pub(super) fn is_of_one_chunk(error: &ArrayError) -> bool {
    match error {
        ArrayError::Chunk { .. }
        | ArrayError::Changing { .. }
        | ArrayError::Member { .. }
        | ArrayError::MemberChanged { .. } => true,
        ArrayError::Store(error) => matches!(
            error,
            StoreError::Io { .. }
                | StoreError::Range { .. }
                | StoreError::TooLarge { .. }
                | StoreError::OutsideRoot { .. }
                | StoreError::DanglingLink { .. }
                | StoreError::Unsteady { .. }
                | StoreError::Damaged { .. }
        ),
        _ => false,
    }
}

pub(super) fn grid_error(node: &DiffNode<'_>, array: &Array, cause: GridError) -> DiffError {
    node.failed(ArrayError::Grid { key: zarr_array::node::metadata_key(array.prefix()), cause })
}

/// The elements of a box.
pub(super) fn count(region: &[Range<u64>]) -> u64 {
    let lengths = region.iter().map(|axis| axis.end.saturating_sub(axis.start));
    lengths.fold(1, u64::saturating_mul)
}

/// Whether two boxes share an element.
pub(super) fn overlap(one: &[Range<u64>], other: &[Range<u64>]) -> bool {
    one.iter().zip(other).all(|(a, b)| a.start < b.end && b.start < a.end)
}

/// The parts of a box in the chunks of a grid, in C order.
pub(super) fn cut(grid: &Grid, region: &[Range<u64>]) -> Result<Vec<Vec<Range<u64>>>, GridError> {
    let mut parts = grid.chunks(region)?;
    let mut found = Vec::new();
    while let Some(part) = parts.next_part() {
        let axes = part.axes().iter().zip(region).map(|(part, axis)| {
            let part = part.in_selection();
            axis.start.saturating_add(part.start)..axis.start.saturating_add(part.end)
        });
        found.push(axes.collect());
    }
    Ok(found)
}

/// How many chunks of `read` the tasks touch in all.
pub(super) fn visits(tasks: &Grid, read: &Grid) -> u64 {
    let axes = tasks.axes().iter().zip(read.axes());
    let visits = axes.map(|(tasks, read)| {
        let touched = (0..tasks.occupied()).filter_map(|task| {
            let range = tasks.clipped(task)?;
            let first = read.chunk_of(range.start)?.0;
            let last = read.chunk_of(range.end.checked_sub(1)?)?.0;
            Some(last.saturating_sub(first).saturating_add(1))
        });
        touched.fold(0, u64::saturating_add)
    });
    visits.fold(1, u64::saturating_mul)
}
