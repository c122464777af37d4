//! The copy of one array's elements in one pass.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_array::node::{self, METADATA_KEY};
use zarr_array::{Array, ArrayError, LimitedStrings, Selection, StoredTasks};
use zarr_grid::{AxisPart, Grid};
use zarr_metadata::ArrayMetadata;
use zarr_store::{MemoryStore, Prefix, Store};

use crate::error::{TransferError, grid_error, source, target};
use crate::marker::TargetState;
use crate::moved::{UnitChunk, UnitMover, UnitWork};
use crate::parts::Share;
use crate::tasks::budget::{Budget, tasks};
use crate::tasks::sparse::{common, small_tasks};
use crate::units::UnitMoves;
use crate::{CopyOptions, CopyProgress, CopySummary};

/// The copy of one array's elements, checked as far as possible before anything is written.
pub(crate) struct Prepared {
    /// The array that it makes.
    pub(crate) to: Array,
    pub(crate) budget: Budget,
    /// The tasks: the most that each reads at a time.
    pub(crate) tasks: Grid,
    /// How chunks move as they are stored, if they do.
    pub(crate) moves: Option<UnitMoves>,
}

impl Prepared {
    pub(crate) fn new(
        from: &Array,
        store: Arc<dyn Store>,
        prefix: &Prefix,
        metadata: ArrayMetadata,
        options: &CopyOptions,
    ) -> Result<Self, TransferError> {
        let metadata = metadata.into_version_3();
        let same = metadata.shape() == from.shape() && metadata.data_type() == from.data_type();
        if !same {
            return Err(TransferError::Mismatch {
                source_shape: from.shape().to_vec(),
                source_type: from.data_type().to_string(),
                target_shape: metadata.shape().to_vec(),
                target_type: metadata.data_type().to_string(),
            });
        }
        // Where none are given, those with which the source was opened.
        let given = match options.codecs.is_empty() {
            true => from.options().other_codecs().clone(),
            false => options.codecs.clone(),
        };
        let codecs = zarr_codec::Options::new().allow_loss(options.allow_loss).codecs(given);
        let to =
            Array::with_metadata(store, prefix, metadata, codecs).map_err(TransferError::Target)?;
        node::refuse_unwritable(&to, &prefix.key(METADATA_KEY)?).map_err(TransferError::Target)?;
        let moves = UnitMoves::of_copy(from, &to);
        let budget = match (&moves, options.verify) {
            (Some(_), false) => Budget::of_moves(&to, options),
            _ => Budget::new(from, &to, options)?,
        };
        let to = to.with_threads(budget.threads);
        let tasks = tasks(from, &to, budget.elements).map_err(|error| grid_error(&to, error))?;
        Ok(Self { to, budget, tasks, moves })
    }

    /// The same for a target that was found in this state, in the store that only its run changes.
    pub(crate) fn of_share(&self, share: &Share<'_>, found: TargetState) -> Self {
        // Where an object of an overtaken run may come, even a chunk of fill values is stored: the
        // late put then finds one.
        let to = self.to.clone().with_store(share.store_for(found));
        let to = to.with_empty_chunks_stored(!share.trusts_objects());
        Self { to, budget: self.budget, tasks: self.tasks.clone(), moves: self.moves.clone() }
    }

    /// The same with other tasks, which have whole chunks of the target.
    pub(crate) fn with_tasks(self, tasks: Grid) -> Self {
        Self { tasks, ..self }
    }

    /// Copies the elements in one pass.
    pub(crate) fn copy(
        &self,
        from: &Array,
        found: TargetState,
        share: &Share<'_>,
        options: &CopyOptions,
        is_sparse: bool,
        progress: &mut dyn FnMut(CopyProgress),
    ) -> Result<CopySummary, TransferError> {
        let from = &from.clone().with_threads(self.budget.threads);
        let to = &self.to;
        let done = match found {
            TargetState::Interrupted | TargetState::Documented if share.trusts_objects() => {
                share.stored(to)?
            }
            _ => HashSet::new(),
        };
        let moves = self.moves.as_ref();
        let copy = Copy { from, to, done, share, budget: self.budget, moves, options };
        match is_sparse {
            true => copy.run_stored(progress),
            false => copy.run(&self.tasks, progress),
        }
    }
}

/// Bytes of the memory for elements for which one task with stored chunks is remembered: a task takes
/// less than a hundredth of that.
const BYTES_PER_TASK: u64 = 1 << 13;

/// So many are remembered in any case.
const FEWEST_TASKS: usize = 1 << 10;

/// The elements of a part of a region, as ranges of the array.
fn absolute(region: &[Range<u64>], part: &[AxisPart<'_>]) -> Vec<Range<u64>> {
    let axes = part.iter().zip(region).map(|(part, range)| {
        let within = part.in_selection();
        let at = |n: u64| range.start + n;
        at(within.start)..at(within.end)
    });
    axes.collect()
}

struct Copy<'a> {
    from: &'a Array,
    to: &'a Array,
    /// Chunks of the target that exist already.
    done: HashSet<Vec<u64>>,
    /// The share of the copy.
    share: &'a Share<'a>,
    budget: Budget,
    /// How chunks move as they are stored, if they are the same in the target.
    moves: Option<&'a UnitMoves>,
    options: &'a CopyOptions,
}

/// A copy that moves units.
struct Moving<'a> {
    share: &'a Share<'a>,
    /// Bytes that were put.
    bytes: AtomicU64,
}

impl UnitWork for Moving<'_> {
    type Error = TransferError;

    fn failed(&self, _: usize, cause: ArrayError) -> TransferError {
        source(cause)
    }

    fn before_batch(&self) -> Result<(), TransferError> {
        self.share.check()
    }

    fn before_put(&self, _: &UnitChunk<'_>) -> Result<(), TransferError> {
        Ok(())
    }

    fn moved(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// The counts of a copy of elements, and the buffers that it keeps from task to task.
struct Running<'p> {
    summary: CopySummary,
    total: Option<u64>,
    progress: &'p mut dyn FnMut(CopyProgress),
    elements: Vec<u8>,
    again: Vec<u8>,
}

impl Copy<'_> {
    /// Does every task.
    fn run(
        &self,
        tasks: &Grid,
        progress: &mut dyn FnMut(CopyProgress),
    ) -> Result<CopySummary, TransferError> {
        let regions = self.share.regions(self.to).map_err(|error| grid_error(self.to, error))?;
        let mut running = self.start(&regions, progress);
        for region in &regions {
            // A task and a region both have whole chunks, and so has their intersection.
            let tasks = tasks.chunks(region).map_err(|error| grid_error(self.to, error))?;
            for task in tasks {
                self.step(&absolute(region, task.axes()), &mut running)?;
            }
        }
        Ok(running.summary)
    }

    /// Does the tasks that have stored chunks of the source, of an array that has few of them.
    fn run_stored(
        &self,
        progress: &mut dyn FnMut(CopyProgress),
    ) -> Result<CopySummary, TransferError> {
        let (from, to) = (self.from, self.to);
        let regions = self.share.regions(to).map_err(|error| grid_error(to, error))?;
        let elements = self.budget.elements;
        let tasks = match small_tasks(from, to, elements) {
            Ok(None) => tasks(from, to, elements),
            Ok(Some(small)) => Ok(small),
            Err(error) => Err(error),
        };
        let tasks = tasks.map_err(|error| grid_error(to, error))?;
        let most = usize::try_from(self.budget.bytes / BYTES_PER_TASK).unwrap_or(usize::MAX);
        let mut running = self.start(&regions, progress);
        for task in StoredTasks::new(from, tasks, most.max(FEWEST_TASKS)) {
            let (_, region) = task.map_err(source)?;
            for ranges in regions.iter().filter_map(|owned| common(owned, &region)) {
                self.step(&ranges, &mut running)?;
            }
        }
        // An absent chunk is absent in the target.
        let Running { mut summary, total, progress, .. } = running;
        summary.bytes = total.unwrap_or(summary.bytes);
        progress(CopyProgress { done: summary.bytes, total, ..CopyProgress::default() });
        Ok(summary)
    }

    /// Before the first task of these regions.
    fn start<'p>(
        &self,
        regions: &[Vec<Range<u64>>],
        progress: &'p mut dyn FnMut(CopyProgress),
    ) -> Running<'p> {
        let total = regions
            .iter()
            .fold(0, |total: u64, region| total.saturating_add(self.bytes_of(region)));
        // The length of variable elements is known only after reading them.
        let total = (!self.to.data_type().is_variable_length()).then_some(total);
        progress(CopyProgress { total, ..CopyProgress::default() });
        let summary = CopySummary { arrays: 1, ..CopySummary::default() };
        Running { summary, total, progress, elements: Vec::new(), again: Vec::new() }
    }

    /// The bytes of the elements in these ranges; 0 if they are of variable length.
    fn bytes_of(&self, ranges: &[Range<u64>]) -> u64 {
        let size = u64::try_from(self.to.element_size()).unwrap_or(u64::MAX);
        let lengths = ranges.iter().map(|range| range.end - range.start);
        lengths.fold(size, |product, length| product.saturating_mul(length))
    }

    /// Does the task of these ranges, unless it is done.
    fn step(&self, ranges: &[Range<u64>], running: &mut Running<'_>) -> Result<(), TransferError> {
        let Running { summary, total, progress, elements, again } = running;
        let is_done = self.is_done(ranges)?;
        let is_skipped = if is_done && !self.options.verify {
            true
        } else if let (Some(moves), false) = (self.moves, self.options.verify) {
            let moved = self.move_units(moves, &self.chunks_to_do(ranges)?)?;
            if self.to.data_type().is_variable_length() {
                summary.bytes = summary.bytes.saturating_add(moved);
            }
            false
        } else if self.to.data_type().is_variable_length() {
            summary.bytes = summary.bytes.saturating_add(self.variable_task(ranges)?);
            false
        } else {
            self.task(ranges, is_done, elements, again)?
        };
        let count = if is_skipped { &mut summary.skipped } else { &mut summary.tasks };
        *count += 1;
        summary.bytes = summary.bytes.saturating_add(self.bytes_of(ranges));
        progress(CopyProgress { done: summary.bytes, total: *total, ..CopyProgress::default() });
        Ok(())
    }

    /// Moves the units of these chunks. Returns the bytes that were put.
    fn move_units(&self, moves: &UnitMoves, chunks: &[Vec<u64>]) -> Result<u64, TransferError> {
        let work = Moving { share: self.share, bytes: AtomicU64::new(0) };
        let chunks: Vec<UnitChunk<'_>> =
            chunks.iter().map(|index| UnitChunk { index, sources: &[0], stored: None }).collect();
        let memory = self.options.memory;
        let mover = UnitMover {
            sources: &[(self.from, moves.clone())],
            to: self.to,
            // A late put of an overtaken run must find an object.
            puts_empty: !self.share.trusts_objects(),
            removes_empty: false,
            memory,
            most: memory,
            threads: None,
            work: &work,
        };
        mover.run(&chunks)?;
        Ok(work.bytes.into_inner())
    }

    /// The chunks of a task that do not exist yet.
    fn chunks_to_do(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u64>>, TransferError> {
        let chunks = self.to.grid().chunks(ranges);
        let mut chunks = chunks.map_err(|error| grid_error(self.to, error))?;
        let mut found = Vec::new();
        while let Some(part) = chunks.next_part() {
            if self.options.verify || !self.done.contains(part.chunk()) {
                found.push(part.chunk().to_vec());
            }
        }
        Ok(found)
    }

    /// Writes the elements of a task, or moves its chunks.
    fn write(
        &self,
        ranges: &[Range<u64>],
        write: impl FnOnce() -> Result<(), ArrayError>,
    ) -> Result<(), TransferError> {
        match self.moves {
            Some(moves) => self.move_units(moves, &self.chunks_to_do(ranges)?).map(drop),
            None => write().map_err(target),
        }
    }

    /// Whether all chunks of a task exist. Chunks of only the fill value never do, and are
    /// processed again.
    fn is_done(&self, ranges: &[Range<u64>]) -> Result<bool, TransferError> {
        if self.done.is_empty() {
            return Ok(false);
        }
        let mut chunks =
            self.to.grid().chunks(ranges).map_err(|error| grid_error(self.to, error))?;
        while let Some(part) = chunks.next_part() {
            if !self.done.contains(part.chunk()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Writes the elements, unless an interrupted run has, and a verification finds them equal:
    /// then returns true. That run may have failed its verification.
    fn task(
        &self,
        ranges: &[Range<u64>],
        is_done: bool,
        elements: &mut Vec<u8>,
        again: &mut Vec<u8>,
    ) -> Result<bool, TransferError> {
        let selection = Selection::from(ranges);
        let length = usize::try_from(self.bytes_of(ranges)).unwrap_or(usize::MAX);
        let room = |buffer: &mut Vec<u8>| {
            if buffer.len() < length {
                // Free the old memory before allocating the new.
                *buffer = Vec::new();
                *buffer = zarr_view::zeroed(length).map_err(ArrayError::Copy)?;
            }
            Ok::<(), ArrayError>(())
        };
        room(elements).map_err(TransferError::Target)?;
        let bytes = elements.get_mut(..length).unwrap_or_default();
        self.read(&selection, bytes)?;
        if self.options.verify {
            room(again).map_err(TransferError::Target)?;
        }
        let read = again.get_mut(..length).unwrap_or_default();
        if is_done
            && self.to.read_into(&selection, &mut *read).is_ok()
            && (bytes == read || self.is_as_encoded(ranges)?)
        {
            return Ok(true);
        }
        self.share.check()?;
        self.write(ranges, || self.to.write(&selection, &*bytes))?;
        if self.options.verify {
            self.to.read_into(&selection, &mut *read).map_err(TransferError::Target)?;
            if bytes != read && !self.is_as_encoded(ranges)? {
                return Err(self.differs(ranges));
            }
        }
        Ok(false)
    }

    /// As [`task`](Self::task), for elements of variable length; returns their size in bytes.
    ///
    /// A task has as many elements as fit if they have the usual length. If they are longer, each
    /// chunk is copied separately.
    fn variable_task(&self, ranges: &[Range<u64>]) -> Result<u64, TransferError> {
        let selection = Selection::from(ranges);
        let mut read = LimitedStrings::new(self.budget.bytes);
        self.from.read_into(&selection, &mut read).map_err(source)?;
        let read = match read.take() {
            Ok(read) => read,
            Err(needed) => {
                return self.chunk_by_chunk(ranges)?.ok_or_else(|| TransferError::Memory {
                    path: node::display(self.to.prefix()),
                    by_source: false,
                    needed: self.budget.memory_of(needed),
                    limit: self.options.memory,
                });
            }
        };
        self.share.check()?;
        let elements: Vec<&[u8]> = read.iter().collect();
        self.write(ranges, || self.to.write_as(ranges, &elements))?;
        if self.options.verify
            && self.to.read_as::<Vec<u8>>(ranges).map_err(TransferError::Target)? != read
        {
            return Err(self.differs(ranges));
        }
        Ok(u64::try_from(read.bytes().len()).unwrap_or(u64::MAX))
    }

    /// Copies each chunk of the target in these ranges separately; `None` if there is only one.
    fn chunk_by_chunk(&self, ranges: &[Range<u64>]) -> Result<Option<u64>, TransferError> {
        let parts = self.to.grid().chunks(ranges);
        let mut parts = parts.map_err(|error| grid_error(self.to, error))?;
        let mut bytes = 0_u64;
        while let Some(part) = parts.next_part() {
            let one = absolute(ranges, part.axes());
            if one == ranges {
                return Ok(None);
            }
            bytes = bytes.saturating_add(self.variable_task(&one)?);
        }
        Ok(Some(bytes))
    }

    /// The error for elements that read back differently.
    fn differs(&self, ranges: &[Range<u64>]) -> TransferError {
        let path = node::display(self.to.prefix());
        TransferError::Verify { path, start: ranges.iter().map(|range| range.start).collect() }
    }

    /// Whether each chunk of the target in these ranges reads back as the source's elements do after
    /// encoding: codecs that may lose bits do so with the elements of a whole chunk. One chunk at a
    /// time, since a task takes the memory.
    fn is_as_encoded(&self, ranges: &[Range<u64>]) -> Result<bool, TransferError> {
        if !self.options.allow_loss {
            return Ok(false);
        }
        let to = self.to;
        let (metadata, codecs) = (to.metadata().clone(), to.options().clone());
        let store = MemoryStore::new();
        let encoded = Array::with_metadata(Arc::new(store.clone()), to.prefix(), metadata, codecs);
        let encoded = encoded.map_err(target)?;
        let mut parts = to.grid().chunks(ranges).map_err(|error| grid_error(to, error))?;
        while let Some(part) = parts.next_part() {
            let one = absolute(ranges, part.axes());
            let elements = self.from.read(&*one).map_err(source)?;
            encoded.write(&*one, &*elements).map_err(target)?;
            if encoded.read(&*one).map_err(target)? != to.read(&*one).map_err(target)? {
                return Ok(false);
            }
            store.delete_prefix(to.prefix())?;
        }
        Ok(true)
    }

    fn read(&self, selection: &Selection, out: &mut [u8]) -> Result<(), TransferError> {
        self.from.read_into(selection, out).map_err(source)
    }
}
