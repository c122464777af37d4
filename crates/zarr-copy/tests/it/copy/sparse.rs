//! Copies of arrays that have far more chunks than objects: their time follows the objects, and they
//! hold what a direct write stores.

use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, MemoryStore, Prefix, Store};
use zarr_array::{Array, Part};
use zarr_copy::{CopyOptions, TransferError};
use zarr_metadata::ArrayMetadata;
use zarr_store_tests::{Objects, objects};

use super::{LITTLE, copy, regular};

/// 10^12 elements and a few more.
const SIDE: u64 = 1_000_003;

fn metadata(grid: &str, codecs: &str, fill: i16) -> ArrayMetadata {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [{SIDE}, {SIDE}],
        "data_type": "int16", "chunk_grid": {grid}, "chunk_key_encoding": {{"name": "default"}},
        "fill_value": {fill}, "codecs": {codecs}}}"#
    );
    ArrayMetadata::from_json(document.as_bytes()).expect("valid")
}

/// The array with some elements in three chunks of 100 x 100, of which the last is cut.
fn written(store: Arc<dyn Store>, metadata: ArrayMetadata) -> Array {
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    for (row, column) in [(0_u64, 99_u64), (500_050, 123_456), (SIDE - 3, SIDE - 1)] {
        let rows = row..(row + 40).min(SIDE);
        let columns = column..column + 1;
        let values: Vec<i16> =
            rows.clone().map(|row| i16::try_from(row % 9_999).unwrap()).collect();
        array.write_as((rows, columns), &values).expect("writes");
    }
    array
}

fn source() -> (Array, Arc<FaultStore<MemoryStore>>) {
    let store = Arc::new(FaultStore::new(MemoryStore::new()));
    (written(store.clone(), metadata(&regular([100, 100]), LITTLE, -1)), store)
}

fn targets() -> Vec<ArrayMetadata> {
    let runs = r#"{"name": "rectilinear", "configuration": {"kind": "inline",
        "chunk_shapes": [[[7, 142857], 4], 300]}}"#;
    let shards = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [5, 20],
        "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "crc32c"}]}}]"#;
    let moved = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "bytes", "configuration": {"endian": "big"}},
        {"name": "zstd", "configuration": {"level": 1, "checksum": false}}]"#;
    vec![
        metadata(&regular([64, 300]), LITTLE, -1),
        metadata(&regular([10, 10]), LITTLE, -1),
        metadata(&regular([1000, 1]), LITTLE, -1),
        metadata(runs, moved, -1),
        metadata(&regular([100, 100]), shards, -1),
    ]
}

/// What a direct write stores.
fn direct(metadata: &ArrayMetadata) -> Objects {
    let store = Arc::new(MemoryStore::new());
    written(store.clone(), metadata.clone());
    objects(&*store)
}

#[test]
fn three_chunks_of_a_hundred_million_are_copied_at_once() {
    let (from, counted) = source();
    for metadata in targets() {
        for memory in [1 << 20, 1 << 26] {
            let to = Arc::new(MemoryStore::new());
            let before = counted.operations();
            let options = CopyOptions::new().memory(memory).verify(true);
            let summary = copy(&from, to.clone(), metadata.clone(), &options).expect("copies");
            assert!(objects(&*to) == direct(&metadata), "{}", metadata.json());
            assert_eq!(summary.bytes, 2 * SIDE * SIDE);
            assert!((3..1000).contains(&summary.tasks), "{}", summary.tasks);
            let reads = counted.operations() - before;
            assert!(reads < 10_000, "{reads}");
        }
    }
}

#[test]
fn parts_and_resumed_copies_hold_the_same() {
    let (from, _) = source();
    // A task is one chunk: those that hold only the fill value cannot show that a task was done.
    let metadata = metadata(&regular([800, 800]), LITTLE, -1);
    let expected = direct(&metadata);
    let to = Arc::new(MemoryStore::new());
    for number in [3, 1, 2] {
        let options = CopyOptions::new().part(Part::new(number, 3).expect("valid"));
        copy(&from, to.clone(), metadata.clone(), &options).expect("copies");
    }
    assert!(objects(&*to) == expected);

    let options = CopyOptions::new().memory(1 << 24);
    let counted = Arc::new(FaultStore::new(MemoryStore::new()));
    copy(&from, counted.clone(), metadata.clone(), &options).expect("copies");
    let mut skipped = 0;
    for step in 0..counted.operations() {
        let inner = Arc::new(MemoryStore::new());
        let dying = FaultStore::new(inner.clone()).at(step, Fault::DieAfter);
        copy(&from, Arc::new(dying), metadata.clone(), &options).expect_err("dies");
        match copy(&from, inner.clone(), metadata.clone(), &options.clone().resume(true)) {
            Ok(summary) => skipped += summary.skipped,
            Err(TransferError::NotInterrupted { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        assert!(objects(&*inner) == expected, "{step}");
    }
    assert!(skipped > 0);
}

/// With another fill value every chunk of the target has something to store.
#[test]
fn another_fill_value_is_written_everywhere() {
    let document = |edge: u64, fill: u8| {
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [5000], "data_type": "uint8",
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [{edge}]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "fill_value": {fill},
            "codecs": [{{"name": "bytes"}}]}}"#
        );
        ArrayMetadata::from_json(document.as_bytes()).expect("valid")
    };
    let from = Arc::new(MemoryStore::new());
    let from = Array::create(from, &Prefix::root(), document(2, 7)).expect("creates");
    from.write(2001..2003, &[1, 2]).expect("writes");
    let mut expected = vec![7; 5000];
    expected[2001..2003].copy_from_slice(&[1, 2]);
    for fill in [0, 7] {
        let to = Arc::new(MemoryStore::new());
        copy(&from, to.clone(), document(50, fill), &CopyOptions::new()).expect("copies");
        let chunks = objects(&*to).keys().filter(|key| key.starts_with("c/")).count();
        assert_eq!(chunks, if fill == 7 { 1 } else { 100 });
        let copied = Array::open(to, &Prefix::root()).expect("opens");
        assert_eq!(copied.read(0..5000).expect("reads"), expected, "{fill}");
    }
}

#[test]
fn strings_are_found_as_numbers_are() {
    let document = |edge: u64| {
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [1000000000000],
            "data_type": "string", "chunk_grid": {{"name": "regular",
            "configuration": {{"chunk_shape": [{edge}]}}}}, "chunk_key_encoding":
            {{"name": "default"}}, "fill_value": "?", "codecs": [{{"name": "vlen-utf8"}}]}}"#
        );
        ArrayMetadata::from_json(document.as_bytes()).expect("valid")
    };
    let write = |edge: u64| {
        let store = Arc::new(MemoryStore::new());
        let array = Array::create(store.clone(), &Prefix::root(), document(edge)).expect("ok");
        for at in [5_u64, 123_456_789, 999_999_999_998] {
            array.write_as(at..at + 2, &["Nome", "Juneau"]).expect("writes");
        }
        (array, objects(&*store))
    };
    let (from, _) = write(100);
    for edge in [7, 1000] {
        let to = Arc::new(MemoryStore::new());
        let done = copy(&from, to.clone(), document(edge), &CopyOptions::new()).expect("copies");
        assert!(objects(&*to) == write(edge).1);
        assert!(done.tasks < 100);
    }
}

/// Chunks behind a second link are read, but not listed: then nothing can be left out.
#[cfg(unix)]
#[test]
fn chunks_that_are_not_listed_are_copied() {
    use std::os::unix::fs::symlink;
    use zarr_array::store::LocalStore;

    let document = |edge: u64| {
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [64, 64, 1],
            "data_type": "uint8", "chunk_grid": {{"name": "regular",
            "configuration": {{"chunk_shape": [{edge}, {edge}, 1]}}}},
            "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0,
            "codecs": [{{"name": "bytes"}}]}}"#
        );
        ArrayMetadata::from_json(document.as_bytes()).expect("valid")
    };
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let store = Arc::new(LocalStore::open(root).expect("a store"));
    let prefix = Prefix::new("a").expect("a prefix");
    let from = Array::create(store, &prefix, document(1)).expect("creates");
    from.write((5..6, 7..8, 0..1), &[9]).expect("writes");
    std::fs::create_dir_all(root.join("elsewhere/rows")).expect("makes");
    std::fs::rename(root.join("a/c/5/7"), root.join("elsewhere/seven")).expect("moves");
    std::fs::remove_dir(root.join("a/c/5")).expect("is empty");
    symlink("../../elsewhere/rows", root.join("a/c/5")).expect("links");
    symlink("../seven", root.join("elsewhere/rows/7")).expect("links");
    assert_eq!(from.read((5..6, 7..8, 0..1)).expect("reads"), [9]);
    let to = Arc::new(MemoryStore::new());
    copy(&from, to.clone(), document(8), &CopyOptions::new()).expect("copies");
    let copied = Array::open(to, &Prefix::root()).expect("opens");
    assert_eq!(copied.read((5..6, 7..8, 0..1)).expect("reads"), [9]);
    // As where the disk of some chunks is not mounted: they are not missing.
    std::fs::rename(root.join("elsewhere"), root.join("unmounted")).expect("moves");
    let to = Arc::new(MemoryStore::new());
    let refused = copy(&from, to, document(8), &CopyOptions::new()).expect_err("a link");
    assert!(refused.to_string().contains("leads to nothing that is there"), "{refused}");
}
