//! When objects were modified, as every read says it.

use std::time::{Duration, UNIX_EPOCH};

use zarr_store::{LocalStore, MemoryStore, Store, StoreExt as _};
use zarr_store_tests::key;
use zarr_store_tests::modified::{SECONDS, at, set_time, times};

#[test]
fn a_local_file_was_modified_when_its_file_system_says() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    store.put(&key("a/b"), b"four").unwrap();
    let mut versions = Vec::new();
    // Also before 1970.
    for time in [at(SECONDS, 0), at(SECONDS, 500_000_000), UNIX_EPOCH - Duration::from_secs(5)] {
        set_time(&folder.path().join("a/b"), time);
        assert_eq!(times(&store, "a/b"), [Some(time); 6]);
        // A file that others write in place keeps its inode: its time alone tells the versions apart.
        let version = store.head(&key("a/b")).unwrap().unwrap().version.unwrap();
        assert!(!versions.contains(&version), "{time:?}");
        versions.push(version);
    }
}

#[test]
fn memory_does_not_know() {
    let store = MemoryStore::new();
    store.put(&key("a"), b"four").unwrap();
    assert_eq!(times(&store, "a"), [None; 6]);
}

/// Times do not tell versions apart.
#[test]
fn equal_versions_are_equal_whatever_their_times() {
    let store = MemoryStore::new();
    store.put(&key("a"), b"four").unwrap();
    let one = store.head(&key("a")).unwrap().unwrap();
    let mut other = one.clone();
    other.modified = Some(at(SECONDS, 0));
    assert_eq!(one, other);
    other.size += 1;
    assert_ne!(one, other);
}

#[cfg(feature = "aws")]
#[test]
fn an_object_was_modified_when_its_server_says_if_it_does() {
    use zarr_store::ReadRange;
    use zarr_store_tests::executor::block_on;
    use zarr_store_tests::server::Server;

    let server = Server::start();
    let store = server.open();
    store.put(&key("a"), b"four").unwrap();
    for (said, time) in [
        ("Fri, 20 Nov 2026 21:00:00 GMT", Some(at(SECONDS, 0))),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(at(784_111_777, 0))),
        ("Thu, 01 Jan 1970 00:00:00 GMT", None),
        ("Wed, 31 Dec 1969 23:59:59 GMT", None),
        ("", None),
    ] {
        server.modified("base/a", said);
        assert_eq!(times(&*store, "a"), [time; 5], "{said}");
        let read = store.asynchronous().unwrap().get(&key("a"), ReadRange::All, Vec::new());
        assert_eq!(block_on(read).unwrap().unwrap().meta.modified, time, "{said}");
    }
}
