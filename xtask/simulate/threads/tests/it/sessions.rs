//! Sessions of a zip archive, of several threads.

use std::path::Path;

use shuttle::thread;
use zarr_store::{Key, Prefix, Store, StoreExt as _};

use crate::zipped::ZipStore;

fn put(path: &Path, names: [&'static str; 2]) {
    let zip = ZipStore::create(path).expect("opens");
    let session = zip.session().expect("sessions").expect("begins");
    let threads = names.map(|name| {
        let store = session.store().clone();
        let key = Key::new(name).expect("a key");
        thread::spawn(move || store.put(&key, name.as_bytes()).expect("puts"))
    });
    threads.into_iter().for_each(|thread| thread.join().expect("ends"));
    session.commit().expect("commits");
}

/// Two sessions of two threads each lose nothing, and a reader sees each whole or not at all.
#[test]
fn sessions_take_turns() {
    crate::in_orders(100, || {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.zip");
        let threads = [["a", "b"], ["c", "d"]].map(|names| {
            let path = path.clone();
            thread::spawn(move || put(&path, names))
        });
        let reader = {
            let path = path.clone();
            thread::spawn(move || {
                let zip = ZipStore::create(&path).expect("opens");
                let keys = zip.list(&Prefix::root(), zarr_store::Links::Follow).count();
                assert!(keys % 2 == 0, "a part of a session: {keys}");
            })
        };
        threads.into_iter().for_each(|thread| thread.join().expect("ends"));
        reader.join().expect("ends");
        let zip = ZipStore::open(&path).expect("opens");
        for name in ["a", "b", "c", "d"] {
            let found = zip.read(&Key::new(name).expect("a key")).expect("reads");
            assert_eq!(found.as_deref(), Some(name.as_bytes()));
        }
    });
}
