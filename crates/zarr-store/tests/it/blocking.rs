//! Blocking operations of remote stores on threads that are polling asynchronous tasks.

use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::path::Path;
use zarr_store::{
    Change, ConditionalPut, Prefix, ReadRange, RemoteStore, Store, StoreError, StoreExt as _,
    StoreOptions, UpdatePolicy, open_url, update,
};
use zarr_store_tests::executor::in_every_context;
use zarr_store_tests::server::Server;
use zarr_store_tests::{key, keys_below};

/// Every operation, each `rounds` times: a tokio task may do 128 before it has to yield.
fn every_operation(store: &Arc<dyn Store>, rounds: usize) {
    let (a, b, root) = (key("a/x"), key("b"), Prefix::root());
    let mut out = Vec::new();
    let times = |work: &mut dyn FnMut()| (0..rounds).for_each(|_| work());
    times(&mut || store.put(&a, b"0123").unwrap());
    times(&mut || assert_eq!(store.read(&a).unwrap().unwrap(), b"0123"));
    times(&mut || assert_eq!(store.size(&a).unwrap(), Some(4)));
    times(&mut || assert_eq!(store.read(&b).unwrap(), None));
    times(&mut || {
        store.get(&a, ReadRange::Suffix(1), &mut out).unwrap().unwrap();
        assert_eq!(out, b"3");
        store.get(&a, ReadRange::Ranges(&[3..4, 1..3]), &mut out).unwrap().unwrap();
        assert_eq!(out, b"312");
    });
    times(&mut || {
        update(store, &b, UpdatePolicy::default(), &mut Vec::new(), |_, bytes| {
            bytes.resize(bytes.len() + 1, 0);
            Ok::<_, StoreError>(Change::Put)
        })
        .unwrap();
    });
    assert_eq!(store.size(&b).unwrap(), Some(rounds as u64));
    times(&mut || assert_eq!(keys_below(&**store, "").len(), 2));
    times(&mut || {
        assert_eq!(store.list_dir(&root).map(Result::unwrap).count(), 2);
    });
    times(&mut || drop(store.lock(&a).unwrap()));
    times(&mut || store.delete(&b).unwrap());
    times(&mut || store.delete_prefix(&root).unwrap());
    assert_eq!(store.read(&a).unwrap(), None);
}

#[test]
fn object_storage_blocks_in_any_task() {
    in_every_context(|| {
        let store: Arc<dyn Store> = Arc::new(RemoteStore::new(
            Arc::new(InMemory::new()),
            Path::from("base"),
            ConditionalPut::Supported,
            &StoreOptions::new(),
        ));
        every_operation(&store, 1000);
    });
}

#[test]
fn an_s3_server_blocks_in_any_task() {
    in_every_context(|| every_operation(&Server::start().open(), 150));
}

#[test]
fn an_http_server_blocks_in_any_task() {
    in_every_context(|| {
        let server = Server::start();
        server.open().put(&key("a"), b"0123").unwrap();
        let url = format!("{}/bucket/base", server.endpoint);
        let store = open_url(&url, &StoreOptions::new()).unwrap();
        let mut out = Vec::new();
        for _ in 0..300 {
            assert_eq!(store.read(&key("a")).unwrap().unwrap(), b"0123");
            assert_eq!(store.size(&key("a")).unwrap(), Some(4));
            store.get(&key("a"), ReadRange::Suffix(1), &mut out).unwrap().unwrap();
            store.put(&key("b"), b"x").unwrap();
            store.delete(&key("b")).unwrap();
        }
    });
}
