//! Parts of shards of strings and byte strings: the requests, the bytes, and the results.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use zarr_array::store::{Key, Prefix, Store as _, StoreExt as _};
use zarr_array::{Array, Points, Selection};

use super::{CRC32C, Counting, GZIP, TRANSPOSE, create_filled, shard};

const VLEN: &str = r#"{"name": "vlen-utf8"}"#;

/// The bytes of an index of 100 inner chunks, with its checksum.
const INDEX: u64 = 100 * 16 + 4;

/// The bytes of an inner chunk of ten strings of 100 bytes.
const INNER: u64 = 4 + 10 * 104;

/// A thousand strings of 100 bytes in one shard of 100 inner chunks.
fn thousand(codecs: &str, data_type: &str) -> (Arc<Counting>, Array, Vec<String>) {
    let fill = if data_type == "bytes" { "[]" } else { r#""""# };
    let (store, array) = create_filled("[1000]", "[1000]", data_type, codecs, fill);
    let strings: Vec<String> = (0..1000).map(|n| format!("{n:0100}")).collect();
    match data_type {
        "bytes" => {
            let bytes: Vec<&[u8]> = strings.iter().map(String::as_bytes).collect();
            array.write_as(0..1000, &bytes).expect("writes");
        }
        _ => array.write_as(0..1000, &strings).expect("writes"),
    }
    store.asked_for();
    (store, array, strings)
}

#[test]
fn one_string_of_a_shard_takes_its_index_and_one_inner_chunk() {
    for location in ["start", "end"] {
        for (data_type, codec) in [("string", VLEN), ("bytes", r#"{"name": "vlen-bytes"}"#)] {
            for after in ["", CRC32C] {
                let inner = shard("[10]", &format!("[{codec}]"), location);
                let comma = if after.is_empty() { "" } else { ", " };
                let codecs = format!("[{inner}{comma}{after}]");
                let (store, array, strings) = thousand(&codecs, data_type);
                let after = u64::from(!after.is_empty() && location == "end") * 4;
                let read = |range: std::ops::Range<u64>| {
                    let read = array.read_as::<Vec<u8>>(range.clone()).expect("reads");
                    for (found, at) in read.iter().zip(range) {
                        assert_eq!(found, strings[at as usize].as_bytes(), "{codecs}");
                    }
                    store.asked_for()
                };
                assert_eq!(read(421..422), (2, INDEX + after + INNER), "{codecs}");
                // The index is kept, and inner chunks next to each other are one range.
                assert_eq!(read(425..428), (1, INNER), "{codecs}");
                assert_eq!(read(428..432), (1, 2 * INNER), "{codecs}");
                let points = Points::from([[7, 999, 3]]);
                let read = array.read_as::<Vec<u8>>(points).expect("reads");
                assert!(read.iter().eq([7, 999, 3].map(|at: usize| strings[at].as_bytes())));
                assert_eq!(store.asked_for(), (1, 2 * INNER), "{codecs}");
            }
        }
    }
}

/// All of a shard is one request, and so is most of it, if the rest costs less than a range.
#[test]
fn almost_all_of_a_shard_of_strings_is_one_request() {
    let codecs = format!("[{}]", shard("[10]", &format!("[{VLEN}]"), "end"));
    let (store, array, _) = thousand(&codecs, "string");
    array.read_as::<String>(0..1000).expect("reads");
    let whole = INDEX + 100 * INNER;
    assert_eq!(store.asked_for(), (1, whole));
    // The inner chunks count as ten numbers each.
    let far = array.clone().with_range_cost(800);
    far.read_as::<String>(0..900).expect("reads");
    assert_eq!(store.asked_for(), (1, whole));
    array.read_as::<String>(0..900).expect("reads");
    assert_eq!(store.asked_for(), (2, INDEX + 90 * INNER));
    // A compressed shard has no parts.
    let (store, array, strings) =
        thousand(&format!("[{}, {GZIP}]", &codecs[1..codecs.len() - 1]), "string");
    assert_eq!(&array.read_as::<String>(421..422).expect("reads")[0], strings[421]);
    assert_eq!(store.asked_for().0, 1);
}

/// Inner chunks that are not stored, a shard that is not stored, and one that changes between the
/// requests.
#[test]
fn shards_of_strings_change_and_have_gaps() {
    let codecs = format!("[{}]", shard("[10]", &format!("[{VLEN}]"), "end"));
    let (store, array, strings) = thousand(&codecs, "string");
    array.write_as(20..40, &[""; 20]).expect("writes");
    store.asked_for();
    let read = |range| array.read_as::<String>(range).expect("reads");
    assert!(read(25..35).iter().all(str::is_empty));
    assert_eq!(store.asked_for(), (1, INDEX));
    assert!(read(38..42).iter().eq(["", "", &strings[40], &strings[41]]));
    // Another writer makes the shard shorter: the kept index is of another version.
    let other = Array::open(store.clone(), &Prefix::root()).expect("opens");
    other.write_as(0..900, &[""; 900]).expect("writes");
    assert_eq!(&read(950..951)[0], strings[950]);
    store.restless.store(true, Ordering::Relaxed);
    assert_eq!(&read(950..951)[0], strings[950]);
    store.restless.store(false, Ordering::Relaxed);
    store.delete(&Key::new("c/0").expect("a key")).expect("deletes");
    assert_eq!(&read(950..951)[0], "");
}

/// Every box and many lists of points, against a table.
#[test]
fn every_region_of_sharded_strings_agrees_with_a_table() {
    let nested = shard("[1, 2]", &format!("[{VLEN}]"), "start");
    let chains = [
        format!("[{}]", shard("[1, 2]", &format!("[{VLEN}]"), "end")),
        format!("[{TRANSPOSE}, {}]", shard("[2, 1]", &format!("[{VLEN}, {GZIP}]"), "start")),
        format!("[{}, {CRC32C}]", shard("[2, 2]", &format!("[{nested}]"), "end")),
    ];
    for codecs in chains {
        let (store, array) =
            create_filled("[5, 7]", "[[2, 4], [[4, 2]]]", "string", &codecs, r#""-""#);
        let table: Vec<String> = (0..35_usize)
            .map(|n| if n % 3 == 0 { "-".to_owned() } else { "x".repeat(n) })
            .collect();
        array.write_as(Selection::whole(&[5, 7]), &table).expect("writes");
        for rows in super::axis_regions(5) {
            for columns in super::axis_regions(7) {
                let region = Selection::from([rows.clone(), columns.clone()]);
                let expected = super::indices(&rows)
                    .flat_map(|row| super::indices(&columns).map(move |column| row * 7 + column));
                let plan = array.layout().plan(&region).expect("plans");
                let chunks = plan.chunks(0..plan.len()).expect("lists");
                let reads = chunks.iter().map(|chunk| chunk.reads(&array).expect("reads"));
                let planned: u64 = reads.flatten().map(|reads| reads.bytes()).sum();
                // Opened again, so that no index is cached.
                let fresh = Array::open(store.clone(), &Prefix::root()).expect("opens");
                store.taken();
                let read = fresh.with_range_cost(0).read_as::<String>(&region).expect("reads");
                assert_eq!(store.taken(), planned, "{codecs} {region:?}");
                assert!(read.iter().eq(expected.map(|at| &*table[at])), "{codecs} {region:?}");
            }
        }
        let points = Points::from([[4, 0, 3, 4], [6, 1, 3, 6]]);
        let read = array.read_as::<String>(points).expect("reads");
        assert!(read.iter().eq([34, 1, 24, 34].map(|at: usize| &*table[at])), "{codecs}");
    }
}

/// A damaged inner chunk or index is an error that names it, of the chunk that is read and no other.
#[test]
fn a_part_of_a_damaged_shard_of_strings_is_refused_or_right() {
    let codecs = format!("[{}]", shard("[10]", &format!("[{VLEN}]"), "end"));
    let (store, array, strings) = thousand(&codecs, "string");
    let key = Key::new("c/0").expect("a key");
    let whole = store.read(&key).expect("reads").expect("stored");
    let mut count = whole.clone();
    count[0] = 11; // the number of strings of the first inner chunk
    let mut index = whole.clone();
    let at = whole.len() - INDEX as usize + 3;
    index[at] = 0xff; // the offset of the first inner chunk, which the checksum protects
    let mut truncated = whole;
    truncated.truncate(INDEX as usize - 1);
    for (chunk, reads_others) in [(count, true), (index, false), (truncated, false)] {
        store.put(&key, &chunk).expect("writes");
        let error = array.read_as::<String>(0..1).expect_err("refused").to_string();
        assert!(error.contains("c/0"), "{error}");
        match array.read_as::<String>(421..422) {
            Ok(read) => assert!(reads_others && read[0] == strings[421]),
            Err(error) => assert!(!reads_others, "{error}"),
        }
    }
}
