//! Documents of a megabyte that request as much as possible: opening, checking, planning and
//! reading take time and memory in proportion to what is stored, or refuse.
//! The tests count allocated bytes, used or not. They are a separate program because the count is
//! per process; the stack is that of a small thread.

mod archives;
mod claims;
mod memory;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use peak_alloc::PeakAlloc;
use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Group, Selection};
use zarr_check::{CheckOptions, Summary, check};
use zarr_metadata::ArrayMetadata;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The count covers all threads, so one test measures at a time.
static ONE: Mutex<()> = Mutex::new(());

/// The approximate length of the documents.
const LENGTH: usize = 1 << 20;

/// A small thread's. Frames that are not optimised are twice as large.
const STACK: usize = if cfg!(debug_assertions) { 1 << 20 } else { 512 << 10 };

/// Quadratic code would take minutes.
const TIME: Duration = Duration::from_secs(20);

/// The most memory that was allocated at once while `work` ran, beyond what was allocated before.
fn peak<T>(work: impl FnOnce() -> T) -> (usize, T) {
    ALLOCATOR.reset_peak_usage();
    let before = ALLOCATOR.current_usage();
    let result = work();
    (ALLOCATOR.peak_usage().saturating_sub(before), result)
}

const BYTES: &str = r#"{"name": "bytes"}"#;
const INDEX: &str = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;

fn list<T: ToString>(entries: impl IntoIterator<Item = T>) -> String {
    let entries: Vec<String> = entries.into_iter().map(|entry| entry.to_string()).collect();
    format!("[{}]", entries.join(","))
}

fn ones(count: usize) -> String {
    list(vec![1; count])
}

fn regular(chunk_shape: &str) -> String {
    format!(r#"{{"name": "regular", "configuration": {{"chunk_shape": {chunk_shape}}}}}"#)
}

fn rectilinear(axes: &[String]) -> String {
    let axes = list(axes);
    format!(
        r#"{{"name": "rectilinear", "configuration": {{"kind": "inline", "chunk_shapes": {axes}}}}}"#
    )
}

fn document(shape: &str, grid: &str, codecs: &str, more: &str) -> String {
    format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape}, "data_type": "uint8",
        "chunk_grid": {grid}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0,
        "codecs": {codecs}{more}}}"#
    )
}

fn transpose(order: impl IntoIterator<Item = usize>) -> String {
    format!(r#"{{"name": "transpose", "configuration": {{"order": {}}}}}"#, list(order))
}

fn reshape(shape: &str) -> String {
    format!(r#"{{"name": "reshape", "configuration": {{"shape": {shape}}}}}"#)
}

fn shard(chunk_shape: &str, codecs: &str, index: &str) -> String {
    let configuration =
        format!(r#"{{"chunk_shape": {chunk_shape}, "codecs": {codecs}, "index_codecs": {index}}}"#);
    format!(r#"{{"name": "sharding_indexed", "configuration": {configuration}}}"#)
}

/// `count` times `codec`, and one that makes bytes.
fn chain(codec: &str, count: usize) -> String {
    let mut codecs = vec![codec; count];
    codecs.push(BYTES);
    list(codecs)
}

/// One document of each kind that can be long, and whether its array opens.
fn documents() -> Vec<(&'static str, String, bool)> {
    let plain = format!("[{BYTES}]");
    let small = regular("[4]");
    let wide = ones(1024);
    let same = reshape(&list((0..1024).map(|dim| format!("[{dim}]"))));
    let turn = transpose([1, 0]);
    let flow = format!("{turn}, {}", reshape("[6, 35]"));
    let gzip = r#"{"name": "gzip", "configuration": {"level": 1}}"#;
    let deep = |codecs: &str, chunk_shape: &str, index: &str| {
        (0..40).fold(codecs.to_owned(), |codecs, _| {
            format!("[{}]", shard(chunk_shape, &codecs, index))
        })
    };
    let checksums = list(vec![r#""crc32c""#; 1000]);
    let checksums = checksums.trim_matches(['[', ']']);
    let words = |count: usize| list(vec![r#""abcdef""#; count]);
    let members = |count: usize, value: &str| {
        let members: Vec<_> = (0..count).map(|n| format!(r#""k{n}": {value}"#)).collect();
        members.join(",")
    };
    let edges = |count: u64| list((0..count).map(|n| n % 97 + 1));
    let sum = |count: u64| (0..count).map(|n| n % 97 + 1).sum::<u64>();
    let nested = |depth: usize, width: usize| {
        let inner = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        format!(r#", "attributes": {{"a": {}}}"#, list(vec![inner; width]))
    };
    let array = |shape: &str, grid: &str, codecs: &str| document(shape, grid, codecs, "");
    vec![
        ("dimensions", array(&ones(250_000), &regular(&ones(250_000)), &plain), false),
        ("dimensions at the limit", array(&wide, &regular(&wide), &plain), true),
        (
            "names of dimensions",
            document(
                &wide,
                &regular(&wide),
                &plain,
                &format!(
                    r#", "dimension_names": {}"#,
                    list(vec![format!(r#""{}""#, "n".repeat(900)); 1024])
                ),
            ),
            true,
        ),
        (
            "codecs",
            array("[4]", &small, &list([vec![BYTES], vec![r#""crc32c""#; 90_000]].concat())),
            false,
        ),
        (
            "checksums at the limit",
            array("[4]", &small, &list([vec![BYTES], vec![r#""crc32c""#; 1000]].concat())),
            true,
        ),
        (
            "compressors at the limit",
            array("[4]", &small, &list([vec![BYTES], vec![gzip; 1000]].concat())),
            true,
        ),
        (
            "codecs that no view holds",
            array("[6, 35]", &regular("[6, 35]"), &chain(&flow, 511)),
            true,
        ),
        (
            "dimensions in a reshape",
            array("[4]", &small, &chain(&reshape(&ones(300_000)), 1)),
            false,
        ),
        ("reshapes of many dimensions", array(&wide, &regular(&wide), &chain(&same, 150)), true),
        (
            "transposes of many dimensions",
            array(&wide, &regular(&wide), &chain(&transpose((0..1024).rev()), 200)),
            true,
        ),
        (
            "dimensions that one list has",
            array(&wide, &regular(&wide), &chain(&reshape(&format!("[{}]", list(0..1024))), 1)),
            true,
        ),
        (
            "shards of many dimensions",
            array(&wide, &regular(&wide), &deep(&plain, &wide, INDEX)),
            true,
        ),
        (
            "shards of long chains",
            array(
                "[4]",
                &small,
                &deep(
                    &plain,
                    "[4]",
                    &format!(
                        r#"[{{"name": "bytes", "configuration": {{"endian": "little"}}}}, {checksums}]"#
                    ),
                ),
            ),
            true,
        ),
        (
            "shards of codecs that no view holds",
            array("[6, 35]", &regular("[6, 35]"), &deep(&chain(&flow, 90), "[6, 35]", INDEX)),
            true,
        ),
        (
            "shards that are too deep",
            array(
                "[4]",
                &small,
                &(0..2000)
                    .fold(plain.clone(), |codecs, _| format!("[{}]", shard("[4]", &codecs, INDEX))),
            ),
            false,
        ),
        ("edges", array(&list([sum(300_000)]), &rectilinear(&[edges(300_000)]), &plain), true),
        (
            "edges of many axes",
            array(&list(vec![sum(200); 1024]), &rectilinear(&vec![edges(200); 1024]), &plain),
            false,
        ),
        (
            "edges of two axes under a chain",
            array(
                &list([sum(60_000), sum(60_000)]),
                &rectilinear(&[edges(60_000), edges(60_000)]),
                &chain(&turn, 1000),
            ),
            true,
        ),
        (
            "runs",
            array(
                &list([5_000_000_000_000_u64]),
                &rectilinear(&[list((0..80_000).map(|n| format!("[{},1000000000]", n % 97 + 1)))]),
                &plain,
            ),
            true,
        ),
        (
            "long runs",
            array(
                "[18446744073709551615]",
                &rectilinear(&["[[1,18446744073709551615]]".to_owned()]),
                &plain,
            ),
            true,
        ),
        (
            "attributes",
            document(
                "[4]",
                &small,
                &plain,
                &format!(r#", "attributes": {{{}}}"#, members(80_000, "1")),
            ),
            true,
        ),
        ("deep attributes", document("[4]", &small, &plain, &nested(120, 4000)), true),
        (
            "attributes that are too deep",
            document("[4]", &small, &plain, &nested(500_000, 1)),
            false,
        ),
        (
            "a list as attribute",
            document(
                "[4]",
                &small,
                &plain,
                &format!(r#", "attributes": {{"a": {}}}"#, words(110_000)),
            ),
            true,
        ),
        (
            "words that are no numbers",
            document(
                "[4]",
                &small,
                &plain,
                &format!(r#", "attributes": {{"a": {}}}"#, list(vec!["NaN"; 250_000])),
            ),
            true,
        ),
        (
            "members",
            document(
                "[4]",
                &small,
                &plain,
                &format!(",{}", members(25_000, r#"{"must_understand": false}"#)),
            ),
            true,
        ),
        (
            "a long name",
            document(
                "[4]",
                &small,
                &format!(r#"[{BYTES}, {{"name": "{}"}}]"#, "x".repeat(LENGTH)),
                "",
            ),
            false,
        ),
        (
            "codecs that may be skipped",
            array("[4]", &small, &chain(r#"{"name": "x.y", "must_understand": false}"#, 1000)),
            true,
        ),
        (
            "a shape without end",
            array("[9223372036854775808, 18446744073709551615]", &regular("[1, 1]"), &plain),
            true,
        ),
        (
            "a chunk without end",
            array("[9223372036854775807]", &regular("[9223372036854775807]"), &plain),
            true,
        ),
        (
            "axes without chunks",
            array(&list(vec![0; 1024]), &regular(&wide), &chain(&same, 150)),
            true,
        ),
    ]
}

/// Opens, checks, plans and reads on a small stack; returns the allocated memory, and the number
/// of operations that succeeded.
fn examine(document: &str) -> (usize, bool, Summary) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    store.put(&Key::new("zarr.json").expect("a key"), document.as_bytes()).expect("memory");
    let opened = ArrayMetadata::from_json(document.as_bytes()).is_ok_and(|metadata| {
        let rank = metadata.shape().len();
        // Chunks of a few bytes at the start, whatever they should contain.
        let index = vec![0; rank];
        if let Ok(key) = Key::new(metadata.chunk_key_encoding().encode(&index)) {
            store.put(&key, &[0; 16]).expect("memory");
        }
        let store = Arc::clone(&store);
        Array::with_metadata(store, &Prefix::root(), metadata, Default::default()).is_ok()
    });
    let work = move || {
        let options = CheckOptions::new().data(true);
        let summary = check(&store, &Prefix::root(), &options, &mut |_| {}).expect("checks");
        if let Ok(array) = Array::open(Arc::clone(&store), &Prefix::root()) {
            let array = array.with_threads(NonZeroUsize::MIN);
            let corner = |most: u64| {
                array.shape().iter().map(|length| 0..(*length).min(most)).collect::<Selection>()
            };
            // The element at the start, and a few around it if there are few axes.
            let most = if array.shape().len() > 2 { 1 } else { 20 };
            let _ = array.read(corner(most));
            let _ = array.layout().plan(corner(most)).map(|plan| format!("{plan:?}").len());
            let _ = array.stored_chunks().count();
        } else {
            let _ = Group::open(Arc::clone(&store), &Prefix::root());
        }
        summary
    };
    let (used, summary) = peak(move || {
        let thread = thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
        thread.join().expect("no panic")
    });
    (used, opened, summary)
}

#[test]
fn documents_of_a_megabyte_cost_what_they_are_long() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, document, opens) in documents() {
        let started = Instant::now();
        let (used, opened, summary) = examine(&document);
        let took = started.elapsed();
        eprintln!("{name}: {} bytes, {used} used, {took:?}, {summary:?}", document.len());
        assert_eq!(opened, opens, "{name}");
        assert!(opens || summary.errors + summary.warnings > 0, "{name}: {summary:?}");
        assert!(used < 192 * document.len() + (32 << 20), "{name}: {used} of {}", document.len());
        assert!(took < TIME, "{name}: {took:?}");
    }
}

#[test]
fn groups_of_many_nodes_are_checked_in_time() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let group = r#"{"zarr_format":3,"node_type":"group"}"#;
    let nodes: Vec<String> = (0..60_000).map(|n| format!(r#""n{n}":{group}"#)).collect();
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {{"kind": "inline",
        "must_understand": false, "metadata": {{{}}}}}}}"#,
        nodes.join(",")
    );
    let started = Instant::now();
    let (used, _, summary) = examine(&document);
    // None of them is there.
    assert_eq!((summary.groups, summary.warnings), (1, 60_000));
    assert!(used < 64 * document.len(), "{used} of {}", document.len());
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    store.put(&Key::new("zarr.json").expect("a key"), document.as_bytes()).expect("memory");
    let root = Group::open_consolidated(store, &Prefix::root()).expect("opens");
    assert_eq!(root.children().expect("known").len(), 60_000);
    assert!(started.elapsed() < TIME);
}

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

fn checked(store: &Arc<dyn Store>, options: &CheckOptions) -> (usize, Vec<String>) {
    let mut findings = Vec::new();
    let (used, result) = peak(|| {
        check(store, &Prefix::root(), options, &mut |finding| findings.push(finding.to_string()))
    });
    result.expect("checks");
    (used, findings)
}

/// A hierarchy of an array, and another array with a fault of its own.
fn beside_a_fault(array: &str, chunk: &[u8]) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let put = |at: &str, bytes: &[u8]| store.put(&key(at), bytes).expect("memory");
    put("zarr.json", br#"{"zarr_format": 3, "node_type": "group"}"#);
    put("a/zarr.json", array.as_bytes());
    put("a/c/0", chunk);
    let faulty = document("[4]", &regular("[4]"), &format!("[{BYTES}]"), "");
    put("b/zarr.json", faulty.as_bytes());
    put("b/c/0", &[1, 2, 3]);
    store
}

const FAULT: &str = "error: b/c/0: codec bytes ($.codecs[0]): decoded to 3 bytes, expected 4";

#[test]
fn a_check_follows_what_is_stored() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let large = 1_u64 << 31;
    let shape = format!("[{large}]");
    let packed = r#"[{"name": "packbits", "configuration": {"last_bit": 0}}]"#;
    let gzip = format!(r#"[{BYTES}, {{"name": "gzip", "configuration": {{"level": 1}}}}]"#);
    let options = CheckOptions::new().data(true);
    let plain = format!("[{BYTES}]");
    for (inner, codecs) in [(large, &plain), (large / 2, &gzip), (large / 1024, &plain)] {
        let absent = vec![0xff; usize::try_from(large / inner * 16).expect("few")];
        for order in ["", &format!("{}, ", transpose([0])), &format!("{}, ", reshape(&shape))] {
            let codecs = format!("[{order}{}]", shard(&format!("[{inner}]"), codecs, INDEX));
            // The array's end cuts the chunk too.
            for length in [large, large - 1] {
                let array = document(&format!("[{length}]"), &regular(&shape), &codecs, "");
                let store = beside_a_fault(&array, &absent);
                let (used, findings) = checked(&store, &options);
                let [empty, fault] = findings.as_slice() else { panic!("{findings:?}") };
                assert!(empty.starts_with("note: a/c/0: ") && empty.ends_with("[fill-only-chunk]"));
                assert!(fault.starts_with(FAULT), "{fault}");
                assert!(used < 4 << 20, "{used} bytes for {codecs}");
            }
        }
    }
    // A chunk with more elements than memory is reported as not examined; all others are
    // examined.
    for (shape, codecs, chunk) in [
        (1_u64 << 46, &plain, vec![7]),
        (1 << 63, &plain, vec![7]),
        (1 << 31, &gzip, vec![7]),
        (1 << 31, &packed.to_owned(), vec![7]),
    ] {
        let shape = format!("[{shape}]");
        let store = beside_a_fault(&document(&shape, &regular(&shape), codecs, ""), &chunk);
        let (used, findings) = checked(&store, &options);
        let [first, fault] = findings.as_slice() else { panic!("{findings:?}") };
        assert!(first.starts_with("warning: a/c/0: not examined: "), "{first}");
        assert!(first.ends_with("[not-examined]"), "{first}");
        assert!(fault.starts_with(FAULT), "{fault}");
        assert!(used < 1 << 20, "{used} bytes for {shape}");
    }
}
