//! A client that joins members into a target, rearranges it, replaces it and repairs it, or reads it.

use std::iter;
use std::sync::{Arc, Mutex, PoisonError};

use zarr_array::{Array, ArrayError, Group};
use zarr_copy::{TransferError, create_over};
use zarr_join::rearrange::{GroupRearrangement, Rearrangement, Span, repair, repair_group};
use zarr_join::{
    Arrangement, GroupArrangement, GroupMember, Join, JoinError, JoinGroups, JoinOptions, Member,
};
use zarr_store::{Prefix, Store, UpdatePolicy};

use crate::client::store;
use crate::copier::elements;
use crate::history::History;
use crate::joined::{Piece, State, Step, Steps, of_array};
use crate::op::Op;
use crate::order::Timed;
use crate::plan::Joins;
use crate::random::Random;
use crate::world::{FaultKind, World};

/// What the members are joined into.
pub(crate) const TARGET: &str = "t";

/// The arrays of a member, and of the target.
pub(crate) const NAMES: [&str; 2] = ["u", "v"];

/// The dimension along which they are joined.
pub(crate) const DIMENSION: &str = "x";

pub(crate) struct Joiner<'r> {
    pub(crate) world: &'r Arc<World>,
    pub(crate) history: &'r History,
    pub(crate) steps: &'r Steps,
    pub(crate) number: usize,
    pub(crate) joins: &'r Joins,
    /// Whether nobody else changes what is joined.
    pub(crate) is_alone: bool,
    /// The value of each member.
    pub(crate) known: &'r Mutex<Vec<u16>>,
}

/// What an operation did or may have done, in this order.
type Effects = Vec<(Step, bool)>;

impl Joiner<'_> {
    pub(crate) fn arrays(&self) -> usize {
        if self.joins.is_group { 2 } else { 1 }
    }

    pub(crate) fn run(&self, ops: &[Op]) {
        // Rearrangements of several arrays that the next repair completes.
        let mut open = Vec::new();
        for op in ops {
            let again = self.perform(&store(self.world, self.number), *op, &mut open);
            // Nobody joins members of which nobody knows what they are.
            let mut again = again && matches!(op, Op::FillMember { .. });
            while again {
                again = self.perform(&store(self.world, self.number), *op, &mut open);
            }
        }
        self.close(&mut open, u64::MAX);
    }

    /// Performs an operation, and returns whether faults kept it from that.
    fn perform(&self, store: &Arc<dyn Store>, op: Op, open: &mut Vec<Timed<Step>>) -> bool {
        let start = self.world.schedule.tick();
        let mut effects = Effects::new();
        let done = match op {
            Op::Join { link, overwrite } => self.join(store, link, overwrite, &mut effects),
            Op::FillMember { member, value } => {
                self.fill(store, member, value).map_err(|error| error.to_string())
            }
            Op::Rearrange { choice } => {
                self.rearrange(store, choice, &mut effects).map_err(|error| error.to_string())
            }
            Op::Replace { length } => self.replace(store, length, &mut effects),
            Op::Repair => self.repair(store).map_err(|error| error.to_string()),
            _ => self.look(store, &mut effects).map_err(|error| error.to_string()),
        };
        let met = self.world.take_met(self.number);
        let end = self.world.schedule.tick();
        self.world.note_end(self.number, op, done.as_ref().copied());
        // Otherwise others may have been faster.
        if let Err(error) = &done
            && self.is_alone
            && met.iter().all(|kind| kind.is_mended())
        {
            let number = self.number;
            self.history.blame(format!("client {number}: {op:?} failed, after {met:?}: {error}"));
        }
        if met.contains(&FaultKind::PowerFailure)
            && let Err(fault) = self.steps.forget_seen(self.arrays())
        {
            self.history.blame(fault);
        }
        if done.is_ok() && op == Op::Repair {
            self.close(open, end);
        }
        for (step, is_sure) in effects {
            let is_sure = is_sure && done.is_ok();
            if matches!(step, Step::Saw { .. }) && !is_sure {
                continue;
            }
            let waits = !is_sure && matches!(step, Step::Rearranged(_)) && self.joins.is_group;
            let timed = Timed { start, end, op: step, is_sure };
            if waits { open.push(timed) } else { self.steps.add(timed) }
        }
        done.is_err()
    }

    fn close(&self, open: &mut Vec<Timed<Step>>, end: u64) {
        open.drain(..).for_each(|timed| self.steps.add(Timed { end, ..timed }));
    }

    fn fill(&self, store: &Arc<dyn Store>, member: usize, value: u16) -> Result<(), ArrayError> {
        let length = self.joins.lengths[member];
        for (array, name) in NAMES.iter().enumerate() {
            let opened = Array::open(store.clone(), &prefix(&format!("m{member}/{name}"))?)?;
            let opened = opened.with_update_policy(UpdatePolicy::AcceptSingleProcess);
            opened.write_as(0..length, &of_array(array, &elements(value, length)))?;
        }
        self.known.lock().unwrap_or_else(PoisonError::into_inner)[member] = value;
        Ok(())
    }

    /// The elements of the first array of a member.
    fn of_member(&self, member: usize) -> Vec<u16> {
        let value = self.known.lock().unwrap_or_else(PoisonError::into_inner)[member];
        elements(value, self.joins.lengths[member])
    }

    /// The elements of the first joined array.
    pub(crate) fn joined(&self) -> Vec<u16> {
        (0..self.joins.lengths.len()).flat_map(|member| self.of_member(member)).collect()
    }

    /// Joins the members, continues an unfinished join of them, or replaces what is there.
    pub(crate) fn join(
        &self,
        store: &Arc<dyn Store>,
        link: bool,
        overwrite: bool,
        effects: &mut Effects,
    ) -> Result<(), String> {
        let options = JoinOptions::new().link(link);
        let first = match overwrite {
            true => Err(JoinError::Transfer(Box::new(TransferError::PartOverwrites))),
            false => self.execute(store, &options),
        };
        let became = Step::Became(Some(self.joined()));
        let resumed = match first {
            Err(error) if matches!(transfer(&error), Some(TransferError::Unfinished { .. })) => {
                self.execute(store, &options.clone().resume(true))
            }
            first => first,
        };
        let done = match resumed {
            Err(error) if matches!(transfer(&error), Some(TransferError::Exists { .. })) => {
                // Its marker may be left, or it may be about to be replaced.
                effects.extend([(Step::Became(None), false), (became, false)]);
                return match self.execute(store, &options.resume(true)) {
                    Err(error) if is_other(&error) => Ok(()),
                    done => done.map_err(|error| error.to_string()),
                };
            }
            Err(error) if is_other(&error) => {
                effects.push((Step::Became(None), false));
                let options = options.overwrite(true);
                match self.execute(store, &options) {
                    // What an interrupted rearrangement has left is not removed unasked.
                    Err(error)
                        if matches!(transfer(&error), Some(TransferError::Rearranging { .. })) =>
                    {
                        self.repair(store).map_err(|error| error.to_string())?;
                        self.execute(store, &options)
                    }
                    done => done,
                }
            }
            done => done,
        };
        effects.push((became, true));
        done.map_err(|error| error.to_string())
    }

    fn execute(&self, store: &Arc<dyn Store>, options: &JoinOptions) -> Result<(), JoinError> {
        let failed = |cause: ArrayError| JoinError::Target(Box::new(cause));
        let to = prefix(TARGET).map_err(failed)?;
        let members = 0..self.joins.lengths.len();
        if self.joins.is_group {
            let members = members.map(|member| {
                let name = format!("m{member}");
                let group = Group::open(store.clone(), &prefix(&name)?)?;
                Ok(GroupMember::new(name, group))
            });
            let members = members.collect::<Result<_, _>>().map_err(failed)?;
            let along = GroupArrangement::Along(DIMENSION.to_owned());
            let plan = JoinGroups::new(members, along).plan()?;
            return plan.execute(store, &to, options, &|_| {}).map(drop);
        }
        let members = members.map(|member| {
            let name = format!("m{member}/{}", NAMES[0]);
            Ok(Member::new(name.clone(), Array::open(store.clone(), &prefix(&name)?)?))
        });
        let members = members.collect::<Result<_, _>>().map_err(failed)?;
        let plan = Join::new(members, Arrangement::Along(0)).plan()?;
        plan.execute(store, &to, options, &|_| {}).map(drop)
    }

    /// Puts an array of fill values in the place of the target.
    fn replace(
        &self,
        store: &Arc<dyn Store>,
        length: u64,
        effects: &mut Effects,
    ) -> Result<(), String> {
        let metadata = crate::run::metadata(length, self.joins.chunk);
        let made = metadata.and_then(|metadata| {
            effects.push((Step::Became(None), false));
            let zeros = vec![0; usize::try_from(length).unwrap_or(0)];
            effects.push((Step::Became(Some(zeros)), true));
            Ok((prefix(TARGET)?, metadata))
        });
        let (to, metadata) = made.map_err(|error| error.to_string())?;
        let mut made = create_over(store.clone(), &to, metadata.clone());
        if matches!(made, Err(TransferError::Rearranging { .. })) {
            self.repair(store).map_err(|error| error.to_string())?;
            made = create_over(store.clone(), &to, metadata);
        }
        made.map(drop).map_err(|error| error.to_string())
    }

    /// Keeps some runs of chunks in any order, and inserts a member or none.
    fn rearrange(
        &self,
        store: &Arc<dyn Store>,
        choice: u64,
        effects: &mut Effects,
    ) -> Result<(), ArrayError> {
        let mut random = Random::new(choice);
        let Some(arrays) = self.open(store)? else { return Ok(()) };
        let Some((axis, length)) = arrays
            .first()
            .and_then(|array| Some((array.grid().axes().first()?, array.shape().first()?)))
        else {
            return Ok(());
        };
        let starts: Vec<u64> = (0..axis.occupied()).filter_map(|chunk| axis.start(chunk)).collect();
        let cut = random.pick(&starts);
        let mut kept = vec![0..cut, cut..*length];
        match random.below(4) {
            0 => kept.reverse(),
            1 => drop(kept.remove(0)),
            2 => drop(kept.pop()),
            _ => kept = iter::once(0..*length).collect(),
        }
        kept.retain(|range| !range.is_empty());
        let mut pieces: Vec<Piece> = kept.into_iter().map(Piece::Kept).collect();
        // Only the first client knows what members are.
        let inserts = self.joins.inserts && self.number == 0;
        let member = (random.chance(60) && inserts).then_some(0);
        if let Some(member) = member {
            let end = pieces.len() as u64;
            let at = if random.chance(50) { end } else { random.below(end + 1) };
            pieces.insert(usize::try_from(at).unwrap_or(0), Piece::New(self.of_member(member)));
        }
        let policy = UpdatePolicy::AcceptSingleProcess;
        let refused = |planned: Result<_, ArrayError>| match planned {
            // Not all cuts fit. An interrupted rearrangement is to be repaired first, and an
            // unfinished join to be resumed.
            Err(ArrayError::Refused { .. } | ArrayError::Unfinished { .. }) => Ok(None),
            planned => planned.map(Some),
        };
        if self.joins.is_group {
            let Some(group) = self.group(store)? else { return Ok(()) };
            let spans = pieces.iter().map(|piece| match piece {
                Piece::Kept(range) => Ok(Span::Kept(range.clone())),
                Piece::New(_) => Ok(Span::Inserted(Group::open(store.clone(), &prefix("m0")?)?)),
            });
            let spans = spans.collect::<Result<Vec<_>, ArrayError>>()?;
            let plan = GroupRearrangement::plan(&group, DIMENSION, spans, false);
            let Some(plan) = refused(plan.map(|plan| Box::new(plan) as Box<dyn Rearranges>))?
            else {
                return Ok(());
            };
            effects.push((Step::Rearranged(pieces), true));
            return plan.execute();
        }
        let Some(array) = arrays.into_iter().next() else { return Ok(()) };
        let array = array.with_update_policy(policy);
        let spans = pieces.iter().map(|piece| match piece {
            Piece::Kept(range) => Ok(Span::Kept(range.clone())),
            Piece::New(_) => Ok(Span::Inserted(Array::open(store.clone(), &prefix("m0/u")?)?)),
        });
        let spans = spans.collect::<Result<Vec<_>, ArrayError>>()?;
        let plan = Rearrangement::plan(&array, 0, spans);
        let Some(plan) = refused(plan.map(|plan| Box::new(plan) as Box<dyn Rearranges>))? else {
            return Ok(());
        };
        effects.push((Step::Rearranged(pieces), true));
        plan.execute()
    }

    pub(crate) fn repair(&self, store: &Arc<dyn Store>) -> Result<(), ArrayError> {
        let policy = UpdatePolicy::AcceptSingleProcess;
        if let Some(group) = self.group(store)? {
            repair_group(&group)?;
        }
        for array in self.open(store)?.into_iter().flatten() {
            repair(&array.with_update_policy(policy))?;
        }
        Ok(())
    }

    /// Removes what is stored past the ends of the arrays.
    pub(crate) fn discard(&self, store: &Arc<dyn Store>) -> Result<(), ArrayError> {
        for array in self.open(store)?.into_iter().flatten() {
            let array = array.with_update_policy(UpdatePolicy::AcceptSingleProcess);
            array.resize(array.shape())?;
        }
        Ok(())
    }

    /// The group of the target, if that is one and is there.
    fn group(&self, store: &Arc<dyn Store>) -> Result<Option<Group>, ArrayError> {
        if !self.joins.is_group {
            return Ok(None);
        }
        match Group::open(store.clone(), &prefix(TARGET)?) {
            Err(ArrayError::NotFound { .. } | ArrayError::Unfinished { .. }) => Ok(None),
            group => Ok(Some(group?.with_update_policy(UpdatePolicy::AcceptSingleProcess))),
        }
    }

    /// The arrays of the target, if it is there.
    fn open(&self, store: &Arc<dyn Store>) -> Result<Option<Vec<Array>>, ArrayError> {
        if self.joins.is_group && self.group(store)?.is_none() {
            return Ok(None);
        }
        let paths = (0..self.arrays()).map(|array| self.path(array));
        let opened = paths.map(|path| Array::open(store.clone(), &prefix(&path)?));
        match opened.collect::<Result<Vec<_>, _>>() {
            Err(ArrayError::NotFound { .. } | ArrayError::Unfinished { .. }) => Ok(None),
            arrays => arrays.map(Some),
        }
    }

    fn path(&self, array: usize) -> String {
        match self.joins.is_group {
            true => format!("{TARGET}/{}", NAMES[array]),
            false => TARGET.to_owned(),
        }
    }

    /// Reads each array of the target. What was read counts if the document was not put meanwhile: who
    /// has opened an array before is not to use it any more.
    pub(crate) fn look(
        &self,
        store: &Arc<dyn Store>,
        effects: &mut Effects,
    ) -> Result<(), ArrayError> {
        if self.joins.is_group && self.group(store)?.is_none() {
            return Ok(());
        }
        for array in 0..self.arrays() {
            let before = self.document(array);
            let read = self.read(store, array);
            if self.document(array) != before {
                continue;
            }
            // One that was put and removed meanwhile is not the one from before.
            let state = read?;
            if before.is_some() == state.is_some() {
                effects.push((Step::Saw { array, state }, true));
            }
        }
        Ok(())
    }

    pub(crate) fn read(&self, store: &Arc<dyn Store>, array: usize) -> Result<State, ArrayError> {
        match Array::open(store.clone(), &prefix(&self.path(array))?) {
            Err(ArrayError::NotFound { .. } | ArrayError::Unfinished { .. }) => Ok(None),
            opened => {
                let opened = opened?;
                let length = opened.shape().first().copied().unwrap_or(0);
                opened.read_as::<u16>(0..length).map(Some)
            }
        }
    }

    /// Which document an array has. This is no request: nobody else goes on.
    fn document(&self, array: usize) -> Option<u64> {
        let key = format!("{}/zarr.json", self.path(array));
        match &self.world.disk {
            Some(disk) => disk.file(&disk.root().join(key)),
            None => Some(self.world.content().objects.get(&key)?.written),
        }
    }
}

/// A rearrangement that was planned.
trait Rearranges {
    fn execute(&self) -> Result<(), ArrayError>;
}

impl Rearranges for Rearrangement {
    fn execute(&self) -> Result<(), ArrayError> {
        self.execute(&|_| {}).map(drop)
    }
}

impl Rearranges for GroupRearrangement {
    fn execute(&self) -> Result<(), ArrayError> {
        self.execute(&|_| {})
    }
}

fn transfer(error: &JoinError) -> Option<&TransferError> {
    match error {
        JoinError::Transfer(cause) => Some(cause),
        _ => None,
    }
}

/// Whether what is at the target is not this join, interrupted.
fn is_other(error: &JoinError) -> bool {
    matches!(
        transfer(error),
        Some(
            TransferError::PartOverwrites
                | TransferError::NotInterrupted { .. }
                | TransferError::OtherCopy { .. }
                | TransferError::OtherDocument { .. }
                | TransferError::SourceChanged { .. }
        )
    )
}

fn prefix(name: &str) -> Result<Prefix, ArrayError> {
    Ok(Prefix::new(name)?)
}
