//! Blocking operations of remote stores on threads that are polling asynchronous tasks.

use zarr_array::Group;
use zarr_array::store::{Prefix, StoreExt as _};
use zarr_metadata::GroupMetadata;
use zarr_store_tests::executor::in_every_context;
use zarr_store_tests::key;
use zarr_store_tests::server::Server;

#[test]
fn many_children_are_found_in_any_task() {
    let server = Server::start();
    let store = server.open();
    let root = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new()).unwrap();
    for n in 0..200 {
        let prefix = Prefix::new(format!("g{n:03}")).unwrap();
        Group::create(store.clone(), &prefix, GroupMetadata::new()).unwrap();
    }
    store.put(&key("no-node/x"), b"").unwrap();
    let names: Vec<String> = (0..200).map(|n| format!("g{n:03}")).collect();
    in_every_context(move || assert_eq!(root.children().unwrap(), names));
}
