//! Reads through a store's asynchronous face, against reads that block.

use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, Key, MemoryStore, Prefix};
use zarr_array::{Array, Region};
use zarr_metadata::ArrayMetadata;

fn metadata(codecs: &str) -> ArrayMetadata {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [60, 70], "data_type": "uint16",
        "chunk_grid": {{"name": "rectilinear", "configuration": {{"kind": "inline",
          "chunk_shapes": [[20, [8, 5]], [[14, 5]]]}}}},
        "chunk_key_encoding": {{"name": "default"}}, "fill_value": 9, "codecs": {codecs}}}"#
    );
    ArrayMetadata::from_json(document.as_bytes()).expect("valid")
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().expect("starts").block_on(future)
}

const BYTES: &str = r#"{"name": "bytes", "configuration": {"endian": "big"}}"#;

#[test]
fn every_way_of_reading_gives_the_same() {
    let chains = [
        format!("[{BYTES}]"),
        format!(r#"[{BYTES}, {{"name": "gzip", "configuration": {{"level": 1}}}}]"#),
        r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "packbits"}]"#
            .to_owned(),
        format!(
            r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [4, 7],
            "codecs": [{BYTES}], "index_codecs": [{{"name": "bytes",
            "configuration": {{"endian": "little"}}}}]}}}}]"#
        ),
    ];
    for codecs in chains {
        let store = Arc::new(MemoryStore::new());
        let array =
            Array::create(store.clone(), &Prefix::root(), metadata(&codecs)).expect("creates");
        // The last rows of chunks are not stored.
        let elements: Vec<u16> = (0..48 * 70).map(|n| n * 7 + 1).collect();
        array.write_as(&Region::from([0..48, 0..70]), &elements).expect("writes");
        for text in ["", "3:50:3, ::-2", "19:21, 13:29", "59, 69", "5:5, :"] {
            let region = Region::parse(text, array.shape()).expect("parses");
            let wanted = array.read(&region).expect("reads");
            for in_flight in [1, 2, 16] {
                let in_flight = NonZeroUsize::new(in_flight).expect("not zero");
                // Opened anew, so that indices are read, and then known.
                let fresh = Array::open(store.clone(), &Prefix::root()).expect("opens");
                let fresh = fresh.with_chunks_in_flight(in_flight);
                for _ in 0..2 {
                    let found = block_on(fresh.read_async(&region));
                    assert_eq!(found.expect("reads"), wanted, "{codecs} {text} {in_flight}");
                }
            }
        }
    }
}

#[test]
fn an_error_names_its_chunk() {
    let memory = MemoryStore::new();
    let lost = Fault::Fail(std::io::ErrorKind::ConnectionReset);
    let store = FaultStore::new(memory).on(Key::new("c/1/2").expect("a key"), lost);
    let store = Arc::new(store);
    let codecs = format!("[{BYTES}]");
    let array = Array::create(store, &Prefix::root(), metadata(&codecs)).expect("creates");
    let whole = Region::whole(array.shape());
    let error = block_on(array.read_async(&whole)).unwrap_err().to_string();
    assert!(error.contains("c/1/2"), "{error}");
}
