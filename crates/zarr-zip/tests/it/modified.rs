//! When the entries of archives were modified.

use std::sync::Arc;

use zarr_store::{LocalStore, Store as _, StoreExt as _};
use zarr_store_tests::key;
use zarr_store_tests::modified::{SECONDS, at, set_time, times};
use zarr_zip::ZipStore;

#[test]
fn an_entry_was_modified_when_its_archive_was() {
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
