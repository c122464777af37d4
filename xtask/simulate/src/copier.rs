//! A client that copies an array, whole or in parts, and changes the source between its copies.

use std::sync::{Arc, Mutex, PoisonError};

use zarr_array::{Array, ArrayError, Part, delete_node};
use zarr_copy::{CopyOptions, CopySummary, Endpoint, TransferError, copy_array, copy_tree};
use zarr_store::{Prefix, Store, UpdatePolicy};

use crate::client::store;
use crate::history::History;
use crate::plan::{Copies, Op};
use crate::world::{FaultKind, World};

/// The source and the target.
pub(crate) const SOURCE: &str = "s";
pub(crate) const TARGET: &str = "t";

/// The elements of the source, which tell who wrote them and where they belong.
pub(crate) fn elements(value: u16, length: u64) -> Vec<u16> {
    (0_u16..).take(usize::try_from(length).unwrap_or(0)).map(|at| value * 100 + at).collect()
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
        let shown = result.as_ref().map_or_else(ToString::to_string, |()| "done".to_owned());
        self.world.note(&format!("client {} {op:?}: {shown}", self.number));
        match result {
            Ok(()) => false,
            Err(error) => {
                self.judge(op, &error, &met);
                true
            }
        }
    }

    fn judge(&self, op: Op, error: &TransferError, met: &[FaultKind]) {
        if met.iter().all(|kind| kind.is_mended()) {
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
        source.write_as(0..self.length, &elements(value, self.length))?;
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
        let copied = |known: &mut Known| known.copy = Some(known.source);
        let options = CopyOptions::new();
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
            Err(error) if self.begins_again(&error) => {
                self.known(|known| known.copy = None);
                self.transfer(store, &options.overwrite(true))
            }
            done => done,
        };
        done.map(|_| self.known(copied))
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
                    | TransferError::SourceChanged { .. }
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
        let metadata = crate::run::metadata(self.length, chunk).map_err(TransferError::Source)?;
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
            Ok(Some(_)) if self.copies.removes => false,
            Ok(Some(values)) if self.is_whole(&values) => false,
            Ok(Some(values)) => {
                self.history.blame(format!("client {} read {values:?}", self.number));
                false
            }
            Ok(None) => false,
            Err(error) => {
                self.judge(Op::ReadCopy, &TransferError::Target(error), &met);
                true
            }
        }
    }

    pub(crate) fn is_whole(&self, values: &[u16]) -> bool {
        let value = values.first().copied().unwrap_or(0) / 100;
        values == elements(value, self.length)
    }

    /// The elements of the copy, if it is there.
    pub(crate) fn read(&self, store: &Arc<dyn Store>) -> Result<Option<Vec<u16>>, ArrayError> {
        match Array::open(store.clone(), &prefix(TARGET)?) {
            Ok(array) => array.read_as::<u16>(0..self.length).map(Some),
            Err(ArrayError::NotFound { .. } | ArrayError::Unfinished { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn prefix(name: &str) -> Result<Prefix, ArrayError> {
    Ok(Prefix::new(name)?)
}
