//! Rearrangements that stop while another run settles them, and then go on.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use zarr_array::store::{
    AsyncStore, Fault, FaultStore, Key, Layer, LockGuard, MemoryStore, Operation, Prefix, Store,
    StoreError, StoreExt as _, UpdatePolicy,
};
use zarr_array::unfinished::REARRANGE_MARKER;
use zarr_array::{Array, ArrayError, Group};
use zarr_join::rearrange::{Rearrangement, Repair, Span, repair, repair_group};
use zarr_store_tests::{Apart, Objects, Stage, key, restore, sampled};

use super::{BYTES, SLASH, document, filled, groups, objects, rectilinear, rows};

type Shared = Arc<dyn Store>;

const KEPT: [std::ops::Range<u64>; 2] = [5..9, 0..2];

/// An array alone, or the arrays of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Array,
    Arrays,
}

const GROUP: [(&str, usize); 3] = [("g/inner/rain", 1), ("g/temp", 0), ("g/time", 0)];

impl What {
    fn make(self, store: &Shared) {
        match self {
            Self::Array => {
                let document = document(&[9], &rectilinear("[[2, 3, 4]]"), SLASH, BYTES);
                drop(filled(store.clone(), &Prefix::root(), &document, 0));
            }
            Self::Arrays => groups::hierarchy(store),
        }
    }

    fn open(store: &Shared, path: &str) -> Result<Array, ArrayError> {
        let array = Array::open(store.clone(), &groups::at(path))?;
        let array = array.with_update_policy(UpdatePolicy::AcceptSingleProcess);
        Ok(array.with_threads(NonZeroUsize::MIN))
    }

    fn run(self, store: &Shared) -> Result<(), ArrayError> {
        match self {
            Self::Array => {
                let plan = Rearrangement::plan(&Self::open(store, "")?, 0, KEPT.map(Span::Kept))?;
                plan.execute(&|_| {}).map(drop)
            }
            Self::Arrays => groups::run(store, &KEPT.map(Span::<Group>::Kept)),
        }
    }

    fn settle(self, store: &Shared) -> Result<Option<Repair>, ArrayError> {
        match self {
            Self::Array => repair(&Self::open(store, "")?),
            Self::Arrays => repair_group(&groups::open_group(store)?),
        }
    }

    fn rows(self, store: &Shared) -> Vec<Vec<Vec<u8>>> {
        let open = |path| Self::open(store, path).expect("opens");
        match self {
            Self::Array => vec![rows(&open(""), 0)],
            Self::Arrays => GROUP.iter().map(|(path, axis)| rows(&open(path), *axis)).collect(),
        }
    }
}

/// All objects but the documents of groups: consolidated metadata that follows is never of an older state.
fn of_arrays(store: &MemoryStore) -> Objects {
    let mut objects = objects(store);
    if objects.remove("g/zarr.json").is_some() {
        objects.remove("zarr.json");
    }
    objects
}

/// What the first run finds, and what it leaves.
struct States {
    before: Objects,
    rows: [Vec<Vec<Vec<u8>>>; 2],
}

fn states(what: What) -> States {
    let store: Shared = Arc::new(MemoryStore::new());
    what.make(&store);
    let (before, old) = (zarr_store_tests::objects(&*store), what.rows(&store));
    what.run(&store).expect("rearranges");
    States { before, rows: [old, what.rows(&store)] }
}

/// Whoever goes on after that, and whoever is killed: the arrays are the old or the new ones.
#[test]
fn under_locks_the_arrays_are_whole_whoever_settles_them_meanwhile() {
    for what in [What::Array, What::Arrays] {
        let states = states(what);
        let (mut stops, mut goes_on, mut overtaken) = (0, true, 0);
        while goes_on {
            let (mut kills, mut lives) = (0, false);
            while !lives {
                let at = format!("{what:?} stopped at {stops}, killed at {kills}");
                let memory = MemoryStore::new();
                restore(&memory, &states.before);
                let stage = Stage::new(memory.clone(), Apart::Locks, stops, kills);
                let ((one, stopped), (then, killed)) = stage.run(
                    |store| what.run(&store),
                    // A rearrangement after the repair is a later one.
                    |store| {
                        let _killed = what.settle(&store).and_then(|_| what.run(&store));
                        of_arrays(&memory)
                    },
                );
                (goes_on, lives) = (stopped, !killed);
                kills += match what {
                    What::Array => sampled(2) as u64,
                    What::Arrays => 1 + 8 * sampled(3) as u64,
                };
                if matches!(one, Err(ArrayError::Store(StoreError::Overtaken { .. }))) {
                    overtaken += 1;
                    assert!(of_arrays(&memory) == then, "{at}: it changed an object");
                }
                let store: Shared = Arc::new(memory);
                what.settle(&store).unwrap_or_else(|error| panic!("{at}: {error}"));
                let rows = what.rows(&store);
                let known = states.rows.contains(&rows) || lives || one.is_err();
                let length = |rows: &[Vec<Vec<u8>>]| rows[0].len();
                assert!(known && [9, 6, 2, 4].contains(&length(&rows)), "{at}: {rows:?}");
                assert_eq!(super::found(&store), Vec::<&str>::new(), "{at}");
            }
            stops += sampled(2) as u64;
        }
        assert!(overtaken > 0, "{what:?}");
    }
}

/// With conditions alone, a run that was overtaken changes at most the one object for which it had looked
/// at the marker, and never a document.
#[test]
fn with_conditions_a_run_that_was_overtaken_changes_nothing_that_it_had_not_sent() {
    for what in [What::Array, What::Arrays] {
        let states = states(what);
        let (mut stops, mut goes_on, mut late) = (0, true, 0);
        while goes_on {
            let at = format!("{what:?} stopped at {stops}");
            let memory = MemoryStore::new();
            restore(&memory, &states.before);
            let stage = Stage::new(memory.clone(), Apart::Conditions, stops, u64::MAX);
            let ((one, stopped), (settled, _)) = stage.run(
                |store| what.run(&store),
                |store| what.settle(&store).map(|repair| (repair, objects(&memory))),
            );
            goes_on = stopped;
            let (settled, then) = settled.unwrap_or_else(|error| panic!("{at}: {error}"));
            if settled.is_some() {
                let now = objects(&memory);
                let keys = then.keys().chain(now.keys()).collect::<std::collections::BTreeSet<_>>();
                let changed: Vec<_> =
                    keys.iter().filter(|key| then.get(**key) != now.get(**key)).collect();
                // Each thread may have sent one.
                let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
                assert!(changed.len() <= threads, "{at}: {changed:?}");
                assert!(!changed.iter().any(|key| key.ends_with("zarr.json")), "{at}: {changed:?}");
                if changed.is_empty() {
                    let store: Shared = Arc::new(memory);
                    assert!(states.rows.contains(&what.rows(&store)), "{at}");
                }
                late += 1;
            } else if !stopped {
                one.unwrap_or_else(|error| panic!("{at}: {error}"));
            }
            stops += 1;
        }
        assert!(late > 10, "{what:?}: {late}");
    }
}

/// The objects of a rearrangement that ended after each of some operations.
fn interrupted(what: What, states: &States) -> Vec<Objects> {
    let mut all = Vec::new();
    for number in (0..).step_by(4 * sampled(3)) {
        let store: Shared = Arc::new(MemoryStore::new());
        restore(&*store, &states.before);
        let dying = FaultStore::new(store.clone()).at(number, Fault::DieAfter);
        let ended = what.run(&(Arc::new(dying) as Shared)).is_ok();
        let now = zarr_store_tests::objects(&*store);
        if ended {
            return all;
        }
        if now.keys().any(|key| key.ends_with(REARRANGE_MARKER)) {
            all.push(now);
        }
    }
    all
}

#[test]
fn under_locks_two_repairs_do_not_disturb_each_other() {
    for what in [What::Array, What::Arrays] {
        let states = states(what);
        for left in interrupted(what, &states) {
            let (mut stops, mut goes_on) = (0, true);
            while goes_on {
                let at = format!("{what:?} stopped at {stops}");
                let memory = MemoryStore::new();
                restore(&memory, &left);
                let stage = Stage::new(memory.clone(), Apart::Locks, stops, u64::MAX);
                let ((one, stopped), (other, _)) =
                    stage.run(|store| what.settle(&store), |store| what.settle(&store));
                (goes_on, stops) = (stopped, stops + sampled(2) as u64);
                let store: Shared = Arc::new(memory);
                assert!(states.rows.contains(&what.rows(&store)), "{at}: {one:?} {other:?}");
                assert_eq!(super::found(&store), Vec::<&str>::new(), "{at}: {one:?} {other:?}");
            }
        }
    }
}

/// A store in which another process marks an array while the first lock is waited for.
#[derive(Debug)]
struct MarksMeanwhile {
    inner: MemoryStore,
    marker: Mutex<Option<(Key, Vec<u8>)>>,
    locked: Mutex<Vec<Key>>,
}

impl Layer for MarksMeanwhile {
    type Inner = MemoryStore;

    fn inner(&self) -> &MemoryStore {
        &self.inner
    }

    fn around(&self, _: Shared) -> Option<Shared> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn pass<T>(
        &self,
        _: Operation,
        _: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work()
    }

    fn lock_all(&self, keys: &[Key]) -> Result<LockGuard, StoreError> {
        if let Some((key, text)) = self.marker.lock().expect("no panic").take() {
            self.inner.put(&key, &text)?;
        }
        *self.locked.lock().expect("no panic") = keys.to_vec();
        Store::lock_all(&self.inner, keys)
    }
}

#[test]
fn a_repair_locks_the_arrays_that_are_marked_when_it_has_the_locks() {
    let states = states(What::Arrays);
    let is_marker = |key: &&String| key.ends_with(REARRANGE_MARKER);
    let left = interrupted(What::Arrays, &states).into_iter().find_map(|mut left| {
        let markers = left.keys().filter(is_marker).count();
        let array = format!("g/temp/{REARRANGE_MARKER}");
        let marker = left.remove(&array).filter(|_| markers == 4)?;
        Some((left, (key(&array), marker)))
    });
    let (left, marker) = left.expect("all are marked at once");
    let inner = MemoryStore::new();
    restore(&inner, &left);
    let store = Arc::new(MarksMeanwhile {
        inner,
        marker: Mutex::new(Some(marker)),
        locked: Mutex::default(),
    });
    let repaired = What::Arrays.settle(&(store.clone() as Shared)).expect("repairs");
    assert_eq!(repaired, Some(Repair::Undone));
    let locked = store.locked.lock().expect("no panic");
    assert!(locked.contains(&key("g/temp/zarr.json")), "{locked:?}");
}
