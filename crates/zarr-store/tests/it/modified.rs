//! When objects were modified, as every read says it.

use std::fs::File;
use std::path::Path;
use std::slice::from_ref;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use zarr_store::{GetInto, LocalStore, MemoryStore, ReadRange, Store, StoreExt as _};
use zarr_store_tests::key;

/// 2026-11-20T21:00:00Z.
const SECONDS: u64 = 1_795_208_400;

fn at(seconds: u64, nanos: u32) -> SystemTime {
    UNIX_EPOCH + Duration::new(seconds, nanos)
}

fn set_time(file: &Path, time: SystemTime) {
    File::options().write(true).open(file).unwrap().set_modified(time).unwrap();
}

/// What each kind of read says of an object of four bytes.
fn times(store: &dyn Store, name: &str) -> Vec<Option<SystemTime>> {
    let name = key(name);
    let (mut out, part) = (Vec::new(), 1..3);
    let ranges = [
        ReadRange::All,
        ReadRange::Suffix(1),
        ReadRange::Ranges(from_ref(&part)),
        ReadRange::Ranges(&[]),
    ];
    let mut found: Vec<_> =
        ranges.map(|range| store.get(&name, range, &mut out).unwrap().unwrap().modified).into();
    found.push(store.head(&name).unwrap().unwrap().modified);
    match store.get_into(&name, &mut [0; 4]).unwrap() {
        GetInto::Read(meta) => found.push(meta.modified),
        GetInto::Unsupported => {}
        GetInto::Missing => panic!("it is there"),
    }
    found
}

#[test]
fn a_local_file_was_modified_when_its_file_system_says() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    store.put(&key("a/b"), b"four").unwrap();
    // Also before 1970.
    for time in [at(SECONDS, 0), at(SECONDS, 500_000_000), UNIX_EPOCH - Duration::from_secs(5)] {
        set_time(&folder.path().join("a/b"), time);
        assert_eq!(times(&store, "a/b"), [Some(time); 6]);
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

#[cfg(feature = "zip")]
#[test]
fn an_entry_was_modified_when_its_archive_was() {
    use std::sync::Arc;

    use zarr_store::ZipStore;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let session = ZipStore::create(&path).unwrap().session().unwrap().unwrap();
    session.store().put(&key("a"), b"four").unwrap();
    assert_eq!(times(&**session.store(), "a"), [None; 5]);
    session.commit().unwrap();
    set_time(&path, at(SECONDS, 7));
    let local = Arc::new(LocalStore::open(folder.path()).unwrap());
    for store in [ZipStore::open(&path), ZipStore::within(local, key("x.zip"))] {
        assert_eq!(times(&store.unwrap(), "a"), [Some(at(SECONDS, 7)); 5]);
    }
}

#[cfg(feature = "references")]
#[test]
fn a_part_of_a_file_was_modified_when_the_file_was() {
    use zarr_store::{ReferenceStore, StoreOptions};

    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("x.bin");
    std::fs::write(&target, b"0123456789").unwrap();
    set_time(&target, at(SECONDS, 7));
    let refs = folder.path().join("refs.json");
    let json = r#"{"part": ["x.bin", 2, 4], "own": "four"}"#;
    std::fs::write(&refs, json).unwrap();
    let store = ReferenceStore::open(refs, &StoreOptions::new()).unwrap();
    assert_eq!(times(&store, "part"), [Some(at(SECONDS, 7)); 5]);
    assert_eq!(times(&store, "own"), [None; 5]);
}
