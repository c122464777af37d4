//! Comparisons of what arrays of unequal length have in common, and of regions.

use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::{Value, json};
use zarr_array::store::{MemoryStore, Prefix, Store};
use zarr_array::{Array, AxisSelection, Group, Selection};
use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};

use super::super::{DiffEvent, DiffNode, DiffSummary, diff};

/// A group with `x`, an array of times by columns, and its coordinate `time`.
fn group(
    store: &Arc<dyn Store>,
    name: &str,
    units: &str,
    times: &[i32],
    chunks: [u64; 2],
    value: impl Fn(i32, u64) -> i16,
) {
    let rows = times.len() as u64;
    let root = Prefix::new(name).expect("a prefix");
    Group::create(store.clone(), &root, GroupMetadata::new()).expect("creates");
    let prefix = |below: &str| Prefix::new(format!("{name}/{below}")).expect("a prefix");
    let time = ArrayBuilder::new([rows], DataType::Int32)
        .dimension_names(["time"])
        .attributes(format!(r#"{{"units": "{units}"}}"#))
        .build();
    let time = Array::create(store.clone(), &prefix("time"), time.expect("a document"));
    time.expect("creates").write_as::<i32>(0..rows, times).expect("writes");
    let array = ArrayBuilder::new([rows, 5], DataType::Int16)
        .chunk_shape(chunks)
        .dimension_names(["time", "column"])
        .build();
    let array = Array::create(store.clone(), &prefix("x"), array.expect("a document"));
    let values = times.iter().flat_map(|time| (0..5).map(|column| (*time, column)));
    let values: Vec<i16> = values.map(|(time, column)| value(time, column)).collect();
    array.expect("creates").write_as::<i16>([0..rows, 0..5], &values).expect("writes");
}

fn compared(one: &DiffNode<'_>, other: &DiffNode<'_>) -> (DiffSummary, Vec<Value>, Vec<String>) {
    let (mut documents, mut lines, mut summary) = (Vec::new(), Vec::new(), None);
    for as_json in [true, false] {
        let found = diff(one, other, false, &mut |event| {
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
    (summary.expect("a summary"), documents, lines)
}

/// Shifted, reversed and shuffled times, in other units, in chunks that cross.
#[test]
fn elements_with_the_same_labels_are_compared() {
    let orders: [Vec<i32>; 4] = [
        (10..30).collect(),
        (0..18).rev().collect(),
        (0..23).map(|n| n * 7 % 23).collect(),
        vec![40, 3, 39, 12, 5],
    ];
    for times in orders {
        for chunks in [[1, 5], [4, 1], [40, 2]] {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let value = |time: i32, column: u64| (time * 10) as i16 + column as i16;
            let own: Vec<i32> = (0..21).collect();
            group(&store, "a", "days since 2000-01-01", &own, [5, 5], value);
            let hours: Vec<i32> = times.iter().map(|day| (day - 1) * 24).collect();
            let changed = |hours: i32, column: u64| {
                let day = hours / 24 + 1;
                value(day, column) + i16::from(day % 3 == 0 && column == 2)
            };
            group(&store, "b", "hours since 2000-01-02", &hours, chunks, changed);
            let common: Vec<i32> = own.iter().copied().filter(|day| times.contains(day)).collect();
            let different: Vec<i32> = common.iter().copied().filter(|day| day % 3 == 0).collect();
            let node = |name: &'static str| {
                DiffNode::new(&store, Prefix::new(name).expect("a prefix"), name)
            };
            let (summary, found, lines) = compared(&node("a"), &node("b"));
            let values = found.iter().filter(|found| found["what"] == "values");
            let values: Vec<&Value> = values.filter(|found| found["path"] == "x").collect();
            assert_eq!(values.len(), usize::from(!different.is_empty()), "{lines:?}");
            if let (Some(values), Some(first)) = (values.first(), different.first()) {
                assert_eq!(values["elements"], common.len() * 5);
                assert_eq!(values["different"], different.len());
                assert_eq!(values["first"]["index"], json!([first, 2]));
                let place = times.iter().position(|time| time == first).expect("there");
                if place != *first as usize {
                    assert_eq!(values["first"]["other_index"], json!([place, 2]));
                }
                let label = format!("time=2000-01-{:02}", first + 1);
                assert_eq!(values["first"]["labels"], json!(label));
            }
            assert_eq!(summary.not_compared, 0);
            // Said of one array: it holds for all arrays of the group.
            let what = "labels of \"time\" that only one has";
            let missing: Vec<&Value> = found.iter().filter(|found| found["what"] == what).collect();
            assert_eq!(missing.len(), 1, "{lines:?}");
        }
    }
}

#[test]
fn labels_that_only_one_has_are_named() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let value = |time: i32, column: u64| (time * 10) as i16 + column as i16;
    let (own, other): (Vec<i32>, Vec<i32>) = ((0..10).collect(), (2..14).collect());
    group(&store, "a", "days since 2000-01-01", &own, [5, 5], value);
    group(&store, "b", "days since 2000-01-01", &other, [5, 5], value);
    group(&store, "c", "days since 2000-01-01", &[0, 1, 1], [5, 5], value);
    group(&store, "d", "metres", &own[..9], [5, 5], value);
    let node = |name: &'static str| DiffNode::new(&store, Prefix::new(name).expect("ok"), name);
    let (_, found, lines) = compared(&node("a"), &node("b"));
    assert_eq!(
        lines[lines.len() - 2..],
        [
            "time: labels of \"time\" that only one has: 2000-01-01:2000-01-02 | \
             2000-01-11:2000-01-14",
            "x: shape: 10 x 5 | 12 x 5"
        ]
    );
    assert!(found.iter().all(|found| found["what"] != "values"), "{found:?}");
    // Equal labels do not tell which elements are the same.
    let (summary, _, lines) = compared(&node("a"), &node("c"));
    assert_eq!(summary.not_compared, 2);
    assert!(lines[2].contains("two labels of \"time\" are equal"), "{lines:?}");
    // A time is no number.
    let (_, found, _) = compared(&node("a"), &node("d"));
    assert!(found.iter().all(|found| found["what"] != "values"), "{found:?}");
}

/// Regions of all kinds, against a loop.
#[test]
fn only_the_region_is_compared() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let own: Vec<i32> = (0..21).collect();
    let value = |time: i32, column: u64| (time * 10) as i16 + column as i16;
    group(&store, "a", "days since 2000-01-01", &own, [4, 5], value);
    let changed = |time: i32, column: u64| value(time, column) + i16::from(time % 4 == 1);
    group(&store, "b", "days since 2000-01-01", &own, [21, 1], changed);
    let rows: [AxisSelection; 6] = [
        (3..17).into(),
        AxisSelection::Index(5),
        AxisSelection::Step { range: 1..20, step: 3 },
        AxisSelection::Step { range: 1..18, step: -4 },
        vec![9, 1, 20, 5].into(),
        AxisSelection::Mask(own.iter().map(|n| n % 5 < 2).collect()),
    ];
    for rows in rows {
        let region = |path: &str, _: &_| {
            let axes = vec![rows.clone(), AxisSelection::from(1..4)];
            Ok((path == "x").then(|| Selection::new(axes)))
        };
        let node = |name: &'static str| {
            DiffNode::new(&store, Prefix::new(name).expect("ok"), name).regions(&region)
        };
        let (summary, found, lines) = compared(&node("a"), &node("b"));
        let different: Vec<u64> = rows.indices().filter(|row| row % 4 == 1).collect();
        assert_eq!(summary.elements, 21 + rows.len() * 3, "{rows:?}");
        let values = found.iter().find(|found| found["what"] == "values").expect("differs");
        assert_eq!(values["different"], different.len() * 3, "{rows:?} {lines:?}");
        assert_eq!(values["first"]["index"], json!([different[0], 1]), "{rows:?}");
    }
}
