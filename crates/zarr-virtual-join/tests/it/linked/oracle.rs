//! Random virtual joins against elements put together one by one.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarr_array::store::{Links, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, AxisSelection, Selection};
use zarr_join::{Arrangement, Join, Member, Members};
use zarr_metadata::{ArrayBuilder, Codec, DataType};
use zarr_virtual_join::{Document, Missing};

use super::{link, on_disk, open, open_anywhere};
use crate::cases::{Random, expected, random_members, whole};
use crate::cases::{fixture, year};

/// An array in memory with these elements.
fn plain(like: &Array, elements: &[u8]) -> Array {
    let metadata = ArrayBuilder::new(like.shape(), like.data_type().clone()).build();
    let store = Arc::new(MemoryStore::new());
    let array = Array::create(store, &Prefix::root(), metadata.expect("valid")).expect("creates");
    array.write(Selection::whole(like.shape()), elements).expect("writes");
    array
}

fn random_selection(random: &mut Random, shape: &[u64]) -> Selection {
    let axis = |length: &u64| -> AxisSelection {
        if *length == 0 {
            return (0..0).into();
        }
        let start = random.below(*length);
        let range = start..start + 1 + random.below(*length - start);
        match random.below(3) {
            0 => range.into(),
            1 => {
                let step = 1 + i64::try_from(random.below(3)).expect("small");
                AxisSelection::Step { range, step: if random.one_in(2) { step } else { -step } }
            }
            _ => (0..random.below(6)).map(|_| random.below(*length)).collect::<Vec<_>>().into(),
        }
    };
    shape.iter().map(axis).collect()
}

/// Random members, their virtual join in a folder, and its place.
fn random_join(random: &mut Random, folder: &Path) -> (Members, Document, PathBuf) {
    let (members, arrangement) = random_members(random);
    let laid = Members::new(members.clone(), arrangement.clone()).expect("fits");
    let place = folder.join("all.zjoin");
    let document = link(on_disk(&members, folder), arrangement, &place).expect("links");
    (laid, document, place)
}

#[test]
fn a_virtual_join_holds_the_elements_of_its_members() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut coarse, mut empty) = (0, 0);
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let (laid, document, place) =
            random_join(&mut random, &folder.path().join(seed.to_string()));
        let again = Document::from_json("all.zjoin", document.to_json().as_bytes());
        assert_eq!(again.expect("valid").to_json(), document.to_json());

        let array = open(&place).expect("opens");
        let elements = expected(&laid);
        assert_eq!(whole(&array), elements, "seed {seed}");
        if array.shape().contains(&0) {
            let keys = array.store().list(&Prefix::root(), Links::Follow);
            assert_eq!(keys.count(), 1, "seed {seed}: only the document");
            empty += 1;
            continue;
        }
        let oracle = plain(&array, &elements);
        for _ in 0..10 {
            let selection = random_selection(&mut random, array.shape());
            let read = array.read(&selection).expect("reads");
            assert_eq!(read, oracle.read(&selection).expect("reads"), "seed {seed}: {selection:?}");
        }

        // What is listed has a size, and what is not has none.
        let store = array.store();
        let keys = store.list(&Prefix::root(), Links::Follow);
        let keys: BTreeSet<String> = keys.map(|key| key.expect("lists").to_string()).collect();
        let plan = array.layout().plan(Selection::whole(array.shape())).expect("plans");
        for chunk in plan.chunks(0..plan.len()).expect("plans") {
            let key = array.layout().key(&chunk.chunk).expect("a key");
            let found = store.head(&key).expect("looks up");
            assert_eq!(found.is_some(), keys.contains(&chunk.key), "seed {seed}: {key}");
            let reads = chunk.reads(&array).expect("plans");
            assert_eq!(reads.map(|reads| reads.stored_bytes), found.map(|found| found.size));
            // Each chunk of a member is in one chunk of the join.
            let region = array.layout().chunk_region(&chunk.chunk).expect("is declared");
            coarse += usize::from(region != member_chunk(&array, &region));
        }
    }
    // Some chunks are those of members, others are several.
    assert!(coarse > 50 && empty > 5, "{coarse} {empty}");
}

#[test]
fn the_bytes_of_a_chunk_are_those_that_a_writer_of_the_joined_array_would_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut chunks, mut stacked) = (0, 0);
    for seed in 0..200 {
        let folder = folder.path().join(seed.to_string());
        let (laid, _, place) = random_join(&mut Random::new(seed), &folder);
        let array = open(&place).expect("opens");
        let oracle = plain(&array, &expected(&laid));
        let stored = array.store().list(&Prefix::root(), Links::Follow);
        let copies: Arc<dyn Store> = Arc::new(MemoryStore::new());
        for key in stored.map(|key| key.expect("lists")) {
            // Chunks that members have encoded in another way have no bytes.
            let Ok(Some(bytes)) = array.store().read(&key) else { continue };
            copies.put(&key, &bytes).expect("copies");
            let Some(chunk) = array.layout().chunk_of_key(&key) else { continue };
            let copy = Array::open(copies.clone(), &Prefix::root()).expect("has a document");
            let region = array.layout().chunk_region(&chunk).expect("is declared");
            let found = copy.read(region.as_slice()).expect("decodes");
            assert_eq!(found, oracle.read(region.as_slice()).expect("reads"), "{seed}: {key}");
            chunks += 1;
            stacked += usize::from(laid.new_axis().is_some());
        }
    }
    assert!(chunks > 80 && stacked > 25, "{chunks} {stacked}");
}

/// The region of the array that the first of the members' chunks in a region covers.
fn member_chunk(array: &Array, region: &[Range<u64>]) -> Vec<Range<u64>> {
    let members = array.members().expect("has members");
    let start: Vec<u64> = region.iter().map(|range| range.start).collect();
    let (number, within) = members.locate(&start).expect("within");
    let member = members.open(&number).expect("opens").expect("is there");
    if within.len() < start.len() {
        return region.to_vec();
    }
    let (chunk, _) = member.layout().locate(&within).expect("within");
    let own = member.layout().chunk_region(&chunk).expect("is declared");
    let moved = own.iter().zip(&start).zip(&within);
    moved
        .map(|((own, start), within)| start - within + own.start..start - within + own.end)
        .collect()
}

#[test]
fn twelve_stores_of_seattle_are_the_year() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["temp_range_12bit", "temp_max"] {
        let of = fixture(name);
        let folder = folder.path().join(name);
        let members = on_disk(&year(&of), &folder);
        link(members, Arrangement::Along(0), &folder.join("year.zjoin")).expect("links");
        // Also after the folder was moved.
        let moved = folder.with_extension("moved");
        std::fs::rename(&folder, &moved).expect("moves");
        let array = open(&moved.join("year.zjoin")).expect("opens");
        let mut selection: Vec<_> = of.shape().iter().map(|length| 0..*length).collect();
        selection[0] = 0..366;
        assert_eq!(whole(&array), of.read(selection.as_slice()).expect("reads"), "{name}");
        assert_eq!(array.metadata().codecs(), of.metadata().codecs());
        // Chunks are the members' own objects.
        for chunk in 0..12 {
            let mut index = vec![0; of.shape().len()];
            index[0] = chunk;
            let key = array.layout().key(&index).expect("a key");
            let (mut own, mut other) = (Vec::new(), Vec::new());
            let all = zarr_array::store::ReadRange::All;
            array.store().get(&key, all, &mut own).expect("reads");
            of.store()
                .get(&of.layout().key(&index).expect("a key"), all, &mut other)
                .expect("reads");
            assert_eq!(own, other);
        }

        let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let options = zarr_copy::CopyOptions::new();
        let metadata = array.metadata().clone();
        let copied =
            zarr_copy::copy_array(&array, to, &Prefix::root(), metadata, &options, &mut |_| {});
        let (copied, _) = copied.expect("copies");
        assert!(copied.members().is_none());
        assert_eq!(whole(&copied), whole(&array));
    }
}

#[test]
fn a_member_may_be_a_virtual_join() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = fixture("temp_max");
    let members = on_disk(&year(&of), folder.path());
    let (first, last) = (folder.path().join("first.zjoin"), folder.path().join("last.zjoin"));
    link(members[..5].to_vec(), Arrangement::Along(0), &first).expect("links");
    link(members[5..].to_vec(), Arrangement::Along(0), &last).expect("links");
    let halves = [&first, &last].map(|place| {
        zarr_join::Member::new(place.to_str().expect("UTF-8"), open(place).expect("opens"))
    });
    let other = folder.path().join("elsewhere");
    std::fs::create_dir(&other).expect("creates");
    link(halves.to_vec(), Arrangement::Along(0), &other.join("year.zjoin")).expect("links");
    let array = open_anywhere(&other.join("year.zjoin")).expect("opens");
    let mut selection: Vec<_> = of.shape().iter().map(|length| 0..*length).collect();
    selection[0] = 0..366;
    assert_eq!(whole(&array), of.read(selection.as_slice()).expect("reads"));
}

#[test]
fn groups_hold_virtual_joins() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("all.zjoin");
    let mut document = Document::of_group(zarr_metadata::GroupMetadata::new());
    for name in ["temp_max", "temp_min"] {
        let members = on_disk(&year(&fixture(name)), &folder.path().join(name));
        let join = Join::new(members, Arrangement::Along(0));
        let array = Document::of_join(join, place.to_str().expect("UTF-8"), Missing::Error);
        let array = array.expect("links");
        document = document.with_array(&Prefix::new(name).expect("a prefix"), array).expect("new");
    }
    document.write(place.to_str().expect("UTF-8"), &Default::default()).expect("writes");
    let text = place.to_str().expect("UTF-8");
    let store =
        zarr_virtual_join::open_store(text, &zarr_virtual_join::OpenOptions::new()).expect("opens");
    let group = zarr_array::Group::open(store, &Prefix::root()).expect("opens");
    let mut children = group.children().expect("lists");
    children.sort();
    assert_eq!(children, ["temp_max", "temp_min"]);
    for name in ["temp_max", "temp_min"] {
        let of = fixture(name);
        let mut selection: Vec<_> = of.shape().iter().map(|length| 0..*length).collect();
        selection[0] = 0..366;
        let expected = of.read(selection.as_slice()).expect("reads");
        assert_eq!(whole(&group.array(name).expect("opens")), expected);
        assert_eq!(whole(&open(&place.join(name)).expect("opens")), expected);
    }
}

/// Members with equal documents share what is compiled of them, but not their shard indices.
#[test]
fn members_that_are_alike_keep_their_own_elements() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = Random::new(1);
    let (mut members, mut expected) = (Vec::new(), Vec::new());
    for number in 0..60_u64 {
        // Twelve different documents, more than are kept to be compared with, and some in a row.
        let kind = random.below(12);
        let length = 4 + kind % 3;
        let metadata = ArrayBuilder::new([length], DataType::Uint8)
            .chunk_shape([8])
            .codecs([Codec::sharding([2], [Codec::bytes()])])
            .attribute("kind", kind.to_string());
        let store = Arc::new(MemoryStore::new());
        let array = Array::create(store, &Prefix::root(), metadata.build().expect("valid"));
        let array = array.expect("creates");
        // Absent inner chunks, so that indices differ.
        let values: Vec<u8> = (0..length)
            .map(|at| if (number + at / 2) % 3 == 0 { 0 } else { 1 + number as u8 })
            .collect();
        array.write(0..length, &values).expect("writes");
        expected.extend(values);
        members.push(Member::new(number.to_string(), array));
    }
    let place = folder.path().join("all.zjoin");
    link(on_disk(&members, folder.path()), Arrangement::Along(0), &place).expect("links");
    let array = open(&place).expect("opens");
    let oracle = plain(&array, &expected);
    assert_eq!(whole(&array), expected);
    // Twice, by indices that are kept.
    for _ in 0..200 {
        let selection = random_selection(&mut random, array.shape());
        let read = array.read(&selection).expect("reads");
        assert_eq!(read, oracle.read(&selection).expect("reads"), "{selection:?}");
    }
}

/// Builds may lack the compressor of new arrays, but read the codecs of the members.
#[test]
fn where_shards_do_not_fit_the_codecs_within_them_do() {
    let members = |codec: &Codec, folder: &Path| {
        let member = |length: u64| {
            let metadata = ArrayBuilder::new([length], DataType::Uint16)
                .chunk_shape([4])
                .codecs([codec.clone()])
                .build()
                .expect("valid");
            let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata);
            Member::new(length.to_string(), array.expect("creates"))
        };
        on_disk(&[member(5), member(8)], folder)
    };
    let inner = [Codec::bytes(), Codec::gzip(1)];
    let nested = Codec::sharding([4], [Codec::sharding([2], inner.clone())]);
    // What fits neither is left without a compressor.
    for (codec, expected) in
        [(Codec::sharding([2], inner.clone()), &inner[..]), (nested, &inner[..1])]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("both.zjoin");
        link(members(&codec, folder.path()), Arrangement::Along(0), &place).expect("links");
        assert_eq!(open(&place).expect("opens").metadata().codecs(), expected);
    }
}
