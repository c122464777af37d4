//! Chunks that hold only the fill value are not stored (SD-48, SD-60).

use std::sync::Arc;

use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, ArrayError, Selection};
use zarr_metadata::ArrayMetadata;

const SHARD: &str = r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [2],
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}"#;

fn array(store: &Arc<MemoryStore>, data_type: &str, fill: &str, codec: &str) -> Array {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [10], "data_type": "{data_type}",
        "chunk_grid": {{"name": "rectilinear", "configuration": {{"kind": "inline",
        "chunk_shapes": [[4, 2, 4]]}}}}, "chunk_key_encoding": {{"name": "default"}},
        "fill_value": {fill}, "codecs": [{codec}]}}"#
    );
    let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    Array::create(Arc::clone(store) as Arc<dyn Store>, &Prefix::root(), metadata).expect("creates")
}

/// The lengths of the chunks that are stored.
fn stored(store: &MemoryStore, array: &Array) -> Vec<Option<usize>> {
    (0..3)
        .map(|chunk| {
            let key = array.layout().key(&[chunk]).expect("a key");
            store.read(&key).expect("gets").map(|bytes| bytes.len())
        })
        .collect()
}

#[test]
fn sd_60_shards_without_inner_chunks_are_not_stored() {
    let store = Arc::new(MemoryStore::new());
    let array = array(&store, "uint8", "9", SHARD);
    let all = Selection::whole(&[10]);
    array.write(&all, &[1, 2, 9, 9, 9, 9, 9, 9, 3, 4]).expect("writes");
    // Two entries of sixteen bytes, a checksum, and the stored inner chunk.
    assert_eq!(stored(&store, &array), [Some(38), None, Some(38)]);
    assert_eq!(array.read(&all).expect("reads"), [1, 2, 9, 9, 9, 9, 9, 9, 3, 4]);

    // Overwritten entirely with the fill value, it is removed.
    array.write(0..4, &[9; 4]).expect("writes");
    assert_eq!(stored(&store, &array), [None, None, Some(38)]);
    // Writing the fill value to part of a missing chunk leaves it missing.
    array.write(4..5, &[9]).expect("writes");
    assert_eq!(stored(&store, &array), [None, None, Some(38)]);
    // And a part that adds an inner chunk.
    array.write(6..7, &[5]).expect("writes");
    assert_eq!(stored(&store, &array), [None, None, Some(40)]);
    assert_eq!(array.read(&all).expect("reads"), [9, 9, 9, 9, 9, 9, 5, 9, 3, 4]);
    // Emptied by a partial write, it is removed, or reads the same.
    array.write(8..10, &[9; 2]).expect("writes");
    array.write(6..7, &[9]).expect("writes");
    assert!(matches!(stored(&store, &array)[2], None | Some(36)), "no inner chunk");
    assert_eq!(array.read(&all).expect("reads"), [9; 10]);
}

/// A new array would show them as its own.
#[test]
fn a_place_with_chunks_of_an_earlier_array_is_refused() {
    let store = Arc::new(MemoryStore::new());
    let old = array(&store, "uint8", "9", r#"{"name": "bytes"}"#);
    old.write(0..4, &[1, 2, 3, 4]).expect("writes");
    store.delete(&Key::new("zarr.json").expect("a key")).expect("deletes");
    let create = || {
        let metadata = old.metadata().clone();
        Array::create(Arc::clone(&store) as Arc<dyn Store>, &Prefix::root(), metadata)
    };
    let refused = create().map(drop).expect_err("has a chunk");
    assert!(matches!(&refused, ArrayError::NotEmpty { key, .. } if key == "c/0"), "{refused}");
    assert!(store.read(&Key::new("zarr.json").expect("a key")).expect("reads").is_none());
    store.delete(&Key::new("c/0").expect("a key")).expect("deletes");
    create().expect("is empty");
}

/// A chunk of which parts become the fill value one after another is removed with the last of them.
#[test]
fn sd_48_chunks_that_partial_writes_empty_are_removed() {
    for codec in [r#"{"name": "bytes"}"#, r#"{"name": "packbits"}"#] {
        let store = Arc::new(MemoryStore::new());
        let array = array(&store, "uint8", "9", codec);
        array.write(0..4, &[1, 2, 3, 4]).expect("writes");
        array.write(0..3, &[9; 3]).expect("writes");
        assert_eq!(stored(&store, &array), [Some(4), None, None]);
        array.write(3..4, &[9]).expect("writes");
        assert_eq!(stored(&store, &array), [None; 3]);
    }
}

#[test]
fn sd_48_equal_means_bit_by_bit() {
    let store = Arc::new(MemoryStore::new());
    let bytes = r#"{"name": "bytes", "configuration": {"endian": "big"}}"#;
    let array = array(&store, "float32", "0.0", bytes);
    let mut elements = [0.0_f32; 10];
    elements[5] = -0.0;
    let elements: Vec<u8> = elements.iter().flat_map(|value| value.to_le_bytes()).collect();
    array.write(Selection::whole(&[10]), &elements).expect("writes");
    assert_eq!(stored(&store, &array), [None, Some(8), None]);
    assert_eq!(array.read(Selection::whole(&[10])).expect("reads"), elements);
}

#[test]
fn sd_48_chunks_of_the_fill_value_are_stored_where_that_is_asked_for() {
    for codec in [r#"{"name": "bytes"}"#, r#"{"name": "packbits"}"#, SHARD] {
        let store = Arc::new(MemoryStore::new());
        let array = array(&store, "uint8", "9", codec).with_empty_chunks_stored(true);
        let all = Selection::whole(&[10]);
        // Whole chunks, part of a missing one, and one that a partial write empties.
        array.write(0..4, &[9; 4]).expect("writes");
        assert!(matches!(stored(&store, &array)[..], [Some(_), None, None]));
        array.write(4..5, &[9]).expect("writes");
        array.write(6..7, &[8]).expect("writes");
        array.write(6..7, &[9]).expect("writes");
        assert!(stored(&store, &array).iter().all(Option::is_some), "{codec}");
        assert_eq!(array.read(&all).expect("reads"), [9; 10]);

        // Without the option, they are removed when they are written again.
        array.clone().with_empty_chunks_stored(false).write(&all, &[9; 10]).expect("writes");
        assert_eq!(stored(&store, &array), [None; 3]);
        array.write(&all, &[9; 10]).expect("writes");
        assert!(stored(&store, &array).iter().all(Option::is_some), "{codec}");
        assert_eq!(array.read(&all).expect("reads"), [9; 10]);
    }
}

/// Where only conditional puts exclude others nothing can be removed: the chunk stays stored, and
/// reads as the fill value.
#[cfg(feature = "object_store")]
#[test]
fn a_chunk_that_becomes_empty_by_a_part_is_put_where_it_cannot_be_removed() {
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use zarr_array::store::{ConditionalPut, RemoteStore, StoreOptions};
    let (backend, options) = (Arc::new(InMemory::new()), StoreOptions::new());
    let store = RemoteStore::new(backend, Path::default(), ConditionalPut::Supported, &options);
    let local = array(&Arc::new(MemoryStore::new()), "uint8", "9", r#"{"name": "bytes"}"#);
    let metadata = local.metadata().clone();
    let array = Array::create(Arc::new(store), &Prefix::root(), metadata).expect("creates");
    array.write(0..10, &[9, 9, 9, 1, 9, 9, 9, 9, 9, 9]).expect("writes");
    array.write(3..4, &[9]).expect("a part");
    assert_eq!(array.read(0..10).expect("reads"), [9; 10]);
    let key = array.layout().key(&[0]).expect("a key");
    assert_eq!(array.store().read(&key).expect("reads").as_deref(), Some(&[9_u8; 4][..]));
}
