//! Members of documents removed, reordered and inserted, against the same done with rows.

use std::fs;
use std::ops::Range;
use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, UpdatePolicy};
use zarr_array::{Array, AxisSelection, Selection};
use zarr_join::rearrange::Span;
use zarr_join::{Arrangement, Member, Members, NodeMember};
use zarr_metadata::{ArrayBuilder, DataType};
use zarr_virtual_join::{AxisOf, Document, OpenOptions, StoredDocument, VirtualJoinError};

use super::{link, on_disk, open};
use crate::cases::{Random, expected, random_members, whole};

const SOLE: UpdatePolicy = UpdatePolicy::RequireExclusion;

/// The elements of an array of bytes at these indices of an axis.
fn taken(shape: &[u64], elements: &[u8], axis: usize, indices: &[u64]) -> Vec<u8> {
    let metadata = ArrayBuilder::new(shape, DataType::Uint8).build().expect("valid");
    let store = Arc::new(MemoryStore::new());
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    array.write(Selection::whole(shape), elements).expect("writes");
    let axes = shape.iter().enumerate().map(|(number, length)| match number == axis {
        true => AxisSelection::from(indices.to_vec()),
        false => (0..*length).into(),
    });
    array.read(axes.collect::<Selection>()).expect("reads")
}

/// Some of the members along an axis, in any order.
fn some(random: &mut Random, bounds: &[u64]) -> Vec<Range<u64>> {
    let ranges = bounds.windows(2).map(|pair| pair[0]..pair[1]);
    let mut left: Vec<Range<u64>> = ranges.filter(|range| !range.is_empty()).collect();
    let mut chosen = Vec::new();
    let count = 1 + random.below(left.len() as u64);
    for _ in 0..count {
        chosen.push(left.remove(random.below(left.len() as u64) as usize));
    }
    chosen
}

#[test]
fn members_in_another_order_are_rows_in_another_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut done, mut fewer) = (0, 0);
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let (members, arrangement) = random_members(&mut random);
        let laid = Members::new(members.clone(), arrangement.clone()).expect("fits");
        let shape = laid.shape();
        if shape.contains(&0) {
            continue;
        }
        let folder = folder.path().join(seed.to_string());
        let place = folder.join("all.zjoin");
        link(on_disk(&members, &folder), arrangement, &place).expect("links");
        let url = place.to_str().expect("UTF-8");
        let axis = random.below(shape.len() as u64) as usize;
        let kept = some(&mut random, laid.tiles().bounds(axis));
        let document = StoredDocument::open(url, &OpenOptions::new()).expect("is there");
        let spans: Vec<Span<NodeMember>> = kept.iter().cloned().map(Span::Kept).collect();
        let plan = document.rearrange(AxisOf::Number(axis), &spans, false).expect("fits");
        let before = whole(&open(&place).expect("opens"));
        plan.write(SOLE).expect("writes");

        let array = open(&place).expect("opens");
        let indices: Vec<u64> = kept.into_iter().flatten().collect();
        let what = format!("seed {seed}: axis {axis}, {indices:?}");
        assert_eq!(whole(&array), taken(&shape, &before, axis, &indices), "{what}");
        assert_eq!(before, expected(&laid), "{what}");
        // The document is as a program would write it that knows nothing of the old one.
        let json = fs::read(&place).expect("reads");
        let read = Document::from_json("all.zjoin", &json).expect("valid");
        assert_eq!(read.to_json().as_bytes(), json, "{what}");
        assert_eq!(read.to_json(), plan.document().to_json());
        let counts = &plan.arrays()[0];
        assert_eq!(counts.kept, read.members().count(), "{what}");
        assert_eq!(counts.kept + counts.removed, document.document().members().count(), "{what}");
        done += 1;
        fewer += usize::from(counts.removed > 0);
    }
    assert!(done > 100 && fewer > 30, "{done} {fewer}");
}

#[test]
fn an_inserted_member_is_where_a_join_of_all_has_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut done = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let (members, arrangement) = random_members(&mut random);
        let laid = Members::new(members.clone(), arrangement.clone()).expect("fits");
        let axis = match arrangement {
            Arrangement::Along(axis) | Arrangement::NewAxis(axis) => axis,
            _ => continue,
        };
        if laid.shape().contains(&0) || members.len() < 2 {
            continue;
        }
        let number = random.below(members.len() as u64) as usize;
        let at = laid.region(number)[axis].start;
        let folder = folder.path().join(seed.to_string());
        let place = folder.join("some.zjoin");
        let mut others = on_disk(&members, &folder);
        let one = others.remove(number);
        let rest = Members::new(others.clone(), arrangement.clone()).expect("fits").shape();
        if rest.contains(&0) {
            continue;
        }
        link(others, arrangement, &place).expect("links");
        let url = place.to_str().expect("UTF-8");
        let document = StoredDocument::open(url, &OpenOptions::new()).expect("is there");
        let length = document.length(AxisOf::Number(axis)).expect("an axis");
        let spans =
            [Span::Kept(0..at), Span::Inserted(NodeMember::Array(one)), Span::Kept(at..length)];
        let plan = document.rearrange(AxisOf::Number(axis), &spans, false).expect("fits");
        plan.write(SOLE).expect("writes");
        assert_eq!(whole(&open(&place).expect("opens")), expected(&laid), "seed {seed}");
        done += 1;
    }
    assert!(done > 40, "{done}");
}

/// Bytes of this shape, in a folder of its own.
fn bytes(folder: &std::path::Path, name: &str, shape: &[u64], names: &[&str]) -> Member {
    let builder = ArrayBuilder::new(shape, DataType::Uint8).dimension_names(names.iter().copied());
    let path = folder.join(name);
    fs::create_dir_all(&path).expect("creates");
    let store = Arc::new(zarr_array::store::LocalStore::open(&path).expect("opens"));
    let metadata = builder.build().expect("valid");
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    Member::new(path.to_str().expect("UTF-8"), array)
}

#[test]
fn what_is_not_whole_members_is_refused_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let tiles = [("a", [2, 3]), ("b", [2, 4]), ("c", [5, 3]), ("d", [5, 4])];
    let tiles = tiles.map(|(name, shape)| bytes(folder, name, &shape, &["y", "x"])).to_vec();
    let (place, row) = (folder.join("all.zjoin"), folder.join("row.zjoin"));
    link(tiles.clone(), Arrangement::Tiles(vec![2, 2]), &place).expect("links");
    link(tiles[..2].to_vec(), Arrangement::Along(1), &row).expect("links");
    let before = fs::read(&place).expect("reads");
    let url = |place: &std::path::Path| place.to_str().expect("UTF-8").to_owned();
    let error = |place: &std::path::Path, axis: AxisOf<'_>, spans: &[Span<NodeMember>]| {
        let document = StoredDocument::open(&url(place), &OpenOptions::new()).expect("is there");
        let error = document.rearrange(axis, spans, false).expect_err("does not fit");
        error.to_string().replace(&format!("{}/", folder.display()), "")
    };
    let (kept, axis) = (Span::Kept, AxisOf::Number);
    let backwards = Range { start: 3, end: 2 };
    let inserted = |member: Member| [Span::Inserted(NodeMember::Array(member))];
    let nested = Member::new(url(&row), open(&row).expect("opens"));
    let messages = [
        error(&place, axis(0), &[kept(0..1)]),
        error(&place, axis(1), &[kept(3..6)]),
        error(&place, axis(0), &[kept(0..8)]),
        error(&place, axis(0), &[kept(backwards)]),
        error(&place, axis(0), &[kept(2..7), kept(0..7)]),
        error(&place, axis(0), &[]),
        error(&place, axis(0), &[kept(2..2)]),
        error(&place, axis(2), &[kept(0..2)]),
        error(&place, AxisOf::Named("z"), &[kept(0..2)]),
        error(&place, axis(0), &inserted(bytes(folder, "e", &[1, 7], &["y", "x"]))),
        error(&row, axis(0), &inserted(bytes(folder, "h", &[1, 7], &["y", "x"]))),
        error(&row, axis(1), &inserted(bytes(folder, "f", &[3, 1], &["y", "x"]))),
        error(&row, axis(1), &inserted(bytes(folder, "g", &[2, 1], &["x", "y"]))),
        error(&row, axis(1), &inserted(nested)),
    ];
    insta::assert_snapshot!(messages.join("\n"));
    let document = StoredDocument::open(&url(&row), &OpenOptions::new()).expect("is there");
    let narrower = inserted(bytes(folder, "i", &[2, 1], &["y", "x"]));
    let promoted = document.rearrange(axis(1), &narrower, true).expect_err("converts nothing");
    let expected = format!("{}: a virtual join converts no values", row.display());
    assert_eq!(promoted.to_string(), expected);
    assert_eq!(fs::read(&place).expect("reads"), before);
    for (url, message) in [
        (folder.join("none.zjoin"), "none.zjoin: there is no virtual join here"),
        (folder.join("all.zjoin/x"), "all.zjoin/x: there is no array or group here"),
        (folder.join("a"), "a: the name of a virtual join ends in .zjoin"),
    ] {
        let url = url.to_str().expect("UTF-8");
        let error = StoredDocument::open(url, &OpenOptions::new()).expect_err(message);
        assert!(error.to_string().ends_with(message), "{error}");
    }
}

#[test]
fn a_document_that_others_have_changed_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let place = folder.join("all.zjoin");
    let members = ["a", "b", "c"].map(|name| bytes(folder, name, &[2], &["x"])).to_vec();
    link(members, Arrangement::Along(0), &place).expect("links");
    let url = place.to_str().expect("UTF-8");
    let open = || StoredDocument::open(url, &OpenOptions::new()).expect("is there");
    let (one, other) = (open(), open());
    let plan = |document: &StoredDocument, range: Range<u64>| {
        let spans = [Span::Kept(range)];
        document.rearrange(AxisOf::Named("x"), &spans, false).and_then(|plan| plan.write(SOLE))
    };
    plan(&one, 2..6).expect("writes");
    let written = fs::read(&place).expect("reads");
    let refused = plan(&other, 0..4).expect_err("has changed");
    assert!(matches!(refused, VirtualJoinError::Changed { .. }), "{refused}");
    assert_eq!(fs::read(&place).expect("reads"), written);
    fs::remove_file(&place).expect("removes");
    assert!(matches!(plan(&other, 0..4), Err(VirtualJoinError::Changed { .. })));
    assert!(!place.exists());
}
