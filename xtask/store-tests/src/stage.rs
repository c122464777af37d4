//! A store that two processes change in turns, in an order that a test decides.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use zarr_store::{
    AsyncStore, Capabilities, Key, KeyFilter, Layer, Listing, LockGuard, LockScope, MemoryStore,
    Operation, Prefix, PutMode, PutOutcome, Store, StoreError,
};

/// What keeps processes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// Locks of keys, alone and shared, as in local files.
    Locks,
    /// Conditional puts, as in object storage.
    Conditions,
}

/// The processes.
const FIRST: usize = 0;
const OTHER: usize = 1;

/// Two processes on one store, of which one operates at a time. The first stops before one of its
/// operations. Then the other runs, until it ends, is killed before one of its operations, or waits
/// for a lock of the first. Then the first goes on.
#[derive(Debug)]
pub struct Stage {
    objects: MemoryStore,
    apart: Apart,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    turn: usize,
    operations: [u64; 2],
    /// The operation before which the first stops, and the one before which the other is killed.
    ends_at: [u64; 2],
    ended: [bool; 2],
    is_killed: bool,
    /// Who holds a lock, and how many times if it is shared.
    locks: BTreeMap<Key, Holders>,
    waits: u64,
    /// The key whose lock a process waits for while the other has its turn.
    waiting: [Option<Key>; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holders {
    Alone(usize),
    Shared([usize; 2]),
}

impl Stage {
    /// A stage on these objects.
    #[must_use]
    pub fn new(objects: MemoryStore, apart: Apart, stops_at: u64, killed_at: u64) -> Arc<Self> {
        let state = Mutex::new(State {
            turn: FIRST,
            operations: [0; 2],
            ends_at: [stops_at, killed_at],
            ended: [false; 2],
            is_killed: false,
            locks: BTreeMap::new(),
            waits: 0,
            waiting: [None, None],
        });
        Arc::new(Self { objects, apart, state, changed: Condvar::new() })
    }

    /// Runs both processes. Returns their results, and whether the first stopped and the other was
    /// killed: if not, there are no later operations.
    pub fn run<A: Send, B: Send>(
        self: &Arc<Self>,
        first: impl FnOnce(Arc<dyn Store>) -> A + Send,
        other: impl FnOnce(Arc<dyn Store>) -> B + Send,
    ) -> ((A, bool), (B, bool)) {
        let store =
            |process| -> Arc<dyn Store> { Arc::new(Process { stage: Arc::clone(self), process }) };
        let (a, b) = thread::scope(|scope| {
            let a = scope.spawn(|| {
                let _end = Ends(self, FIRST);
                first(store(FIRST))
            });
            let b = scope.spawn(|| {
                let _end = Ends(self, OTHER);
                drop(self.turn_of(OTHER));
                other(store(OTHER))
            });
            (a.join().unwrap(), b.join().unwrap())
        });
        let state = self.lock_state();
        let stopped = state.operations[FIRST] > state.ends_at[FIRST];
        ((a, stopped), (b, state.is_killed))
    }

    fn lock_state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn_of(&self, process: usize) -> MutexGuard<'_, State> {
        let mut state = self.lock_state();
        while state.turn != process && !state.ended[1 - process] {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Gives the other process its turn, unless it has ended.
    fn give_turn(&self, state: &mut State, from: usize) {
        if !state.ended[1 - from] {
            state.turn = 1 - from;
            self.changed.notify_all();
        }
    }

    /// Waits until an operation may begin; an error in a process that was killed.
    fn operation(&self, process: usize, name: &str) -> Result<MutexGuard<'_, State>, StoreError> {
        let killed = || {
            let cause = io::Error::new(io::ErrorKind::BrokenPipe, "killed on purpose");
            Err(StoreError::io(Operation::Get, name, cause))
        };
        if process == OTHER && self.lock_state().is_killed {
            return killed();
        }
        let mut state = self.turn_of(process);
        let number = state.operations[process];
        state.operations[process] += 1;
        if number == state.ends_at[process] {
            if process == OTHER {
                state.is_killed = true;
                self.end(&mut state, OTHER);
                return killed();
            }
            self.give_turn(&mut state, FIRST);
            drop(state);
            state = self.turn_of(FIRST);
        }
        Ok(state)
    }

    /// The system releases the locks of a process that ends.
    fn end(&self, state: &mut State, process: usize) {
        state.ended[process] = true;
        state.turn = 1 - process;
        state.locks.retain(|_, holders| match holders {
            Holders::Alone(holder) => *holder != process,
            Holders::Shared(by) => {
                by[process] = 0;
                by[1 - process] > 0
            }
        });
        self.changed.notify_all();
    }

    fn take(
        self: &Arc<Self>,
        process: usize,
        key: &Key,
        alone: bool,
    ) -> Result<LockGuard, StoreError> {
        let mut state = self.operation(process, key.as_str())?;
        loop {
            let held = state.locks.get(key).copied();
            let (free, holder) = match (held, alone) {
                (None, _) => (true, process),
                (Some(Holders::Shared(_)), false) => (true, process),
                (Some(Holders::Alone(holder)), _) => (false, holder),
                (Some(Holders::Shared(by)), true) => {
                    (false, if by[1 - process] > 0 { 1 - process } else { process })
                }
            };
            if free {
                break;
            }
            state.waits += 1;
            assert!(state.waits < 10_000, "{key}: both processes wait for each other");
            if holder == process {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else {
                state.waiting[process] = Some(key.clone());
                self.give_turn(&mut state, process);
                drop(state);
                state = self.turn_of(process);
                state.waiting[process] = None;
            }
        }
        let holders = match (alone, state.locks.get(key)) {
            (true, _) => Holders::Alone(process),
            (false, Some(Holders::Shared(by))) => {
                let mut by = *by;
                by[process] += 1;
                Holders::Shared(by)
            }
            (false, _) => {
                let mut by = [0; 2];
                by[process] = 1;
                Holders::Shared(by)
            }
        };
        state.locks.insert(key.clone(), holders);
        drop(state);
        let held = Held { stage: Arc::clone(self), process, key: key.clone() };
        Ok(LockGuard::new(LockScope::AllProcesses, held))
    }
}

struct Ends<'s>(&'s Arc<Stage>, usize);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock_state();
        if !state.ended[self.1] {
            self.0.end(&mut state, self.1);
        }
    }
}

#[derive(Debug)]
struct Held {
    stage: Arc<Stage>,
    process: usize,
    key: Key,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = self.stage.lock_state();
        if state.ended[self.process] {
            return;
        }
        match state.locks.get_mut(&self.key) {
            Some(Holders::Shared(by)) if by.iter().sum::<usize>() > 1 => by[self.process] -= 1,
            _ => drop(state.locks.remove(&self.key)),
        }
        // Who waits for it comes next.
        if state.waiting[1 - self.process].as_ref() == Some(&self.key) {
            state.turn = 1 - self.process;
        }
        self.stage.changed.notify_all();
    }
}

/// The store as one process sees it.
#[derive(Debug)]
struct Process {
    stage: Arc<Stage>,
    process: usize,
}

impl Layer for Process {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.stage.objects
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn pass<T>(
        &self,
        _: Operation,
        name: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _turn = self.stage.operation(self.process, name)?;
        work()
    }

    fn pass_listing<'s, T: Send + 's>(
        &'s self,
        prefix: &Prefix,
        list: impl FnOnce() -> Listing<'s, T>,
    ) -> Listing<'s, T> {
        match self.stage.operation(self.process, prefix.as_str()) {
            Ok(_turn) => Box::new(list().collect::<Vec<_>>().into_iter()),
            Err(error) => zarr_store::failed_listing(error),
        }
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[io::IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        if self.stage.apart == Apart::Locks {
            mode.require_overwrite(key)?;
        }
        self.pass(Operation::Put, key.as_str(), || {
            Store::put_opts(&self.stage.objects, key, pieces, mode)
        })
    }

    fn delete_where(&self, prefix: &Prefix, which: &KeyFilter) -> Result<(), StoreError> {
        let keys: Vec<_> = Layer::list(self, prefix, zarr_store::Links::AsObjects).collect();
        keys.into_iter().try_for_each(|key| {
            let key = key?;
            if which(&key) { Layer::delete(self, &key) } else { Ok(()) }
        })
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::new().conditional_put(self.stage.apart == Apart::Conditions)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        match self.stage.apart {
            Apart::Locks => self.stage.take(self.process, key, true),
            Apart::Conditions => Ok(LockGuard::new(LockScope::Process, ())),
        }
    }

    fn lock_all(&self, keys: &[Key]) -> Result<LockGuard, StoreError> {
        let keys: std::collections::BTreeSet<&Key> = keys.iter().collect();
        let guards: Result<_, _> = keys.into_iter().map(|key| Layer::lock(self, key)).collect();
        Ok(LockGuard::all(guards?))
    }

    fn lock_shared(&self, key: &Key) -> Result<Option<LockGuard>, StoreError> {
        match self.stage.apart {
            Apart::Locks => self.stage.take(self.process, key, false).map(Some),
            Apart::Conditions => Ok(None),
        }
    }
}
