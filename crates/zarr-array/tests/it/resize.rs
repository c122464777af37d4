//! Arrays that grow and shrink, and what they show afterwards.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use zarr_array::store::{
    AsyncStore, Fault, FaultStore, Layer, Links, MemoryStore, Operation, Prefix, Store, StoreError,
};
use zarr_array::{Array, ArrayError, Group, Resize, Selection};
use zarr_check::{CheckOptions, Severity, check};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, DataType, GroupMetadata};
use zarr_store_tests::sampled;

fn create(store: Arc<dyn Store>, grid: &str) -> Array {
    create_with(store, grid, r#"[{"name": "bytes"}]"#)
}

fn create_with(store: Arc<dyn Store>, grid: &str, codecs: &str) -> Array {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [6, 5], "data_type": "uint8",
        "chunk_grid": {grid}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": 0,
        "codecs": {codecs}, "attributes": {{"kept": 1.50}}}}"#
    );
    let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    array.with_threads(NonZeroUsize::MIN)
}

const REGULAR: &str = r#"{"name": "regular", "configuration": {"chunk_shape": [4, 3]}}"#;
const RECTILINEAR: &str = r#"{"name": "rectilinear", "configuration": {"kind": "inline",
    "chunk_shapes": [[2, 3, 3], 3]}}"#;

fn read(array: &Array) -> Vec<u8> {
    array.read(Selection::whole(array.shape())).expect("reads")
}

#[test]
fn sd_08_keep_shows_old_data_again_and_discard_the_fill_value() {
    for grid in [REGULAR, RECTILINEAR] {
        for rows in 0..=8 {
            for columns in 0..=7 {
                for keep in [true, false] {
                    let store = Arc::new(MemoryStore::new());
                    let array = create(store.clone(), grid);
                    array.write(Selection::whole(&[6, 5]), &[7; 30]).expect("writes");
                    let small =
                        array.resize(Resize::to([rows, columns]).keep(keep)).expect("resizes");
                    let inside = |row: u64, column: u64| row < 6 && column < 5;
                    let expected: Vec<u8> = (0..rows)
                        .flat_map(|row| (0..columns).map(move |column| (row, column)))
                        .map(|(row, column)| if inside(row, column) { 7 } else { 0 })
                        .collect();
                    assert_eq!(read(&small), expected);
                    let reopened = Array::open(store.clone(), &Prefix::root()).expect("opens");
                    assert_eq!(reopened.shape(), [rows, columns]);
                    assert_eq!(reopened.metadata().attributes(), r#"{"kept": 1.50}"#);

                    let back = small.resize(Resize::to([6, 5]).keep(true)).expect("resizes");
                    let kept = |row, column| keep || row < rows && column < columns;
                    let expected: Vec<u8> = (0..6)
                        .flat_map(|row| (0..5).map(move |column| (row, column)))
                        .map(|(row, column)| if kept(row, column) { 7 } else { 0 })
                        .collect();
                    assert_eq!(read(&back), expected, "{grid} {rows} {columns} {keep}");
                }
            }
        }
    }
}

#[test]
fn sd_08_growth_takes_new_edges_or_repeats_the_last() {
    let resized = |to| create(Arc::new(MemoryStore::new()), RECTILINEAR).resize(to);
    let document = |to| resized(to).expect("resizes").metadata().chunk_grid().to_json();
    let refused = |to| {
        let error = resized(to).expect_err("no such grid");
        assert!(
            matches!(
                error,
                ArrayError::Grid { .. } | ArrayError::Axis { .. } | ArrayError::Axes { .. }
            ),
            "{error:?}"
        );
        error.to_string()
    };
    let shown = [
        document([8, 5].into()),
        document([9, 5].into()),
        document([20, 9].into()),
        document(Resize::to([13, 5]).edges(0, [5])),
        refused(Resize::to([14, 5]).edges(0, [5])),
        refused(Resize::to([7, 5]).edges(0, [5])),
        refused(Resize::to([6, 8]).edges(1, [2])),
        document([2, 5].into()),
        refused([2].into()),
        refused(Resize::to([2, 5]).edges(2, [1])),
    ];
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn sd_08_overflow_that_an_earlier_shape_left_is_discarded_too() {
    let store = Arc::new(MemoryStore::new());
    let array = create(store, REGULAR);
    array.write(Selection::whole(&[6, 5]), &[7; 30]).expect("writes");
    let array = array.resize(Resize::to([5, 5]).keep(true)).expect("resizes");
    let array = array.resize([4, 4]).expect("resizes");
    let array = array.resize(Resize::to([6, 5]).keep(true)).expect("resizes");
    let expected: Vec<u8> =
        (0..30).map(|at| if at / 5 < 4 && at % 5 < 4 { 7 } else { 0 }).collect();
    assert_eq!(read(&array), expected);
}

#[test]
fn sd_08_the_document_is_written_first() {
    let steps = {
        let store = Arc::new(FaultStore::new(MemoryStore::new()));
        let array = create(store.clone(), RECTILINEAR);
        array.write(Selection::whole(&[6, 5]), &[7; 30]).expect("writes");
        let begun = store.operations();
        array.resize([3, 4]).expect("resizes");
        begun..store.operations()
    };
    for step in steps.clone() {
        let inner = MemoryStore::new();
        let store = Arc::new(FaultStore::new(inner.clone()).at(step, Fault::DieBefore));
        let array = create(store, RECTILINEAR);
        array.write(Selection::whole(&[6, 5]), &[7; 30]).expect("writes");
        let chunks = || {
            let keys = inner.list(&Prefix::root(), Links::Follow);
            keys.inspect(|key| assert!(key.is_ok(), "{key:?}")).count()
        };
        let before = chunks();
        let failed = array.resize([3, 4]).expect_err("dies");
        let now = Array::open(Arc::new(inner.clone()), &Prefix::root()).expect("opens");
        let old = now.shape() == [6, 5];
        // The lock, reading the document, writing it.
        assert_eq!(old, step - steps.start < 3);
        assert!(!old || chunks() == before);
        assert_eq!(matches!(failed, ArrayError::Undiscarded { .. }), !old, "{failed}");
        // Elements that the array still has are unchanged, and calling again finishes.
        let (rows, columns) = (now.shape()[0], now.shape()[1]);
        assert_eq!(read(&now), vec![7; usize::try_from(rows * columns).expect("small")]);
        let done = now.resize([3, 4]).expect("resizes");
        let back = done.resize(Resize::to([6, 5]).keep(true)).expect("resizes");
        let expected: Vec<u8> =
            (0..30).map(|at| if at / 5 < 3 && at % 5 < 4 { 7 } else { 0 }).collect();
        assert_eq!(read(&back), expected);
    }
}

const SHARDS: &str = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 1],
    "codecs": [{"name": "bytes"}, {"name": "crc32c"}],
    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]"#;
const CHECKED: &str = r#"[{"name": "bytes"}, {"name": "crc32c"}]"#;

/// All elements as `row * columns + column + seed`.
fn numbers(shape: &[u64], seed: u8) -> Vec<u8> {
    (0..shape.iter().product()).map(|n| u8::try_from(n).expect("small") + seed).collect()
}

/// Every box of an array, as rows and columns.
fn boxes(shape: &[u64]) -> Vec<[std::ops::Range<u64>; 2]> {
    let ranges = |length: u64| {
        (0..length).flat_map(move |start| (start + 1..=length).map(move |end| start..end))
    };
    ranges(shape[0])
        .flat_map(|rows| ranges(shape[1]).map(move |columns| [rows.clone(), columns]))
        .collect()
}

/// A handle that was opened before an append, writing after it or between its steps.
#[test]
fn sd_08_a_write_by_an_older_handle_keeps_what_was_appended() {
    let appends: [(usize, u64, [u64; 2]); 3] = [(0, 2, [8, 5]), (0, 5, [11, 5]), (1, 3, [6, 8])];
    for (grid, codecs) in [(REGULAR, CHECKED), (RECTILINEAR, CHECKED), (REGULAR, SHARDS)] {
        for (axis, count, shape) in appends {
            let mut slab = [6, 5];
            slab[axis] = count;
            let appended = numbers(&slab, 100);
            // The content of the store after the append, and just before its last step.
            let prepare = |until: Option<u64>| {
                let inner = MemoryStore::new();
                let old = create_with(Arc::new(inner.clone()), grid, codecs);
                old.write(Selection::whole(&[6, 5]), &numbers(&[6, 5], 0)).expect("writes");
                let store = FaultStore::new(inner.clone());
                let store = match until {
                    Some(number) => store.at(number, Fault::DieBefore),
                    None => store,
                };
                let store = Arc::new(store);
                let writer = Array::open(store.clone(), &Prefix::root()).expect("opens");
                let writer = writer.with_threads(NonZeroUsize::MIN);
                let outcome = writer.append(axis, count, &appended);
                assert_eq!(outcome.is_err(), until.is_some());
                (inner, old, store.operations())
            };
            let (_, _, operations) = prepare(None);
            // Of the 15 ranges of columns, other ones for each range of rows.
            for region in boxes(&[6, 5]).into_iter().step_by(sampled(4)) {
                for last in [None, Some(operations - 1)] {
                    let (inner, old, _) = prepare(last);
                    let region = Selection::from(region.clone());
                    let new = vec![
                        99;
                        usize::try_from(region.elements().expect("small"))
                            .expect("small")
                    ];
                    old.write(&region, &new).expect("writes");
                    // The last step of the append, if it has not happened yet.
                    let now = Array::open(Arc::new(inner.clone()), &Prefix::root()).expect("opens");
                    let now = now.resize(Resize::to(shape).keep(true)).expect("resizes");
                    let expected = MemoryStore::new();
                    let expected = create_with(Arc::new(expected), grid, codecs);
                    expected
                        .write(Selection::whole(&[6, 5]), &numbers(&[6, 5], 0))
                        .expect("writes");
                    let expected = expected.append(axis, count, &appended).expect("appends");
                    expected.write(&region, &new).expect("writes");
                    assert_eq!(read(&now), read(&expected), "{grid} {codecs} {region:?} {last:?}");
                }
            }
        }
    }
}

/// A write does not ask for the document again. What a handle that is older than a shrink writes past
/// the end belongs to no array until it grows: `check` names it, and how it is removed.
#[test]
fn sd_08_an_older_handle_writes_past_a_new_end() {
    let store = Arc::new(MemoryStore::new());
    let old = create(store.clone(), REGULAR);
    old.write(Selection::whole(&[6, 5]), &[1; 30]).expect("writes");
    let small = old.resize([2, 5]).expect("resizes");
    // A chunk that the new end cuts, and one that is wholly past it.
    old.write((0..4, 0..3), &[2; 12]).expect("writes");
    old.write((5..6, 0..5), &[3; 5]).expect("writes");
    assert_eq!(read(&small), [2, 2, 2, 1, 1, 2, 2, 2, 1, 1]);
    let found = || {
        let mut found = Vec::new();
        let shared: Arc<dyn Store> = store.clone();
        let options = CheckOptions::new().data(true);
        check(&shared, &Prefix::root(), &options, &mut |finding| {
            let is_told = finding.message().contains("a resize to the array's own shape");
            found.push((finding.id(), finding.severity(), is_told));
        })
        .expect("checks");
        found
    };
    assert_eq!(
        found(),
        [
            ("elements-past-end", Severity::Note, true),
            ("chunk-outside-grid", Severity::Warning, true),
            ("chunk-outside-grid", Severity::Warning, true),
        ]
    );
    let small = small.resize([2, 5]).expect("resizes");
    assert_eq!(found(), []);
    let grown = small.resize(Resize::to([6, 5]).keep(true)).expect("resizes");
    assert_eq!(read(&grown)[10..], [0; 20]);
}

/// What happens to a store while an operation waits.
type Meanwhile = fn(&Arc<dyn Store>);

/// Runs once, before an operation on a key.
#[derive(Debug)]
struct Before {
    inner: Arc<dyn Store>,
    operation: Operation,
    key: &'static str,
    meanwhile: Mutex<Option<Meanwhile>>,
}

impl Layer for Before {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn pass<T>(
        &self,
        operation: Operation,
        key: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if operation == self.operation && key == self.key {
            let meanwhile = self.meanwhile.lock().unwrap().take();
            meanwhile.into_iter().for_each(|meanwhile| meanwhile(&self.inner));
        }
        work()
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }
}

/// Others may append between the two steps of a resize that discards. Their elements are past the
/// end that this resize made, and stay.
#[test]
fn a_resize_that_discards_keeps_what_is_appended_after_its_document() {
    let inner: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = Group::create(inner.clone(), &Prefix::root(), GroupMetadata::new()).expect("new");
    let metadata = ArrayBuilder::new([12], DataType::Uint8).chunk_shape([4]).build();
    let array = root.create_array("a", metadata.expect("valid")).expect("creates");
    array.write(0..12, &[1; 12]).expect("writes");
    root.consolidate().expect("consolidates");
    let append = |store: &Arc<dyn Store>| {
        let prefix = Prefix::new("a").expect("a prefix");
        let array = Array::open(store.clone(), &prefix).expect("opens");
        assert_eq!(array.shape(), [4]);
        array.append(0, 4, &[2; 4]).expect("appends");
    };
    // The consolidated metadata follows when the document is unlocked.
    let before = Before {
        inner: inner.clone(),
        operation: Operation::Get,
        key: "zarr.json",
        meanwhile: Mutex::new(Some(append)),
    };
    let store: Arc<dyn Store> = Arc::new(before);
    let array = array.with_store(store);
    let resized = array.resize([4]);
    assert!(matches!(resized, Err(ArrayError::Undiscarded { .. })), "{resized:?}");
    let array = Array::open(inner, &Prefix::new("a").expect("a prefix")).expect("opens");
    assert_eq!(array.read(0..8).expect("reads"), [1, 1, 1, 1, 2, 2, 2, 2]);
}
