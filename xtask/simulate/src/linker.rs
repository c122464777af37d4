//! A client that joins arrays virtually, rearranges the joins, changes the members, and reads them
//! through the documents.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarr_array::{Array, ArrayError};
use zarr_join::rearrange::Span;
use zarr_join::{Arrangement, Join, Member, NodeMember};
use zarr_store::{Durability, Prefix, Store, StoreOptions, UpdatePolicy};
use zarr_virtual_join::{
    AxisOf, Document, Missing, OpenOptions, StoredDocument, VirtualJoinError, open_store,
};

use crate::client::store;
use crate::copier::elements;
use crate::history::History;
use crate::joined::{Piece, Step, Steps};
use crate::op::Op;
use crate::order::Timed;
use crate::random::Random;
use crate::run::FIRST;
use crate::world::{FaultKind, Storage, World};

/// How many members there are, and how long each of them is.
pub(crate) const MEMBERS: usize = 3;
pub(crate) const LENGTH: u64 = 5;

/// How many of them a document joins at first, and at most.
const JOINED: usize = 2;
const MOST: u64 = 5;

/// How many elements are stored of a member that lacks the others.
const STORED: usize = 2;

/// The value of each member at first.
pub(crate) fn first_values() -> [u16; MEMBERS] {
    let mut next = FIRST..;
    [(); MEMBERS].map(|()| next.next().unwrap_or(FIRST))
}

/// The elements of a member. Those at the end of one member are the fill value: it lacks a chunk.
pub(crate) fn elements_of(member: usize, value: u16) -> Vec<u16> {
    let mut elements = elements(value, LENGTH);
    if member == JOINED - 1 {
        elements[STORED..].fill(0);
    }
    elements
}

/// What is known of a document.
#[derive(Clone)]
struct Linked {
    may_change: bool,
    /// How often members had been changed when it was made.
    changes: usize,
    /// What was done to it, and read through it. If its chunks may change, in values of the beginning.
    steps: Arc<Steps>,
}

pub(crate) struct Links {
    /// The value of each member.
    values: [u16; MEMBERS],
    /// The member of each value that was ever written.
    members: BTreeMap<u16, usize>,
    changes: usize,
    documents: Vec<Linked>,
}

impl Links {
    pub(crate) fn new() -> Self {
        let values = first_values();
        let members = values.iter().enumerate().map(|(member, value)| (*value, member)).collect();
        Self { values, members, changes: 0, documents: Vec::new() }
    }

    /// The elements that a document has of a member.
    fn of_member(&self, linked: &Linked, member: usize) -> Vec<u16> {
        let values = if linked.may_change { first_values() } else { self.values };
        elements_of(member, values[member])
    }

    /// The members that were read, if each was whole and `is_value` holds for its value.
    fn members_of(
        &self,
        found: &[u16],
        is_value: impl Fn(u16, usize) -> bool,
    ) -> Option<Vec<usize>> {
        let length = usize::try_from(LENGTH).unwrap_or(usize::MAX);
        let blocks = found.chunks(length);
        let member = |block: &[u16]| {
            let member = self.members.get(&(block.first()? / 100))?;
            let is_known = block.iter().enumerate().all(|(at, element)| {
                let value = element / 100;
                let is_written =
                    self.members.get(&value) == Some(member) && is_value(value, *member);
                match elements_of(*member, value).get(at) {
                    Some(0) => *element == 0,
                    written => written == Some(element) && is_written,
                }
            });
            (block.len() == length && is_known).then_some(*member)
        };
        blocks.map(member).collect()
    }
}

pub(crate) struct Linker<'r> {
    pub(crate) world: &'r Arc<World>,
    pub(crate) history: &'r History,
    pub(crate) number: usize,
    pub(crate) known: &'r Mutex<Links>,
}

/// What was done to a document.
type Effect = (Arc<Steps>, u64, Step);

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
        let mut effect = None;
        let done = match op {
            Op::Document { may_change } => {
                self.link(may_change, &mut effect).map_err(|error| error.to_string())
            }
            Op::FillMember { member, value } => {
                self.fill(&folder, member, value).map_err(|error| error.to_string())
            }
            Op::Shift { choice } => {
                self.shift(choice, &mut effect).map_err(|error| error.to_string())
            }
            _ => self.look(),
        };
        let end = self.world.schedule.tick();
        if let Some((steps, start, op)) = effect {
            steps.add(Timed { start, end, op, is_sure: done.is_ok() });
        }
        let met = self.world.take_met(self.number);
        if met.contains(&FaultKind::PowerFailure) {
            let documents = self.known().documents.clone();
            let judged = documents.iter().map(|linked| linked.steps.forget_seen(1));
            judged.filter_map(Result::err).for_each(|fault| self.history.blame(fault));
        }
        self.world.note_end(self.number, op, done.as_ref().copied());
        if let Err(error) = &done
            && met.is_empty()
        {
            self.history.blame(format!("client {}: {op:?} failed: {error}", self.number));
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

    fn document(&self, number: usize) -> String {
        self.path(&format!("d{number}.zjoin"))
    }

    /// How often the clock has gone back.
    fn backs(&self) -> u64 {
        self.world.disk.as_ref().map_or(0, |disk| disk.backs())
    }

    fn options(&self) -> StoreOptions {
        let is_durable = self.world.storage == Storage::Disk { is_durable: true };
        let durability = if is_durable { Durability::PowerFailure } else { Durability::ProcessEnd };
        StoreOptions::new().durability(durability)
    }

    fn member(&self, member: usize) -> Result<Member, VirtualJoinError> {
        let path = self.path(&format!("m{member}"));
        let failed = |cause: ArrayError| {
            let member = "member".into();
            VirtualJoinError::from(zarr_join::JoinError::Member { member, cause: cause.into() })
        };
        let opened = open_store(&path, &OpenOptions::new())?;
        Ok(Member::new(path, Array::open(opened, &Prefix::root()).map_err(failed)?))
    }

    fn fill(&self, folder: &Arc<dyn Store>, member: usize, value: u16) -> Result<(), ArrayError> {
        // A reader that comes next may find any of the new chunks.
        {
            let mut known = self.known();
            known.changes += 1;
            known.members.insert(value, member);
        }
        let array = Array::open(folder.clone(), &Prefix::new(format!("m{member}"))?)?;
        let array = array.with_update_policy(UpdatePolicy::AcceptSingleProcess);
        array.write_as(0..LENGTH, &elements_of(member, value))?;
        self.known().values[member] = value;
        Ok(())
    }

    /// Writes a new document.
    fn link(&self, may_change: bool, effect: &mut Option<Effect>) -> Result<(), VirtualJoinError> {
        let steps = Arc::new(Steps::default());
        let number = {
            let mut known = self.known();
            let linked = Linked { may_change, changes: known.changes, steps: steps.clone() };
            let joined = (0..JOINED).flat_map(|member| known.of_member(&linked, member)).collect();
            *effect = Some((steps, self.world.schedule.tick(), Step::Became(Some(joined))));
            known.documents.push(linked);
            known.documents.len() - 1
        };
        let members = (0..JOINED).map(|member| self.member(member));
        let members = members.collect::<Result<_, VirtualJoinError>>()?;
        let place = self.document(number);
        let join = Join::new(members, Arrangement::Along(0));
        let mut document = Document::of_join(join, &place, Missing::Error)?;
        if may_change {
            document = document.chunks_may_change();
        }
        document.write(&place, &self.options())
    }

    /// Moves members of a document, removes or inserts one. Only the first client inserts: it knows
    /// what members are.
    fn shift(&self, choice: u64, effect: &mut Option<Effect>) -> Result<(), VirtualJoinError> {
        let mut random = Random::new(choice);
        let documents = self.known().documents.clone();
        let number = usize::try_from(random.below(documents.len() as u64)).unwrap_or(0);
        let Some(linked) = documents.get(number) else { return Ok(()) };
        let options = OpenOptions::new().store(self.options());
        let document = match StoredDocument::open(&self.document(number), &options) {
            // Its writing was interrupted, or goes on.
            Err(VirtualJoinError::NotFound { .. }) => return Ok(()),
            document => document?,
        };
        let axis = AxisOf::Number(0);
        let count = document.length(axis)? / LENGTH;
        let kept = (0..count).map(|at| Piece::Kept(at * LENGTH..(at + 1) * LENGTH));
        let mut pieces: Vec<Piece> = kept.collect();
        let at = |end: u64, random: &mut Random| usize::try_from(random.below(end)).unwrap_or(0);
        let mut inserted = None;
        match random.below(5) {
            0 | 1 if count < MOST && self.number == 0 => {
                let member = at(MEMBERS as u64, &mut random);
                inserted = Some(NodeMember::Array(self.member(member)?));
                let new = self.known().of_member(linked, member);
                pieces.insert(at(count + 1, &mut random), Piece::New(new));
            }
            2 if count > 1 => drop(pieces.remove(at(count, &mut random))),
            3 => {
                let (one, other) = (at(count, &mut random), at(count, &mut random));
                pieces.swap(one, other);
            }
            _ => pieces.reverse(),
        }
        let spans = pieces.iter().filter_map(|piece| match piece {
            Piece::Kept(range) => Some(Span::Kept(range.clone())),
            Piece::New(_) => inserted.clone().map(Span::Inserted),
        });
        let plan = document.rearrange(axis, &spans.collect::<Vec<_>>(), false)?;
        let start = self.world.schedule.tick();
        match plan.write(UpdatePolicy::RequireExclusion) {
            // Others were faster, and nothing was written.
            Err(VirtualJoinError::Changed { .. }) if self.world.is_shared() => Ok(()),
            written => {
                *effect = Some((linked.steps.clone(), start, Step::Rearranged(pieces)));
                written
            }
        }
    }

    /// Reads the members through every document. They are what was joined, or what they are now if
    /// that is wished, and everything else is an error.
    ///
    /// A clock that has gone back hides later changes, even if it did so before the join: a member may
    /// have a later time than the join. Then each element is of any write to its member.
    pub(crate) fn look(&self) -> Result<(), String> {
        let documents = self.known().documents.clone();
        for (number, linked) in documents.iter().enumerate() {
            let start = self.world.schedule.tick();
            let state = match open_store(&self.document(number), &OpenOptions::new()) {
                Err(VirtualJoinError::NotFound { .. }) => None,
                Err(error) => return Err(error.to_string()),
                Ok(hierarchy) => {
                    let read = Array::open(hierarchy, &Prefix::root()).and_then(|array| {
                        let length = array.shape().first().copied().unwrap_or(0);
                        array.read_as::<u16>(0..length)
                    });
                    let known = self.known();
                    let is_changed = known.changes > linked.changes;
                    let is_back = self.backs() > 0;
                    match read {
                        Ok(found) if linked.may_change => {
                            let is_now = |value, member: usize| known.values[member] == value;
                            let Some(members) = known.members_of(&found, is_now) else {
                                self.history.blame(format!("document {number}: {found:?}"));
                                continue;
                            };
                            let elements = |member| known.of_member(linked, member);
                            Some(members.into_iter().flat_map(elements).collect())
                        }
                        Ok(found) if is_changed && is_back => {
                            if known.members_of(&found, |_, _| true).is_none() {
                                self.history.blame(format!("document {number}: {found:?}"));
                            }
                            continue;
                        }
                        Ok(found) => Some(found),
                        // A chunk from before the clock went back looks newer than the join.
                        Err(_) if !linked.may_change && (is_changed || is_back) => {
                            continue;
                        }
                        Err(error) => return Err(error.to_string()),
                    }
                }
            };
            let end = self.world.schedule.tick();
            linked.steps.add(Timed {
                start,
                end,
                op: Step::Saw { array: 0, state },
                is_sure: true,
            });
        }
        Ok(())
    }

    pub(crate) fn audit(&self) -> Result<(), String> {
        let folder = store(self.world, self.number);
        self.look()?;
        for linked in &self.known().documents {
            linked.steps.judge(1)?;
        }
        let words = |error: zarr_store::StoreError| format!("clean: {error}");
        folder.clean(&Prefix::root(), &mut |_| {}).map_err(words)?;
        for entry in fs::read_dir(self.path("")).map_err(|error| error.to_string())? {
            let name = entry.map_err(|error| error.to_string())?.file_name();
            if name.to_string_lossy().starts_with(".zarr-kit") {
                return Err(format!("{} is left", name.display()));
            }
        }
        Ok(())
    }
}
