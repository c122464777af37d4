//! A client that copies an array, whole or in parts. It changes the source between its copies, or
//! another client does so at any time.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use zarr_array::{Array, ArrayError, Part, delete_node};
use zarr_copy::{CopyOptions, CopySummary, Endpoint, TransferError, copy_array, copy_tree};
use zarr_metadata::{ArrayMetadata, ChunkGrid, Codec};
use zarr_store::{Prefix, Store, UpdatePolicy};

use crate::client::store;
use crate::history::History;
use crate::op::Op;
use crate::plan::{Copies, Plan};
use crate::run::FIRST;
use crate::world::{FaultKind, World};

/// The source and the target.
pub(crate) const SOURCE: &str = "s";
pub(crate) const TARGET: &str = "t";

/// Rows and columns of arrays that are copied in two passes. One pass would decode each chunk of the
/// source once for each chunk of the copy; smaller arrays are not worth two.
const WIDE: [u64; 2] = [4, 70_000];

/// The length of such an array's chunks in the source, and in the copy.
const WIDE_CHUNKS: [[u64; 2]; 2] = [[1, WIDE[1]], [WIDE[0], WIDE[1] / 7]];

/// Bytes in which a copy holds one chunk of either, and its buffers.
const WIDE_MEMORY: u64 = 710_000;

/// The number of elements of such an array.
pub(crate) const WIDE_LENGTH: u64 = WIDE[0] * WIDE[1];

/// The elements of the source, which tell who wrote them and where they belong.
pub(crate) fn elements(value: u16, length: u64) -> Vec<u16> {
    let at = (0..100).cycle().take(usize::try_from(length).unwrap_or(0));
    at.map(|at| value * 100 + at).collect()
}

/// The metadata of the source.
pub(crate) fn source_metadata(plan: &Plan, copies: Copies) -> Result<ArrayMetadata, ArrayError> {
    match copies.is_wide {
        true => wide(WIDE_CHUNKS[0]),
        false => crate::run::metadata(plan.length, plan.chunk),
    }
}

/// Chunks are decoded as a whole: otherwise one pass would read each byte once.
fn wide(chunk: [u64; 2]) -> Result<ArrayMetadata, ArrayError> {
    let chunks = ChunkGrid::Regular { chunk_shape: chunk.to_vec() };
    crate::run::metadata_of(WIDE, chunks, Codec::gzip(1))
}

/// All elements of an array.
pub(crate) fn all(array: &Array) -> Vec<Range<u64>> {
    array.shape().iter().map(|length| 0..*length).collect()
}

/// What is known of the source and of its copy.
#[derive(Debug)]
pub(crate) struct Known {
    /// The value of the source.
    pub(crate) source: u16,
    /// The value of the copy, if it is certainly complete.
    pub(crate) copy: Option<u16>,
}

pub(crate) struct Copier<'r> {
    pub(crate) world: &'r Arc<World>,
    pub(crate) history: &'r History,
    pub(crate) number: usize,
    pub(crate) copies: Copies,
    pub(crate) length: u64,
    /// The length of a chunk of the source.
    pub(crate) chunk: usize,
    pub(crate) known: &'r Mutex<Known>,
}

impl Copier<'_> {
    pub(crate) fn run(&self, ops: &[Op]) {
        let mut process = store(self.world, self.number);
        for op in ops {
            self.world.schedule.tick();
            let mut again = self.perform(&process, *op);
            // Nobody copies a source of which nobody knows what it is.
            while again && matches!(op, Op::Fill { .. }) {
                process = store(self.world, self.number);
                again = self.perform(&process, *op);
            }
            process = store(self.world, self.number);
        }
    }

    /// Performs an operation, and returns whether faults kept it from that.
    fn perform(&self, store: &Arc<dyn Store>, op: Op) -> bool {
        let result = match op {
            Op::Copy { overwrite } => self.copy(store, overwrite).map(drop),
            Op::CopyPart { number } => self.copy_part(store, number).map(drop),
            Op::ReadCopy => return self.look(store),
            Op::Fill { value } => self.fill(store, value).map_err(TransferError::Source),
            Op::DeleteCopy => self.delete(store).map_err(TransferError::Target),
            _ => Ok(()),
        };
        let met = self.world.take_met(self.number);
        self.world.note_end(self.number, op, result.as_ref().copied());
        match result {
            Ok(()) => false,
            Err(error) => {
                self.judge(op, &error, &met);
                true
            }
        }
    }

    fn judge(&self, op: Op, error: &TransferError, met: &[FaultKind]) {
        // It is told, and whoever copies may begin again.
        if self.copies.changes && matches!(error, TransferError::ChangedMeanwhile { .. }) {
            return;
        }
        // Either of two copies to one place may be refused, or stopped.
        if self.copies.has_rival && matches!(op, Op::Copy { .. }) {
            return;
        }
        if met.iter().all(|kind| kind.is_mended()) && !self.world.has_lost_locks() {
            let number = self.number;
            self.history.blame(format!("client {number}: {op:?} failed, after {met:?}: {error}"));
        }
    }

    fn known(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn fill(&self, store: &Arc<dyn Store>, value: u16) -> Result<(), ArrayError> {
        let source = Array::open(store.clone(), &prefix(SOURCE)?)?;
        let source = source.with_update_policy(UpdatePolicy::AcceptSingleProcess);
        source.write_as(&all(&source)[..], &elements(value, self.length))?;
        self.known(|known| known.source = value);
        Ok(())
    }

    fn delete(&self, store: &Arc<dyn Store>) -> Result<(), ArrayError> {
        self.known(|known| known.copy = None);
        match delete_node(store, &prefix(TARGET)?) {
            Err(ArrayError::NotFound { .. }) => Ok(()),
            done => done,
        }
    }

    /// Copies the source, continues an unfinished copy of it, or begins again if the source has
    /// changed since.
    pub(crate) fn copy(
        &self,
        store: &Arc<dyn Store>,
        overwrite: bool,
    ) -> Result<(), TransferError> {
        let copied = |known: &mut Known| {
            known.copy = Some(known.source).filter(|_| !self.copies.changes);
        };
        let is_overtaken = self.copies.has_rival && self.number == 0;
        let options = CopyOptions::new();
        let options = if self.copies.is_wide { options.memory(WIDE_MEMORY) } else { options };
        let first = match overwrite {
            false => self.transfer(store, &options),
            true => Err(TransferError::PartOverwrites),
        };
        let resumed = match first {
            Err(TransferError::Unfinished { .. }) => {
                self.transfer(store, &options.clone().resume(true))
            }
            first => first,
        };
        let done = match resumed {
            Err(TransferError::Exists { .. }) => return Ok(()),
            Err(error) if !is_overtaken && self.begins_again(&error) => {
                self.known(|known| known.copy = None);
                self.transfer(store, &options.overwrite(true))
            }
            done => done,
        };
        done.map(|_| {
            // Who was overtaken does not know which state it has copied.
            if !is_overtaken {
                self.known(copied);
            }
        })
    }

    /// Whether a copy that failed so is to begin anew.
    fn begins_again(&self, error: &TransferError) -> bool {
        match error {
            // What is left of a copy that was being deleted.
            TransferError::NotEmpty { .. } => self.copies.removes,
            error => matches!(
                error,
                TransferError::PartOverwrites
                    | TransferError::OtherCopy { .. }
                    | TransferError::OtherDocument { .. }
                    | TransferError::SourceChanged { .. }
                    | TransferError::ChangedMeanwhile { .. }
            ),
        }
    }

    pub(crate) fn copy_part(
        &self,
        store: &Arc<dyn Store>,
        number: u32,
    ) -> Result<(), TransferError> {
        let Ok(part) = Part::new(number, self.copies.parts) else { return Ok(()) };
        self.transfer(store, &CopyOptions::new().part(part)).map(drop)
    }

    fn transfer(
        &self,
        store: &Arc<dyn Store>,
        options: &CopyOptions,
    ) -> Result<CopySummary, TransferError> {
        let [from, to] = [SOURCE, TARGET].map(|name| prefix(name).map_err(TransferError::Source));
        let (from, to) = (from?, to?);
        let Some(chunk) = self.copies.chunk else {
            let ends = (Endpoint::new(store, &from), Endpoint::new(store, &to));
            let mut same = |_: &Prefix, metadata: &_| Ok(Clone::clone(metadata));
            return copy_tree(ends.0, ends.1, &mut same, options, &mut |_, _| {});
        };
        let source = Array::open(store.clone(), &from).map_err(TransferError::Source)?;
        let metadata = match self.copies.is_wide {
            true => wide(WIDE_CHUNKS[1]),
            false => crate::run::metadata(self.length, chunk),
        };
        let metadata = metadata.map_err(TransferError::Source)?;
        let copied = copy_array(&source, store.clone(), &to, metadata, options, &mut |_| {});
        copied.map(|(_, summary)| summary)
    }

    /// Reads the copy, which must be that of one state of the source if it is there. Returns whether
    /// faults kept it from that.
    fn look(&self, store: &Arc<dyn Store>) -> bool {
        let read = self.read(store);
        let met = self.world.take_met(self.number);
        match read {
            // Whoever reads while a copy is removed reads fill values.
            Ok(Some(_)) if self.copies.removes || self.copies.has_rival => false,
            Ok(Some(values)) if self.is_whole(&values) => false,
            Ok(Some(values)) => {
                let number = self.number;
                self.history.blame(format!("client {number} read {}", short(&values)));
                false
            }
            Ok(None) => false,
            Err(error) => {
                self.judge(Op::ReadCopy, &TransferError::Target(error), &met);
                true
            }
        }
    }

    /// Whether these are the elements of one state of the source. Whoever fills it writes one chunk
    /// after another, so no chunk is older than those after it.
    pub(crate) fn is_whole(&self, values: &[u16]) -> bool {
        if self.copies.changes {
            let at = elements(0, self.length);
            // The first fill has a higher number than all later ones.
            let age = |value: &u16| std::cmp::Reverse(value / 100 % FIRST);
            let is_there = |(value, at): (&u16, &u16)| value % 100 == *at;
            return values.len() == at.len()
                && values.iter().zip(&at).all(is_there)
                && values
                    .chunks(self.chunk)
                    .all(|chunk| chunk.iter().all(|one| age(one) == age(&chunk[0])))
                && values.is_sorted_by_key(age);
        }
        let value = values.first().copied().unwrap_or(0) / 100;
        values == elements(value, self.length)
    }

    /// The elements of the copy, if it is there.
    pub(crate) fn read(&self, store: &Arc<dyn Store>) -> Result<Option<Vec<u16>>, ArrayError> {
        match Array::open(store.clone(), &prefix(TARGET)?) {
            Ok(array) => array.read_as::<u16>(&all(&array)[..]).map(Some),
            Err(ArrayError::NotFound { .. } | ArrayError::Unfinished { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Elements in words, from each on that does not follow the one before.
pub(crate) fn short(values: &[u16]) -> String {
    let before = [None].into_iter().chain(values.iter().map(Some));
    let starts = values.iter().zip(before).enumerate().filter(|(at, (value, before))| {
        let next = before.map(|before| before / 100 * 100 + (before + 1) % 100);
        *at < 20 || next != Some(**value)
    });
    let shown: Vec<_> = starts.map(|(at, (value, _))| format!("{at}: {value}")).take(60).collect();
    format!("{} elements, {}", values.len(), shown.join(", "))
}

fn prefix(name: &str) -> Result<Prefix, ArrayError> {
    Ok(Prefix::new(name)?)
}
