//! Consolidated metadata: writing it, and keeping it up to date.

use std::sync::Arc;
use std::thread;

use zarr_array::store::{
    Fault, FaultStore, Key, LocalStore, MemoryStore, Prefix, Store, StoreExt as _, UpdatePolicy,
};
use zarr_array::{Array, ArrayError, Group, create_parents, delete_node};
use zarr_check::{CheckOptions, check};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, DataType, GroupMetadata};

fn findings(store: &Arc<dyn Store>) -> Vec<String> {
    let mut found = Vec::new();
    let report = &mut |finding: zarr_check::Finding| found.push(finding.to_string());
    check(store, &Prefix::root(), &CheckOptions::new(), report).expect("checks");
    found
}

fn prefix(path: &str) -> Prefix {
    Prefix::new(path).expect("a prefix")
}

fn array(length: u64) -> ArrayMetadata {
    ArrayBuilder::new([length], DataType::Uint8).chunk_shape([4]).build().expect("valid")
}

/// A root with consolidated metadata, containing a group with its own.
fn hierarchy(store: &Arc<dyn Store>) {
    let root = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new()).expect("new");
    root.create_array("a", array(5)).expect("new");
    let inner = root.create_group("g", GroupMetadata::new()).expect("new");
    inner.create_array("b", array(6)).expect("new");
    inner.consolidate().expect("consolidates");
    root.consolidate().expect("consolidates");
}

/// The paths that the consolidated metadata of the group at `path` lists.
fn listed(store: &Arc<dyn Store>, path: &str) -> Vec<String> {
    let group = Group::open(store.clone(), &prefix(path)).expect("a group");
    let consolidated = group.metadata().consolidated_metadata().expect("there");
    consolidated.paths().map(str::to_owned).collect()
}

#[test]
fn every_change_is_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let local = LocalStore::create(folder.path()).expect("a store");
    for store in [Arc::new(MemoryStore::new()) as Arc<dyn Store>, Arc::new(local)] {
        hierarchy(&store);
        let none: Vec<String> = Vec::new();
        assert_eq!(
            (listed(&store, ""), listed(&store, "g")),
            (["a", "g", "g/b"].map(str::to_owned).to_vec(), vec!["b".to_owned()])
        );
        let open = |path: &str| Array::open(store.clone(), &prefix(path)).expect("opens");
        let shape = |path: &str| {
            let root = Group::open_consolidated(store.clone(), &Prefix::root()).expect("opens");
            root.array(path).expect("known").shape().to_vec()
        };
        open("g/b").append(0, 2, &[1, 2]).expect("appends");
        assert_eq!(shape("g/b"), [8]);
        open("a").resize([3]).expect("resizes");
        assert_eq!(shape("a"), [3]);
        open("g/b").update_attributes(&[("units", Some("\"K\""))]).expect("changes");
        let group = Group::open(store.clone(), &prefix("g")).expect("opens");
        group.update_attributes(&[("x", Some("1.50"))]).expect("changes");
        group.create_group("c", GroupMetadata::new()).expect("new");
        group.create_array("c/d", array(1)).expect("new");
        group.create_group("e", GroupMetadata::new()).expect("new");
        assert_eq!(findings(&store), none);
        assert_eq!(listed(&store, "g"), ["b", "c", "c/d", "e"]);
        delete_node(&store, &prefix("g/b")).expect("goes");
        assert_eq!(listed(&store, "g"), ["c", "c/d", "e"]);
        delete_node(&store, &prefix("g")).expect("goes");
        assert_eq!((listed(&store, ""), findings(&store)), (vec!["a".to_owned()], none));
    }
}

#[test]
fn what_others_wrote_stays_as_it_is() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    hierarchy(&store);
    let key = Key::new("zarr.json").expect("a key");
    let text = String::from_utf8(store.read(&key).expect("reads").expect("there")).expect("UTF-8");
    // An entry that is not valid, and one whose attributes are not strict JSON.
    let odd = r#""odd": {"zarr_format": 2}, "x/y": {"zarr_format": 3, "node_type": "group", "attributes": {"v": [NaN, 1.0]}}"#;
    let text = text.replacen("\"metadata\": {", &format!("\"metadata\": {{{odd}, "), 1);
    store.put(&key, text.as_bytes()).expect("puts");
    let open = Array::open(store.clone(), &prefix("a")).expect("opens");
    open.append(0, 1, &[1]).expect("appends");
    let root = Group::open(store.clone(), &Prefix::root()).expect("opens");
    let nodes = root.metadata().consolidated_metadata().expect("there");
    let entry = |path: &str| nodes.entries().find(|(other, _)| *other == path).expect("listed").1;
    assert_eq!(entry("odd"), r#"{"zarr_format": 2}"#);
    assert!(entry("x/y").contains("[NaN, 1.0]"));
}

#[test]
fn changes_at_the_same_time_are_all_followed() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Group::create(store.clone(), &Prefix::root(), GroupMetadata::new())
        .and_then(|root| root.consolidate())
        .expect("consolidates");
    thread::scope(|scope| {
        for thread in 0..8_u64 {
            let store = &store;
            scope.spawn(move || {
                for number in 0..10 {
                    let at = prefix(&format!("a{thread}-{number}"));
                    let made = Array::create(store.clone(), &at, array(2)).expect("new");
                    made.resize([thread + 3]).expect("resizes");
                }
            });
        }
    });
    assert_eq!(listed(&store, "").len(), 80);
    assert_eq!(findings(&store), Vec::<String>::new());
}

#[test]
fn a_change_that_is_done_is_no_failure_where_it_cannot_be_followed() {
    let memory = MemoryStore::new();
    let store: Arc<dyn Store> = Arc::new(memory.clone());
    hierarchy(&store);
    let root = Key::new("zarr.json").expect("a key");
    let full = Fault::Fail(std::io::ErrorKind::StorageFull);
    let faulty: Arc<dyn Store> = Arc::new(FaultStore::new(memory).on(root, full));
    let array = Array::open(faulty, &prefix("g/b")).expect("opens");
    let array = array.with_update_policy(UpdatePolicy::AcceptSingleProcess);
    let grown = array.append(0, 1, &[7]).expect("the rows are there");
    assert_eq!(grown.shape(), [7]);
    assert_eq!(
        findings(&store),
        ["warning: zarr.json: $.consolidated_metadata.metadata[\"g/b\"]: differs from the node's \
         own [stale-consolidated]"]
    );
    // Consolidating again repairs it.
    let group = Group::open(store.clone(), &Prefix::root()).expect("opens");
    group.consolidate().expect("consolidates");
    assert_eq!(findings(&store), Vec::<String>::new());
}

#[test]
fn nodes_are_not_made_in_arrays_and_parents_are_on_request() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Array::create(store.clone(), &prefix("a"), array(2)).expect("new");
    for path in ["a/b", "a/c/0/b"] {
        let made = Array::create(store.clone(), &prefix(path), array(2)).map(drop);
        assert_eq!(made.expect_err(path).to_string(), "a: this is an array, not a group");
        let made = create_parents(&store, &prefix(path));
        assert!(matches!(made, Err(ArrayError::NotGroup { .. })), "{path}");
    }
    create_parents(&store, &prefix("x/y/z")).expect("new");
    create_parents(&store, &prefix("x/y/z")).expect("there");
    let root = Group::open(store.clone(), &Prefix::root()).expect("made");
    assert_eq!(root.children().expect("lists"), ["a", "x"]);
    assert!(root.group("x/y").expect("made").children().expect("lists").is_empty());
    assert_eq!(findings(&store), Vec::<String>::new());
}
