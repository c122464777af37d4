//! What is refused, and that nothing is changed then.

use std::sync::Arc;

use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, ArrayError};
use zarr_join::rearrange::{GroupRearrangement, Rearrangement, Span, repair};
use zarr_store_tests::objects;

use super::groups::{at, hierarchy, open_group, run};
use super::{BYTES, SLASH, document, filled, rectilinear, regular, rows};

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn months() -> Array {
    let document = document(&[9], &rectilinear("[[2, 3, 4]]"), SLASH, BYTES);
    filled(memory(), &Prefix::root(), &document, 0)
}

#[test]
fn what_is_not_made_of_whole_chunks_is_refused_with_the_place() {
    let array = months();
    let error =
        |spans: Vec<Span>| Rearrangement::plan(&array, 0, spans).expect_err("refused").to_string();
    assert_eq!(
        error(vec![Span::Kept(4..9)]),
        "the root: axis 0: index 4 is inside a chunk, and chunks are only moved whole: the nearest \
         edges are 2 and 5"
    );
    assert_eq!(
        error(vec![Span::Kept(0..8)]),
        "the root: axis 0: index 8 is inside a chunk, and chunks are only moved whole: the nearest \
         edges are 5 and 9"
    );
    let past = std::ops::Range { start: 5, end: 10 };
    assert_eq!(
        error(vec![Span::Kept(past)]),
        "the root: axis 0: found 5:10, expected a range within 0:9"
    );
    let backwards = std::ops::Range { start: 5, end: 2 };
    assert_eq!(
        error(vec![Span::Kept(backwards)]),
        "the root: axis 0: found 5:2, expected a range within 0:9"
    );
    assert_eq!(
        error(vec![Span::Kept(2..9), Span::Kept(0..5)]),
        "the root: axis 0: index 2 is kept twice"
    );
    assert_eq!(
        error(vec![Span::Kept(2..2)]),
        "the root: axis 0: no elements would remain: delete the array, or resize it"
    );
    let axis = Rearrangement::plan(&array, 1, []).expect_err("one axis").to_string();
    assert_eq!(axis, "axis 1: the array has 1 axis");
}

#[test]
fn an_array_that_does_not_fit_is_not_inserted() {
    let array =
        filled(memory(), &Prefix::root(), &document(&[6, 5], &regular(&[2, 3]), SLASH, BYTES), 0);
    let error = |document: &str| {
        let other = filled(memory(), &Prefix::root(), document, 0);
        let spans = [Span::Inserted(other), Span::Kept(0..6)];
        Rearrangement::plan(&array, 0, spans).expect_err("differs").to_string()
    };
    let fits = document(&[2, 5], &regular(&[2, 3]), SLASH, BYTES);
    let spans = [Span::Inserted(filled(memory(), &Prefix::root(), &fits, 0)), Span::Kept(0..6)];
    Rearrangement::plan(&array, 0, spans).expect("fits");
    for (document, expected) in [
        (fits.replace("uint8", "int8"), "data type: found int8, expected uint8"),
        (fits.replace("\"fill_value\": 0", "\"fill_value\": 1"), "fill value: found 1, expected 0"),
        (
            document(&[2, 6], &regular(&[2, 3]), SLASH, BYTES),
            "length on another axis: found 6 on axis 1, expected 5 on axis 1",
        ),
        (
            document(&[2, 5], &regular(&[2, 4]), SLASH, BYTES),
            "chunks on another axis: found 2 x 4 on axis 1, expected 2 x 3 on axis 1",
        ),
        (document(&[2], &regular(&[2]), SLASH, BYTES), "number of axes: found 1, expected 2"),
        (
            document(
                &[2, 5],
                &regular(&[2, 3]),
                SLASH,
                r#"[{"name": "bytes"}, {"name": "crc32c"}]"#,
            ),
            "codecs: found bytes, crc32c, expected bytes",
        ),
    ] {
        let found = error(&document);
        assert_eq!(found, format!("the root: the inserted array differs in its {expected}"));
    }
}

#[test]
fn objects_that_are_not_the_arrays_are_neither_lost_nor_shown() {
    let array = months();
    let store = array.store().clone();
    let spans = || [Span::Kept(5..9), Span::Kept(0..5)];
    for (key, expected) in [
        ("c.7", "the root: c.7 is in the way: chunks have such keys while they are moved"),
        (
            "c/3",
            "the root: chunk c/3 is past the array's end: discard it first, by a resize to the \
             array's own shape",
        ),
    ] {
        let key = Key::new(key).expect("a key");
        store.put(&key, b"precious").expect("puts");
        let before = objects(&*store);
        let error = Rearrangement::plan(&array, 0, spans()).expect_err("refused");
        assert_eq!(error.to_string(), expected);
        assert!(objects(&*store) == before);
        store.delete(&key).expect("deletes");
    }
    // As the message says.
    store.put(&Key::new("c/3").expect("a key"), b"precious").expect("puts");
    let array = array.resize([9]).expect("discards");
    // What is no chunk of either stays where it is.
    let note = Key::new("notes.txt").expect("a key");
    store.put(&note, b"mine").expect("puts");
    Rearrangement::plan(&array, 0, spans()).expect("fits").execute(&|_| {}).expect("moves");
    assert_eq!(store.read(&note).expect("reads").as_deref(), Some(&b"mine"[..]));
}

#[test]
fn an_old_handle_can_change_nothing_by_mistake() {
    let array = months();
    let plan = Rearrangement::plan(&array, 0, [Span::Kept(2..9)]).expect("fits");
    plan.execute(&|_| {}).expect("moves");
    assert!(matches!(plan.execute(&|_| {}), Err(ArrayError::Stale { .. })));
    assert!(matches!(array.append(0, 1, &[1]), Err(ArrayError::Stale { .. })));
}

#[test]
fn a_write_while_chunks_are_copied_is_noticed_and_kept() {
    // Of a chunk that was copied, and of one that was absent.
    for region in ["0:1", "7:8"] {
        let spans = [Span::Kept(5..9), Span::Kept(0..5)];
        let array = months();
        let region = zarr_array::Selection::parse(region, &[9]).expect("a region");
        let plan = Rearrangement::plan(&array, 0, spans).expect("fits");
        let before = rows(&array, 0);
        let writer = array.clone();
        let result = plan.execute(&|at| {
            // All chunks are at the other keys, and the document is not put yet.
            if at.done * 2 == at.total {
                writer.write(&region, &[77]).expect("writes");
            }
        });
        let error = result.expect_err("notices").to_string();
        assert!(error.contains("was written or removed meanwhile: nothing is changed"), "{error}");
        let now = Array::open(array.store().clone(), &Prefix::root()).expect("opens");
        let mut expected = before;
        let at = usize::try_from(region.axes()[0].get(0).expect("one")).expect("small");
        expected[at] = vec![77];
        assert_eq!(rows(&now, 0), expected);
        assert_eq!(super::found(array.store()), Vec::<&str>::new());
    }
}

#[test]
fn an_array_that_a_copy_still_makes_is_not_rearranged() {
    let document = document(&[9], &rectilinear("[[2, 3, 4]]"), SLASH, BYTES);
    let at = Prefix::new("g/time").expect("a prefix");
    let array = filled(memory(), &at, &document, 0);
    let store = array.store().clone();
    let planned = Rearrangement::plan(&array, 0, [Span::Kept(2..9)]).expect("fits");
    // Its own copy, and a copy of the group above it.
    for place in ["g/time", "g"] {
        let marker = Key::new(format!("{place}/zarr-kit-copy.json")).expect("a key");
        let json = br#"{"unfinished_copy": {"version": 1, "node": "array", "work": "join"}}"#;
        store.put(&marker, json).expect("puts");
        let before = objects(&store);
        let is_refused = |result: Result<Array, ArrayError>| {
            let error = result.expect_err("refused");
            assert!(
                matches!(&error, ArrayError::Unfinished { path, .. } if path == place),
                "{error}"
            );
        };
        is_refused(Rearrangement::plan(&array, 0, [Span::Kept(2..9)]).map(|_| array.clone()));
        is_refused(planned.execute(&|_| {}));
        assert_eq!(objects(&store), before);
        store.delete(&marker).expect("deletes");
    }
    // A creation only puts the document.
    let marker = Key::new("g/zarr-kit-copy.json").expect("a key");
    let json = br#"{"unfinished_copy": {"version": 1, "node": "array", "work": "creation"}}"#;
    store.put(&marker, json).expect("puts");
    let rearranged = planned.execute(&|_| {}).expect("moves");
    assert_eq!(rearranged.shape(), [7]);
}

#[test]
fn a_group_is_not_rearranged_while_a_copy_still_makes_any_of_its_arrays() {
    let store: Arc<dyn Store> = memory();
    hierarchy(&store);
    let spans = [Span::Kept(2..9)];
    let planned =
        GroupRearrangement::plan(&open_group(&store).expect("opens"), "time", spans, false);
    let planned = planned.expect("fits");
    for place in ["g/inner/rain", "g/inner", "g"] {
        let marker = at(place).key("zarr-kit-copy.json").expect("a key");
        let json = br#"{"unfinished_copy": {"version": 1, "node": "group", "work": "copy"}}"#;
        store.put(&marker, json).expect("puts");
        for result in [run(&store, &[Span::Kept(2..9)]), planned.execute(&|_| {})] {
            let error = result.expect_err("refused");
            match error {
                ArrayError::Unfinished { path, .. } => assert_eq!(path, place),
                error => panic!("{error}"),
            }
        }
        store.delete(&marker).expect("deletes");
    }
    planned.execute(&|_| {}).expect("moves");
}

#[test]
fn what_another_program_marks_is_left_alone() {
    let array = months();
    let store = array.store().clone();
    let marker = Key::new("zarr-kit-rearrange.json").expect("a key");
    store.put(&marker, b"{}").expect("puts");
    let error =
        Rearrangement::plan(&array, 0, [Span::Kept(2..9)]).expect_err("refused").to_string();
    assert!(error.contains("zarr-kit-rearrange.json is not understood"), "{error}");
    let error = repair(&array).expect_err("refused").to_string();
    assert!(error.contains("is not understood"), "{error}");
    assert_eq!(super::found(&store), ["unfinished-rearrangement"]);
}

#[test]
fn a_write_into_a_chunk_that_is_filled_up_is_noticed_and_kept() {
    // The last chunk of the first is absent.
    for (length, at_plan) in [(8, true), (8, false), (5, true), (5, false)] {
        let written = document(&[length], &regular(&[3]), SLASH, BYTES);
        let array = filled(memory(), &Prefix::root(), &written, 0);
        let other = filled(memory(), &Prefix::root(), &written, 100);
        let spans = [Span::Kept(0..length), Span::Inserted(other)];
        let plan = Rearrangement::plan(&array, 0, spans).expect("fits");
        let before = rows(&array, 0);
        let write = || array.write(length - 1..length, &[77]).expect("writes");
        if at_plan {
            write();
        }
        let result = plan.execute(&|at| {
            if !at_plan && at.done * 2 == at.total {
                write();
            }
        });
        let error = result.expect_err("notices").to_string();
        assert!(error.contains("was written or removed meanwhile: nothing is changed"), "{error}");
        let now = Array::open(array.store().clone(), &Prefix::root()).expect("opens");
        assert_eq!(rows(&now, 0), [&before[..before.len() - 1], &[vec![77]]].concat());
        assert_eq!(super::found(array.store()), Vec::<&str>::new());
    }
}

#[test]
fn what_is_unfinished_is_said_before_chunks_are_decoded() {
    let array = filled(memory(), &Prefix::root(), &document(&[6], &regular(&[4]), SLASH, BYTES), 0);
    let put = |key: &str, text: &str| {
        let key = Key::new(key).expect("a key");
        array.store().put(&key, text.as_bytes()).expect("puts");
    };
    let spans = || [Span::Kept(0..6), Span::Inserted(months())];
    let refused = || Rearrangement::plan(&array, 0, spans()).expect_err("is refused").to_string();
    // The last chunk is not full, and would be decoded first.
    put("c/1", "damaged");
    assert!(refused().contains("c/1"), "{}", refused());
    put(
        "zarr-kit-rearrange.json",
        r#"{"unfinished_rearrangement": {"version": 1, "step": "leaving",
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}}}"#,
    );
    let expected = "the root: a rearrangement of its chunks was interrupted: repair it first";
    assert_eq!(refused(), expected);
}
