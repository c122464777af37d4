use std::fs;
use std::sync::Arc;

use zarr_array::store::{LocalStore, Prefix, Store};
use zarr_array::{Array, ArrayError, Selection, delete_node};
use zarr_copy::{CopyOptions, TransferError, copy_array};
use zarr_metadata::{ArrayMetadata, ChunkGrid};
use zarr_store_tests::prefix;
use zarr_store_tests::small_disk::SmallDisk;

/// Arrays of 40 incompressible chunks of 64 KiB.
fn large_array(store: LocalStore, name: &str, chunks: [u64; 2]) -> Array {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [40, 65536], "data_type": "uint8",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {chunks:?}}}}},
        "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0,
        "codecs": [{{"name": "bytes"}}, {{"name": "crc32c"}}]}}"#
    );
    let metadata = ArrayMetadata::from_json(document.as_bytes()).unwrap();
    Array::create(Arc::new(store), &prefix(name), metadata).unwrap()
}

/// A disk that fills up while arrays are written, appended to and copied.
#[test]
fn a_full_disk_stops_writes_and_copies_until_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_disk) = SmallDisk::mount(folder.path(), "size=8m") else { return };
    let store = LocalStore::open(folder.path()).unwrap();
    let whole = Selection::whole(&[40, 65536]);
    let pattern = |seed: usize| -> Vec<u8> {
        (0..40 * 65536_usize).map(|n| (n.wrapping_mul(n / 255 + seed) >> 3) as u8 | 1).collect()
    };
    let (first, second) = (pattern(1), pattern(2));
    let from = large_array(store.clone(), "from", [1, 65536]);
    from.write(&whole, &first).unwrap();
    // 2.5 of 8 MiB are used. Leave about one.
    let filler = folder.path().join("filler");
    fs::write(&filler, vec![1; 4_400_000]).unwrap();
    let full = |error: &ArrayError| {
        let text = error.to_string();
        assert!(text.contains("No space left on device"), "{text}");
    };

    let to = large_array(store.clone(), "to", [2, 32768]);
    let error = to.write(&whole, &second).unwrap_err();
    full(&error);
    let ArrayError::Incomplete { written, .. } = &error else { panic!("{error}") };
    assert!(written.count() > 0 && written.count() < 40, "{error}");
    let found = to.read(&whole).unwrap();
    let mut blank = second.clone();
    for chunk in written.missing() {
        for row in 2 * chunk[0]..2 * chunk[0] + 2 {
            let start = (row * 65536 + chunk[1] * 32768) as usize;
            blank[start..start + 32768].fill(0);
        }
    }
    assert!(found == blank, "the chunks that were written are not those that the error names");

    // The append is not visible, and the copy can be resumed.
    full(&from.append(0, 40, &second).unwrap_err());
    delete_node(&(Arc::new(store.clone()) as Arc<dyn Store>), &prefix("to")).unwrap();
    let options = CopyOptions::new().memory(2_000_000);
    let copy = |options: &CopyOptions| {
        let from = Array::open(Arc::new(store.clone()), &prefix("from")).unwrap();
        let grid = ChunkGrid::from_json(
            br#"{"name": "regular", "configuration": {"chunk_shape": [4, 16384]}}"#,
        );
        let metadata = from.metadata().with_shape_and_grid(from.shape(), &grid.unwrap()).unwrap();
        copy_array(&from, Arc::new(store.clone()), &prefix("copy"), metadata, options, &mut |_| {})
    };
    match copy(&options) {
        Err(TransferError::Target(error)) => full(&error),
        other => panic!("{other:?}"),
    }
    // Nothing that was there has changed, and all remains are reported.
    let from = Array::open(Arc::new(store.clone()), &prefix("from")).unwrap();
    assert!(from.shape() == [40, 65536] && from.read(&whole).unwrap() == first);
    // The lock of a marker stays as long as the marker.
    let mut left = store.leftovers(&Prefix::root()).map(|left| format!("{left:?}"));
    assert!(left.all(|left| left.contains("zarr-kit-lock.zarr-kit-copy.json")));

    // With room again, everything continues.
    fs::remove_file(&filler).unwrap();
    let (copied, _) = copy(&options.resume(true)).unwrap();
    assert!(copied.read(&whole).unwrap() == first);
    let half = &second[..20 * 65536];
    let longer = from.append(0, 20, half).unwrap();
    let expected = [&first[..], half].concat();
    assert!(longer.read(Selection::whole(&[60, 65536])).unwrap() == expected);
}
