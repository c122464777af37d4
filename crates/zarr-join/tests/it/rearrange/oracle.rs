//! Every order of some chunks, and insertion at every edge, as vectors of rows do it.

use std::ops::Range;
use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::{MemoryStore, Prefix, Store};
use zarr_join::rearrange::{Rearrangement, Span};

use super::{BYTES, SLASH, document, filled, found, rectilinear, regular, rows};

/// Every sequence of distinct numbers below `count`, the empty one too.
fn sequences(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    let mut at = 0;
    while let Some(sequence) = all.get(at).cloned() {
        for next in (0..count).filter(|next| !sequence.contains(next)) {
            let mut longer = sequence.clone();
            longer.push(next);
            all.push(longer);
        }
        at += 1;
    }
    all
}

/// The indices of each occupied chunk of an axis.
fn chunks(array: &Array, axis: usize) -> Vec<Range<u64>> {
    let axis = &array.grid().axes()[axis];
    (0..axis.occupied()).map(|chunk| axis.clipped(chunk).expect("occupied")).collect()
}

fn cases() -> Vec<String> {
    let shards = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 1],
        "codecs": [{"name": "bytes"}], "index_codecs": [{"name": "bytes",
        "configuration": {"endian": "little"}}, {"name": "crc32c"}], "index_location": "end"}}]"#;
    let v2 = |separator: char| {
        format!(r#"{{"name": "v2", "configuration": {{"separator": "{separator}"}}}}"#)
    };
    let dot = r#"{"name": "default", "configuration": {"separator": "."}}"#;
    vec![
        document(&[12], &regular(&[3]), SLASH, BYTES),
        document(&[11], &regular(&[3]), r#""default""#, BYTES),
        document(&[11], &regular(&[3]), &v2('.'), BYTES),
        document(&[10], &rectilinear("[[2, 3, 1, 4]]"), dot, BYTES),
        // Declared past the end, and cut by it.
        document(&[9], &rectilinear("[[2, 3, 1, 4, 5]]"), SLASH, BYTES),
        document(&[8, 5], &regular(&[2, 3]), SLASH, BYTES),
        document(&[4, 7], &rectilinear("[2, [3, 2, 1, 1]]"), &v2('/'), BYTES),
        document(&[5, 4], &rectilinear("[[2, 1, 2], [3, 1]]"), SLASH, shards),
    ]
}

/// Whether the last chunk on an axis reaches past the array's end.
fn overhangs(array: &Array, axis: usize) -> bool {
    let axis = &array.grid().axes()[axis];
    let end = |last| axis.start(last).zip(axis.edge(last)).map(|(start, edge)| start + edge);
    axis.occupied().checked_sub(1).and_then(end).is_some_and(|end| end != axis.extent())
}

#[test]
fn any_order_of_any_chunks_is_that_of_rows() {
    let mut done = 0;
    for document in cases() {
        for axis in 0..2 {
            let new = || filled(Arc::new(MemoryStore::new()), &Prefix::root(), &document, 0);
            let array = new();
            if axis >= array.shape().len() {
                continue;
            }
            let (before, ranges) = (rows(&array, axis), chunks(&array, axis));
            let stored = array.stored_chunks().count();
            let cut = overhangs(&array, axis);
            for sequence in sequences(ranges.len()) {
                let what = format!("{document} {axis} {sequence:?}");
                let array = new();
                let spans = sequence.iter().map(|chunk| Span::Kept(ranges[*chunk].clone()));
                let plan = Rearrangement::plan(&array, axis, spans);
                let last = sequence.iter().position(|chunk| *chunk + 1 == ranges.len());
                let overhangs = cut && last.is_some_and(|at| at + 1 != sequence.len());
                if sequence.is_empty() || overhangs {
                    let error = plan.expect_err("cannot").to_string();
                    let says =
                        if overhangs { "can come after" } else { "no elements would remain" };
                    assert!(error.contains(says), "{what}: {error}");
                    continue;
                }
                let plan = plan.unwrap_or_else(|error| panic!("{what}: {error}"));
                let counts = plan.counts();
                assert_eq!(counts.kept + counts.removed, u64::try_from(stored).unwrap(), "{what}");
                let after = plan.execute(&|_| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
                let expected: Vec<Vec<u8>> = sequence
                    .iter()
                    .flat_map(|chunk| ranges[*chunk].clone())
                    .map(|row| before[usize::try_from(row).unwrap()].clone())
                    .collect();
                assert_eq!(rows(&after, axis), expected, "{what}");
                let store = array.store();
                let reopened = Array::open(store.clone(), &Prefix::root()).expect("opens");
                assert_eq!(rows(&reopened, axis), expected, "{what}");
                assert_eq!(reopened.metadata().json(), after.metadata().json(), "{what}");
                let keys = reopened.stored_chunks().count();
                assert_eq!(u64::try_from(keys).unwrap(), counts.kept, "{what}: absent ones stay");
                let ids = found(store);
                let ids: Vec<_> = ids.into_iter().filter(|id| !id.starts_with("bare-")).collect();
                assert_eq!(ids, Vec::<&str>::new(), "{what}");
                done += 1;
            }
        }
    }
    assert!(done > 300, "{done}");
}

#[test]
fn a_regular_grid_stays_regular_while_it_can() {
    let grid = |document: &str, spans: &[Range<u64>]| {
        let array = filled(Arc::new(MemoryStore::new()), &Prefix::root(), document, 0);
        let plan =
            Rearrangement::plan(&array, 0, spans.iter().cloned().map(Span::Kept)).expect("fits");
        plan.rearranged().metadata().chunk_grid().to_json()
    };
    let same = document(&[11], &regular(&[3]), SLASH, BYTES);
    let all: [&[Range<u64>]; 3] = [std::slice::from_ref(&(3..11)), &[6..9, 0..3], &[0..3, 9..11]];
    for spans in all {
        assert_eq!(grid(&same, spans), regular(&[3]));
    }
    let months = document(&[9], &rectilinear("[[2, 3, 1, 4, 5]]"), SLASH, BYTES);
    // What is declared past the end stays, where the end is kept.
    assert_eq!(grid(&months, std::slice::from_ref(&(2..9))), rectilinear("[[3, 1, 4, 5]]"));
    assert_eq!(grid(&months, &[2..6, 0..2]), rectilinear("[[3, 1, 2]]"));
}

#[test]
fn another_array_is_inserted_at_every_edge() {
    let mut done = 0;
    let pairs = [
        (
            document(&[12], &regular(&[3]), SLASH, BYTES),
            document(&[6], &regular(&[3]), SLASH, BYTES),
        ),
        (
            document(&[11], &regular(&[3]), SLASH, BYTES),
            document(&[7], &rectilinear("[[4, 3]]"), SLASH, BYTES),
        ),
        (
            document(&[10], &rectilinear("[[2, 3, 1, 4]]"), SLASH, BYTES),
            document(&[5], &regular(&[2]), SLASH, BYTES),
        ),
        (
            document(&[6, 5], &regular(&[2, 3]), SLASH, BYTES),
            document(&[3, 5], &rectilinear("[[1, 2], 3]"), r#""v2""#, BYTES),
        ),
        (
            document(&[7, 5], &rectilinear("[[2, 1, 6], 3]"), SLASH, BYTES),
            document(
                &[5, 5],
                &regular(&[2, 4]),
                SLASH,
                r#"[{"name": "bytes"}, {"name": "crc32c"}]"#,
            ),
        ),
    ];
    for (document, inserted) in pairs {
        let new = || filled(Arc::new(MemoryStore::new()), &Prefix::root(), &document, 0);
        let other = filled(Arc::new(MemoryStore::new()), &Prefix::root(), &inserted, 100);
        let (length, before) = (new().shape()[0], rows(&new(), 0));
        let mut edges: Vec<u64> = chunks(&new(), 0).iter().map(|range| range.start).collect();
        edges.push(length);
        for at in edges {
            let what = format!("{inserted} in {document} at {at}");
            let array = new();
            let spans = [Span::Kept(0..at), Span::Inserted(other.clone()), Span::Kept(at..length)];
            let plan = Rearrangement::plan(&array, 0, spans);
            let overhangs = |array: &Array| overhangs(array, 0);
            // Of the last pair, chunks differ, and are encoded anew at the end alone.
            if at < length && (overhangs(&other) || document.contains("6]")) {
                let error = plan.expect_err("cannot").to_string();
                let differs = error.contains("differs in its codecs");
                assert!(error.contains("can come after") || differs, "{what}: {error}");
                continue;
            }
            let is_refilled = at == length && overhangs(&array);
            let plan = plan.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(plan.is_in_place(), at == length && !is_refilled, "{what}");
            let regular = |array: &Array| array.grid().axes()[0].regular_edge().is_some();
            let was_regular = regular(&array);
            let after = plan.execute(&|_| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
            let mut expected = before.clone();
            let cut = usize::try_from(at).unwrap();
            expected.splice(cut..cut, rows(&other, 0));
            assert_eq!(rows(&after, 0), expected, "{what}");
            assert!(!is_refilled || regular(&after) == was_regular, "{what}");
            assert_eq!(found(array.store()), Vec::<&str>::new(), "{what}");
            done += 1;
        }
    }
    assert!(done > 15, "{done}");
}

#[test]
fn strings_move_as_they_are() {
    use zarr_metadata::{ArrayBuilder, DataType};
    let metadata =
        ArrayBuilder::new([5], DataType::String).chunk_shape([2]).build().expect("valid");
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    array.write_as(0..5, &["a", "bb", "", "dddd", "e"]).expect("writes");
    let plan = Rearrangement::plan(&array, 0, [Span::Kept(2..4), Span::Kept(0..2)]).expect("fits");
    let after = plan.execute(&|_| {}).expect("moves");
    assert!(after.read_as::<String>(0..4).expect("reads").iter().eq(["", "dddd", "a", "bb"]));
}
