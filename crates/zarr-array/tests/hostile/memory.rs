//! The promise about memory: at its peak an operation holds its result, an encoded chunk for each
//! request in flight, whose buffer may be a quarter larger and is not touched there, two decoded
//! chunks for each thread, and 32 MiB besides.
//!
//! Counted is what is asked of the allocator, used or not, but for the tables of compressors, which
//! are allocated by C. With chunks of 512 KiB a third buffer shows, and with eight of them, that two
//! threads do not hold all.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use zarr_array::store::{LocalStore, MemoryStore, Prefix, Store};
use zarr_array::{Array, Selection};
use zarr_check::CheckOptions;
use zarr_metadata::ArrayMetadata;
use zarr_store_tests::folder_in_memory;

use super::{BYTES, ONE, checked, document, peak, regular};

/// What is not chunks: keys, plans, threads, and what compressors may add to a chunk. The promise
/// leaves 32 MiB for it and for the compressors' tables.
const SLACK: usize = 192 << 10;

const SHAPE: [u64; 2] = [1024, 2048];
const CHUNK: [u64; 2] = [512, 512];

const TRANSPOSE: &str = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;
const ZSTD: &str = r#"{"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#;

fn bytes(endian: &str) -> String {
    format!(r#"{{"name": "bytes", "configuration": {{"endian": "{endian}"}}}}"#)
}

/// Each data type of two bytes an element, with its chain.
fn chains() -> Vec<String> {
    let (little, big) = (bytes("little"), bytes("big"));
    let packed = r#"{"name": "packbits"}"#;
    let few = r#"{"name": "packbits", "configuration": {"last_bit": 10}}"#;
    let split = r#"{"name": "reshape", "configuration": {"shape": [[0], 8, -1]}}"#;
    let turn = r#"{"name": "transpose", "configuration": {"order": [1, 0, 2]}}"#;
    // No view holds these: there are two stops on the way.
    let flat = r#"{"name": "reshape", "configuration": {"shape": [-1]}}"#;
    let third = r#"{"name": "reshape", "configuration": {"shape": [256, -1]}}"#;
    let last = r#"{"name": "reshape", "configuration": {"shape": [4096, 64]}}"#;
    let stops = format!("{TRANSPOSE}, {flat}, {third}, {TRANSPOSE}, {flat}, {last}, {TRANSPOSE}");
    let gzip = r#"{"name": "gzip", "configuration": {"level": 1}}"#;
    let blosc = r#"{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 1,
        "shuffle": "shuffle", "typesize": 2, "blocksize": 0}}"#;
    let shard = format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [128, 128],
        "codecs": [{little}, {ZSTD}], "index_codecs": [{little}, {{"name": "crc32c"}}]}}}}"#
    );
    [
        little.clone(),
        big.clone(),
        format!("{little}, {ZSTD}"),
        format!("{TRANSPOSE}, {little}, {ZSTD}"),
        format!("{TRANSPOSE}, {big}, {ZSTD}"),
        format!("{little}, {gzip}"),
        format!("{little}, {blosc}"),
        format!("{little}, {blosc}, {ZSTD}"),
        packed.to_owned(),
        format!("{few}, {ZSTD}"),
        format!("{packed}, {ZSTD}"),
        format!("{split}, {turn}, {few}"),
        format!("{stops}, {little}"),
        format!("{stops}, {little}, {ZSTD}"),
        format!("{stops}, {packed}"),
        shard,
    ]
    .into()
}

fn open(folder: &Path, codecs: &str, threads: usize) -> Array {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {SHAPE:?}, "data_type": "uint16",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": {CHUNK:?}}}}},
        "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0, "codecs": [{codecs}]}}"#
    );
    let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    let store = Arc::new(LocalStore::create(folder).expect("creates"));
    let array = Array::with_metadata(store, &Prefix::root(), metadata, Default::default());
    array.expect("binds").with_threads(NonZeroUsize::new(threads).expect("some"))
}

fn largest_file(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry"));
    let sizes = entries.map(|entry| match entry.file_type().expect("a type").is_dir() {
        true => largest_file(&entry.path()),
        false => entry.metadata().expect("metadata").len() as usize,
    });
    sizes.max().unwrap_or(0)
}

/// An axis as long as the array has elements: nothing is held for each of its indices.
fn one_axis() {
    let length = 1 << 23;
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [{length}], "data_type": "uint8",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [1048576]}}}},
        "chunk_key_encoding": {{"name": "default"}}, "fill_value": 7, "codecs": [{}]}}"#,
        bytes("little")
    );
    let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    let folder = tempfile::tempdir().expect("a folder");
    let store = Arc::new(LocalStore::create(folder.path()).expect("creates"));
    let array = Array::with_metadata(store, &Prefix::root(), metadata, Default::default());
    let array = array.expect("binds").with_threads(NonZeroUsize::MIN);
    for region in ["0:8388608", "::-1", "::2"] {
        let region = Selection::parse(region, &[length]).expect("a region");
        let mut read = Vec::new();
        let (used, ()) = peak(|| read = array.read(&region).expect("reads"));
        let promised = read.len() + (2 << 20) + SLACK;
        assert!(used <= promised, "{used} of {promised} for {region:?}");
        assert!(read == vec![7; read.len()]);
    }
}

#[test]
fn reads_and_writes_hold_two_decoded_chunks_a_thread() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let decoded = 512 << 10;
    // About 2:1, in eleven bits.
    let mut state = 1_u64;
    let expected: Vec<u16> = (0..1024 * 2048)
        .map(|_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 56) as u16
        })
        .collect();
    let elements: Vec<u8> = expected.iter().flat_map(|number| number.to_le_bytes()).collect();
    let whole = Selection::whole(&SHAPE);
    let part = Selection::from([50..1000, 100..2000]);
    let steps = Selection::parse("1::2, ::-3", &SHAPE).expect("a region");
    let len = |region: &Selection| region.elements().expect("few") as usize * 2;
    for codecs in chains() {
        for threads in [1, 2] {
            let folder = folder_in_memory();
            let array = open(folder.path(), &codecs, threads);
            let mut out = vec![0; elements.len()];
            let check = |name: &str, result: usize, work: &mut dyn FnMut()| {
                let before = largest_file(folder.path());
                let (used, ()) = peak(work);
                let encoded = before.max(largest_file(folder.path()));
                // The buffer of a store is a quarter larger, which is not touched.
                let promised = result + threads * (encoded + encoded / 4 + 2 * decoded) + SLACK;
                assert!(used <= promised, "{name}: {used} of {promised}, {threads}: {codecs}");
            };
            check("write", 0, &mut || array.write(&whole, &elements).expect("writes"));
            check("read into", 0, &mut || array.read_into(&whole, &mut out).expect("reads"));
            assert!(out == elements, "{codecs}");
            // A chunk that is in memory as it is stored needs no memory besides.
            let rows = Selection::parse("0:512, 0:512", &SHAPE).expect("a region");
            let (used, ()) = peak(|| array.read_into(&rows, &mut out[..decoded]).expect("reads"));
            if codecs == bytes("little") {
                assert!(used <= SLACK, "{used}");
            }
            check("read", elements.len(), &mut || drop(array.read(&whole).expect("reads")));
            let typed = || array.read_as::<u16>(&whole).expect("reads");
            check("read typed", elements.len(), &mut || drop(typed()));
            let numbers = typed();
            assert!(numbers == expected, "{codecs}");
            check("write typed", 0, &mut || array.write_as(&whole, &numbers).expect("writes"));
            drop(numbers);
            check("read a part", len(&part), &mut || drop(array.read(&part).expect("reads")));
            check("read steps", len(&steps), &mut || drop(array.read(&steps).expect("reads")));
            for region in [&part, &steps] {
                let elements = &elements[..len(region)];
                check("write a part", 0, &mut || array.write(region, elements).expect("writes"));
                assert!(array.read(region).expect("reads") == elements, "{codecs}");
            }
        }
    }
    one_axis();
}

/// The elements of all chunks that are decoded at the same time stay within the given memory,
/// however many threads there are, and a larger chunk is left out.
#[test]
fn a_check_keeps_to_its_memory() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let gzip = r#"{"name": "gzip", "configuration": {"level": 1}}"#;
    let length = 8_usize << 20;
    let codecs = format!("[{BYTES}, {gzip}]");
    let document = document("[67108864]", &regular(&format!("[{length}]")), &codecs, "");
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    let array = Array::create(Arc::clone(&store), &Prefix::root(), metadata).expect("creates");
    for chunk in 0..8_u64 {
        let start = chunk * length as u64;
        let region = Selection::from(start..start + length as u64);
        array.write(&region, &vec![1 + chunk as u8; length]).expect("writes");
    }
    let options = CheckOptions::new().data(true).threads(NonZeroUsize::new(8).expect("some"));
    for (memory, threads) in [(8 << 20, 1), (20 << 20, 2), (64 << 20, 8)] {
        let (used, findings) = checked(&store, &options.clone().memory(memory));
        assert_eq!(findings, [""; 0]);
        let most = 3 * threads * length + (2 << 20);
        assert!(used < most, "{used} bytes with {memory} allowed, expected {most} at most");
    }
    let (used, findings) = checked(&store, &options.memory((8 << 20) - 1));
    assert_eq!(findings.len(), 8);
    assert_eq!(
        findings[0],
        "warning: c/0: not examined: its elements take 8388608 bytes, more than the 8388607 \
         allowed [not-examined]"
    );
    assert!(used < 2 << 20, "{used}");
}

/// Short texts take few bytes in a chunk: a read holds their lengths and ends, and not a place in the
/// chunk, in the selection and in the result for each. A read of few holds the lengths of all.
#[test]
fn texts_of_one_chunk_take_two_numbers_each() {
    const COUNT: u64 = 1 << 18;
    const EACH: u64 = 18;
    const UNREAD: u64 = 14;
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for shape in [COUNT, COUNT - 1] {
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [{shape}], "data_type": "string",
            "chunk_grid": {}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": "",
            "codecs": [{{"name": "vlen-utf8"}}, {{"name": "gzip", "configuration": {{"level": 1}}}}]}}"#,
            regular(&format!("[{COUNT}]")),
        );
        let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
        array.write_as(5..6, &["a"]).expect("writes");
        for selection in [0..shape, 3..shape] {
            let (peak, read) = peak(|| array.read_as::<String>(selection.clone()).expect("reads"));
            assert_eq!(read.len() as u64, selection.end - selection.start);
            assert_eq!(read.get(5 - selection.start as usize), Some("a"));
            assert!((peak as u64) < EACH * COUNT, "{shape} {selection:?}: {peak}");
        }
        let (peak, read) = peak(|| array.read_as::<String>(4..7).expect("reads"));
        assert!(read.iter().eq(["", "a", ""]));
        assert!((peak as u64) < UNREAD * COUNT, "{shape}: {peak}");
    }
}
