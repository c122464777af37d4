//! Rearrangements that stop while another run settles them, and then go on.

use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, Store, UpdatePolicy};
use zarr_array::{Array, ArrayError, Group};
use zarr_join::rearrange::{Rearrangement, Repair, Span, repair, repair_group};
use zarr_store_tests::{Apart, Objects, Stage, restore, sampled};

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
                let ((one, stopped), (_, killed)) = stage.run(
                    |store| what.run(&store),
                    // A rearrangement after the repair is a later one.
                    |store| what.settle(&store).and_then(|_| what.run(&store)),
                );
                (goes_on, lives) = (stopped, !killed);
                kills += 1 + 6 * sampled(2) as u64;
                overtaken += u32::from(one.is_err());
                let store: Shared = Arc::new(memory);
                what.settle(&store).unwrap_or_else(|error| panic!("{at}: {error}"));
                let rows = what.rows(&store);
                let known = states.rows.contains(&rows) || lives || one.is_err();
                let length = |rows: &[Vec<Vec<u8>>]| rows[0].len();
                assert!(known && [9, 6, 2, 4].contains(&length(&rows)), "{at}: {rows:?}");
                assert_eq!(super::found(&store), Vec::<&str>::new(), "{at}");
            }
            stops += 1 + 4 * sampled(2) as u64;
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
                assert!(changed.len() < 2, "{at}: {changed:?}");
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
