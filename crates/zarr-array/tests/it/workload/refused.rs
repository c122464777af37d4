//! Changes that are refused, because they could lose what others write.

#[cfg(feature = "object_store")]
use std::sync::Arc;

#[cfg(feature = "object_store")]
use zarr_array::Array;
#[cfg(feature = "object_store")]
use zarr_array::store::{Store, StoreError};
use zarr_array::{ArrayError, Resize, open_node};

#[cfg(feature = "object_store")]
use super::restore;
use super::{Workload, holding, objects, prefix, states};

/// What a change of several objects says where no lock reaches other processes, and that it leaves
/// everything as it was.
#[cfg(feature = "object_store")]
#[test]
fn without_locks_between_processes_changes_of_several_objects_are_refused() {
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use zarr_array::store::{ConditionalPut, RemoteStore, StoreOptions};
    for conditional_put in [ConditionalPut::Supported, ConditionalPut::Unsupported] {
        let conditional = conditional_put == ConditionalPut::Supported;
        let backend = Arc::new(InMemory::new());
        let store: Arc<dyn Store> = Arc::new(RemoteStore::new(
            backend,
            Path::default(),
            conditional_put,
            &StoreOptions::new(),
        ));
        let states = states(1);
        restore(&*store, &states[7]);
        let workload = Workload::new(store.clone(), 1);
        let refused = workload.step(16).expect("a step");
        assert!(matches!(refused, Err(ArrayError::NoLock { .. })), "{refused:?}");
        // The same refusal as with locks, if the shape or edges are of other axes.
        let array = Array::open(store.clone(), &prefix("a")).expect("opens");
        let rank = array.shape().len();
        let other = array.resize(vec![0; rank + 1]);
        assert!(matches!(other, Err(ArrayError::Axes { .. })), "{other:?}");
        let other = array.resize(Resize::to(vec![0; rank]).edges(7, [1]));
        assert!(matches!(other, Err(ArrayError::Axis { axis: 7, .. })), "{other:?}");
        // A change of the document alone is safe by a conditional put.
        let resized = workload.step(15).expect("a step");
        match resized {
            Ok(()) => assert!(conditional),
            Err(ArrayError::Store(StoreError::NoExclusion { .. })) => assert!(!conditional),
            Err(error) => panic!("{error}"),
        }
        assert_eq!(objects(&*store) == states[7], !conditional);
    }
}

/// An append where no lock reaches other processes: it grows the array first, by a conditional put.
#[cfg(feature = "object_store")]
#[test]
fn without_locks_between_processes_an_append_grows_the_array_first() {
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use zarr_array::store::{ConditionalPut, RemoteStore, StoreOptions};
    use zarr_view::View;
    let store = |conditional_put| -> Arc<dyn Store> {
        let (backend, options) = (Arc::new(InMemory::new()), StoreOptions::new());
        Arc::new(RemoteStore::new(backend, Path::default(), conditional_put, &options))
    };
    let states = states(1);

    let without = store(ConditionalPut::Unsupported);
    restore(&*without, &states[7]);
    let refused = Workload::new(without.clone(), 1).step(7).expect("a step");
    let cause = refused.expect_err("nothing excludes others");
    assert!(matches!(cause, ArrayError::Store(StoreError::NoExclusion { .. })), "{cause:?}");
    assert_eq!(objects(&*without), states[7]);

    let with = store(ConditionalPut::Supported);
    restore(&*with, &states[7]);
    let older = Array::open(with.clone(), &prefix("a")).expect("opens");
    // Elements that do not fit are refused before the array grows.
    let few: &[u8] = &[0; 13];
    let refused = older.append(0, 1, few).expect_err("too few");
    assert!(matches!(refused, ArrayError::BufferLength { found: 13, .. }), "{refused:?}");
    let refused = older.append(0, 1, (&View::contiguous(&[7]).unwrap(), few));
    let refused = refused.expect_err("another shape");
    assert!(matches!(refused, ArrayError::Shape { .. }), "{refused:?}");
    let refused = older.append_as(0, 1, &[0_u16; 6]).expect_err("too few");
    assert!(matches!(refused, ArrayError::ElementCount { found: 6, .. }), "{refused:?}");
    let refused = older.append(2, 1, few).expect_err("too few axes");
    assert!(matches!(refused, ArrayError::Axis { axis: 2, rank: 2 }), "{refused:?}");
    assert_eq!(objects(&*with), states[7]);
    Workload::new(with.clone(), 1).step(7).expect("a step").expect("appends");
    // The document ends with white space that tells this append from others.
    let mut grown = objects(&*with);
    let document = grown.get_mut("a/zarr.json").expect("is there");
    assert!(document.len() > states[8]["a/zarr.json"].len());
    document.truncate(document.trim_ascii_end().len());
    assert_eq!(grown, states[8]);
    let grown = objects(&*with);
    // The second of two appends is refused before it writes.
    let refused = older.append(0, 1, &[0; 14]).expect_err("has grown");
    assert!(matches!(refused, ArrayError::Stale { .. }), "{refused:?}");
    assert_eq!(objects(&*with), grown);

    // Twelve bits do not hold these.
    let with = store(ConditionalPut::Supported);
    restore(&*with, &states[23]);
    let packed = Array::open(with.clone(), &prefix("s")).expect("opens");
    let failed = packed.append(1, 1, &[255; 12]).expect_err("is lost");
    let ArrayError::Grown { cause, .. } = &failed else { panic!("{failed:?}") };
    assert!(
        matches!(**cause, ArrayError::Loss { .. } | ArrayError::Incomplete { .. }),
        "{cause:?}"
    );
    assert!(failed.to_string().starts_with("s: the array has grown, but"), "{failed}");
    let grown = Array::open(with, &prefix("s")).expect("opens");
    assert_eq!(grown.shape(), [6, 6]);
    assert_eq!(grown.read((0..6, 5)).expect("reads"), [7, 0].repeat(6));
}

/// Attributes of a group and of an array, where nothing keeps other processes out.
#[cfg(feature = "object_store")]
#[test]
fn without_exclusion_attributes_are_changed_if_the_policy_accepts_it() {
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use zarr_array::Group;
    use zarr_array::store::{ConditionalPut, Prefix, RemoteStore, StoreOptions, UpdatePolicy};
    let backend = Arc::new(InMemory::new());
    let store: Arc<dyn Store> = Arc::new(RemoteStore::new(
        backend,
        Path::default(),
        ConditionalPut::Unsupported,
        &StoreOptions::new(),
    ));
    restore(&*store, &states(1)[5]);
    let changes = [("title", Some(r#""life""#))];
    let group = Group::open(store.clone(), &Prefix::root()).expect("opens");
    let refused = |outcome: Result<(), ArrayError>| {
        assert!(
            matches!(outcome, Err(ArrayError::Store(StoreError::NoExclusion { .. }))),
            "{outcome:?}"
        );
    };
    refused(group.update_attributes(&changes).map(drop));
    refused(group.array("a").and_then(|array| array.update_attributes(&changes).map(drop)));
    // What is opened from the group takes its policy.
    let group = group.with_update_policy(UpdatePolicy::AcceptSingleProcess);
    let group = group.update_attributes(&changes).expect("updates");
    assert_eq!(group.metadata().attribute("title"), changes[0].1);
    let array = group.array("a").expect("opens").update_attributes(&changes).expect("updates");
    assert_eq!(array.metadata().attribute("title"), changes[0].1);
    let group = group.update_attributes(&[("title", None)]).expect("updates");
    assert_eq!(group.metadata().attribute("title"), None);
}

/// Writing a whole array needs no exclusion, wherever its end cuts its chunks.
#[cfg(feature = "object_store")]
#[test]
fn without_exclusion_whole_arrays_are_written_and_what_is_past_their_end_kept() {
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use zarr_array::store::{ConditionalPut, RemoteStore, StoreOptions};
    let store: Arc<dyn Store> = Arc::new(RemoteStore::new(
        Arc::new(InMemory::new()),
        Path::default(),
        ConditionalPut::Unsupported,
        &StoreOptions::new(),
    ));
    let states = states(1);
    // Grown since the array was opened.
    restore(&*store, &states[2]);
    let old = Workload::new(store.clone(), 1).open("a").expect("opens");
    restore(&*store, &states[8]);
    let whole = |array: &zarr_array::Array| zarr_array::Selection::whole(array.shape());
    old.write_as(whole(&old), &[3_u16; 13 * 7]).expect("writes");
    let new = Workload::new(holding(&states[8]), 1).open("a").expect("opens");
    let mut expected = new.read_as::<u16>(whole(&new)).expect("reads");
    expected[..13 * 7].fill(3);
    let now = Workload::new(store, 1).open("a").expect("opens");
    assert_eq!(now.shape(), [17, 7]);
    assert_eq!(now.read_as::<u16>(&whole(&now)).expect("reads"), expected);
}

/// Others have changed the array since it was opened: nothing of theirs is lost.
#[test]
fn a_stale_array_changes_nothing() {
    let states = states(1);
    let store = holding(&states[7]);
    let workload = Workload::new(store.clone(), 1);
    let stale = workload.open("a").expect("opens");
    workload.step(7).expect("a step").expect("appends");
    let appended = objects(&*store);
    for outcome in [
        stale.resize([2, 2]),
        stale.resize(Resize::to([20, 7]).keep(true)),
        stale.append_as(0, 1, &[0_u16; 7]),
    ] {
        assert!(matches!(outcome, Err(ArrayError::Stale { .. })), "{outcome:?}");
    }
    assert!(objects(&*store) == appended);
    // Attributes are of no consequence to the rest, either way.
    let fresh = stale.update_attributes(&[("new", Some("1"))]).expect("updates");
    assert_eq!(fresh.shape(), [17, 7]);
    let older = workload.open("a").expect("opens");
    fresh.update_attributes(&[("new", Some("2"))]).expect("updates");
    let resized = older.resize(Resize::to([17, 6]).keep(true)).expect("resizes");
    assert_eq!(resized.metadata().attribute("new"), Some("2"));
    assert!(open_node(&store, &prefix("a")).is_ok());
}
