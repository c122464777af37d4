//! Copies into other chunks and codecs, within little memory, interrupted at every step.

mod changing;
mod creation;
mod ended;
mod ends;
mod everything;
mod keys;
mod living;
mod moved;
mod overtaken;
mod overwrites;
mod parts;
mod passes;
mod processes;
mod resumed;
mod runs;
mod sparse;
mod together;
mod truncated;
mod unfit;

use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::unfinished::UnfinishedWork;
use zarr_array::{Array, ArrayError, Group, Selection};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, CopySummary, Endpoint, MARKER, TransferError, copy_array, copy_tree};
use zarr_metadata::{ArrayMetadata, ChunkGrid, Codec, GroupMetadata};
use zarr_store_tests::{Objects, objects};

pub(crate) const SHAPE: [u64; 2] = [20, 12];

pub(crate) fn metadata(grid: &str, codecs: &str) -> ArrayMetadata {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [20, 12], "data_type": "int16",
        "chunk_grid": {grid}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": -1,
        "codecs": {codecs}}}"#
    );
    ArrayMetadata::from_json(document.as_bytes()).expect("valid")
}

pub(crate) fn regular(chunk: [u64; 2]) -> String {
    format!(r#"{{"name": "regular", "configuration": {{"chunk_shape": {chunk:?}}}}}"#)
}

pub(crate) const LITTLE: &str = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;

/// Elements of which some chunks are only the fill value.
pub(crate) fn elements() -> Vec<u8> {
    let value = |row: u64, column: u64| {
        if row < 4 && column < 3 { -1 } else { i16::try_from(row * 12 + column).unwrap() }
    };
    let all = (0..SHAPE[0]).flat_map(|row| (0..SHAPE[1]).map(move |column| value(row, column)));
    all.flat_map(i16::to_le_bytes).collect()
}

pub(crate) fn source(grid: &str, codecs: &str) -> (Array, Arc<FaultStore<MemoryStore>>) {
    let store = Arc::new(FaultStore::new(MemoryStore::new()));
    let array =
        Array::create(store.clone(), &Prefix::root(), metadata(grid, codecs)).expect("creates");
    array.write(Selection::whole(&SHAPE), &elements()).expect("writes");
    (array, store)
}

fn targets() -> Vec<ArrayMetadata> {
    let months = r#"{"name": "rectilinear", "configuration": {"kind": "inline",
        "chunk_shapes": [[7, [5, 2], 9], 4]}}"#;
    let shards = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 3],
        "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "crc32c"}], "index_location": "end"}}]"#;
    let moved = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}},
        {"name": "packbits", "configuration": {"last_bit": 11}},
        {"name": "zstd", "configuration": {"level": 1, "checksum": false}}]"#;
    vec![
        metadata(&regular([3, 5]), LITTLE),
        metadata(&regular([20, 1]), LITTLE),
        metadata(months, moved),
        metadata(&regular([4, 6]), shards),
        metadata(&regular([8, 12]), shards),
    ]
}

pub(crate) fn copy(
    from: &Array,
    to: Arc<dyn Store>,
    metadata: ArrayMetadata,
    options: &CopyOptions,
) -> Result<CopySummary, TransferError> {
    copy_array(from, to, &Prefix::root(), metadata, options, &mut |_| {})
        .map(|(_, summary)| summary)
}

#[test]
fn every_target_holds_what_the_source_does_whatever_the_memory() {
    let (from, _) = source(&regular([6, 4]), LITTLE);
    for metadata in targets() {
        // The objects that a plain write of all elements stores.
        let direct = Arc::new(MemoryStore::new());
        Array::create(direct.clone(), &Prefix::root(), metadata.clone())
            .and_then(|array| array.write(Selection::whole(&SHAPE), &elements()))
            .expect("writes");
        for memory in [1000, 1500, 3000, 1 << 20] {
            let to = Arc::new(MemoryStore::new());
            let options = CopyOptions::new().memory(memory).verify(memory == 1 << 20);
            let summary = copy(&from, to.clone(), metadata.clone(), &options).expect("copies");
            assert_eq!(objects(&*to), objects(&*direct));
            assert_eq!((summary.bytes, summary.skipped), (480, 0));
            assert!(memory < 1 << 20 || summary.tasks == 1);
        }
    }
}

/// A document exists only if everything of its node exists, of the old or the new one.
pub(crate) fn documents_are_of_whole_nodes(
    found: &Objects,
    old: &Objects,
    new: &Objects,
    at: &str,
) {
    for (key, document) in found {
        let Some(node) = key.strip_suffix("zarr.json") else { continue };
        let is_whole = |all: &Objects| {
            let mut below = all.iter().filter(|(key, _)| key.starts_with(node));
            all.get(key) == Some(document)
                && below.all(|(key, bytes)| key.ends_with(MARKER) || found.get(key) == Some(bytes))
        };
        assert!(is_whole(old) || is_whole(new), "{at}: {key} is there, but not all of its node");
    }
}

/// Opening a marked place reports the marker, unless the node is whole.
fn is_told(store: &Arc<dyn Store>, has_document: bool, at: &str) {
    let root = Prefix::root();
    match Array::open(store.clone(), &root) {
        Ok(_) => assert!(has_document, "{at}: opens"),
        Err(ArrayError::Unfinished { path, from, work, resumable, parts }) => {
            assert!(resumable && work == UnfinishedWork::Copy && parts.is_none(), "{at}");
            assert!(!has_document, "{at}: does not open");
            assert_eq!(path, "the root");
            assert!(from.is_some_and(|from| from.starts_with("memory ")), "{at}");
            // No other objects appear.
            let refused = Array::create(store.clone(), &root, metadata(&regular([3, 5]), LITTLE));
            assert!(refused.is_err(), "{at}");
            let refused = Group::create(store.clone(), &root, GroupMetadata::new());
            assert!(matches!(refused, Err(ArrayError::Unfinished { .. })), "{at}");
        }
        Err(error) => panic!("{at}: {error}"),
    }
}

#[test]
fn a_copy_that_dies_at_any_step_is_resumed_to_the_same_bytes() {
    let (from, _) = source(&regular([6, 4]), LITTLE);
    for metadata in targets() {
        let options = CopyOptions::new().memory(1000);
        let undisturbed = Arc::new(FaultStore::new(MemoryStore::new()));
        copy(&from, undisturbed.clone(), metadata.clone(), &options).expect("copies");
        let expected = objects(undisturbed.inner());
        let mut skipped = 0;
        for step in 0..undisturbed.operations() {
            for fault in [Fault::DieBefore, Fault::DieAfter] {
                let inner = MemoryStore::new();
                let dying = Arc::new(FaultStore::new(inner.clone()).at(step, fault));
                copy(&from, dying, metadata.clone(), &options).expect_err("dies");
                let found = objects(&inner);
                let at = format!("{step} {fault:?}");
                documents_are_of_whole_nodes(&found, &Objects::new(), &expected, &at);
                if found.contains_key(MARKER) {
                    let store: Arc<dyn Store> = Arc::new(inner.clone());
                    is_told(&store, found.contains_key("zarr.json"), &at);
                    let mut ids = Vec::new();
                    let options = CheckOptions::new();
                    check(&store, &Prefix::root(), &options, &mut |found| ids.push(found.id()))
                        .expect("checks");
                    assert_eq!(ids, ["unfinished-copy"], "{at}");
                    let again = copy(&from, store, metadata.clone(), &CopyOptions::new());
                    match found.contains_key("zarr.json") {
                        true => assert!(matches!(again, Err(TransferError::Exists { .. }))),
                        false => assert!(matches!(again, Err(TransferError::Unfinished { .. }))),
                    }
                    assert_eq!(objects(&inner), found, "{at}");
                }
                let resume = options.clone().resume(true);
                let summary = copy(&from, Arc::new(inner.clone()), metadata.clone(), &resume);
                match summary {
                    Ok(summary) => skipped += summary.skipped,
                    // The copy had finished after all.
                    Err(TransferError::NotInterrupted { .. }) => assert_eq!(found, expected),
                    Err(error) => panic!("{error}"),
                }
                assert_eq!(objects(&inner), expected, "{step} {fault:?}");
            }
        }
        assert!(skipped > 0 || metadata.shape()[0] < 20, "nothing was ever skipped");
    }
}

#[test]
fn from_pencils_to_slabs_each_source_chunk_is_read_once_a_memoryful() {
    let (from, counted) = source(&regular([20, 1]), LITTLE);
    let slabs = metadata(&regular([1, 12]), LITTLE);
    for rows in [1, 2, 5, 10, 20_u64] {
        // A row is 24 bytes; the buffers of a thread are four times a pencil of 40.
        let options = CopyOptions::new().memory(160 + rows * 24);
        let before = counted.operations();
        let to = Arc::new(MemoryStore::new());
        let summary = copy(&from, to, slabs.clone(), &options).expect("copies");
        let memoryfuls = 20_u64.div_ceil(rows);
        assert_eq!(summary.tasks, memoryfuls);
        // Also counted: checks whether the source is a copy itself (twice), two reads of its document,
        // and two listings of the source, each with a look at each of its 13 objects.
        let others = 4 + 2 * 14;
        assert_eq!(counted.operations() - before, 12 * memoryfuls + others, "{rows} rows a task");
    }
}

#[test]
fn what_cannot_be_copied_is_refused_before_anything_is_written() {
    let (from, _) = source(&regular([6, 4]), LITTLE);
    let whole = metadata(&regular([20, 12]), LITTLE);
    let to = Arc::new(MemoryStore::new());
    let refused = |metadata: &ArrayMetadata, options: &CopyOptions| {
        let error = copy(&from, to.clone(), metadata.clone(), options).expect_err("refuses");
        assert!(objects(&*to).is_empty());
        error.to_string()
    };
    let options = CopyOptions::new();
    let shorter = whole.with_shape(&[19, 12]).expect("valid");
    let cut = r#"[{"name": "packbits", "configuration": {"first_bit": 2}}]"#;
    let cut = Codec::list_from_json(cut.as_bytes()).expect("valid");
    let messages = [
        refused(&whole, &options.clone().memory(1000)),
        refused(&shorter, &options),
        refused(&whole.with_codecs(&cut).expect("valid"), &options),
        refused(&whole, &options.clone().memory(0)),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn trees_with_what_cannot_be_read() {
    let from: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let prefix = |name: &str| Prefix::new(name).expect("a prefix");
    Group::create(from.clone(), &Prefix::root(), GroupMetadata::new()).expect("creates");
    Array::create(from.clone(), &prefix("a"), metadata(&regular([6, 4]), LITTLE))
        .and_then(|array| array.write(Selection::whole(&SHAPE), &elements()))
        .expect("writes");
    let numbers = metadata(&regular([6, 4]), LITTLE);
    let strings = numbers.json().replace("\"int16\"", "\"somebody.type\"").replace("-1", "\"\"");
    let strings = strings.replace(LITTLE, r#"[{"name": "vlen-utf8"}]"#);
    from.put(&prefix("b").key("zarr.json").expect("a key"), strings.as_bytes()).expect("puts");
    from.put(&prefix("b").key("c/0/0").expect("a key"), b"\x01\0\0\0\0\0\0\0").expect("puts");

    let grid = ChunkGrid::from_json(regular([20, 3]).as_bytes()).expect("valid");
    let run = |to: &Arc<dyn Store>, only: Option<&str>| {
        let root = Prefix::root();
        copy_tree(
            Endpoint::new(&from, &root),
            Endpoint::new(to, &root),
            &mut |prefix, metadata| {
                if only.is_some_and(|only| only != prefix.as_str()) {
                    return Ok(metadata.clone());
                }
                Ok(metadata.with_shape_and_grid(&SHAPE, &grid).expect("valid"))
            },
            &CopyOptions::new(),
            &mut |_, _| {},
        )
    };
    let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let summary = run(&to, Some("a")).expect("copies");
    assert_eq!((summary.groups, summary.arrays), (1, 2));
    let found = objects(&*to);
    assert_eq!(found["b/c/0/0"], b"\x01\0\0\0\0\0\0\0");
    assert_eq!(found["b/zarr.json"], strings.as_bytes());
    let copied = Array::open(to, &prefix("a")).expect("opens");
    assert_eq!(copied.layout().chunk_shape(&[0, 0]).expect("a chunk"), vec![20, 3]);
    assert_eq!(copied.read(Selection::whole(&SHAPE)).expect("reads"), elements());

    let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let refused = run(&to, None);
    assert!(matches!(refused, Err(TransferError::NotDecodable { .. })), "{refused:?}");

    // A document that need not change is the source's, byte for byte.
    let document = r#"{"zarr_format": 3, "theirs": {"must_understand": false, "x": 1.50},
        "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}},
        "node_type": "group", "attributes": {"nan": NaN}}"#;
    from.put(&Prefix::root().key("zarr.json").expect("a key"), document.as_bytes()).expect("puts");
    let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
    run(&to, Some("a")).expect("copies");
    assert_eq!(objects(&*to)["zarr.json"], document.as_bytes());

    let root = Prefix::root();
    let refused = copy_tree(
        Endpoint::new(&from, &root),
        Endpoint::new(&(Arc::new(MemoryStore::new()) as Arc<dyn Store>), &root),
        &mut |prefix, _| Err(format!("not {prefix}").into()),
        &CopyOptions::new(),
        &mut |_, _| {},
    );
    assert_eq!(refused.expect_err("says no").to_string(), "a: not a");
}
