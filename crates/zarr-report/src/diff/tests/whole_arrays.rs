//! Comparisons of whole arrays: what is read, what is found, and what cannot be read.

use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::{Value, json};
use zarr_array::Array;
use zarr_array::store::{Key, Links, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_metadata::{ArrayBuilder, Codec, DataType};
use zarr_store_tests::CountedChunks;

use super::super::{DiffEvent, DiffNode, DiffSummary, diff};

const SIDE: u64 = 600;

type Counted = Arc<CountedChunks<MemoryStore>>;

/// A square array of bytes, in chunks of this shape, of which most are 1.
fn square(side: u64, chunk_shape: [u64; 2], codecs: Vec<Codec>) -> (Counted, Array) {
    let store = Counted::new(CountedChunks::new(MemoryStore::new()));
    let builder = ArrayBuilder::new([side, side], DataType::Uint8).chunk_shape(chunk_shape);
    let metadata = builder.codecs(codecs).build().expect("a document");
    let shared: Arc<dyn Store> = store.clone();
    let array = Array::create(shared, &Prefix::root(), metadata).expect("creates");
    let bytes: Vec<u8> = (0..side * side).map(|n| u8::from(n % 251 != 0) + 1).collect();
    array.write([0..side, 0..side], &bytes).expect("writes");
    (store, array)
}

fn compared(one: &Counted, other: &Counted) -> (DiffSummary, Vec<Value>, Vec<String>) {
    let stores: [Arc<dyn Store>; 2] = [one.clone(), other.clone()];
    let [one, other] = ["one", "other"];
    let (mut documents, mut lines) = (Vec::new(), Vec::new());
    let mut summary = None;
    for as_json in [true, false] {
        let one = DiffNode::new(&stores[0], Prefix::root(), one);
        let other = DiffNode::new(&stores[1], Prefix::root(), other);
        let found = diff(&one, &other, false, &mut |event| {
            if let DiffEvent::Difference(found) = event {
                match as_json {
                    true => documents.push(found.json(|error| error.to_string())),
                    false => lines.push(found.line(|error| error.to_string())),
                }
            }
            ControlFlow::Continue(())
        });
        summary = Some(found.expect("compares"));
    }
    documents.retain(|found| found["what"] != "chunk_grid" && found["what"] != "codecs");
    lines.retain(|line| !line.starts_with("chunk_grid") && !line.starts_with("codecs"));
    (summary.expect("a summary"), documents, lines)
}

/// The bytes of all chunks.
fn stored(store: &Counted) -> u64 {
    let keys = store.list(&Prefix::root(), Links::Follow).map(|key| key.expect("lists"));
    let chunks = keys.filter(|key| key.as_str().starts_with("c/"));
    chunks.map(|key| store.head(&key).expect("looks").expect("a chunk").size).sum()
}

/// Six pieces of rows, each of which touches all columns.
#[test]
fn rows_and_columns_are_read_once() {
    let zstd = || vec![Codec::bytes(), Codec::zstd(1)];
    let (one, _) = square(SIDE, [20, SIDE], zstd());
    let (other, columns) = square(SIDE, [SIDE, 20], zstd());
    one.taken();
    other.taken();
    let (summary, found, _) = compared(&one, &other);
    assert_eq!((summary.elements, summary.different, found.len()), (SIDE * SIDE, 0, 0));
    // Twice, as the helper compares twice.
    assert_eq!([one.taken()[0], other.taken()[0]], [&one, &other].map(|store| 2 * stored(store)));
    // One tile is read again.
    columns.write([7..9, 551..554], &[9; 6]).expect("writes");
    one.taken();
    other.taken();
    let (summary, found, lines) = compared(&one, &other);
    assert_eq!((summary.elements, summary.different), (SIDE * SIDE, 1));
    assert_eq!(found[0]["different"], 6);
    assert_eq!(found[0]["first"]["index"], json!([7, 551]));
    assert_eq!(found[0]["regions"], json!(["7:9,551:554"]));
    assert!(lines[0].contains(", all in 7:9,551:554"), "{lines:?}");
    for store in [&one, &other] {
        let (read, all) = (store.taken()[0], stored(store));
        assert!(read > 2 * all && read <= 3 * all + 2 * 600, "{read} of {all}");
    }
}

/// Many tiles differ, of elements of both kinds: what differs is read a second time, and no more.
#[test]
fn what_differs_is_read_twice() {
    let zstd = || vec![Codec::bytes(), Codec::zstd(1)];
    for distance in [1, 7, 611, 9973] {
        let (one, _) = square(SIDE, [20, SIDE], zstd());
        let (other, columns) = square(SIDE, [SIDE, 20], zstd());
        let mut bytes = columns.read([0..SIDE, 0..SIDE]).expect("reads");
        bytes.iter_mut().step_by(distance).for_each(|byte| *byte += 3);
        columns.write([0..SIDE, 0..SIDE], &bytes).expect("writes");
        one.taken();
        other.taken();
        let (summary, found, _) = compared(&one, &other);
        assert_eq!(summary.elements, SIDE * SIDE);
        assert_eq!(found[0]["different"], (SIDE * SIDE).div_ceil(distance as u64));
        assert_eq!(found[0]["first"]["index"], json!([0, 0]));
        // Twice, as the helper compares twice.
        let read = [one.taken()[0], other.taken()[0]];
        let all = [&one, &other].map(|store| 4 * stored(store));
        assert!(read[0] <= all[0] && read[1] <= all[1], "{read:?} of {all:?}");
    }
    let texts = |chunks: [u64; 2], changed: u64| {
        let store = Counted::new(CountedChunks::new(MemoryStore::new()));
        let builder = ArrayBuilder::new([60, 60], DataType::String).chunk_shape(chunks);
        let shared: Arc<dyn Store> = store.clone();
        let metadata = builder.build().expect("a document");
        let array = Array::create(shared, &Prefix::root(), metadata).expect("creates");
        let text = |n: u64| "é".repeat((n % 5) as usize) + if n % 7 < changed { "x" } else { "" };
        let texts: Vec<String> = (0..3600).map(text).collect();
        array.write_as::<String>([0..60, 0..60], &texts).expect("writes");
        store
    };
    let (one, other) = (texts([1, 60], 0), texts([60, 1], 1));
    one.taken();
    other.taken();
    let (summary, found, _) = compared(&one, &other);
    assert_eq!((summary.elements, &found[0]["different"]), (3600, &json!(515)));
    let read = [one.taken()[0], other.taken()[0]];
    assert!(read[0] <= 4 * stored(&one) && read[1] <= 4 * stored(&other), "{read:?}");
}

/// In pieces, by sums, and of few chunks: the others are still compared.
#[test]
fn a_damaged_chunk_is_named_and_the_others_are_compared() {
    let chains = || vec![Codec::bytes(), Codec::Crc32c];
    for (mine, theirs) in [([10, 40], [10, 40]), ([10, 40], [40, 10]), ([7, 9], [10, 10])] {
        let (one, _) = square(40, mine, chains());
        let (other, array) = square(40, theirs, chains());
        array.write([39..40, 39..40], &[7]).expect("writes");
        let key = Key::new("c/0/0").expect("a key");
        let mut chunk = one.read(&key).expect("reads").expect("a chunk");
        chunk[3] ^= 1;
        one.put(&key, &chunk).expect("puts");
        let (summary, found, lines) = compared(&one, &other);
        assert_eq!(
            (summary.not_compared, summary.different),
            (1, 1),
            "{mine:?} {theirs:?} {found:?}"
        );
        assert_eq!(summary.elements, 1600 - mine[0] * mine[1]);
        assert_eq!(found.len(), 2, "{found:?}");
        let unread = found.iter().find(|found| found["what"] == "not compared").expect("one");
        assert!(unread["reason"].as_str().expect("text").contains("chunk c/0/0: "), "{unread}");
        let values = found.iter().find(|found| found["what"] == "values").expect("one");
        assert_eq!(values["regions"], json!(["39:40,39:40"]));
        assert!(lines.iter().any(|line| line.starts_with("values: 1 of ")), "{lines:?}");
    }
}

/// Against a loop, for arrays whose chunks cross, with more than one piece.
#[test]
fn the_numbers_are_those_of_a_loop() {
    for (mine, theirs) in [([1, 30], [30, 1]), ([4, 7], [5, 3]), ([30, 30], [1, 1])] {
        let (one, ours) = square(30, mine, vec![Codec::bytes()]);
        let (other, array) = square(30, theirs, vec![Codec::bytes()]);
        for n in 0..20_u64 {
            let (row, column) = (n * 7 % 30, n * n % 30);
            array.write([row..row + 1, column..column + 1], &[3]).expect("writes");
        }
        let (ours, theirs) = (ours.read([0..30, 0..30]), array.read([0..30, 0..30]));
        let (ours, theirs) = (ours.expect("reads"), theirs.expect("reads"));
        let different: Vec<usize> = (0..900).filter(|at| ours[*at] != theirs[*at]).collect();
        let (summary, found, _) = compared(&one, &other);
        assert_eq!(summary.elements, 900);
        assert_eq!(found[0]["different"], different.len());
        assert_eq!(found[0]["first"]["index"], json!([different[0] / 30, different[0] % 30]));
    }
}

/// Another process begins to replace the array after its document was read.
#[test]
fn an_array_that_is_replaced_meanwhile_is_not_compared() {
    let (one, _) = square(20, [20, 20], vec![Codec::bytes()]);
    let (other, _) = square(20, [20, 20], vec![Codec::bytes()]);
    let stores: [Arc<dyn Store>; 2] = [one, other];
    let [ours, theirs] =
        [0, 1].map(|number| DiffNode::new(&stores[number], Prefix::root(), "a node"));
    let marker = Key::new("zarr-kit-copy.json").expect("a key");
    let mut found = Vec::new();
    let summary = diff(&ours, &theirs, false, &mut |event| {
        match event {
            DiffEvent::Progress { .. } => stores[1].put(&marker, b"{}").expect("puts"),
            DiffEvent::Difference(difference) => {
                found.push(difference.line(|error| error.to_string()));
            }
        }
        ControlFlow::Continue(())
    });
    assert_eq!(summary.expect("compares").not_compared, 1);
    assert!(found[0].contains("an unfinished copy"), "{found:?}");
}
