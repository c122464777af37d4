//! How a copy divides its memory, and its work.

use std::num::NonZeroUsize;

use zarr_array::{Array, node, parallel};
use zarr_grid::{Grid, GridError};

use crate::CopyOptions;
use crate::error::TransferError;

/// Whole chunks of the target, combined into groups that end where source chunks end.
pub(crate) fn tasks(from: &Array, to: &Array, elements: u64) -> Result<Grid, GridError> {
    let all = to.shape().iter().fold(1_u64, |all, length| all.saturating_mul(*length));
    if all <= elements {
        let one: Vec<u64> = to.shape().iter().map(|length| (*length).max(1)).collect();
        return Grid::regular(to.shape(), &one);
    }
    to.grid().grouped(elements, Some(from.grid()))
}

/// How the memory is divided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) threads: NonZeroUsize,
    /// Elements of a task.
    pub(crate) elements: u64,
    /// Bytes that they may take if their lengths differ.
    pub(crate) bytes: u64,
    /// Bytes that the buffers of all threads may take.
    buffers: u64,
    /// How often elements are in memory: twice if they are read back.
    copies: u64,
    /// Bytes of an element.
    size: u64,
}

impl Budget {
    /// Each thread needs buffers for a chunk of the source or of the target; the rest is for the
    /// elements of a task. If memory is short, there are fewer threads, but always at least one
    /// task.
    pub(crate) fn new(
        from: &Array,
        to: &Array,
        options: &CopyOptions,
    ) -> Result<Self, TransferError> {
        let size = size_of_elements(to);
        let chunk = |array: &Array| array.grid().largest_chunk().saturating_mul(size);
        let (from, one) = (chunk(from), chunk(to));
        // A chunk as stored, its decompressed form (twice, for stacked compressors), and its
        // elements. A thread never reads and writes at the same time.
        let buffers = from.max(one).saturating_mul(4);
        let copies = if options.verify { 2 } else { 1 };
        let needed = |threads: u64| {
            one.saturating_mul(copies).saturating_add(buffers.saturating_mul(threads))
        };
        let limit = options.memory;
        if needed(1) > limit {
            let (path, by_source) = (node::display(to.prefix()), from > one);
            return Err(TransferError::Memory { path, by_source, needed: needed(1), limit });
        }
        let cores = parallel::cores();
        // Most of the memory is for tasks: the larger they are, the fewer chunks are decoded
        // twice.
        let fits = |threads: &NonZeroUsize| {
            let threads = u64::try_from(threads.get()).unwrap_or(u64::MAX);
            needed(threads) <= limit && buffers.saturating_mul(threads) <= limit / 8
        };
        let threads = (1..=cores.get()).rev().filter_map(NonZeroUsize::new).find(fits);
        let threads = threads.unwrap_or(NonZeroUsize::MIN);
        let taken = buffers.saturating_mul(u64::try_from(threads.get()).unwrap_or(u64::MAX));
        let left = limit.saturating_sub(taken);
        // Neither is 0.
        let bytes = left.checked_div(copies).unwrap_or(0);
        let elements = bytes.checked_div(size).unwrap_or(0);
        Ok(Self { threads, elements, bytes, buffers: taken, copies, size })
    }

    /// All memory is for encoded chunks. A task that decodes none may have more elements than fit.
    pub(crate) fn of_moves(to: &Array, options: &CopyOptions) -> Self {
        let (size, bytes) = (size_of_elements(to), options.memory);
        let elements = bytes.checked_div(size).unwrap_or(0).max(to.grid().largest_chunk());
        Self { threads: parallel::cores(), elements, bytes, buffers: 0, copies: 1, size }
    }

    /// Bytes that tasks of at most so many elements take, with the buffers.
    pub(crate) fn memory(&self, elements: u64) -> u64 {
        self.memory_of(elements.saturating_mul(self.size))
    }

    /// Bytes that a task takes whose elements have this size together, with the buffers.
    pub(crate) fn memory_of(&self, bytes: u64) -> u64 {
        self.buffers.saturating_add(bytes.saturating_mul(self.copies))
    }
}

/// Bytes that an element of variable length is assumed to take.
const TYPICAL: usize = 64;

/// Bytes per element; an assumed number for elements of variable length.
pub(crate) fn size_of_elements(array: &Array) -> u64 {
    let size = match array.data_type().is_variable_length() {
        true => TYPICAL,
        false => array.element_size(),
    };
    u64::try_from(size).unwrap_or(u64::MAX).max(1)
}
