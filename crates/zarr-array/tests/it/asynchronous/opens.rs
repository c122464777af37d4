//! Opening arrays and groups without blocking, and what else must not block an executor.

use std::pin::Pin;
use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, Store};
use zarr_array::{Array, ArrayError, Cut, Group, open_node_async};
use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata, NodeMetadata};

use super::face::{Faced, Manner};
use super::gate::Gate;
use super::writes::open_through;
use super::{REGULAR, block_on, chains, create};

#[test]
fn arrays_and_groups_are_opened() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root =
        Group::create(store.clone(), &Prefix::root(), GroupMetadata::new()).expect("creates");
    let inner = root.create_group("inner", GroupMetadata::new()).expect("creates");
    let metadata = ArrayBuilder::new([3], DataType::Uint8).fill_value(5).build().expect("valid");
    inner.create_array("a", metadata).expect("creates");
    for store in super::faces(&store) {
        let prefix = |text: &str| Prefix::new(text).expect("a prefix");
        let root = block_on(Group::open_async(store.clone(), &Prefix::root())).expect("opens");
        assert_eq!(block_on(root.children_async()).expect("lists"), ["inner"]);
        let array = block_on(root.array_async("inner/a")).expect("opens");
        assert_eq!(block_on(array.read_async(0..3)).expect("reads"), [5, 5, 5]);
        let inner = block_on(root.group_async("inner")).expect("opens");
        assert_eq!(block_on(inner.children_async()).expect("lists"), ["a"]);
        let array = block_on(Array::open_async(store.clone(), &prefix("inner/a"))).expect("opens");
        assert_eq!(array.shape(), [3]);
        let node = block_on(open_node_async(store.clone(), &prefix("inner"))).expect("opens");
        assert!(matches!(node, NodeMetadata::Group(_)), "{node:?}");
        let error = |error: ArrayError| error.to_string();
        for path in ["", "inner", "none", "inner/a"] {
            let (found, wanted) = (
                block_on(Array::open_async(store.clone(), &prefix(path))),
                Array::open(store.clone(), &prefix(path)),
            );
            assert_eq!(found.map_err(error).err(), wanted.map_err(error).err());
            let (found, wanted) = (
                block_on(Group::open_consolidated_async(store.clone(), &prefix(path))),
                Group::open_consolidated(store.clone(), &prefix(path)),
            );
            assert_eq!(found.map_err(error).err(), wanted.map_err(error).err());
        }
    }
}

/// The only thread of an executor goes on with other tasks while the store does not answer.
#[test]
fn an_executor_is_never_blocked() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("starts");
    let memory = MemoryStore::new();
    create(Arc::new(memory.clone()), REGULAR, &chains()[4]);
    type Work = fn(Arc<dyn Store>, Array) -> Pin<Box<dyn Future<Output = ()> + Send>>;
    let works: [Work; 7] = [
        |store, _| Box::pin(async { drop(Array::open_async(store, &Prefix::root()).await) }),
        |_, array| Box::pin(async move { drop(array.write_as_async((3, 5..9), [1_u16; 4]).await) }),
        |_, array| Box::pin(async move { drop(array.read_async((3, 5..9)).await) }),
        |_, array| {
            Box::pin(async move { drop(array.append_as_async(0, 1, [1_u16; 70], &[]).await) })
        },
        |_, array| {
            let none = vec![vec![]; 2];
            Box::pin(async move { drop(array.resize_async(&[3, 3], &none, Cut::Discard).await) })
        },
        |_, array| Box::pin(async move { drop(array.update_attributes_async(&[]).await) }),
        |store, _| {
            let (prefix, metadata) = (Prefix::new("g").expect("a prefix"), GroupMetadata::new());
            Box::pin(async move { drop(Group::create_async(store, &prefix, metadata).await) })
        },
    ];
    for work in works {
        for far in [false, true] {
            let gate = Gate::new(Arc::new(memory.clone()), 0);
            let store: Arc<dyn Store> = match far {
                false => Arc::new(gate.clone()),
                true => Arc::new(Faced::new(Arc::new(gate.clone()), Manner::Blocking)),
            };
            let array = open_through(&memory, store.clone());
            runtime.block_on(async {
                let work = tokio::spawn(work(store, array));
                while !gate.reached(|| true) {
                    tokio::task::yield_now().await;
                }
                assert!(!work.is_finished());
                gate.open();
                work.await.expect("ends");
            });
        }
    }
}
