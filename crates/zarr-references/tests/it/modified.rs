//! When the parts of files were modified.

use zarr_references::ReferenceStore;
use zarr_store::StoreOptions;
use zarr_store_tests::modified::{SECONDS, at, set_time, times};

#[test]
fn a_part_of_a_file_was_modified_when_the_file_was() {
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
