//! Chunks that are encoded as they lie in memory go from the caller's rows to the store without a
//! copy, and have the same bytes as with one.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_array::store::{
    Capabilities, Key, MemoryStore, Prefix, PutMode, PutOutcome, Store, StoreError, StoreExt as _,
};
use zarr_array::{Array, Selection};
use zarr_metadata::ArrayMetadata;

use crate::wrapper::hand_on;

/// Counts the objects that arrive in several pieces, and accepts none if told so.
#[derive(Debug)]
struct Pieces {
    inner: MemoryStore,
    takes: bool,
    written: AtomicU64,
}

impl Store for Pieces {
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

    hand_on!(inner: get delete list list_dir lock finish);
}

/// The same array in a store that accepts pieces and in one that does not.
fn both(shape: &[u64], edges: &str, data_type: &str, codecs: &str) -> [(Arc<Pieces>, Array); 2] {
    let fill = if data_type == "bool" { "true" } else { "7" };
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape:?}, "fill_value": {fill},
        "data_type": "{data_type}", "codecs": [{codecs}],
        "chunk_grid": {{"name": "rectilinear",
          "configuration": {{"kind": "inline", "chunk_shapes": {edges}}}}},
        "chunk_key_encoding": {{"name": "default"}}}}"#
    );
    [true, false].map(|takes| {
        let (inner, written) = (MemoryStore::new(), AtomicU64::new(0));
        let store = Arc::new(Pieces { inner, takes, written });
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
                store.read(&array.chunk_key(&chunk).expect("a key")).expect("gets")
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
    let key = |row| array.chunk_key(&[row, 0]).expect("a key");
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
