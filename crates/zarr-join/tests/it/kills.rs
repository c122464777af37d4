//! Joins that end before or after any operation: no array is there, or the whole one; and a
//! resumed join is byte for byte an undisturbed one.

use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, MemoryStore, Prefix, Store};
use zarr_array::unfinished::UnfinishedWork;
use zarr_array::{Array, ArrayError};
use zarr_copy::MARKER;
use zarr_join::JoinError;
use zarr_join::{Arrangement, Join, JoinOptions, JoinPlan, Member};
use zarr_metadata::{ArrayBuilder, ChunkGrid, Codec, DataType};
use zarr_store_tests::objects;

use crate::cases::whole;

fn member(name: &str, length: u64) -> Member {
    of_codecs(name, length, [Codec::bytes()])
}

fn of_codecs(name: &str, length: u64, codecs: [Codec; 1]) -> Member {
    let metadata = ArrayBuilder::new([length], DataType::Uint8).chunk_shape([4]);
    let metadata = metadata.codecs(codecs).build();
    let store = Arc::new(MemoryStore::new());
    let array = Array::create(store, &Prefix::root(), metadata.expect("valid"));
    let array = array.expect("creates");
    let values: Vec<u8> = (1..).take(usize::try_from(length).expect("small")).collect();
    array.write(0..length, &values).expect("writes");
    Member::new(name, array)
}

fn plan() -> JoinPlan {
    let members = vec![member("a", 10), member("b", 8), member("c", 7)];
    Join::new(members, Arrangement::Along(0)).plan().expect("fits")
}

/// A join of shards into other shards, which decodes none.
fn of_shards() -> JoinPlan {
    let of = |name, length| of_codecs(name, length, [Codec::sharding([2], [Codec::bytes()])]);
    let members = vec![of("a", 10), of("b", 8), of("c", 7)];
    let plan = Join::new(members, Arrangement::Along(0)).plan_with(|metadata| {
        let grid = ChunkGrid::Regular { chunk_shape: vec![6] };
        let changed = metadata.with_layout(None, None, Some(&grid));
        changed.map(Some).map_err(JoinError::Metadata)
    });
    let plan = plan.expect("fits");
    assert_eq!((plan.assembled_chunks(), plan.written_chunks()), (5, 0));
    plan
}

fn in_order() -> JoinOptions {
    JoinOptions::new().threads(NonZeroUsize::MIN)
}

#[test]
fn a_join_that_is_killed_leaves_no_array_and_can_be_resumed() {
    let to = Prefix::new("to").expect("a prefix");
    let old = |store: &MemoryStore| {
        let store: Arc<dyn Store> = Arc::new(store.clone());
        let metadata = ArrayBuilder::new([3], DataType::Uint8).chunk_shape([1]).build();
        let array = Array::create(store, &to, metadata.expect("valid")).expect("creates");
        array.write(0..3, &[1, 2, 3]).expect("writes");
    };
    for (plan, overwrite) in
        [(plan(), false), (plan(), true), (of_shards(), false), (of_shards(), true)]
    {
        let options = in_order().overwrite(overwrite);
        let run = |inner: &MemoryStore, fault: Option<(u64, Fault)>, options: &JoinOptions| {
            let store = FaultStore::new(inner.clone());
            let store = Arc::new(match fault {
                Some((at, fault)) => store.at(at, fault),
                None => store,
            });
            let shared: Arc<dyn Store> = store.clone();
            let result = plan.execute(&shared, &to, options, &|_| {}).map(drop);
            (result, store.operations())
        };
        let undisturbed = MemoryStore::new();
        if overwrite {
            old(&undisturbed);
        }
        let (result, operations) = run(&undisturbed, None, &options);
        result.expect("joins");
        let expected = objects(&undisturbed);
        assert!(operations > 15, "{operations}");
        for at in 0..operations {
            for fault in [Fault::DieBefore, Fault::DieAfter] {
                let inner = MemoryStore::new();
                if overwrite {
                    old(&inner);
                }
                let before = objects(&inner);
                let (result, _) = run(&inner, Some((at, fault)), &options);
                let shared: Arc<dyn Store> = Arc::new(inner.clone());
                let found = objects(&inner);
                // What a reader sees is nothing, the old array or the whole new one.
                match Array::open(shared, &to) {
                    Ok(array) if array.shape() == [3] => {
                        assert!(overwrite, "{at} {fault:?}");
                        let old = before.iter().all(|(key, object)| found.get(key) == Some(object));
                        assert!(old, "{at} {fault:?}");
                    }
                    Ok(array) => assert_eq!(whole(&array).len(), 25, "{at} {fault:?}"),
                    Err(ArrayError::Unfinished { resumable, work, .. }) => {
                        let is_join = work == UnfinishedWork::Join;
                        assert!(resumable && is_join && result.is_err(), "{at} {fault:?}");
                    }
                    Err(ArrayError::NotFound { .. }) => {
                        assert!(found.is_empty(), "{at} {fault:?}: {:?}", found.keys());
                    }
                    Err(error) => panic!("{at} {fault:?}: {error}"),
                }
                let is_marked = found.contains_key(&format!("to/{MARKER}"));
                let resume = in_order().resume(true);
                let again = if is_marked { resume } else { options.clone() };
                if found == expected {
                    continue;
                }
                run(&inner, None, &again)
                    .0
                    .unwrap_or_else(|error| panic!("{at} {fault:?}: {error}"));
                assert_eq!(objects(&inner), expected, "{at} {fault:?}");
            }
        }
    }
}

#[test]
fn a_join_of_other_members_does_not_continue_it() {
    let inner = MemoryStore::new();
    let to = Prefix::root();
    let store: Arc<dyn Store> = Arc::new(FaultStore::new(inner.clone()).at(14, Fault::DieBefore));
    let plan = plan();
    assert!(plan.execute(&store, &to, &in_order(), &|_| {}).is_err());
    let inner: Arc<dyn Store> = Arc::new(inner);
    let members = vec![member("a", 10), member("b", 8), member("c", 6)];
    let other = Join::new(members, Arrangement::Along(0)).plan().expect("fits");
    let error = other.execute(&inner, &to, &in_order().resume(true), &|_| {});
    let error = error.expect_err("is another").to_string();
    assert!(error.contains("not an interrupted copy of this source"), "{error}");
    plan.execute(&inner, &to, &in_order().resume(true), &|_| {}).expect("the same");
}

/// What is in the joined array would be of two states of the member.
#[test]
fn a_member_that_has_changed_does_not_continue_it() {
    type Change = fn(&Array);
    let changes: [Change; 3] = [
        // As many bytes in place of a chunk that is moved, and of one that is decoded.
        |array| array.write(0..1, &[9]).expect("writes"),
        |array| array.write(9..10, &[9]).expect("writes"),
        |array| {
            array.store().delete(&array.layout().key(&[1]).expect("a key")).expect("deletes");
        },
    ];
    for change in changes {
        let members = vec![member("a", 10), member("b", 8)];
        let plan = || Join::new(members.clone(), Arrangement::Along(0)).plan().expect("fits");
        let inner = MemoryStore::new();
        let store: Arc<dyn Store> =
            Arc::new(FaultStore::new(inner.clone()).at(14, Fault::DieBefore));
        let to = Prefix::root();
        assert!(plan().execute(&store, &to, &in_order(), &|_| {}).is_err());
        let before = objects(&inner);
        assert!(before.len() > 1, "{:?}", before.keys());
        change(members[0].array());
        let inner: Arc<dyn Store> = Arc::new(inner);
        let refused = plan().execute(&inner, &to, &in_order().resume(true), &|_| {});
        let error = refused.expect_err("is another").to_string();
        assert!(error.contains("the source has changed since"), "{error}");
        assert_eq!(objects(&*inner), before);
        plan().execute(&inner, &to, &in_order().overwrite(true), &|_| {}).expect("joins anew");
    }
}
