//! No node is made inside an array, whichever folder is the root of the store.

use std::path::Path;
use std::sync::Arc;

use zarr_array::store::{LocalStore, Prefix, Store};
use zarr_array::{Array, Group, create_parents};
use zarr_copy::{CopyOptions, Endpoint, copy_array, copy_tree, create_over};
use zarr_join::{
    Arrangement, GroupArrangement, GroupMember, Join, JoinGroups, JoinOptions, Member,
};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, DataType, GroupMetadata};
use zarr_store_tests::prefix;

type Shared = Arc<dyn Store>;

fn metadata() -> ArrayMetadata {
    let metadata = ArrayBuilder::new([4], DataType::Uint8).dimension_names(["x"]);
    metadata.build().expect("valid")
}

fn array(store: &Shared, at: &str) -> Array {
    let array = Array::create(Arc::clone(store), &prefix(at), metadata()).expect("creates");
    array.write(0..4, &[1, 2, 3, 4]).expect("writes");
    array
}

/// Makes something at a place in a store, and returns the error in words.
type Way = (&'static str, fn(&Shared, &Shared, &Prefix) -> Result<(), String>);

fn words<T>(result: Result<T, impl std::fmt::Display>) -> Result<(), String> {
    result.map(drop).map_err(|error| error.to_string())
}

const WAYS: [Way; 8] = [
    ("create", |_, to, at| words(Array::create(Arc::clone(to), at, metadata()))),
    ("create group", |_, to, at| words(Group::create(Arc::clone(to), at, GroupMetadata::new()))),
    ("create parents", |_, to, at| words(create_parents(to, &at.join("b").expect("a prefix")))),
    ("create over", |_, to, at| words(create_over(Arc::clone(to), at, metadata()))),
    ("copy array", |from, to, at| {
        let from = Array::open(Arc::clone(from), &prefix("g/one")).expect("opens");
        words(copy_array(&from, Arc::clone(to), at, metadata(), &CopyOptions::new(), &mut |_| {}))
    }),
    ("copy tree", |from, to, at| {
        let source = prefix("g");
        let [from, to] = [Endpoint::new(from, &source), Endpoint::new(to, at)];
        let mut same = |_: &Prefix, metadata: &ArrayMetadata| Ok(metadata.clone());
        words(copy_tree(from, to, &mut same, &CopyOptions::new(), &mut |_, _| {}))
    }),
    ("join", |from, to, at| {
        let from = Array::open(Arc::clone(from), &prefix("g/one")).expect("opens");
        let members = ["a", "b"].map(|name| Member::new(name, from.clone()));
        let plan = Join::new(members.into(), Arrangement::Along(0)).plan().expect("fits");
        words(plan.execute(to, at, &JoinOptions::new(), &|_| {}))
    }),
    ("join groups", |from, to, at| {
        let from = Group::open(Arc::clone(from), &prefix("g")).expect("opens");
        let members = ["a", "b"].map(|name| GroupMember::new(name, from.clone()));
        let along = GroupArrangement::Along("x".to_owned());
        let plan = JoinGroups::new(members.into(), along).plan().expect("fits");
        words(plan.execute(to, at, &JoinOptions::new(), &|_| {}))
    }),
];

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).expect("lists") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { waiting.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

#[test]
fn nothing_is_made_inside_an_array() {
    let folder = tempfile::tempdir().expect("a folder");
    let local = |name: &str| -> Shared {
        Arc::new(LocalStore::create(folder.path().join(name)).expect("creates"))
    };
    let from = local("from.zarr");
    Group::create(Arc::clone(&from), &prefix("g"), GroupMetadata::new()).expect("creates");
    array(&from, "g/one");
    array(&local("a.zarr"), "");
    for root in ["a.zarr", "a.zarr/inside", "a.zarr/in/side"] {
        let to = local(root);
        let before = files(&folder.path().join("a.zarr"));
        for at in ["", "x", "x/y"] {
            for (name, way) in WAYS {
                if root == "a.zarr" && at.is_empty() && name != "create parents" {
                    // Its own place, which is taken.
                    continue;
                }
                let error = way(&from, &to, &prefix(at)).expect_err(name);
                let is_said = error.contains("this is an array, not a group");
                assert!(is_said, "{name} at {at:?} in {root}: {error}");
                assert_eq!(files(&folder.path().join("a.zarr")), before, "{name} {at:?} {root}");
            }
        }
    }
}
