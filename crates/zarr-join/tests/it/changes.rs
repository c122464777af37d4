//! Members that change between plan and execution are errors that name them.

use std::sync::Arc;

use zarr_array::store::{LocalStore, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Selection};
use zarr_join::{Arrangement, Join, JoinOptions, Member};
use zarr_metadata::{ArrayBuilder, DataType};

type Shared = Arc<dyn Store>;

fn member(store: &Shared, name: &str, length: u64) -> Member {
    let metadata = ArrayBuilder::new([length], DataType::Uint8).chunk_shape([4]).build();
    let prefix = Prefix::new(name).expect("a prefix");
    let array = Array::create(store.clone(), &prefix, metadata.expect("valid"));
    let array = array.expect("creates");
    array.write(0..4, &[1, 2, 3, 4]).expect("writes");
    if length > 8 {
        array
            .write(8..length, &vec![5; usize::try_from(length - 8).expect("small")])
            .expect("writes");
    }
    Member::new(name, array)
}

/// What happens to a member's array after the plan.
type Change = fn(&Array);

fn message(store: &Shared, target: &Shared, change: Change) -> String {
    // The last chunk of `a` is padded, so it is decoded.
    let members = vec![member(store, "a", 10), member(store, "b", 12)];
    let array = members[0].array().clone();
    let plan = Join::new(members, Arrangement::Along(0)).plan().expect("fits");
    change(&array);
    let to = Prefix::new("to").expect("a prefix");
    let result = plan.execute(target, &to, &JoinOptions::new().link(true), &|_| {});
    assert!(Array::open(target.clone(), &to).is_err());
    result.expect_err("has changed").to_string()
}

#[test]
fn a_member_that_changes_is_named() {
    let moved: Change = |array| array.write(0..1, &[9]).expect("writes");
    let decoded: Change = |array| array.write(9..10, &[9]).expect("writes");
    let gone: Change = |array| {
        array.store().delete(&array.layout().key(&[0]).expect("a key")).expect("deletes");
    };
    let new: Change = |array| array.write(4..5, &[9]).expect("writes");
    let document: Change = |array| {
        array.update_attributes(&[("a", Some("1"))]).expect("updates");
    };
    let cases: [(Change, &str); 5] = [
        (moved, "a: a/c/0 has changed since the join was planned: plan it again"),
        (decoded, "a: a/c/2 has changed since the join was planned: plan it again"),
        (gone, "a: a/c/0 has changed since the join was planned: plan it again"),
        (new, "a: 2 chunks were stored when the join was planned, and now 3: plan it again"),
        (document, "a: a/zarr.json has changed since the join was planned: plan it again"),
    ];
    let folder = tempfile::tempdir().expect("makes a folder");
    for (number, (change, expected)) in cases.into_iter().enumerate() {
        let memory = || -> Shared { Arc::new(MemoryStore::new()) };
        assert_eq!(message(&memory(), &memory(), change), expected);
        let local = |name: &str| -> Shared {
            let path = folder.path().join(format!("{number}-{name}"));
            Arc::new(LocalStore::create(path).expect("creates"))
        };
        assert_eq!(message(&local("from"), &local("to"), change), expected);
    }
}

#[test]
fn a_target_within_a_member_or_in_use_is_refused() {
    let store: Shared = Arc::new(MemoryStore::new());
    let members = vec![member(&store, "a", 8), member(&store, "b", 8)];
    let plan = Join::new(members, Arrangement::Along(0)).plan().expect("fits");
    let execute = |to: &str| {
        let to = Prefix::new(to).expect("a prefix");
        plan.execute(&store, &to, &JoinOptions::new(), &|_| {}).map(drop)
    };
    let refused = execute("b").expect_err("is a member");
    assert_eq!(refused.to_string(), "target b: source and target share objects");
    assert!(execute("b/below").is_err());
    execute("to").expect("joins");
    let refused = execute("to").expect_err("is there");
    assert_eq!(refused.to_string(), "target to: there is a node here already");
    let to = Prefix::new("to").expect("a prefix");
    store.put(&to.key("c/99").expect("a key"), b"left").expect("puts");
    let overwrite = JoinOptions::new().overwrite(true);
    let (array, _) = plan.execute(&store, &to, &overwrite, &|_| {}).expect("joins");
    assert_eq!(array.read(Selection::whole(&[16])).expect("reads")[..5], [1, 2, 3, 4, 0]);
    assert_eq!(array.stored_chunks().count(), 2);
}
