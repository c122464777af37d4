//! Opening arrays and groups without blocking, and what else must not block an executor.

use std::pin::Pin;
use std::sync::Arc;

use zarr_array::asynchronous::{AsyncArray, AsyncGroup, open_node};
use zarr_array::store::{MemoryStore, Prefix, Store};
use zarr_array::{Array, ArrayError, Group};
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
        let root = block_on(AsyncGroup::open(store.clone(), &Prefix::root())).expect("opens");
        assert_eq!(block_on(root.asynchronous().children()).expect("lists"), ["inner"]);
        let array = block_on(root.asynchronous().array("inner/a")).expect("opens");
        assert_eq!(block_on(array.asynchronous().read(0..3)).expect("reads"), [5, 5, 5]);
        let inner = block_on(root.asynchronous().group("inner")).expect("opens");
        assert_eq!(block_on(inner.asynchronous().children()).expect("lists"), ["a"]);
        let array = block_on(AsyncArray::open(store.clone(), &prefix("inner/a"))).expect("opens");
        assert_eq!(array.shape(), [3]);
        let node = block_on(open_node(store.clone(), &prefix("inner"))).expect("opens");
        assert!(matches!(node, NodeMetadata::Group(_)), "{node:?}");
        let error = |error: ArrayError| error.to_string();
        for path in ["", "inner", "none", "inner/a"] {
            let (found, wanted) = (
                block_on(AsyncArray::open(store.clone(), &prefix(path))),
                Array::open(store.clone(), &prefix(path)),
            );
            assert_eq!(found.map_err(error).err(), wanted.map_err(error).err());
            let (found, wanted) = (
                block_on(AsyncGroup::open_consolidated(store.clone(), &prefix(path))),
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
        |store, _| Box::pin(async { drop(AsyncArray::open(store, &Prefix::root()).await) }),
        |_, array| {
            Box::pin(
                async move { drop(array.asynchronous().write_as((3, 5..9), [1_u16; 4]).await) },
            )
        },
        |_, array| Box::pin(async move { drop(array.asynchronous().read((3, 5..9)).await) }),
        |_, array| {
            Box::pin(async move { drop(array.asynchronous().append_as(0, 1, [1_u16; 70]).await) })
        },
        |_, array| {
            Box::pin(async move {
                drop(array.asynchronous().resize([3, 3]).await);
            })
        },
        |_, array| Box::pin(async move { drop(array.asynchronous().update_attributes(&[]).await) }),
        |store, _| {
            let (prefix, metadata) = (Prefix::new("g").expect("a prefix"), GroupMetadata::new());
            Box::pin(async move { drop(AsyncGroup::create(store, &prefix, metadata).await) })
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
