//! Partial writes of shards: the bytes that they leave are those of a write of the whole shard, and
//! inner chunks that do not change are not read.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use zarr_array::store::{
    AsyncStore, Key, Layer, LocalStore, MemoryStore, ObjectMeta, Operation, Prefix, Rewrite,
    RewritePiece, Store, StoreError, StoreExt as _,
};
use zarr_array::{Array, Points, Selection};
use zarr_codec::Scratch;
use zarr_metadata::{ArrayBuilder, ArrayMetadata, Codec, DataType};
use zarr_store_tests::CountedChunks;
use zarr_zip::ZipStore;

use super::needed::{Random, SHAPE, layouts};
use super::{BYTES, CRC32C, GZIP, TRANSPOSE, shard};

mod stores;

use stores::{Conditional, stores};

/// A shard is put once, however many inner chunks change, and appended rows read no more than the
/// index and the inner chunks that they fill up.
#[test]
fn an_append_moves_what_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let codecs = format!("[{}]", shard("[4, 6]", &format!("[{BYTES}, {GZIP}]"), "end"));
    let inner = LocalStore::create(folder.path()).expect("a store");
    let store = Arc::new(CountedChunks::new(inner));
    let metadata = metadata(&codecs, "uint16", "0");
    let array = Array::create(store.clone(), &Prefix::root(), metadata.clone()).expect("creates");
    let array = array.resize([8, 36]).expect("shrinks");
    let model: Vec<u16> = (0..1440).map(|n| n * 45 + 1).collect();
    let rows = |rows: std::ops::Range<usize>| &model[rows.start * 36..rows.end * 36];
    array.write_as(Selection::whole(&[8, 36]), rows(0..8)).expect("writes");
    let counts = || store.taken();
    let index = 60 * 16 + 4;
    counts();
    let array = array.append_as(0, 4, rows(8..12)).expect("appends");
    assert_eq!(counts(), [index, 1], "whole inner chunks");
    let array = array.append_as(0, 25, rows(12..37)).expect("appends");
    assert_eq!(counts(), [index, 1], "whole ones, and parts of new ones");
    let object = store.inner.read(&key()).unwrap().unwrap();
    let codec = array.chunk_codec(&SHAPE).unwrap();
    let shard = codec.fixed().unwrap().shard().unwrap();
    let stored = shard.read_index(&object, &mut Scratch::new()).unwrap();
    let last = (54..60).map(|number| stored.range(number).unwrap()).map(|r| r.end - r.start);
    let array = array.append_as(0, 3, rows(37..40)).expect("appends");
    assert_eq!(counts(), [index + last.sum::<u64>(), 1], "parts of old ones");
    assert!(array.read_as::<u16>(Selection::whole(&SHAPE)).expect("reads") == model);
    assert!(store.inner.read(&key()).unwrap() == written_whole(&metadata, &model));
}

/// Puts another shard before a read of this number.
#[derive(Debug)]
struct Replacing {
    inner: LocalStore,
    /// Whether it assembles files of ranges.
    rewrites: bool,
    reads: AtomicUsize,
    at: usize,
    other: Vec<u8>,
}

impl Layer for Replacing {
    type Inner = LocalStore;

    fn inner(&self) -> &LocalStore {
        &self.inner
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn pass<T>(
        &self,
        operation: Operation,
        name: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if operation == Operation::Get
            && name == key().as_str()
            && self.reads.fetch_add(1, Ordering::Relaxed) == self.at
        {
            self.inner.put(&key(), &self.other)?;
        }
        work()
    }

    fn rewrite(
        &self,
        key: &Key,
        expected: &ObjectMeta,
        pieces: &[RewritePiece<'_>],
    ) -> Result<Rewrite, StoreError> {
        match self.rewrites {
            true => Store::rewrite(&self.inner, key, expected, pieces),
            false => Ok(Rewrite::Unsupported),
        }
    }
}

/// What another program puts without a lock, while a write reads, is kept but for the written
/// elements.
#[test]
fn a_shard_that_is_replaced_between_two_reads_is_read_again() {
    let codecs = format!("[{}]", shard("[4, 6]", &format!("[{BYTES}, {GZIP}]"), "end"));
    let metadata = metadata(&codecs, "uint16", "0");
    let first: Vec<u16> = (0..1440).map(|n| n * 45).collect();
    let other: Vec<u16> = (0..1440).map(|n| n / 100).collect();
    for (rewrites, at) in [(true, 0), (true, 1), (false, 0), (false, 1), (false, 2)] {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Arc::new(Replacing {
            inner: LocalStore::create(folder.path()).expect("a store"),
            rewrites,
            reads: AtomicUsize::new(usize::MAX - 100),
            at,
            other: written_whole(&metadata, &other).expect("not empty"),
        });
        let array = Array::create(store.clone(), &Prefix::root(), metadata.clone()).unwrap();
        array.write_as(Selection::whole(&SHAPE), &first).expect("writes");
        store.reads.store(0, Ordering::Relaxed);
        array.write_as([1..2, 1..2], &[65_535_u16]).expect("writes");
        assert!(store.reads.load(Ordering::Relaxed) > at + 1, "{rewrites} {at}");
        let mut expected = other.clone();
        expected[37] = 65_535;
        let found = array.read_as::<u16>(Selection::whole(&SHAPE)).expect("reads");
        assert!(found == expected, "{rewrites} {at}");
    }
}

#[test]
fn a_shard_that_is_replaced_before_the_conditional_put_is_read_again() {
    let codecs = format!("[{}]", shard("[4, 6]", &format!("[{BYTES}, {GZIP}]"), "end"));
    let metadata = metadata(&codecs, "uint16", "0");
    let store = Arc::new(Conditional::default());
    let array = Array::create(store.clone(), &Prefix::root(), metadata.clone()).expect("creates");
    array.write_as(Selection::whole(&SHAPE), &[3_u16; 1440]).expect("writes");
    let mut expected: Vec<u16> = (0..1440).map(|n| n / 100).collect();
    *store.other.lock().expect("no panic") = written_whole(&metadata, &expected);
    array.write_as([1..2, 1..2], &[65_535_u16]).expect("writes");
    expected[37] = 65_535;
    assert!(array.read_as::<u16>(Selection::whole(&SHAPE)).expect("reads") == expected);
}

fn metadata(codecs: &str, data_type: &str, fill: &str) -> ArrayMetadata {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [40, 36], "data_type": "{data_type}",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [40, 36]}}}},
        "chunk_key_encoding": {{"name": "default"}}, "fill_value": {fill}, "codecs": {codecs}}}"#
    );
    ArrayMetadata::from_json(document.as_bytes()).expect("valid")
}

fn key() -> Key {
    Key::new("c/0/0").expect("a key")
}

/// The shard that a write of all elements makes.
fn written_whole(metadata: &ArrayMetadata, model: &[u16]) -> Option<Vec<u8>> {
    let store = Arc::new(MemoryStore::new());
    let array = Array::create(store.clone(), &Prefix::root(), metadata.clone()).expect("creates");
    array.write_as(Selection::whole(&SHAPE), model).expect("writes");
    store.read(&key()).expect("reads")
}

#[test]
fn a_shard_changed_in_parts_is_one_written_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    for (number, (codecs, ..)) in layouts().into_iter().enumerate() {
        let metadata = metadata(&codecs, "uint16", "7");
        let place = |name: &str| folder.path().join(format!("{number}{name}"));
        let archive = ZipStore::create(place(".zip")).expect("an archive");
        let session = archive.session().expect("begins").expect("has sessions");
        let session = Arc::clone(session.store());
        for store in stores(&place("")).into_iter().chain([session]) {
            let mut random = Random(3);
            let array = Array::create(store.clone(), &Prefix::root(), metadata.clone()).unwrap();
            // Several threads encode the inner chunks of one shard.
            let array = array.with_threads(NonZeroUsize::new(3).expect("not 0"));
            let mut model = vec![7_u16; 40 * 36];
            for round in 0..80_u16 {
                // Fill values at times, so that inner chunks and the shard are left out again.
                let value = if round % 4 == 3 { 7 } else { 1000 + round };
                if round % 3 == 0 {
                    let count = random.below(9) + 1;
                    let axes = [0, 1].map(|axis| {
                        (0..count).map(|_| random.below(SHAPE[axis])).collect::<Vec<u64>>()
                    });
                    let new: Vec<u16> =
                        (0..count).map(|at| value + at as u16 * u16::from(value != 7)).collect();
                    for ((row, column), new) in axes[0].iter().zip(&axes[1]).zip(&new) {
                        model[(row * 36 + column) as usize] = *new;
                    }
                    array.write_as(Points::from(axes), &new).expect("writes");
                } else {
                    let axes = match round % 20 {
                        19 => [(0..40).into(), (0..36).into()],
                        _ => [random.axis(40), random.axis(36)],
                    };
                    let [rows, columns]: [Vec<u64>; 2] =
                        axes.each_ref().map(|axis| axis.indices().collect());
                    let mut new = Vec::new();
                    for (at, row) in rows.iter().enumerate() {
                        for (across, column) in columns.iter().enumerate() {
                            let value =
                                if value == 7 { 7 } else { value + (at * 5 + across) as u16 };
                            new.push(value);
                            model[(row * 36 + column) as usize] = value;
                        }
                    }
                    array.write_as(Selection::from(axes), &new).expect("writes");
                }
                let found = store.read(&key()).expect("reads");
                let expected = written_whole(&metadata, &model);
                // What only conditional puts protect cannot be deleted: an empty shard stays.
                let is_kept = expected.is_none() && Store::capabilities(&*store).conditional_put;
                assert!(found == expected || is_kept, "{codecs} {round}");
                assert!(array.read_as::<u16>(Selection::whole(&SHAPE)).expect("reads") == model);
            }
        }
    }
}

#[test]
fn only_inner_chunks_that_change_in_part_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let codecs = format!("[{}]", shard("[4, 6]", &format!("[{BYTES}, {GZIP}]"), "end"));
    let inner = LocalStore::create(folder.path()).expect("a store");
    let store = Arc::new(CountedChunks::new(inner));
    let array = Array::create(store.clone(), &Prefix::root(), metadata(&codecs, "uint16", "0"));
    let array = array.expect("creates");
    let model: Vec<u16> = (0..1440).map(|n| n * 45).collect();
    array.write_as(Selection::whole(&SHAPE), &model).expect("writes");
    let index = 60 * 16 + 4;
    let inner_len = |number: usize| {
        let object = store.inner.read(&key()).unwrap().unwrap();
        let codec = array.chunk_codec(&SHAPE).unwrap();
        let shard = codec.fixed().unwrap().shard().unwrap();
        let range = shard.read_index(&object, &mut Scratch::new()).unwrap().range(number).unwrap();
        range.end - range.start
    };
    let taken = || store.taken()[0];
    taken();
    array.write_as([8..12, 12..18], &[9_u16; 24]).expect("writes");
    assert_eq!(taken(), index, "a whole inner chunk");
    let part = inner_len(13);
    array.write_as([8..10, 6..12], &[9_u16; 12]).expect("writes");
    assert_eq!(taken(), index + part, "a part of one");
    let parts = inner_len(0) + inner_len(59);
    array.write_as(Points::from([[0, 39], [0, 35]]), &[1_u16, 2]).expect("writes");
    assert_eq!(taken(), index + parts, "two points");
}

/// Damage is found where it matters, and elsewhere stays what it is.
#[test]
fn a_damaged_inner_chunk_moves_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let codecs = format!("[{}]", shard("[4, 6]", &format!("[{BYTES}, {CRC32C}]"), "start"));
    for store in stores(folder.path()) {
        let array = Array::create(store.clone(), &Prefix::root(), metadata(&codecs, "uint16", "0"));
        let array = array.expect("creates");
        array.write_as(Selection::whole(&SHAPE), &vec![5_u16; 1440]).expect("writes");
        let mut object = store.read(&key()).unwrap().unwrap();
        let start = 60 * 16 + 4;
        object[start + 3] ^= 1;
        store.put(&key(), &object).expect("puts");
        array.write_as([8..9, 8..9], &[6_u16]).expect("another inner chunk");
        assert!(array.read([0..4, 0..6]).is_err());
        assert_eq!(
            store.read(&key()).unwrap().unwrap()[start..start + 52],
            object[start..start + 52]
        );
        let error = array.write_as([0..1, 0..1], &[6_u16]).expect_err("damaged").to_string();
        assert!(error.contains("inner chunk [0, 0]") || error.contains("[0, 0]"), "{error}");
        array.write_as([0..4, 0..6], &[6_u16; 24]).expect("replaces all of it");
        assert_eq!(array.read_as::<u16>([3..4, 5..7]).expect("reads"), [6, 5]);
        // An index that is wrong is refused before anything is written.
        let mut object = store.read(&key()).unwrap().unwrap();
        object[7] ^= 1;
        store.put(&key(), &object).expect("puts");
        assert!(array.write_as([8..9, 8..9], &[7_u16]).is_err());
        assert!(store.read(&key()).unwrap().unwrap() == object);
    }
}

/// Entries that share bytes, in any order, as an index may say: they are moved once.
#[test]
fn shared_bytes_are_moved_once() {
    let codecs = [Codec::sharding([2], [Codec::bytes()])];
    let metadata = ArrayBuilder::new([40], DataType::Uint8).chunk_shape([40]).codecs(codecs);
    let folder = tempfile::tempdir().expect("a folder");
    for store in stores(folder.path()) {
        let metadata = metadata.clone().build().expect("valid");
        let array = Array::create(store.clone(), &Prefix::root(), metadata).expect("creates");
        let key = Key::new("c/0").unwrap();
        let mut random = Random(5);
        for _ in 0..50 {
            let bytes: Vec<u8> = (10..22).collect();
            let offsets: Vec<u64> = (0..20).map(|_| random.below(11)).collect();
            let entries = offsets.iter().flat_map(|at| [*at, 2]).flat_map(u64::to_le_bytes);
            let mut object: Vec<u8> = bytes.iter().copied().chain(entries).collect();
            let checksum = crc32c(&object[12..]);
            object.extend(checksum.to_le_bytes());
            store.put(&key, &object).expect("puts");
            let changed = random.below(20);
            let wanted: Vec<u8> = offsets
                .iter()
                .zip(0..)
                .flat_map(|(at, number)| match number == changed {
                    true => [77, 78],
                    false => [10 + *at as u8, 11 + *at as u8],
                })
                .collect();
            array.write(changed * 2..changed * 2 + 2, &[77, 78]).expect("writes");
            assert_eq!(array.read(0..40).expect("reads"), wanted, "{offsets:?}");
            let used: BTreeSet<u64> = offsets.iter().flat_map(|at| [*at, at + 1]).collect();
            let most = used.len() + 2 + 20 * 16 + 4;
            let len = store.read(&key).unwrap().unwrap().len();
            assert!(len <= most, "{len} of {most}: {offsets:?}");
        }
    }
}

/// The checksum of the specification, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { sum >> 1 ^ 0x82f6_3b78 } else { sum >> 1 }
        })
    })
}

/// Strings, appends and resizes change inner chunks, too.
#[test]
fn shards_of_strings_and_resized_shards_are_those_written_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let vlen = r#"["vlen-utf8"]"#;
    let strings = [
        format!("[{}]", shard("[4, 6]", vlen, "end")),
        format!("[{TRANSPOSE}, {}]", shard("[6, 4]", vlen, "start")),
    ];
    for (number, codecs) in strings.into_iter().enumerate() {
        let store =
            Arc::new(LocalStore::create(folder.path().join(number.to_string())).expect("a store"));
        let array =
            Array::create(store.clone(), &Prefix::root(), metadata(&codecs, "string", "\"\""));
        let array = array.expect("creates");
        let mut model = vec![String::new(); 1440];
        let mut random = Random(9);
        for round in 0..40 {
            let axes = [random.axis(40), random.axis(36)];
            let [rows, columns]: [Vec<u64>; 2] =
                axes.each_ref().map(|axis| axis.indices().collect());
            let mut new = Vec::new();
            for row in &rows {
                for column in &columns {
                    let text =
                        if round % 4 == 3 { String::new() } else { format!("{round} {row}") };
                    model[(row * 36 + column) as usize] = text.clone();
                    new.push(text);
                }
            }
            array.write_as(Selection::from(axes), &new).expect("writes");
            let read = array.read_as::<String>(Selection::whole(&SHAPE)).expect("reads");
            assert!(read.iter().eq(model.iter().map(String::as_str)), "{codecs} {round}");
            let other = Arc::new(MemoryStore::new());
            let whole =
                Array::create(other.clone(), &Prefix::root(), array.metadata().clone()).unwrap();
            whole.write_as(Selection::whole(&SHAPE), &model).expect("writes");
            assert!(store.read(&key()).unwrap() == other.read(&key()).unwrap(), "{codecs} {round}");
        }
    }
    for (number, (codecs, ..)) in layouts().into_iter().enumerate() {
        let metadata = metadata(&codecs, "uint16", "7");
        let store = Arc::new(
            LocalStore::create(folder.path().join(format!("resized {number}"))).expect("a store"),
        );
        let array = Array::create(store.clone(), &Prefix::root(), metadata.clone()).unwrap();
        let mut model: Vec<u16> = (0..1440).collect();
        array.write_as(Selection::whole(&SHAPE), &model).expect("writes");
        let array = array.resize([13, 20]).expect("shrinks");
        let array = array.resize(SHAPE).expect("grows");
        for (at, value) in model.iter_mut().enumerate() {
            if at / 36 >= 13 || at % 36 >= 20 {
                *value = 7;
            }
        }
        assert!(
            array.read_as::<u16>(Selection::whole(&SHAPE)).expect("reads") == model,
            "{codecs}"
        );
        assert!(store.read(&key()).unwrap() == written_whole(&metadata, &model), "{codecs}");
    }
}
