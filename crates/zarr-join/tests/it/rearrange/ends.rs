//! Rearrangements that end before or after any operation: readers find the old array or the new
//! one, at every moment and by consolidated metadata too; `check` names what is left, and settling
//! it gives the same objects as a rearrangement that did not end.

use std::sync::Arc;

use zarr_array::store::{
    Fault, FaultStore, Key, LocalStore, MemoryStore, Prefix, Store, StoreExt as _, UpdatePolicy,
};
use zarr_array::{Array, ArrayError, Group};
use zarr_join::rearrange::{Rearrangement, Repair, Span, repair};
use zarr_metadata::GroupMetadata;
use zarr_store_tests::{Objects, folder_in_memory, restore, sampled};

use super::{BYTES, SLASH, document, filled, found, objects, rectilinear, regular, rows};

fn at() -> Prefix {
    Prefix::new("a").expect("a prefix")
}

/// An array in a group with consolidated metadata.
fn hierarchy(store: &Arc<dyn Store>, document: &str) {
    let root = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new()).expect("new");
    filled(store.clone(), &at(), document, 0);
    root.consolidate().expect("consolidates");
}

fn open(store: &Arc<dyn Store>) -> Result<Array, ArrayError> {
    let array = Array::open(store.clone(), &at())?;
    let array = array.with_update_policy(UpdatePolicy::AcceptSingleProcess);
    Ok(array.with_threads(std::num::NonZeroUsize::MIN))
}

fn run(store: &Arc<dyn Store>, spans: &[Span]) -> Result<(), ArrayError> {
    Rearrangement::plan(&open(store)?, 0, spans.iter().cloned())?.execute(&|_| {}).map(drop)
}

/// What readers find, by the array's document and by consolidated metadata.
fn seen(store: &Arc<dyn Store>) -> [Vec<Vec<u8>>; 2] {
    let group = Group::open_consolidated(store.clone(), &Prefix::root()).expect("opens");
    [open(store).expect("opens"), group.array("a").expect("is there")].map(|array| rows(&array, 0))
}

/// The ways in which a rearrangement ends whose repair ends too, and in which the repair does. What is
/// stored before an operation is what is stored after the one before it.
fn of_repairs() -> &'static [Fault] {
    if sampled(2) == 1 { &[Fault::DieAfter, Fault::DieBefore] } else { &[Fault::DieAfter] }
}

struct Ends<'a> {
    make: &'a dyn Fn() -> Arc<dyn Store>,
    document: &'a str,
    spans: &'a [Span],
    ended: u64,
    undone: u64,
    completed: u64,
}

impl Ends<'_> {
    /// Ends the rearrangement at every operation, and then, `deep`, the repair of it too.
    fn run(&mut self, deep: bool) {
        let store = (self.make)();
        hierarchy(&store, self.document);
        let (old, old_rows) = (objects(&*store), seen(&store)[0].clone());
        let counted = Arc::new(FaultStore::new(store.clone()));
        run(&(counted.clone() as Arc<dyn Store>), self.spans).expect("nothing goes wrong");
        let (new, new_rows) = (objects(&*store), seen(&store)[0].clone());
        assert_ne!(old_rows, new_rows);
        for number in 0..counted.operations() {
            for fault in [Fault::DieBefore, Fault::DieAfter] {
                let what = format!("operation {number}, {fault:?}");
                let store = (self.make)();
                restore(&*store, &old);
                let dying: Arc<dyn Store> =
                    Arc::new(FaultStore::new(store.clone()).at(number, fault));
                let result = run(&dying, self.spans);
                let state = [(&old, &old_rows), (&new, &new_rows)];
                let now = assert_whole(&store, state, &what);
                assert!(result.is_err() || objects(&*store) == new, "{what} is not reported");
                if deep && of_repairs().contains(&fault) {
                    let half = objects(&*store);
                    let begin = || {
                        let store = (self.make)();
                        restore(&*store, &half);
                        store
                    };
                    self.ends_of_repair(&begin, state, &what);
                }
                match settle(&store) {
                    Some(Repair::Undone) => {
                        self.undone += 1;
                        assert!(objects(&*store) == old && !now, "{what}: undone");
                    }
                    Some(Repair::Completed) => {
                        self.completed += 1;
                        assert!(objects(&*store) == new && now, "{what}: completed");
                    }
                    // Before the marker, or after it, or chunks do not get other keys.
                    _ => {
                        let array = open(&store).expect("opens");
                        array.resize(array.shape()).expect("discards");
                        Group::open(store.clone(), &Prefix::root())
                            .and_then(|group| group.consolidate())
                            .expect("consolidates");
                        let whole = objects(&*store);
                        assert!(whole == if now { new.clone() } else { old.clone() }, "{what}");
                    }
                }
                assert_eq!(found(&store), Vec::<&str>::new(), "{what}");
                self.ended += 1;
            }
        }
    }

    fn ends_of_repair(
        &self,
        begin: &dyn Fn() -> Arc<dyn Store>,
        state: [(&Objects, &Vec<Vec<u8>>); 2],
        what: &str,
    ) {
        let counted = Arc::new(FaultStore::new(begin()));
        settle(&(counted.clone() as Arc<dyn Store>));
        for number in 0..counted.operations() {
            for &fault in of_repairs() {
                let what = format!("{what}, then {number} of the repair, {fault:?}");
                let store = begin();
                let dying: Arc<dyn Store> =
                    Arc::new(FaultStore::new(store.clone()).at(number, fault));
                let before = assert_whole(&store, state, &what);
                if let Ok(array) = open(&dying) {
                    let _ended = repair(&array);
                }
                let now = assert_whole(&store, state, &what);
                assert_eq!(now, before, "{what}: repairing goes neither back nor on");
                if settle(&store).is_some() {
                    assert!(objects(&*store) == *state[usize::from(now)].0, "{what}");
                }
            }
        }
    }
}

fn settle(store: &Arc<dyn Store>) -> Option<Repair> {
    repair(&open(store).expect("opens")).expect("settles")
}

/// Whether all that readers see is the new array; the old one otherwise. A check finds no error.
fn assert_whole(
    store: &Arc<dyn Store>,
    [(old, old_rows), (new, new_rows)]: [(&Objects, &Vec<Vec<u8>>); 2],
    what: &str,
) -> bool {
    let [own, consolidated] = seen(store);
    assert!(own == *old_rows || own == *new_rows, "{what}: {own:?}");
    assert!(consolidated == *old_rows || consolidated == *new_rows, "{what}: {consolidated:?}");
    let now = objects(&**store);
    let is_marked = now.contains_key("a/zarr-kit-rearrange.json");
    let allowed = [
        "unfinished-rearrangement",
        // Between the document of the array and that of the group.
        "stale-consolidated",
        // Of a change in place, as of an append or a resize.
        "chunk-outside-grid",
        "chunk-past-end",
    ];
    let ids = found(store);
    assert!(ids.iter().all(|id| allowed.contains(id)), "{what}: {ids:?}");
    assert_eq!(ids.contains(&"unfinished-rearrangement"), is_marked, "{what}: {ids:?}");
    if ids.is_empty() {
        assert!(now == *old || now == *new, "{what}: {:?}", now.keys());
    }
    own == *new_rows
}

fn ends(make: &dyn Fn() -> Arc<dyn Store>, deep: bool) {
    let months = document(&[9], &rectilinear("[[2, 3, 4]]"), SLASH, BYTES);
    let same = document(&[8], &regular(&[3]), SLASH, BYTES);
    let memory = || Arc::new(MemoryStore::new());
    let other = document(&[4], &rectilinear("[[1, 3]]"), SLASH, BYTES);
    let other = filled(memory(), &Prefix::root(), &other, 100);
    let kept = Span::Kept;
    let insert = Span::Inserted;
    let (mut ended, mut undone, mut completed) = (0, 0, 0);
    for (document, spans) in [
        (&months, vec![kept(2..9)]),
        (&months, vec![kept(5..9), kept(0..2)]),
        (&months, vec![kept(0..2), insert(other.clone()), kept(2..9)]),
        (&same, vec![kept(3..8)]),
        // In place: the end is removed, or something comes after it.
        (&months, vec![kept(0..5)]),
        (&same, vec![kept(0..3)]),
        (&months, vec![kept(0..9), insert(other)]),
    ] {
        let mut run = Ends { make, document, spans: &spans, ended: 0, undone: 0, completed: 0 };
        run.run(deep && spans.len() == 2);
        ended += run.ended;
        undone += run.undone;
        completed += run.completed;
    }
    println!("ended at {ended} operations: {undone} undone, {completed} completed");
    assert!(ended > 300 && undone > 30 && completed > 60, "{ended} {undone} {completed}");
}

#[test]
fn in_memory_it_ends_old_or_new_with_a_repair() {
    ends(&|| Arc::new(MemoryStore::new()), true);
}

#[test]
fn in_local_files_it_ends_old_or_new_with_a_repair() {
    let folder = folder_in_memory();
    let number = std::sync::atomic::AtomicU64::new(0);
    ends(
        &|| {
            let number = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let path = folder.path().join(number.to_string());
            Arc::new(LocalStore::create(path).expect("makes a store"))
        },
        false,
    );
}

#[test]
fn on_object_storage_it_ends_old_or_new_with_a_repair() {
    ends(&super::remote, false);
}

/// Only chunks past the end are there of an append in place that ended, and nothing marks it.
#[test]
fn an_append_that_ended_is_completed_by_the_same_append() {
    let months = document(&[9], &rectilinear("[[2, 3, 4]]"), SLASH, BYTES);
    let other = document(&[4], &rectilinear("[[1, 1, 2]]"), SLASH, BYTES);
    let other = filled(Arc::new(MemoryStore::new()), &Prefix::root(), &other, 100);
    let begun = |ends: Option<u64>| {
        let folder = folder_in_memory();
        let store: Arc<dyn Store> = Arc::new(LocalStore::create(folder.path()).expect("a store"));
        hierarchy(&store, &months);
        let dying = FaultStore::new(store.clone());
        let dying = match ends {
            Some(number) => dying.at(number, Fault::DieBefore),
            None => dying,
        };
        let dying = Arc::new(dying);
        let _ended = run(&(dying.clone() as Arc<dyn Store>), &append(&other));
        (folder, store, dying.operations())
    };
    fn append(other: &Array) -> [Span; 2] {
        [Span::Kept(0..9), Span::Inserted(other.clone())]
    }
    let (_folder, whole, operations) = begun(None);
    let whole = objects(&*whole);
    let (mut left, mut refused) = (0, 0);
    for number in 0..operations {
        let (_folder, store, _) = begun(Some(number));
        if open(&store).expect("opens").shape() != [9] {
            continue;
        }
        let past_end = found(&store).contains(&"chunk-outside-grid");
        left += u32::from(past_end);
        if past_end {
            // It would be lost, or appear where the other array has no chunk.
            for (chunk, object) in [("a/c/3", &[7][..]), ("a/c/5", &[7, 7]), ("a/c/6", &[7])] {
                let key = Key::new(chunk).expect("a key");
                let before = store.read(&key).expect("reads");
                store.put(&key, object).expect("puts");
                let error = run(&store, &append(&other)).expect_err("is refused").to_string();
                assert!(error.contains("is past the array's end"), "{error}");
                refused += 1;
                match before {
                    Some(object) => store.put(&key, &object).expect("puts"),
                    None => store.delete(&key).expect("deletes"),
                }
            }
        }
        run(&store, &append(&other)).expect("appends");
        assert!(objects(&*store) == whole, "operation {number}");
    }
    assert!(left > 0 && refused > 0, "{operations}");
}

/// What is appended or written to an array that was left half-way stays when that is repaired.
#[test]
fn an_array_that_was_left_can_be_used_and_repaired_later() {
    let months = document(&[9], &rectilinear("[[2, 3, 4]]"), SLASH, BYTES);
    let spans = [Span::Kept(5..9), Span::Kept(0..5)];
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    hierarchy(&store, &months);
    let counted = Arc::new(FaultStore::new(store));
    run(&(counted.clone() as Arc<dyn Store>), &spans).expect("moves");
    for number in 0..counted.operations() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        hierarchy(&store, &months);
        let dying: Arc<dyn Store> =
            Arc::new(FaultStore::new(store.clone()).at(number, Fault::DieAfter));
        let _ended = run(&dying, &spans);
        let array = open(&store).expect("opens");
        let before = rows(&array, 0);
        let array = array.append(0, (2, [2]), &[200, 201]).expect("appends");
        array.write(0..1, &[202]).expect("writes");
        array.update_attributes(&[("new", Some("true"))]).expect("changes");
        let again = Rearrangement::plan(&open(&store).expect("opens"), 0, [Span::Kept(0..11)]);
        let settled = settle(&store);
        match again {
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("repair it first"), "{number}: {error}");
                assert!(settled.is_some());
            }
            Ok(_) => assert!(settled.is_none()),
        }
        let after = open(&store).expect("opens");
        let mut expected = before;
        expected[0] = vec![202];
        expected.extend([vec![200], vec![201]]);
        assert_eq!(rows(&after, 0), expected, "{number}");
        assert_eq!(after.metadata().attribute("new"), Some("true"));
        assert_eq!(found(&store), Vec::<&str>::new(), "{number}");
    }
}

/// Copies of an array with chunks that are not its own are refused, however they are made.
#[test]
fn what_is_left_is_not_copied() {
    use zarr_copy::{CopyOptions, Endpoint, copy_tree};
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let months = document(&[9], &rectilinear("[[2, 3, 4]]"), SLASH, BYTES);
    hierarchy(&store, &months);
    let spans = [Span::Kept(5..9), Span::Kept(0..5)];
    let whole: Arc<dyn Store> = Arc::new(MemoryStore::new());
    hierarchy(&whole, &months);
    let counted = Arc::new(FaultStore::new(whole));
    run(&(counted.clone() as Arc<dyn Store>), &spans).expect("moves");
    let half = counted.operations() / 2;
    let dying: Arc<dyn Store> = Arc::new(FaultStore::new(store.clone()).at(half, Fault::DieAfter));
    assert!(run(&dying, &spans).is_err());
    let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = Prefix::root();
    let (from, to) = (Endpoint::new(&store, &root), Endpoint::new(&to, &root));
    let error = copy_tree(
        from,
        to,
        &mut |_, metadata| Ok(metadata.clone()),
        &CopyOptions::new(),
        &mut |_, _| {},
    );
    let error = error.expect_err("refused").to_string();
    assert!(error.contains("repair it first"), "{error}");
}
