//! Chunks that cannot be read or written: the errors, and that other chunks stay whole.

use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use zarr_array::store::{
    Fault, FaultStore, Key, LocalStore, MemoryStore, Prefix, Store, StoreExt as _,
};
use zarr_array::{Array, ArrayError, Selection};
use zarr_metadata::ArrayMetadata;

use crate::errors::reported;

const SHAPE: [u64; 2] = [6, 6];

fn metadata() -> ArrayMetadata {
    let document = br#"{"zarr_format": 3, "node_type": "array", "shape": [6, 6],
        "data_type": "uint8", "chunk_grid": {"name": "regular",
        "configuration": {"chunk_shape": [2, 3]}}, "chunk_key_encoding": {"name": "default"},
        "fill_value": 0, "codecs": [{"name": "bytes"}, {"name": "crc32c"}]}"#;
    ArrayMetadata::from_json(document).expect("valid")
}

fn elements(seed: u8) -> Vec<u8> {
    (0..36).map(|n| n + seed).collect()
}

fn written() -> MemoryStore {
    let store = MemoryStore::new();
    let array = Array::create(Arc::new(store.clone()), &Prefix::root(), metadata());
    array.and_then(|array| array.write(Selection::whole(&SHAPE), &elements(1))).expect("writes");
    store
}

fn key(name: &str) -> Key {
    Key::new(name).expect("a key")
}

fn open(store: impl Store + 'static) -> Array {
    Array::open(Arc::new(store), &Prefix::root()).expect("opens")
}

/// The first failure that the error reports, and the chunks that it lists as written.
fn incomplete(error: ArrayError) -> (String, Vec<Vec<u64>>, Vec<Vec<u64>>) {
    let text = error.to_string();
    assert_eq!(reported(&error), text);
    let ArrayError::Incomplete { written, .. } = error else { panic!("{text}") };
    let count = usize::try_from(written.count()).expect("few");
    assert_eq!(written.chunks().count(), count);
    assert_eq!(written.missing().count(), usize::try_from(written.total()).expect("few") - count);
    (text, written.chunks().collect(), written.missing().collect())
}

/// Rows and columns of a chunk.
fn region_of(chunk: &[u64]) -> Selection {
    let (row, column) = (2 * chunk[0], 3 * chunk[1]);
    Selection::from([row..row + 2, column..column + 3])
}

#[test]
fn a_write_that_fails_tells_which_chunks_were_written() {
    for threads in 1..=4 {
        let inner = written();
        let full = Fault::Fail(ErrorKind::StorageFull);
        let array = open(FaultStore::new(inner.clone()).on(key("c/1/1"), full))
            .with_threads(NonZeroUsize::new(threads).expect("some"));
        let error = array.write(Selection::whole(&SHAPE), &elements(100)).expect_err("fails");
        let (text, done, missing) = incomplete(error);
        if threads == 1 {
            insta::assert_snapshot!(
                text,
                @r#"cannot lock "c/1/1": failed at operation 7 on purpose; 3 of 6 chunks were written"#
            );
            assert_eq!(done, [[0, 0], [0, 1], [1, 0]]);
        }
        assert!(missing.contains(&vec![1, 1]));
        // Each is as the error says.
        let (now, old) = (open(inner.clone()), open(written()));
        let new = MemoryStore::new();
        let whole = Array::create(Arc::new(new.clone()), &Prefix::root(), metadata());
        whole.and_then(|new| new.write(Selection::whole(&SHAPE), &elements(100))).expect("writes");
        let new = open(new);
        for (chunks, expected) in [(&done, &new), (&missing, &old)] {
            for chunk in chunks {
                let region = region_of(chunk);
                assert_eq!(
                    now.read(&region).expect("reads"),
                    expected.read(&region).expect("reads")
                );
            }
        }
        now.write(Selection::whole(&SHAPE), &elements(100)).expect("completes");
        assert_eq!(now.read(Selection::whole(&SHAPE)).expect("reads"), elements(100));
    }
}

/// With steps and backwards, chunks are reported by their own numbers.
#[test]
fn chunks_between_steps_are_not_counted() {
    let full = Fault::Fail(ErrorKind::StorageFull);
    let array =
        open(FaultStore::new(written()).on(key("c/2/0"), full)).with_threads(NonZeroUsize::MIN);
    let region = Selection::parse("::-4, :2", array.shape()).expect("a region");
    let (text, done, missing) = incomplete(array.write(&region, &[9; 4]).expect_err("fails"));
    assert!(text.ends_with("0 of 2 chunks were written") || done == [[0, 0]], "{text}");
    assert_eq!([done, missing].concat().len(), 2);
    // For a single chunk the list is not needed.
    let one = array.write([4..6, 0..1], &[9; 2]).expect_err("fails");
    assert!(matches!(one, ArrayError::Store(_)), "{one}");
}

/// Changes the chunk 1,0 and opens the array.
type Damage = Box<dyn Fn(&MemoryStore) -> Array>;

#[test]
fn damage_is_told_of_its_chunk_and_of_no_other() {
    let damages: [(&str, Damage); 5] = [
        (
            "flipped",
            Box::new(|store| {
                let mut bytes = store.read(&key("c/1/0")).expect("reads").expect("is there");
                bytes[2] ^= 4;
                store.put(&key("c/1/0"), &bytes).expect("puts");
                open(store.clone())
            }),
        ),
        (
            "short",
            Box::new(|store| {
                store.put(&key("c/1/0"), &[1, 2, 3]).expect("puts");
                open(store.clone())
            }),
        ),
        (
            "long",
            Box::new(|store| {
                store.put(&key("c/1/0"), &[7; 4000]).expect("puts");
                open(store.clone())
            }),
        ),
        (
            "truncates",
            Box::new(|store| {
                open(FaultStore::new(store.clone()).on(key("c/1/0"), Fault::Truncate(5)))
            }),
        ),
        (
            "fails",
            Box::new(|store| {
                let denied = Fault::Fail(ErrorKind::PermissionDenied);
                open(FaultStore::new(store.clone()).on(key("c/1/0"), denied))
            }),
        ),
    ];
    for (name, damage) in damages {
        let store = written();
        let array = damage(&store);
        let before = store.read(&key("c/1/0")).expect("reads");
        let error = array.read(Selection::whole(&SHAPE)).expect_err(name).to_string();
        assert!(error.contains("c/1/0"), "{name}: {error}");
        // A partial write needs elements that cannot be read, so it overwrites nothing.
        let error = array.write([2..3, 1..2], &[0]).expect_err(name).to_string();
        assert!(error.contains("c/1/0"), "{name}: {error}");
        assert_eq!(store.read(&key("c/1/0")).expect("reads"), before, "{name}");
        for (row, column) in [(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)] {
            let region = region_of(&[row, column]);
            let sound = open(written()).read(&region).expect("reads");
            assert_eq!(array.read(&region).expect("reads"), sound, "{name}");
        }
        // Writing the whole chunk needs nothing of its old content, if writing works.
        if !["truncates", "fails"].contains(&name) {
            array.write(region_of(&[1, 0]), &[3; 6]).expect("writes");
            assert_eq!(array.read(region_of(&[1, 0])).expect("reads"), [3; 6]);
        }
    }
}

/// In a chunk that the array's end cuts, the part past it is kept, unless the chunk cannot be
/// read: then writing all that the array has of it repairs it like any other.
#[test]
fn a_damaged_chunk_at_the_end_is_mended_by_writing_it() {
    let document = br#"{"zarr_format": 3, "node_type": "array", "shape": [5],
        "data_type": "uint8", "chunk_grid": {"name": "regular",
        "configuration": {"chunk_shape": [4]}}, "chunk_key_encoding": {"name": "default"},
        "fill_value": 0, "codecs": [{"name": "bytes"}, {"name": "crc32c"}]}"#;
    let metadata = ArrayMetadata::from_json(document).expect("valid");
    let store = MemoryStore::new();
    let array = Array::create(Arc::new(store.clone()), &Prefix::root(), metadata).expect("creates");
    array.write(0..5, &[1; 5]).expect("writes");
    let sound = store.read(&key("c/1")).expect("reads").expect("is there");
    for damaged in [&sound[..5], &[&[9], &sound[1..]].concat(), &[]] {
        store.put(&key("c/1"), damaged).expect("puts");
        array.read(0..5).expect_err("is damaged");
        array.write(0..5, &[1; 5]).expect("writes");
        assert_eq!(store.read(&key("c/1")).expect("reads").as_ref(), Some(&sound));
    }
    // A store that cannot be read is a different case.
    let denied = Fault::Fail(ErrorKind::PermissionDenied);
    let denied = open(FaultStore::new(store).on(key("c/1"), denied));
    denied.write(4..5, &[2]).expect_err("cannot tell what is past the end");
}

/// A store that is slow, and loses a file between listing and reading it.
#[test]
fn slowness_and_vanished_files_are_no_errors() {
    let slow = Fault::Delay(Duration::from_millis(20));
    let array = open(FaultStore::new(written()).on(key("c/0/1"), slow));
    assert_eq!(array.read(Selection::whole(&SHAPE)).expect("reads"), elements(1));
    array.write(Selection::whole(&SHAPE), &elements(7)).expect("writes");
    assert_eq!(array.read(Selection::whole(&SHAPE)).expect("reads"), elements(7));

    let folder = tempfile::tempdir().expect("makes a folder");
    let store = LocalStore::open(folder.path()).expect("opens");
    let array = Array::create(Arc::new(store), &Prefix::root(), metadata()).expect("creates");
    array.write(Selection::whole(&SHAPE), &elements(1)).expect("writes");
    std::fs::remove_file(folder.path().join("c/0/0")).expect("removes");
    std::fs::remove_dir_all(folder.path().join("c/2")).expect("removes");
    let mut expected = elements(1);
    for (at, element) in expected.iter_mut().enumerate() {
        if at / 6 < 2 && at % 6 < 3 || at / 6 >= 4 {
            *element = 0;
        }
    }
    assert_eq!(array.read(Selection::whole(&SHAPE)).expect("reads"), expected);
    array.write([5..6, 0..6], &[8; 6]).expect("writes");
}
