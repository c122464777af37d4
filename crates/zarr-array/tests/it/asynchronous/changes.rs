//! Changes that do not block: dropped at any point, and while locks are held. The same steps that
//! block, with faults, are in `workload`.

use std::sync::Arc;
use std::task::Poll;
use std::thread;

use zarr_array::asynchronous::{AsyncGroup, create_parents, delete_node, refresh_consolidated};
use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _, UpdatePolicy};
use zarr_array::{Array, ArrayError, ArrayFuture, Group, Resize};
use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
use zarr_store_tests::{Objects, objects};

use super::face::{Faced, Manner};
use super::gate::Gate;
use super::writes::{holding, open, open_through};
use super::{REGULAR, at_once, block_on, chains, create, poll};

type Change = fn(&Array) -> ArrayFuture<Array>;

const CHANGES: [Change; 4] = [
    |array| array.asynchronous().append_as(0, 9, vec![5_u16; 9 * 70]),
    |array| array.asynchronous().resize([30, 20]),
    |array| array.asynchronous().resize(Resize::to([80, 70]).keep(true)),
    |array| array.asynchronous().update_attributes(&[("units", Some(r#""K""#))]),
];

/// The objects that differ.
fn differing<'o>(one: &'o Objects, other: &'o Objects) -> Vec<&'o String> {
    let keys: std::collections::BTreeSet<_> = one.keys().chain(other.keys()).collect();
    keys.into_iter().filter(|key| one.get(*key) != other.get(*key)).collect()
}

/// Dropped at every operation, while it waits for the store: at most the object that is being
/// written is finished, the lock is released, and the same change can be made again.
#[test]
fn a_change_can_be_dropped_at_any_operation() {
    for (change, far) in CHANGES.into_iter().flat_map(|change| [(change, false), (change, true)]) {
        let memory = MemoryStore::new();
        create(Arc::new(memory.clone()), REGULAR, &chains()[1]);
        let before = objects(&memory);
        let after = {
            let store = holding(&before);
            block_on(change(&open(Arc::new(store.clone())))).expect("changes");
            objects(&store)
        };
        let mut dropped = 0;
        for stop in 0.. {
            let inner = holding(&before);
            let gate = Gate::new(Arc::new(inner.clone()), stop);
            let store: Arc<dyn Store> = match far {
                false => Arc::new(gate.clone()),
                true => Arc::new(Faced::new(Arc::new(gate.clone()), Manner::Blocking)),
            };
            let array = open_through(&inner, store.clone()).with_threads(at_once(1));
            let mut changing = change(&array);
            let mut ended = false;
            while !ended && !gate.reached(|| true) {
                ended = matches!(poll(changing.as_mut()), Poll::Ready(Ok(_)));
                thread::yield_now();
            }
            drop(changing);
            let (written, operations) = (objects(&inner), gate.operations());
            gate.open();
            drop(array);
            while Arc::strong_count(&store) > 1 {
                thread::yield_now();
            }
            if ended {
                assert!(objects(&inner) == after, "{stop}");
                break;
            }
            dropped += 1;
            let now = objects(&inner);
            assert!(
                differing(&now, &written).len() <= 1,
                "{stop}: {:?}",
                differing(&now, &written)
            );
            // The rest of the change of one object.
            assert!(gate.operations() <= operations + 4, "{stop}");
            for key in differing(&now, &before) {
                assert_eq!(now.get(key), after.get(key), "{key}");
            }
            // An append whose document was written is complete.
            if now.get("zarr.json") == after.get("zarr.json") {
                continue;
            }
            block_on(change(&open(Arc::new(inner.clone())))).expect("changes");
            assert!(objects(&inner) == after, "{stop}");
        }
        assert!(dropped >= 2, "{dropped}");
    }
}

/// While changes wait for the lock of a document, more of them than there are threads that read,
/// reads of the same store go on.
#[test]
fn reads_go_on_while_changes_wait_for_a_lock() {
    let memory = MemoryStore::new();
    let array = create(Arc::new(memory.clone()), REGULAR, &chains()[0]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build();
    let runtime = runtime.expect("starts");
    let document = Key::new("zarr.json").expect("a key");
    let held = memory.lock(&document).expect("locks");
    let many = thread::available_parallelism().map_or(1, usize::from) + 5;
    let waiting: Vec<_> = (0..many)
        .map(|_| runtime.spawn(array.asynchronous().append_as(0, 1, [3_u16; 70])))
        .collect();
    for row in 0..200 {
        let found = block_on(array.asynchronous().read_as::<u16>((row % 44, 0))).expect("reads");
        assert_eq!(u64::from(found[0]), row % 44 * 70 * 7 + 1);
    }
    assert!(waiting.iter().all(|change| !change.is_finished()));
    drop(held);
    let ended: Vec<_> =
        waiting.into_iter().map(|change| runtime.block_on(change).expect("ends")).collect();
    assert_eq!(ended.iter().filter(|change| change.is_ok()).count(), 1);
    let stale =
        |change: &Result<Array, ArrayError>| matches!(change, Err(ArrayError::Stale { .. }));
    assert_eq!(ended.iter().filter(|change| stale(change)).count(), many - 1);
    assert_eq!(open(Arc::new(memory)).shape(), [61, 70]);
}

/// The array that a change returns has the settings of its handle, and can be changed again.
#[test]
fn changed_arrays_keep_their_settings() {
    let memory = MemoryStore::new();
    let array = create(Arc::new(memory), REGULAR, &chains()[0]);
    let policy = UpdatePolicy::AcceptSingleProcess;
    let array = array.with_update_policy(policy).with_empty_chunks_stored(true);
    let array = block_on(array.asynchronous().append_as(0, 1, [3_u16; 70])).expect("appends");
    assert_eq!(array.update_policy(), policy);
    let array = block_on(array.asynchronous().resize([5, 5]));
    let array = array.expect("resizes");
    // A blocking change with the same handle: its future is gone, but was not dropped early.
    let array = array.append_as(1, 2, &[9_u16; 10]).expect("appends");
    array.write_as((0, 0), &[9_u16]).expect("writes");
    assert_eq!(array.read_as::<u16>((4, 5..7)).expect("reads"), [9, 9]);
}

#[test]
fn strings_are_appended() {
    for data_type in [DataType::String, DataType::Bytes] {
        let metadata = ArrayBuilder::new([1], data_type.clone()).chunk_shape([2]).build();
        let metadata = metadata.expect("valid");
        let stores = [(); 2].map(|()| Arc::new(MemoryStore::new()));
        let [array, blocking] = stores.each_ref().map(|store| {
            Array::create(store.clone(), &Prefix::root(), metadata.clone()).expect("creates")
        });
        match data_type {
            DataType::String => {
                block_on(array.asynchronous().append_as(0, 2, ["Bern", "Basel"])).expect("appends");
                blocking.append_as(0, 2, &["Bern", "Basel"]).expect("appends");
            }
            _ => {
                block_on(array.asynchronous().append_as(0, 2, vec![b"\0".to_vec(), vec![1]]))
                    .expect("appends");
                blocking.append_as(0, 2, &[&b"\0"[..], b"\x01"]).expect("appends");
            }
        }
        let [found, wanted] = stores.each_ref().map(|store| objects(&**store));
        assert!(found == wanted, "{data_type}");
        assert!(found.contains_key("c/1"));
    }
}

/// Groups are created and consolidated, and nodes deleted, as by what blocks.
#[test]
fn hierarchies_are_those_of_changes_that_block() {
    let metadata = || ArrayBuilder::new([3], DataType::Uint8).build().expect("valid");
    let attributes = [("title", Some(r#""a""#))];
    let prefix = |text: &str| Prefix::new(text).expect("a prefix");
    let blocking: Arc<dyn Store> = Arc::new(MemoryStore::new());
    {
        let store = &blocking;
        let root = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new());
        let root = root.expect("creates");
        let group = root.create_group("a", GroupMetadata::new()).expect("creates");
        group.create_array("b", metadata()).expect("creates");
        zarr_array::create_parents(store, &prefix("x/y/z")).expect("creates");
        root.update_attributes(&attributes).expect("changes");
        root.consolidate().expect("consolidates");
        zarr_array::delete_node(store, &prefix("x/y")).expect("deletes");
        zarr_array::refresh_consolidated(store, &prefix("x"), UpdatePolicy::default())
            .expect("refreshes");
        group.consolidate().expect("consolidates");
        assert!(group.remove_consolidated().expect("removes"));
    }
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    block_on(async {
        let store = || Arc::clone(&memory);
        let root = AsyncGroup::create(store(), &Prefix::root(), GroupMetadata::new()).await?;
        let group = root.asynchronous().create_group("a", GroupMetadata::new()).await?;
        group.asynchronous().create_array("b", metadata()).await?;
        create_parents(store(), &prefix("x/y/z")).await?;
        root.asynchronous().update_attributes(&attributes).await?;
        root.asynchronous().consolidate().await?;
        delete_node(store(), &prefix("x/y")).await?;
        refresh_consolidated(store(), &prefix("x"), UpdatePolicy::default()).await?;
        group.asynchronous().consolidate().await?;
        assert!(group.asynchronous().remove_consolidated().await?);
        let exists = group.asynchronous().create_array("b", metadata()).await;
        assert!(matches!(exists, Err(ArrayError::Exists { .. })), "{exists:?}");
        let node = root.asynchronous().node("a/b").await?;
        assert!(matches!(node, zarr_metadata::NodeMetadata::Array(_)), "{node:?}");
        Ok::<(), ArrayError>(())
    })
    .expect("changes");
    assert!(objects(&*memory) == objects(&*blocking));
    let root = memory.read(&Key::new("zarr.json").expect("a key")).expect("reads");
    let root = String::from_utf8(root.expect("is there")).expect("text");
    assert!(root.contains(r#""a/b""#) && !root.contains("x/y"), "{root}");
}
