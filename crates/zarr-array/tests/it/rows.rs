//! Chunks that are encoded as they lie in memory go from the caller's rows to the store, and from
//! the store to their place, without a copy, and have the same bytes as with one.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_array::store::{
    Capabilities, GetInto, Key, MemoryStore, Prefix, PutMode, PutOutcome, Store, StoreError,
    StoreExt as _,
};
use zarr_array::{Array, Selection};
use zarr_metadata::ArrayMetadata;
use zarr_store_tests::hand_on;

/// Counts the objects that arrive in several pieces, and those that are read right to their place;
/// does neither if told so.
#[derive(Debug)]
struct Batches {
    inner: MemoryStore,
    takes: bool,
    written: AtomicU64,
    read: AtomicU64,
}

impl Store for Batches {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new().vectored_put(self.takes)
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        if pieces.len() > 1 {
            self.written.fetch_add(1, Ordering::Relaxed);
        }
        self.inner.put_opts(key, pieces, mode)
    }

    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        if !self.takes {
            return Ok(GetInto::Unsupported);
        }
        let found = self.inner.get_into(key, out)?;
        self.read.fetch_add(u64::from(matches!(found, GetInto::Read(_))), Ordering::Relaxed);
        Ok(found)
    }

    hand_on!(inner: get delete list list_dir lock);
}

/// The same array in a store that accepts pieces and in one that does not.
fn both(shape: &[u64], edges: &str, data_type: &str, codecs: &str) -> [(Arc<Batches>, Array); 2] {
    let fill = if data_type == "bool" { "true" } else { "7" };
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape:?}, "fill_value": {fill},
        "data_type": "{data_type}", "codecs": [{codecs}],
        "chunk_grid": {{"name": "rectilinear",
          "configuration": {{"kind": "inline", "chunk_shapes": {edges}}}}},
        "chunk_key_encoding": {{"name": "default"}}}}"#
    );
    [true, false].map(|takes| {
        let (inner, written, read) = Default::default();
        let store = Arc::new(Batches { inner, takes, written, read });
        let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
        let shared = Arc::clone(&store) as Arc<dyn Store>;
        let array = Array::create(shared, &Prefix::root(), metadata).expect("creates");
        (store, array)
    })
}

const LITTLE: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
const BIG: &str = r#"{"name": "bytes", "configuration": {"endian": "big"}}"#;

fn after(codecs: &str) -> String {
    format!("{codecs}, {LITTLE}")
}

#[test]
fn rows_hold_what_copies_hold() {
    let turned = |order: &str| {
        after(&format!(r#"{{"name": "transpose", "configuration": {{"order": {order}}}}}"#))
    };
    let split = after(r#"{"name": "reshape", "configuration": {"shape": [[0], [1], 2, 320]}}"#);
    let packed = r#"{"name": "packbits"}"#.to_owned();
    let summed = format!(r#"{LITTLE}, {{"name": "crc32c"}}"#);
    // Chunks of 2 x 3 x 640 and 2 x 2 x 640 elements, one past the end; the number written in
    // pieces.
    let edges = "[[2, 2], [3, 2], [640]]";
    let cases: &[(&str, String, u64)] = &[
        ("uint16", LITTLE.to_owned(), 2),
        ("uint8", r#"{"name": "bytes"}"#.to_owned(), 2),
        ("uint16", turned("[1, 0, 2]"), 2),
        ("uint16", turned("[0, 2, 1]"), 0),
        ("float64", split, 2),
        ("uint16", BIG.to_owned(), 0),
        ("bool", LITTLE.to_owned(), 0),
        ("int4", LITTLE.to_owned(), 0),
        ("uint16", packed, 0),
        ("uint16", summed, 0),
    ];
    for (data_type, codecs, pieces) in cases {
        // The last row of chunks extends past the array's end and is changed, not replaced.
        let shape = [3, 5, 640];
        let [rows, copies] = both(&shape, edges, data_type, codecs);
        let size = rows.1.element_size();
        let bytes: Vec<u8> = match *data_type {
            "bool" | "int4" => (0..9600).map(|n: u32| u8::from(n.is_multiple_of(3))).collect(),
            _ => (0..9600 * size).map(|n| (n % 251) as u8).collect(),
        };
        let whole = Selection::whole(&shape);
        for (_, array) in [&rows, &copies] {
            array.write(&whole, &bytes).expect("writes");
        }
        let written = [&rows, &copies].map(|(store, _)| store.written.load(Ordering::Relaxed));
        assert_eq!(written, [*pieces, 0], "{data_type} {codecs}");
        for chunk in [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]] {
            let stored = [&rows, &copies].map(|(store, array)| {
                store.read(&array.layout().key(&chunk).expect("a key")).expect("gets")
            });
            assert_eq!(stored[0], stored[1], "{data_type} {codecs} {chunk:?}");
            assert!(stored[0].is_some());
        }
        assert_eq!(rows.1.read(&whole).expect("reads"), bytes, "{data_type} {codecs}");
        for text in ["::-1, ::-1", "..., ::-1", "1:, 2:, 5:600", "::2", "0:2, 0:3"] {
            let region = Selection::parse(text, &shape).expect("a region");
            let found = [&rows, &copies].map(|(_, array)| array.read(&region).expect("reads"));
            assert_eq!(found[0], found[1], "{data_type} {codecs} {text}");
            // Backwards, and backwards again.
            for (_, array) in [&rows, &copies] {
                array.write(&region, &found[0]).expect("writes");
                assert_eq!(array.read(&whole).expect("reads"), bytes, "{text}");
            }
        }
    }
}

#[test]
fn rows_of_the_fill_value_are_not_stored_and_read_back() {
    let [(store, array), _] = both(&[2, 600], "[[1, 1], [600]]", "uint8", LITTLE);
    let whole = Selection::whole(&[2, 600]);
    let mut bytes = vec![7; 1200];
    bytes[1199] = 8;
    array.write(&whole, &bytes).expect("writes");
    let key = |row| array.layout().key(&[row, 0]).expect("a key");
    assert_eq!(store.read(&key(0)).expect("gets"), None);
    assert!(store.read(&key(1)).expect("gets").is_some());
    let mut found = vec![0; 1200];
    array.read_into(&whole, &mut found).expect("reads");
    assert_eq!(found, bytes);
    // The old content is removed.
    array.write(&whole, &[7; 1200]).expect("writes");
    assert_eq!(store.read(&key(1)).expect("gets"), None);
    assert_eq!(array.read(&whole).expect("reads"), [7; 1200]);
}

#[test]
fn chunks_are_read_to_their_place_where_they_lie_there_as_they_are_stored() {
    let transposed = after(r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#);
    let no_move = after(r#"{"name": "transpose", "configuration": {"order": [0, 1]}}"#);
    let split = after(r#"{"name": "reshape", "configuration": {"shape": [[0], 5, 8]}}"#);
    let summed = format!(r#"{LITTLE}, {{"name": "crc32c"}}"#);
    // Rows of three chunks, whole ones but for the last, which the array cuts; one is not stored.
    for (data_type, codecs, direct) in [
        ("uint16", LITTLE, true),
        ("uint8", r#"{"name": "bytes"}"#, true),
        ("float32", &no_move, true),
        ("uint16", &split, true),
        ("uint16", BIG, false),
        ("uint8", BIG, true),
        ("uint16", &transposed, false),
        ("uint16", &summed, false),
        ("uint16", r#"{"name": "packbits"}"#, false),
        ("bool", LITTLE, false),
        ("int4", LITTLE, false),
    ] {
        let shape = [9, 40];
        let [places, copies] = both(&shape, "[[2, 3, 2, 4], [40]]", data_type, codecs);
        let size = places.1.element_size();
        let narrow = ["bool", "int4"].contains(&data_type);
        let bytes: Vec<u8> =
            (0..360 * size).map(|n| if narrow { n % 2 } else { n % 251 } as u8).collect();
        let row = 40 * size;
        for (store, array) in [&places, &copies] {
            array.write(Selection::whole(&shape), &bytes).expect("writes");
            array.store().delete(&array.layout().key(&[1, 0]).expect("a key")).expect("deletes");
            assert_eq!(store.read.load(Ordering::Relaxed), 0);
        }
        // All, two chunks, one, parts of some, every second row; and how many chunks lie whole in
        // the selection, and are adjacent there.
        let regions =
            [("0:9", 2), ("0:5", 1), ("5:7", 1), ("1:6", 0), ("::2", 0), ("0:2, 0:39", 0)];
        for (text, whole) in regions {
            let region = Selection::parse(text, &shape).expect("a region");
            let expected = copies.1.read(&region).expect("reads");
            places.0.read.store(0, Ordering::Relaxed);
            // What is in the caller's memory does not matter.
            let mut out = vec![0xa5; expected.len()];
            places.1.read_into(&region, &mut out).expect("reads");
            assert_eq!(out, expected, "{data_type} {codecs} {text}");
            let read = places.0.read.load(Ordering::Relaxed);
            assert_eq!(read, if direct { whole } else { 0 }, "{data_type} {codecs} {text}");
        }
        let first = places.1.read(Selection::parse("0:2", &shape).expect("a region"));
        assert_eq!(first.expect("reads"), bytes[..2 * row], "{data_type} {codecs}");
        assert_eq!(copies.0.read.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn a_chunk_of_another_length_is_an_error_either_way() {
    for length in [0, 1, 79, 81, 160] {
        let errors = both(&[4, 40], "[[2, 2], [40]]", "uint8", LITTLE).map(|(store, array)| {
            let key = array.layout().key(&[0, 0]).expect("a key");
            store.put(&key, &vec![1; length]).expect("puts");
            let error = array.read(Selection::whole(&[4, 40])).expect_err("another length");
            // A read of the other chunk, which is missing, is none.
            let rest = Selection::parse("2:", &[4, 40]).expect("a region");
            assert_eq!(array.read(rest).expect("reads"), [7; 80]);
            error.to_string()
        });
        assert_eq!(errors[0], errors[1]);
        let stated = [format!("{length} byte"), "80".to_owned()];
        assert!(stated.iter().all(|part| errors[0].contains(part)), "{}", errors[0]);
    }
}
