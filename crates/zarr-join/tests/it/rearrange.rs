//! Chunks that are removed, moved and inserted along an axis: compared with vectors in memory,
//! refused, and ended at every operation.

mod cuts;
mod ends;
mod groups;
mod moved_units;
mod oracle;
mod overtaken;
mod refilled;
mod refused;

use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_array::store::{Prefix, Store};
use zarr_array::{Array, Selection};
use zarr_check::{CheckOptions, check};
use zarr_metadata::ArrayMetadata;
use zarr_store_tests::Objects;

/// The whole array, one row of bytes per index of the axis.
fn rows(array: &Array, axis: usize) -> Vec<Vec<u8>> {
    let all: Vec<_> = array.shape().iter().map(|length| 0..*length).collect();
    (0..array.shape()[axis])
        .map(|index| {
            let mut region = all.clone();
            region[axis] = index..index + 1;
            array.read(region.as_slice()).expect("reads")
        })
        .collect()
}

/// An array with the values 1, 2, ... in all chunks but those whose numbers add up to 2,
/// 6, and so on, which are absent.
fn filled(store: Arc<dyn Store>, prefix: &Prefix, document: &str, first: u8) -> Array {
    let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    let array = Array::create(store, prefix, metadata).expect("creates");
    let array = array.with_threads(NonZeroUsize::MIN);
    let mut value = first;
    let layout = array.layout().clone();
    for part in 0..array.grid().occupied_chunks().expect("few") {
        let mut rest = part;
        let mut chunk = vec![0; array.shape().len()];
        for (number, count) in chunk.iter_mut().zip(array.grid().occupied()).rev() {
            *number = rest % count;
            rest /= count;
        }
        if chunk.iter().sum::<u64>() % 4 == 2 {
            continue; // absent
        }
        let region = layout.chunk_region(&chunk).expect("declared");
        let region = Selection::from(region.as_slice());
        let count = region.elements().expect("few");
        let elements: Vec<u8> = (0..count)
            .map(|_| {
                value = value.checked_add(1).unwrap_or(1);
                value
            })
            .collect();
        array.write(&region, &elements).expect("writes");
    }
    array
}

fn document(shape: &[u64], grid: &str, keys: &str, codecs: &str) -> String {
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape:?}, "data_type": "uint8",
        "chunk_grid": {grid}, "chunk_key_encoding": {keys}, "fill_value": 0, "codecs": {codecs},
        "attributes": {{"kept": 1.50}}}}"#
    )
}

fn regular(edges: &[u64]) -> String {
    format!(r#"{{"name": "regular", "configuration": {{"chunk_shape": {edges:?}}}}}"#)
}

fn rectilinear(edges: &str) -> String {
    format!(
        r#"{{"name": "rectilinear", "configuration": {{"kind": "inline", "chunk_shapes": {edges}}}}}"#
    )
}

const BYTES: &str = r#"[{"name": "bytes"}]"#;
const SLASH: &str = r#"{"name": "default", "configuration": {"separator": "/"}}"#;

/// The ids of what a check of a store finds.
fn found(store: &Arc<dyn Store>) -> Vec<&'static str> {
    let mut ids = Vec::new();
    let options = CheckOptions::new().data(true).threads(NonZeroUsize::MIN);
    check(store, &Prefix::root(), &options, &mut |finding| ids.push(finding.id())).expect("checks");
    // These arrays are stored without compression.
    ids.retain(|id| *id != "no-checksum");
    // The arrays lack chunks on purpose, before and after.
    ids.retain(|id| *id != "few-missing-chunks");
    ids
}

/// The objects of a store, documents without white space at their ends: a repair puts other bytes.
fn objects(store: &dyn Store) -> Objects {
    let objects = zarr_store_tests::objects(store).into_iter();
    let trimmed = objects.map(|(key, bytes)| match key.ends_with("zarr.json") {
        true => (key, bytes.trim_ascii_end().to_vec()),
        false => (key, bytes),
    });
    trimmed.collect()
}

/// An empty store of a client of object storage.
fn remote() -> Arc<dyn Store> {
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use zarr_array::store::{ConditionalPut, RemoteStore, StoreOptions};
    let (backend, options) = (Arc::new(InMemory::new()), StoreOptions::new());
    Arc::new(RemoteStore::new(backend, Path::default(), ConditionalPut::Supported, &options))
}
