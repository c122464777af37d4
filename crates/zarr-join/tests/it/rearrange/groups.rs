//! Arrays of a group that are rearranged together, ended before or after any operation: readers by
//! consolidated metadata find all old or all new arrays, those by the arrays' own documents find each
//! array whole, and if they find some of each, that is told; settling gives the same objects as a
//! rearrangement that did not end.

use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, LocalStore, MemoryStore, Prefix, Store, UpdatePolicy};
use zarr_array::{Array, ArrayError, Group};
use zarr_join::rearrange::{
    GroupRearrangement, Repair, Span, refuse_half_rearranged, repair, repair_group,
};
use zarr_metadata::GroupMetadata;
use zarr_store_tests::{Objects, folder_in_memory, restore, sampled};

use super::{BYTES, SLASH, document, filled, found, objects, rectilinear, regular, rows};

/// The arrays with the dimension, and its axis.
const ARRAYS: [(&str, usize); 3] = [("g/inner/rain", 1), ("g/temp", 0), ("g/time", 0)];

pub(super) fn at(path: &str) -> Prefix {
    Prefix::new(path).expect("a prefix")
}

pub(super) fn named(document: &str, names: &str) -> String {
    document.replace("\"attributes\"", &format!("\"dimension_names\": {names}, \"attributes\""))
}

/// Groups with consolidated metadata, and arrays that have different chunks and keys.
pub(super) fn hierarchy(store: &Arc<dyn Store>) {
    let root = group(store, "", 9);
    root.consolidate().expect("consolidates");
    Group::open(store.clone(), &at("g")).and_then(|group| group.consolidate()).expect("does");
}

/// A group `g` with arrays of a dimension of this length, which has edges at 2 and 5 if it is 9.
fn group(store: &Arc<dyn Store>, attribute: &str, length: u64) -> Group {
    let new = |path: &str| Group::create(store.clone(), &at(path), GroupMetadata::new());
    let root = new("").expect("new");
    new("g").and_then(|_| new("g/inner")).expect("new");
    let (coarse, fine) = match length {
        9 => ("[2, 3, 4]", "[1, 1, 3, 4]"),
        _ => ("[4]", "[1, 3]"),
    };
    let first = if length == 9 { 0 } else { 100 };
    let dots = r#"{"name": "v2", "configuration": {"separator": "."}}"#;
    let time = named(
        &document(&[length], &rectilinear(&format!("[{coarse}]")), SLASH, BYTES),
        "[\"time\"]",
    );
    let time = time.replace("1.50", &format!("1.50{attribute}"));
    let temp = document(&[length, 2], &rectilinear(&format!("[{coarse}, 1]")), dots, BYTES);
    let rain = document(&[2, length], &rectilinear(&format!("[2, {fine}]")), SLASH, BYTES);
    filled(store.clone(), &at("g/time"), &time, first);
    filled(store.clone(), &at("g/temp"), &named(&temp, "[\"time\", \"x\"]"), first + 10);
    filled(store.clone(), &at("g/inner/rain"), &named(&rain, "[\"x\", \"time\"]"), first + 50);
    let other = named(&document(&[3], &regular(&[2]), SLASH, BYTES), "[\"x\"]");
    filled(store.clone(), &at("g/other"), &other, first);
    root
}

pub(super) fn open(store: &Arc<dyn Store>, path: &str) -> Result<Array, ArrayError> {
    let array = Array::open(store.clone(), &at(path))?;
    let array = array.with_update_policy(UpdatePolicy::AcceptSingleProcess);
    Ok(array.with_threads(NonZeroUsize::MIN))
}

pub(super) fn open_group(store: &Arc<dyn Store>) -> Result<Group, ArrayError> {
    let group = Group::open(store.clone(), &at("g"))?;
    Ok(group.with_update_policy(UpdatePolicy::AcceptSingleProcess))
}

pub(super) fn run(store: &Arc<dyn Store>, spans: &[Span<Group>]) -> Result<(), ArrayError> {
    GroupRearrangement::plan(&open_group(store)?, "time", spans.iter().cloned(), false)?
        .execute(&|_| {})
}

pub(super) fn settle(store: &Arc<dyn Store>) -> Result<Option<Repair>, ArrayError> {
    repair_group(&open_group(store)?)
}

type Rows = Vec<Vec<Vec<u8>>>;

/// What readers find: by the arrays' own documents, and by consolidated metadata of both groups.
fn seen(store: &Arc<dyn Store>) -> [Rows; 3] {
    let by = |open: &dyn Fn(&str) -> Array| {
        ARRAYS.iter().map(|(path, axis)| rows(&open(path), *axis)).collect()
    };
    let root = Group::open_consolidated(store.clone(), &Prefix::root()).expect("opens");
    let inner = Group::open_consolidated(store.clone(), &at("g")).expect("opens");
    [
        by(&|path| open(store, path).expect("opens")),
        by(&|path| root.array(path).expect("is there")),
        by(&|path| inner.array(&path[2..]).expect("is there")),
    ]
}

/// Objects and rows before and after.
struct States {
    objects: [Objects; 2],
    rows: [Rows; 2],
}

/// Whether readers by the arrays' own documents find some of each.
fn assert_whole(store: &Arc<dyn Store>, states: &States, what: &str) -> bool {
    let [own, outer, inner] = seen(store);
    for consolidated in [outer, inner] {
        assert!(states.rows.contains(&consolidated), "{what}: {consolidated:?}");
    }
    for (number, array) in own.iter().enumerate() {
        assert!(states.rows.iter().any(|rows| rows[number] == *array), "{what}: {array:?}");
    }
    let mixed = !states.rows.contains(&own);
    let ids = found(store);
    let allowed = ["unfinished-rearrangement", "stale-consolidated", "half-rearranged-group"];
    assert!(ids.iter().all(|id| allowed.contains(id)), "{what}: {ids:?}");
    let told = refuse_half_rearranged(&open_group(store).expect("opens"));
    assert_eq!(ids.contains(&"half-rearranged-group"), told.is_err(), "{what}: {ids:?}");
    assert!(!mixed || told.is_err(), "{what}: {ids:?}");
    if ids.is_empty() {
        assert!(states.objects.contains(&objects(&**store)), "{what}");
    }
    mixed
}

fn states(make: &dyn Fn() -> Arc<dyn Store>, spans: &[Span<Group>]) -> (States, u64) {
    let store = make();
    hierarchy(&store);
    let (old, [old_rows, ..]) = (objects(&*store), seen(&store));
    let counted = Arc::new(FaultStore::new(store.clone()));
    run(&(counted.clone() as Arc<dyn Store>), spans).expect("nothing goes wrong");
    let (new, [new_rows, ..]) = (objects(&*store), seen(&store));
    let states = States { objects: [old, new], rows: [old_rows, new_rows] };
    (states, counted.operations())
}

/// The rearrangement of the objects before, in a new store, ended at an operation.
fn interrupted(
    make: &dyn Fn() -> Arc<dyn Store>,
    states: &States,
    spans: &[Span<Group>],
    number: u64,
    fault: Fault,
) -> (Arc<dyn Store>, Result<(), ArrayError>) {
    let store = make();
    restore(&*store, &states.objects[0]);
    let dying: Arc<dyn Store> = Arc::new(FaultStore::new(store.clone()).at(number, fault));
    let result = run(&dying, spans);
    (store, result)
}

fn spans() -> [Vec<Span<Group>>; 3] {
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    group(&memory, "", 4);
    let other = Group::open(memory, &at("g")).expect("opens");
    let kept = Span::Kept;
    [
        vec![kept(2..9)],
        vec![kept(5..9), kept(0..2)],
        vec![kept(0..2), Span::Inserted(other), kept(2..9)],
    ]
}

/// Ends a rearrangement at every operation, or one of `step`, in each of these ways.
fn ends(make: &dyn Fn() -> Arc<dyn Store>, faults: &[Fault], step: usize) {
    let (mut ended, mut undone, mut completed, mut mixed) = (0, 0, 0, 0);
    for spans in spans() {
        let (states, operations) = states(make, &spans);
        for number in (0..operations).step_by(step) {
            for &fault in faults {
                let what = format!("operation {number}, {fault:?}");
                let (store, result) = interrupted(make, &states, &spans, number, fault);
                let now = objects(&*store);
                assert!(result.is_err() || now == states.objects[1], "{what} is not reported");
                mixed += u32::from(assert_whole(&store, &states, &what));
                match settle(&store).expect("settles") {
                    Some(Repair::Undone) => {
                        undone += 1;
                        assert!(objects(&*store) == states.objects[0], "{what}: undone");
                    }
                    Some(Repair::Completed) => {
                        completed += 1;
                        assert!(objects(&*store) == states.objects[1], "{what}: completed");
                    }
                    _ => assert!(states.objects.contains(&now), "{what}"),
                }
                assert_eq!(found(&store), Vec::<&str>::new(), "{what}");
                ended += 1;
            }
        }
    }
    println!("ended at {ended} operations: {undone} undone, {completed} completed, {mixed} mixed");
    let [ended, undone, completed, mixed] =
        [ended, undone, completed, mixed].map(|count| count * u32::try_from(step).expect("small"));
    let ways = u32::try_from(faults.len()).expect("few");
    assert!(
        // Few operations lie between the documents: a sample may have none of them.
        ended > 150 * ways
            && undone > 50 * ways
            && completed > 50 * ways
            && (mixed > 3 * ways || step > 1),
        "{ended} {undone} {completed} {mixed}"
    );
}

#[test]
fn in_memory_all_arrays_end_old_or_new_with_a_repair() {
    // What is stored before an operation is what is stored after the one before it.
    let both = [Fault::DieAfter, Fault::DieBefore];
    let faults = if sampled(2) == 1 { &both[..] } else { &both[..1] };
    ends(&|| Arc::new(MemoryStore::new()), faults, 1);
}

#[test]
fn in_local_files_all_arrays_end_old_or_new_with_a_repair() {
    let folder = folder_in_memory();
    let number = std::sync::atomic::AtomicU64::new(0);
    let make = || -> Arc<dyn Store> {
        let number = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let path = folder.path().join(number.to_string());
        Arc::new(LocalStore::create(path).expect("makes a store"))
    };
    // What is stored after an operation is what is stored before the next one, and their order is that
    // in memory, where each is taken.
    ends(&make, &[Fault::DieAfter], sampled(3));
}

#[test]
fn on_object_storage_all_arrays_end_old_or_new_with_a_repair() {
    ends(&super::remote, &[Fault::DieAfter], sampled(4));
}

#[test]
fn the_repair_can_end_anywhere_too() {
    let make = || -> Arc<dyn Store> { Arc::new(MemoryStore::new()) };
    let [_, spans, _] = spans();
    let (states, operations) = states(&make, &spans);
    let mut ended = 0;
    // Every twentieth operation of the rearrangement, and every second one of the repair.
    for first in (3..operations).step_by(10 * sampled(2)) {
        let half = objects(&*interrupted(&make, &states, &spans, first, Fault::DieAfter).0);
        let begin = || {
            let store = make();
            restore(&*store, &half);
            store
        };
        let counted = Arc::new(FaultStore::new(begin()));
        let expected = settle(&(counted.clone() as Arc<dyn Store>)).expect("settles");
        for (count, number) in (0..counted.operations()).step_by(sampled(2)).enumerate() {
            let what = format!("operation {first}, then {number} of the repair");
            let store = begin();
            let fault = if count % 2 == 0 { Fault::DieAfter } else { Fault::DieBefore };
            let dying: Arc<dyn Store> = Arc::new(FaultStore::new(store.clone()).at(number, fault));
            let _ended = settle(&dying);
            assert_whole(&store, &states, &what);
            // By way of an array, which leads to its group.
            let by_array = repair(&open(&store, "g/temp").expect("opens"));
            by_array.unwrap_or_else(|error| panic!("{what}: {error}"));
            settle(&store).unwrap_or_else(|error| panic!("{what}: {error}"));
            let now = usize::from(expected == Some(Repair::Completed));
            if expected.is_some() {
                assert!(objects(&*store) == states.objects[now], "{what}");
            }
            assert_eq!(found(&store), Vec::<&str>::new(), "{what}");
            ended += 1;
        }
    }
    assert!(ended * sampled(2) * sampled(2) > 200, "{ended}");
}

/// Nothing is lost of what is written to arrays that were left half-way, old or new.
#[test]
fn writes_before_the_repair_are_kept() {
    let make = || -> Arc<dyn Store> { Arc::new(MemoryStore::new()) };
    for (spans, moved) in spans().into_iter().zip([6, 3, 12]) {
        let (states, operations) = states(&make, &spans);
        for number in 0..operations {
            let what = format!("operation {number}");
            let (store, _) = interrupted(&make, &states, &spans, number, Fault::DieAfter);
            let lengths: Vec<u64> = ARRAYS
                .iter()
                .map(|(path, axis)| {
                    let array = open(&store, path).expect("opens");
                    let length = array.shape()[*axis];
                    // The last index of the old array, wherever it is now.
                    let index = if length == 9 { 8 } else { moved };
                    let mut region: Vec<_> = array.shape().iter().map(|n| 0..*n).collect();
                    region[*axis] = index..index + 1;
                    let count = if region.len() == 1 { 1 } else { 2 };
                    array.write(region.as_slice(), &[99, 98][..count]).expect("writes");
                    array.update_attributes(&[("new", Some("true"))]).expect("changes");
                    length
                })
                .collect();
            let settled = settle(&store).unwrap_or_else(|error| panic!("{what}: {error}"));
            for ((path, axis), length) in ARRAYS.iter().zip(lengths) {
                let array = open(&store, path).expect("opens");
                let after = array.shape()[*axis];
                let is_new = after != 9;
                assert!(!(settled == Some(Repair::Undone) && is_new), "{what}");
                assert!(after == length || settled == Some(Repair::Completed), "{what}");
                let index = if is_new { usize::try_from(moved).unwrap() } else { 8 };
                let row = &rows(&array, *axis)[index];
                assert_eq!(row[0], 99, "{what}: {path} {:?}", rows(&array, *axis));
                assert_eq!(array.metadata().attribute("new"), Some("true"), "{what}");
            }
            assert_eq!(found(&store), Vec::<&str>::new(), "{what}");
        }
    }
}

#[test]
fn an_old_array_that_grew_among_new_ones_is_named() {
    let make = || -> Arc<dyn Store> { Arc::new(MemoryStore::new()) };
    let [spans, ..] = spans();
    let (states, operations) = states(&make, &spans);
    let mut refused = 0;
    for number in 0..operations {
        let (store, _) = interrupted(&make, &states, &spans, number, Fault::DieAfter);
        let half = refuse_half_rearranged(&open_group(&store).expect("opens")).is_err();
        let time = open(&store, "g/time").expect("opens");
        let was_old = time.shape() == [9];
        let grown = time.append(0, (1, [1]), &[77]).expect("appends");
        if half && was_old {
            refused += 1;
            let error = settle(&store).expect_err("changed").to_string();
            assert!(
                error.starts_with("g/time: the length of the dimension was changed after"),
                "{error}"
            );
            grown.resize([9]).expect("shrinks");
            assert_eq!(settle(&store).expect("settles"), Some(Repair::Completed));
        } else {
            settle(&store).expect("settles");
            let now = open(&store, "g/time").expect("opens");
            assert_eq!(rows(&now, 0).last(), Some(&vec![77]));
        }
        assert_eq!(found(&store), Vec::<&str>::new(), "{number}");
    }
    assert!(refused > 0);
}

#[test]
fn all_arrays_with_the_dimension_are_rearranged_alike() {
    let expected = |rows: &[Vec<u8>], spans: &[std::ops::Range<usize>], between: &[Vec<u8>]| {
        let mut all: Vec<Vec<u8>> = Vec::new();
        for (number, span) in spans.iter().enumerate() {
            if number == 1 {
                all.extend_from_slice(between);
            }
            all.extend_from_slice(&rows[span.clone()]);
        }
        all
    };
    let inserted: Arc<dyn Store> = Arc::new(MemoryStore::new());
    group(&inserted, "", 4);
    for (spans, ranges, between) in spans()
        .into_iter()
        .zip([[2..2, 2..9], [5..9, 0..2], [0..2, 2..9]])
        .zip([false, false, true])
        .map(|((spans, ranges), between)| (spans, ranges, between))
    {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        hierarchy(&store);
        let [before, ..] = seen(&store);
        let other = open(&store, "g/other").expect("opens");
        let other = (other.metadata().json().to_owned(), rows(&other, 0));
        let plan =
            GroupRearrangement::plan(&open_group(&store).expect("opens"), "time", spans, false)
                .expect("fits");
        let paths: Vec<&str> =
            plan.arrays().iter().map(|plan| plan.array().prefix().as_str()).collect();
        assert_eq!(paths, ARRAYS.map(|(path, _)| path));
        let copies = std::sync::Mutex::new((0, 0));
        plan.execute(&|at| *copies.lock().unwrap() = (at.done, at.total)).expect("moves");
        let (done, total) = *copies.lock().unwrap();
        assert_eq!((done, total), (plan.counts().copies, plan.counts().copies));
        let after = seen(&store);
        for (number, (path, axis)) in ARRAYS.iter().enumerate() {
            let more = match between {
                true => rows(&open(&inserted, path).expect("opens"), *axis),
                false => Vec::new(),
            };
            let expected = expected(&before[number], &ranges, &more);
            for seen in &after {
                assert_eq!(seen[number], expected, "{path}");
            }
        }
        let now = open(&store, "g/other").expect("opens");
        assert_eq!((now.metadata().json().to_owned(), rows(&now, 0)), other);
    }
}

#[test]
fn what_does_not_fit_all_arrays_is_refused_and_nothing_is_changed() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    hierarchy(&store);
    let before = objects(&*store);
    let group = open_group(&store).expect("opens");
    let kept = |range| vec![Span::Kept(range)];
    let error = |dimension: &str, spans: Vec<Span<Group>>| {
        let error = GroupRearrangement::plan(&group, dimension, spans, false)
            .expect_err("refused")
            .to_string();
        assert!(objects(&*store) == before);
        error
    };
    assert_eq!(
        error("height", kept(0..2)),
        "g: no array in it has the dimension height; they have time, x"
    );
    assert_eq!(
        error("time", kept(1..9)),
        "g/temp: axis 0: index 1 is inside a chunk, and chunks are only moved whole: the nearest \
         edges are 0 and 2"
    );
    assert_eq!(
        error("x", kept(0..2)),
        "g/other: has the length 3 on the dimension x, and inner/rain has 2"
    );
    assert_eq!(
        error("time", vec![]),
        "g/inner/rain: axis 1: no elements would remain: delete the array, or resize it"
    );
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    self::group(&memory, "", 4);
    let other = Group::open(memory.clone(), &at("g")).expect("opens");
    let insert = || vec![Span::Kept(0..9), Span::Inserted(other.clone())];
    zarr_array::delete_node(&memory, &at("g/time")).expect("deletes");
    assert_eq!(
        error("time", insert()),
        "g: the inserted group lacks an array time with this dimension"
    );
    let time = named(&document(&[4], &regular(&[4]), SLASH, BYTES), "[\"time\"]");
    filled(memory.clone(), &at("g/time"), &time, 0);
    filled(memory.clone(), &at("g/more"), &time, 0);
    assert_eq!(
        error("time", insert()),
        "g: the inserted group alone has an array more with this dimension"
    );
    zarr_array::delete_node(&memory, &at("g/more")).expect("deletes");
    zarr_array::delete_node(&memory, &at("g/time")).expect("deletes");
    let long = time.replace("[4], \"data_type\"", "[5], \"data_type\"");
    assert_ne!(long, time);
    filled(memory.clone(), &at("g/time"), &long, 0);
    assert_eq!(
        error("time", insert()),
        "g/time: has the length 5 on the dimension time, and inner/rain has 4"
    );
    // What keeps everything changes nothing.
    GroupRearrangement::plan(&group, "time", kept(0..9), false)
        .expect("fits")
        .execute(&|_| {})
        .expect("does nothing");
    assert!(objects(&*store) == before);
    let squares =
        named(&document(&[9, 9], &regular(&[9, 9]), SLASH, BYTES), "[\"time\", \"time\"]");
    filled(store.clone(), &at("g/squares"), &squares, 0);
    let twice = GroupRearrangement::plan(&group, "time", kept(2..9), false)
        .expect_err("refused")
        .to_string();
    assert_eq!(twice, "g/squares: two axes have the dimension time");
}

#[test]
fn an_array_alone_does_not_undo_what_its_group_completes() {
    let make = || -> Arc<dyn Store> { Arc::new(MemoryStore::new()) };
    let [spans, ..] = spans();
    let (states, operations) = states(&make, &spans);
    for number in 0..operations {
        let folder = folder_in_memory();
        let make = || -> Arc<dyn Store> {
            Arc::new(LocalStore::create(folder.path()).expect("makes a store"))
        };
        let (store, _) = interrupted(&make, &states, &spans, number, Fault::DieAfter);
        let half = refuse_half_rearranged(&open_group(&store).expect("opens")).is_err();
        let alone: Arc<dyn Store> =
            Arc::new(LocalStore::open(folder.path().join("g/time")).expect("opens"));
        let array = Array::open(alone, &Prefix::root()).expect("opens");
        if let Err(error) = repair(&array) {
            let error = error.to_string();
            assert!(error.ends_with("repair the group, which is 1 level above it"), "{error}");
        } else {
            assert!(!half, "{number}");
        }
        settle(&store).expect("settles");
        // Consolidated metadata is not reached from the array.
        let [own, ..] = seen(&store);
        assert!(states.rows.contains(&own), "{number}: {own:?}");
        let ids = found(&store);
        assert!(ids.iter().all(|id| *id == "stale-consolidated"), "{number}: {ids:?}");
    }
}
