//! A client: a thread that plays processes, one after another, which change and read an array.

use std::sync::Arc;

use object_store::path::Path;
use zarr_array::{Array, ArrayError, Group, Resize};
use zarr_store::{
    ConditionalPut, Durability, LocalStore, Prefix, RemoteStore, Store, StoreError, StoreOptions,
    UpdatePolicy,
};

use crate::bucket::Bucket;
use crate::disk::{Disk, play};
use crate::files::Files;
use crate::history::{Document, Event, History, NAMES, What};
use crate::op::Op;
use crate::placed::Placed;
use crate::random::Random;
use crate::world::{Connection, FaultKind, Storage, World};

/// The array that all clients use.
pub(crate) const ARRAY: &str = "a";

/// The store of a new process of a client.
pub(crate) fn store(world: &Arc<World>, client: usize) -> Arc<dyn Store> {
    let connection = world.connect(client);
    if let Some(disk) = &world.disk {
        return on_disk(world, disk, connection);
    }
    let conditional = match world.storage {
        Storage::Files => return Arc::new(Placed(Arc::new(Files(connection)))),
        Storage::Objects => ConditionalPut::Supported,
        Storage::Plain | Storage::Disk { .. } => ConditionalPut::Unsupported,
    };
    let options = StoreOptions::new().requests_in_flight(1);
    let backend = Arc::new(Bucket(connection));
    let store = RemoteStore::new(backend, Path::default(), conditional, &options);
    Arc::new(Placed(Arc::new(store)))
}

/// A new process of the client of a disk, whose power is there again.
fn on_disk(world: &World, disk: &Arc<Disk>, connection: Connection) -> Arc<dyn Store> {
    play(None);
    let number = world.take_power_failure();
    let restored = number.map_or(Ok(()), |number| disk.fail(&mut Random::new(number)));
    let is_durable = world.storage == Storage::Disk { is_durable: true };
    let durability = if is_durable { Durability::PowerFailure } else { Durability::ProcessEnd };
    restored.expect("the folder of a run can be used");
    let store = LocalStore::open(disk.root()).expect("the folder of a run is there");
    play(Some(disk.process(connection)));
    Arc::new(store.with_durability(durability))
}

/// What a document says.
pub(crate) fn document_of(array: &Array) -> Document {
    let attribute = |name| array.metadata().attribute(name)?.parse().ok();
    let attributes = NAMES.map(|name| attribute(name).unwrap_or(0));
    Document { length: array.shape().first().copied().unwrap_or(0), attributes }
}

/// How an operation ended.
enum End {
    /// Everything happened.
    Done,
    /// Nothing happened, which is allowed.
    Refused,
    /// Everything, nothing or a part happened.
    Unknown,
}

pub(crate) struct Client<'r> {
    pub(crate) world: &'r Arc<World>,
    pub(crate) history: &'r History,
    pub(crate) number: usize,
    /// Whether nobody else writes.
    pub(crate) is_alone: bool,
    store: Arc<dyn Store>,
    array: Option<Array>,
}

impl<'r> Client<'r> {
    pub(crate) fn new(
        world: &'r Arc<World>,
        history: &'r History,
        number: usize,
        is_alone: bool,
    ) -> Self {
        let store = store(world, number);
        Self { world, history, number, is_alone, store, array: None }
    }

    pub(crate) fn run(&mut self, ops: &[Op]) {
        for op in ops {
            self.perform(*op);
        }
    }

    fn perform(&mut self, op: Op) {
        let Some(array) = self.array.take().or_else(|| self.open()) else { return };
        let start = self.world.schedule.tick();
        let length = document_of(&array).length;
        let mut effects = Vec::new();
        let result = match op {
            Op::Open => {
                self.array = self.open();
                return;
            }
            Op::Read => array.read_as::<u16>(0..length).map(|values| {
                effects.push(What::Read(values));
                Some(array.clone())
            }),
            Op::Write { start, count, value } => {
                let range = start.min(length)..(start + count).min(length);
                let elements = vec![value; usize::try_from(range.end - range.start).unwrap_or(0)];
                effects.push(What::Wrote(range.clone(), value));
                array.write_as(range, &elements).map(|()| Some(array.clone()))
            }
            Op::Append { count, value } => {
                let elements = vec![value; usize::try_from(count).unwrap_or(0)];
                effects.push(What::Wrote(length..length + count, value));
                effects.push(What::Appended(length, length + count));
                array.append_as(0, count, &elements).map(Some)
            }
            Op::Resize { length: new, discard } => {
                effects.push(What::Resized(length, new));
                // Growth cuts nothing off: elements that an earlier resize kept stay.
                effects.extend((discard && new <= length).then_some(What::Discarded(new)));
                array.resize(Resize::to([new]).keep(!discard)).map(Some)
            }
            Op::Set { name, value } => {
                effects.push(What::Set(name, value));
                array.update_attributes(&[(NAMES[name], Some(&value.to_string()))]).map(Some)
            }
            Op::Consolidate => {
                let group = Group::open(self.store.clone(), &Prefix::root());
                let group = group.map(|group| group.with_update_policy(self.policy()));
                group.and_then(|group| group.consolidate()).map(|_| Some(array.clone()))
            }
            // Those of other scenes.
            _ => return,
        };
        let met = self.world.take_met(self.number);
        let (end, new) = match result {
            Ok(new) => {
                let needs_exclusion =
                    matches!(op, Op::Append { .. } | Op::Resize { .. } | Op::Set { .. });
                if needs_exclusion && !self.is_alone && self.world.storage == Storage::Plain {
                    self.history.blame(format!("client {}: {op:?} was not refused", self.number));
                }
                (End::Done, new)
            }
            Err(error) => (self.judge(op, &error, &met), None),
        };
        self.array = new;
        self.record(start, effects, &end, &met);
        if met.iter().any(|kind| kind.is_crash()) {
            self.restart();
        }
    }

    fn has_locks(&self) -> bool {
        matches!(self.world.storage, Storage::Files | Storage::Disk { .. })
    }

    fn policy(&self) -> UpdatePolicy {
        match self.is_alone {
            true => UpdatePolicy::AcceptSingleProcess,
            false => UpdatePolicy::RequireExclusion,
        }
    }

    /// A new process.
    fn restart(&mut self) {
        self.array = None;
        self.store = store(self.world, self.number);
    }

    /// Opens the array, and records what its document says.
    fn open(&mut self) -> Option<Array> {
        let start = self.world.schedule.tick();
        let prefix = Prefix::new(ARRAY).ok()?;
        let opened = Array::open(self.store.clone(), &prefix);
        let met = self.world.take_met(self.number);
        let opened = match opened {
            Ok(array) => {
                let effects = vec![What::Opened(document_of(&array))];
                self.record(start, effects, &End::Done, &met);
                Some(array.with_update_policy(self.policy()))
            }
            Err(error) => {
                self.judge(Op::Open, &error, &met);
                None
            }
        };
        if met.iter().any(|kind| kind.is_crash()) {
            self.restart();
            return None;
        }
        opened
    }

    fn record(&self, start: u64, effects: Vec<What>, end: &End, met: &[FaultKind]) {
        let time = self.world.schedule.tick();
        let is_sure = match end {
            End::Done => true,
            End::Refused => return,
            End::Unknown => false,
        };
        // A request that was repeated after its response was lost may have taken effect twice.
        let is_repeated = met.contains(&FaultKind::LostAfter);
        // A chunk that was not listed may have stayed.
        let is_partial = met.contains(&FaultKind::Stale);
        for what in effects {
            if matches!(what, What::Read(_) | What::Opened(_)) && !is_sure {
                continue;
            }
            self.world.note(&format!("client {} {what:?} {is_sure}", self.number));
            let is_sure = is_sure && !(is_partial && matches!(what, What::Discarded(_)));
            let event = Event { start, end: time, what, is_sure };
            if is_repeated {
                self.history.add(Event { is_sure: false, ..event.clone() });
            }
            self.history.add(event);
        }
    }

    /// How an operation ended that returned an error.
    fn judge(&self, op: Op, error: &ArrayError, met: &[FaultKind]) -> End {
        let is_mended = met.iter().all(|kind| kind.is_mended());
        let cause = root(error);
        let end = match cause {
            ArrayError::Stale { .. } if !self.is_alone => match met.is_empty() {
                // Others changed the array after its document was put.
                true if matches!(error, ArrayError::Undiscarded { .. }) => End::Unknown,
                true => End::Refused,
                false => End::Unknown,
            },
            ArrayError::NoLock { .. } if !self.has_locks() => End::Refused,
            ArrayError::Store(StoreError::NoExclusion { .. })
                if self.world.storage == Storage::Plain =>
            {
                // Whole chunks need no exclusion, and may have been written before.
                if matches!(op, Op::Write { .. }) { End::Unknown } else { End::Refused }
            }
            _ if !is_mended || self.world.is_damaged() => End::Unknown,
            _ => {
                self.history.blame(format!(
                    "client {}: {op:?} failed, after {met:?}: {error}",
                    self.number
                ));
                End::Unknown
            }
        };
        self.world.note_end(self.number, op, Err(error));
        end
    }
}

/// The error below those that say how far an operation came.
fn root(error: &ArrayError) -> &ArrayError {
    match error {
        ArrayError::Incomplete { cause, .. }
        | ArrayError::Grown { cause, .. }
        | ArrayError::Undiscarded { cause, .. } => root(cause),
        error => error,
    }
}
