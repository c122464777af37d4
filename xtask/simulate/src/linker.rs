//! A client that joins arrays virtually, changes them, and reads them through the documents.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarr_array::{Array, ArrayError};
use zarr_join::{Arrangement, Join, Member};
use zarr_store::{Durability, Prefix, Store, StoreOptions, UpdatePolicy};
use zarr_virtual_join::{Document, Missing, OpenOptions, VirtualJoinError, open_store};

use crate::client::store;
use crate::copier::elements;
use crate::history::History;
use crate::plan::Op;
use crate::world::{FaultKind, Storage, World};

/// How many members there are, and how long each of them is.
pub(crate) const MEMBERS: usize = 2;
pub(crate) const LENGTH: u64 = 5;

/// What is known of a document.
#[derive(Clone, Debug)]
pub(crate) struct Linked {
    may_change: bool,
    /// The values of the members when it was made.
    values: [u16; MEMBERS],
    /// How often members had been changed.
    changes: usize,
    /// `None` if its writing was interrupted, and nobody has looked since.
    is_there: Option<bool>,
    /// Whether its writing was not interrupted: no power failure may take it.
    is_sure: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Links {
    pub(crate) values: [u16; MEMBERS],
    pub(crate) changes: usize,
    pub(crate) documents: Vec<Linked>,
}

pub(crate) struct Linker<'r> {
    pub(crate) world: &'r Arc<World>,
    pub(crate) history: &'r History,
    pub(crate) number: usize,
    pub(crate) known: &'r Mutex<Links>,
}

impl Linker<'_> {
    pub(crate) fn run(&self, ops: &[Op]) {
        for op in ops {
            let mut again = self.perform(*op);
            while again && matches!(op, Op::FillMember { .. }) {
                again = self.perform(*op);
            }
        }
    }

    /// Performs an operation, and returns whether faults kept it from that.
    fn perform(&self, op: Op) -> bool {
        let folder = store(self.world, self.number);
        let done = match op {
            Op::Document { may_change } => self.link(may_change).map_err(|error| error.to_string()),
            Op::FillMember { member, value } => {
                self.fill(&folder, member, value).map_err(|error| error.to_string())
            }
            _ => self.look(),
        };
        let met = self.world.take_met(self.number);
        if met.contains(&FaultKind::PowerFailure) {
            let mut known = self.known();
            let seen = known.documents.iter_mut().filter(|linked| !linked.is_sure);
            seen.for_each(|linked| linked.is_there = None);
        }
        let shown = done.as_ref().map_or_else(Clone::clone, |()| "done".to_owned());
        self.world.note(&format!("client {} {op:?}: {shown}", self.number));
        if let Err(error) = &done
            && met.is_empty()
        {
            self.history.blame(format!("{op:?} failed: {error}"));
        }
        done.is_err()
    }

    fn known(&self) -> MutexGuard<'_, Links> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, name: &str) -> String {
        let folder = self.world.disk.as_ref().map(|disk| disk.root().join(name));
        folder.unwrap_or_default().to_string_lossy().into_owned()
    }

    fn fill(&self, folder: &Arc<dyn Store>, member: usize, value: u16) -> Result<(), ArrayError> {
        // A reader that comes next may find any of the new chunks.
        self.known().changes += 1;
        let array = Array::open(folder.clone(), &Prefix::new(format!("m{member}"))?)?;
        let array = array.with_update_policy(UpdatePolicy::AcceptSingleProcess);
        array.write_as(0..LENGTH, &elements(value, LENGTH))?;
        self.known().values[member] = value;
        Ok(())
    }

    /// Writes a new document.
    fn link(&self, may_change: bool) -> Result<(), VirtualJoinError> {
        let (number, linked) = {
            let mut known = self.known();
            let (values, changes) = (known.values, known.changes);
            let linked = Linked { may_change, values, changes, is_there: None, is_sure: false };
            known.documents.push(linked.clone());
            (known.documents.len() - 1, linked)
        };
        let failed = |cause: ArrayError| {
            let member = "member".into();
            VirtualJoinError::from(zarr_join::JoinError::Member { member, cause: cause.into() })
        };
        let members = (0..MEMBERS).map(|member| {
            let path = self.path(&format!("m{member}"));
            let opened = open_store(&path, &OpenOptions::new())?;
            Ok(Member::new(path, Array::open(opened, &Prefix::root()).map_err(failed)?))
        });
        let members = members.collect::<Result<_, VirtualJoinError>>()?;
        let place = self.path(&format!("d{number}.zjoin"));
        let join = Join::new(members, Arrangement::Along(0));
        let mut document = Document::of_join(join, &place, Missing::Error)?;
        if may_change {
            document = document.chunks_may_change();
        }
        let is_durable = self.world.storage == Storage::Disk { is_durable: true };
        let durability = if is_durable { Durability::PowerFailure } else { Durability::ProcessEnd };
        document.write(&place, &StoreOptions::new().durability(durability))?;
        self.known().documents[number] = Linked { is_there: Some(true), is_sure: true, ..linked };
        Ok(())
    }

    /// Reads the members through every document: they are what was joined, or what they are now if
    /// that is wished, and everything else is an error.
    pub(crate) fn look(&self) -> Result<(), String> {
        let known = self.known().clone();
        for (number, linked) in known.documents.iter().enumerate() {
            let joined = |values: [u16; MEMBERS]| -> Vec<u16> {
                values.iter().flat_map(|value| elements(*value, LENGTH)).collect()
            };
            let place = self.path(&format!("d{number}.zjoin"));
            let is_there = match open_store(&place, &OpenOptions::new()) {
                Err(VirtualJoinError::NotFound { .. }) => false,
                Err(error) => return Err(error.to_string()),
                Ok(hierarchy) => {
                    let array = Array::open(hierarchy, &Prefix::root());
                    let length = LENGTH * MEMBERS as u64;
                    let read = array.and_then(|array| array.read_as::<u16>(0..length));
                    let is_changed = known.changes > linked.changes;
                    let expected = match (linked.may_change, is_changed) {
                        (true, _) => Some(joined(known.values)),
                        (false, false) => Some(joined(linked.values)),
                        (false, true) => None,
                    };
                    match (read, expected) {
                        (Ok(found), Some(expected)) if found == expected => {}
                        (Ok(found), expected) => {
                            let blame = format!("document {number}: {found:?}, not {expected:?}");
                            self.history.blame(blame);
                        }
                        (Err(_), None) => {}
                        (Err(error), Some(_)) => return Err(error.to_string()),
                    }
                    true
                }
            };
            if linked.is_there.is_some_and(|was| was != is_there) {
                self.history.blame(format!("document {number} is there: {is_there}"));
            }
            self.known().documents[number].is_there = Some(is_there);
        }
        Ok(())
    }

    pub(crate) fn audit(&self) -> Result<(), String> {
        drop(store(self.world, self.number));
        self.look()
    }
}
