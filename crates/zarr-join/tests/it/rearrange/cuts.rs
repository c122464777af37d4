//! Cuts within shards, at edges of inner chunks: these move, as they are stored, to shards of their own.

use std::ops::Range;
use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Group};
use zarr_join::rearrange::{Rearrangement, Span, refuse_half_rearranged};
use zarr_metadata::{
    ArrayBuilder, ArrayMetadata, ChunkGrid, Codec, DataType, GroupMetadata, IndexLocation,
};
use zarr_store_tests::sampled;

use super::groups::{at, open, run, settle};
use super::moved_units::{damage, stored};
use super::{found, objects, rows};
use crate::cases::Random;
use crate::shards::{array, shard, written};

fn moved(array: &Array, axis: usize, spans: &[Span]) -> Array {
    let plan = Rearrangement::plan(array, axis, spans.iter().cloned()).expect("fits");
    plan.execute(&|_| {}).expect("moves")
}

/// Distinct parts of an axis that begin and end at units, in any order; the last part may end with it.
fn parts(random: &mut Random, length: u64, unit: u64) -> Vec<Range<u64>> {
    let mut cuts: Vec<u64> = (0..length).step_by(unit as usize).collect();
    cuts.retain(|cut| *cut == 0 || random.one_in(2));
    cuts.push(length);
    let mut parts: Vec<Range<u64>> = cuts.windows(2).map(|pair| pair[0]..pair[1]).collect();
    for at in (1..parts.len()).rev() {
        parts.swap(at, random.below(at as u64 + 1) as usize);
    }
    parts.truncate(1 + random.below(parts.len() as u64) as usize);
    parts
}

#[test]
fn shards_are_cut_where_inner_chunks_end() {
    let inner = [
        vec![Codec::bytes()],
        vec![Codec::transpose([1, 0]), Codec::bytes(), Codec::Crc32c],
        vec![Codec::bytes(), Codec::zstd(3)],
    ];
    let (mut done, mut cut, mut refused) = (0, 0, 0);
    for seed in (0..1500).step_by(sampled(6)) {
        let random = &mut Random::new(seed);
        let axis = random.below(2) as usize;
        let units = [1 + random.below(3), 1 + random.below(3)];
        let mut shape = [1 + random.below(7); 2];
        shape[axis] = 1 + random.below(20);
        let codecs = &inner[random.below(3) as usize];
        let location = [IndexLocation::Start, IndexLocation::End][random.below(2) as usize];
        let mut edges = [0, 1].map(|at| vec![units[at] * (1 + random.below(4))]);
        let mut chain = shard(&units, codecs, location);
        match random.below(4) {
            // Edges of several lengths.
            0 => {
                edges[axis].clear();
                while edges[axis].iter().sum::<u64>() < shape[axis] || edges[axis].len() < 2 {
                    edges[axis].push(units[axis] * (1 + random.below(4)));
                }
            }
            // Shards within shards: the outer inner chunks move.
            1 => {
                let double = units.map(|unit| unit * 2);
                edges = [0, 1].map(|at| vec![double[at] * (1 + random.below(3))]);
                chain = shard(&double, &chain, location);
            }
            _ => {}
        }
        let [Codec::ShardingIndexed(shards)] = &*chain else { panic!("is one") };
        let unit = shards.chunk_shape[axis];
        let own = stored(random, array(&shape, &edges, &chain));
        let before = rows(&own, axis);
        let mut expected = Vec::new();
        let mut spans = Vec::new();
        for range in parts(random, shape[axis], unit) {
            expected.extend_from_slice(&before[range.start as usize..range.end as usize]);
            spans.push(Span::Kept(range));
            if random.one_in(4) {
                let mut shape = shape;
                shape[axis] = unit * (1 + random.below(3));
                let mut edges = edges.clone();
                edges[axis] = vec![shape[axis]];
                let other = stored(random, array(&shape, &edges, &chain));
                expected.extend(rows(&other, axis));
                spans.push(Span::Inserted(other));
            }
        }
        let kept = |span: &Span| match span {
            Span::Kept(range) => Some(range.clone()),
            Span::Inserted(_) => None,
        };
        let what = format!("seed {seed}: {:?}", spans.iter().map(kept).collect::<Vec<_>>());
        let last_shard = own.grid().axes()[axis].occupied() - 1;
        let shard_start = own.grid().axes()[axis].start(last_shard).expect("is there");
        let shard_end = shard_start + own.grid().axes()[axis].edge(last_shard).expect("is there");
        // Ranges that follow each other are one.
        let mut merged: Vec<Option<Range<u64>>> = Vec::new();
        for span in spans.iter().map(kept) {
            match (merged.last_mut(), span) {
                (Some(Some(last)), Some(next)) if last.end == next.start => last.end = next.end,
                (_, span) => merged.push(span),
            }
        }
        let is_padded = |range: &Range<u64>| match range.start <= shard_start {
            _ if range.end != shape[axis] => false,
            true => shard_end > range.end,
            false => !(range.end - range.start).is_multiple_of(unit),
        };
        let (_, before) = merged.split_last().expect("has parts");
        // What is appended to the whole fills the last shard.
        let appends = merged[0] == Some(0..shape[axis]);
        let before_others = !appends && before.iter().flatten().any(is_padded);
        let plan = match Rearrangement::plan(&own, axis, spans) {
            Ok(plan) => {
                assert!(!before_others, "{what}");
                plan
            }
            // What is padded at the end stays there.
            Err(error) => {
                assert!(error.to_string().contains("can come after"), "{what}: {error}");
                assert!(before_others, "{what}: {error}");
                refused += 1;
                continue;
            }
        };
        let after = plan.execute(&|_| {}).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(rows(&after, axis), expected, "{what}");
        assert_eq!(found(after.store()), Vec::<&str>::new(), "{what}");
        done += 1;
        let edges = |array: &Array| {
            let axis = &array.grid().axes()[axis];
            axis.runs().map(|run| run.edge).collect::<Vec<_>>()
        };
        cut += u32::from(edges(&after) != edges(&own));
        // The objects are those that a write stores.
        let all = after.read(zarr_array::Selection::whole(after.shape())).expect("reads");
        let again = written(after.metadata(), &all);
        assert_eq!(objects(&*again), objects(&**after.store()), "{what}");
    }
    assert!(done > 120 && cut > 50 && refused > 3, "{done} {cut} {refused}");
}

fn checked(length: u64) -> ArrayMetadata {
    let codecs = shard(&[2], &[Codec::bytes(), Codec::Crc32c], IndexLocation::End);
    array(&[length], &[vec![8]], &codecs)
}

fn full(length: u64) -> Array {
    let array = stored(&mut Random::new(length), checked(length));
    let elements: Vec<u8> = (1..=length as u8).collect();
    array.write(0..length, &elements).expect("writes");
    array
}

/// Nothing of the shard is decoded: damaged inner chunks are damaged afterwards, and whole ones whole.
#[test]
fn inner_chunks_that_cannot_be_decoded_move() {
    let own = full(24);
    damage(&**own.store(), "c/1", 2);
    let after = moved(&own, 0, &[Span::Kept(10..16), Span::Kept(0..4), Span::Kept(16..24)]);
    assert_eq!(after.shape(), [18]);
    assert!(after.read(0..2).is_err());
    let expected: Vec<u8> = [13..=16, 1..=4, 17..=24].into_iter().flatten().collect();
    assert_eq!(after.read(2..18).expect("reads"), expected);
}

/// What the end of an array loses leaves a shard with fewer inner chunks, and nothing past the end.
#[test]
fn a_regular_grid_that_ends_earlier_stays_regular() {
    let after = moved(&full(24), 0, &[Span::Kept(0..12)]);
    assert!(matches!(after.metadata().chunk_grid(), ChunkGrid::Regular { .. }));
    let resized = full(24);
    resized.resize([12]).expect("resizes");
    assert_eq!(objects(&**after.store()), objects(&**resized.store()));
    // Where it cannot, nothing is padded.
    let after = moved(&full(24), 0, &[Span::Kept(2..8), Span::Kept(16..20)]);
    let edges: Vec<u64> = after.grid().axes()[0].runs().map(|run| run.edge).collect();
    assert_eq!(edges, [6, 4]);
}

#[test]
fn what_no_inner_chunk_ends_at_is_refused() {
    let own = full(24);
    let before = objects(&**own.store());
    let refused = |array: &Array, spans: &[(u64, u64)]| {
        let spans = spans.iter().map(|(start, end)| Span::Kept(*start..*end));
        Rearrangement::plan(array, 0, spans).expect_err("is refused").to_string()
    };
    for (spans, says) in [
        (&[(0, 3)][..], "index 3 is inside an inner chunk"),
        (&[(5, 24)], "the nearest edges are 4 and 6"),
        (&[(0, 12), (10, 24)], "index 10 is kept twice"),
        (&[(0, 25)], "found 0:25, expected a range within 0:24"),
        (&[(8, 8)], "no elements would remain"),
    ] {
        let error = refused(&own, spans);
        assert!(error.contains(says), "{spans:?}: {error}");
    }
    assert_eq!(objects(&**own.store()), before);
    // The last inner chunk is not full: only there it can be last.
    let odd = full(21);
    assert!(
        refused(&odd, &[(18, 21), (0, 4)])
            .contains("the kept part, whose last chunk reaches to 22")
    );
    assert_eq!(moved(&odd, 0, &[Span::Kept(2..21)]).read(15..19).expect("reads"), [18, 19, 20, 21]);
    // A codec before or after the shards hides the inner chunks.
    let codecs = shard(&[2], &[Codec::bytes()], IndexLocation::End);
    for (before, after) in [(vec![], vec![Codec::Crc32c]), (vec![Codec::transpose([0])], vec![])] {
        let codecs = [before, codecs.clone(), after].concat();
        let hidden = stored(&mut Random::new(1), array(&[24], &[vec![8]], &codecs));
        assert!(refused(&hidden, &[(0, 4)]).contains("is inside a chunk"));
    }
    // An array of another rank.
    let flat = Span::Inserted(full(8));
    let wide = array(
        &[4, 24],
        &[vec![4], vec![8]],
        &shard(&[4, 2], &[Codec::bytes()], IndexLocation::End),
    );
    let wide = stored(&mut Random::new(1), wide);
    let spans = [Span::Kept(0..8), flat, Span::Kept(8..10)];
    let error = Rearrangement::plan(&wide, 1, spans).expect_err("is refused").to_string();
    assert!(error.contains("number of axes: found 1, expected 2"), "{error}");
}

/// Empty ranges and arrays without elements are nothing.
#[test]
fn what_is_empty_changes_nothing() {
    let empty = || Span::Inserted(array_of(0));
    let after = moved(&full(21), 0, &[empty(), Span::Kept(2..21), Span::Kept(10..10), empty()]);
    assert_eq!(after.read(0..19).expect("reads"), (3..=21).collect::<Vec<u8>>());
}

fn array_of(length: u64) -> Array {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Array::create(store, &Prefix::root(), checked(length)).expect("creates")
}

/// The time goes by what is stored, and not by the shards that could be.
#[test]
fn an_array_that_is_hardly_stored_is_cut_at_once() {
    let codecs = shard(&[2, 1024], &[Codec::bytes()], IndexLocation::End);
    let metadata = array(&[24, 1 << 50], &[vec![8], vec![1024]], &codecs);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    let at = 1 << 49;
    array.write([10..11, at..at + 1], &[7]).expect("writes");
    let after = moved(&array, 0, &[Span::Kept(2..24)]);
    assert_eq!(after.read([7..10, at..at + 2]).expect("reads"), [0, 0, 7, 0, 0, 0]);
    assert_eq!(after.stored_chunks().count(), 1);
}

/// A shard that is written after the plan is noticed; one that is removed by the plan may be there or not.
#[test]
fn a_write_to_a_shard_that_is_cut_is_noticed() {
    for (written, is_noticed, is_new) in [(0, true, false), (8, false, false), (0, true, true)] {
        let own = full(24);
        let key = Key::new("c/0").expect("a key");
        let shard = own.store().read(&key).expect("reads").expect("is there");
        if is_new {
            own.store().delete(&key).expect("deletes");
        }
        let spans = [Span::Kept(4..8), Span::Kept(16..24)];
        let plan = Rearrangement::plan(&own, 0, spans).expect("fits");
        match is_new {
            true => own.store().put(&key, &shard).expect("puts"),
            false => own.write(written..written + 1, &[99]).expect("writes"),
        }
        let before = objects(&**own.store());
        match plan.execute(&|_| {}) {
            Err(error) => {
                assert!(is_noticed && error.to_string().contains("meanwhile"), "{error}");
                assert_eq!(objects(&**own.store()), before);
            }
            Ok(after) => {
                assert!(!is_noticed);
                let expected: Vec<u8> = [5..=8, 17..=24].into_iter().flatten().collect();
                assert_eq!(after.read(0..12).expect("reads"), expected);
            }
        }
    }
}

#[test]
fn strings_in_shards_are_cut() {
    let inner = vec![Codec::VlenUtf8, Codec::zstd(1)];
    let metadata = ArrayBuilder::new([12], DataType::String)
        .chunk_shape([6])
        .codecs(vec![Codec::sharding([2], inner)])
        .build()
        .expect("valid");
    let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata);
    let array = array.expect("creates");
    let elements = ["a", "", "ccc", "d", "e", "", "g", "h", "", "", "k", "l"];
    array.write_as(0..12, &elements).expect("writes");
    let after = moved(&array, 0, &[Span::Kept(8..12), Span::Kept(0..4)]);
    let expected = [&elements[8..], &elements[..4]].concat();
    let read = after.read_as::<String>(0..8).expect("reads");
    assert!(read.iter().eq(expected.iter().copied()));
}

/// A group of two arrays of this length, in shards of these lengths.
fn group(length: u64, edges: [u64; 2]) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    for path in ["", "g"] {
        Group::create(store.clone(), &at(path), GroupMetadata::new()).expect("new");
    }
    for (path, edge) in ["g/a", "g/b"].into_iter().zip(edges) {
        let codecs = shard(&[2], &[Codec::bytes(), Codec::Crc32c], IndexLocation::End);
        let document = array(&[length], &[vec![edge]], &codecs);
        let document = document.json().trim_end().trim_end_matches('}').to_owned();
        let named = document + ", \"dimension_names\": [\"time\"], \"attributes\": {\"a\": 1}}";
        let metadata = ArrayMetadata::from_json(named.as_bytes()).expect("valid");
        let array = Array::create(store.clone(), &at(path), metadata).expect("creates");
        array.write(0..length, &(1..=length as u8).collect::<Vec<_>>()).expect("writes");
    }
    store
}

/// Ended at every operation, a group is the old or the new one; what is written to an array that is still
/// the old one while others are new is in the new one.
#[test]
fn groups_of_cut_shards_end_old_or_new() {
    let length = 21;
    let other = Group::open(group(4, [4, 4]), &at("g")).expect("opens");
    let spans =
        [Span::Kept(10..14), Span::Inserted(other), Span::Kept(2..6), Span::Kept(14..length)];
    let indices: Vec<u64> = (10..14).chain(100..104).chain(2..6).chain(14..length).collect();
    let build = || group(length, [8, 12]);
    let (old, whole) = (objects(&*build()), build());
    let counted = Arc::new(FaultStore::new(whole.clone()));
    run(&(counted.clone() as Arc<dyn Store>), &spans).expect("moves");
    let new = objects(&*whole);
    let value =
        |index: &u64| vec![if *index < 100 { *index as u8 + 1 } else { (*index - 99) as u8 }];
    let expected: Vec<Vec<u8>> = indices.iter().map(value).collect();
    for path in ["g/a", "g/b"] {
        assert_eq!(rows(&open(&whole, path).expect("opens"), 0), expected, "{path}");
    }
    let (mut done, mut half) = ([0; 2], 0);
    for number in 0..counted.operations() {
        let store = build();
        let dying: Arc<dyn Store> =
            Arc::new(FaultStore::new(store.clone()).at(number, Fault::DieAfter));
        let result = run(&dying, &spans);
        let is_half = refuse_half_rearranged(&Group::open(store.clone(), &at("g")).expect("opens"));
        let copy: Arc<dyn Store> = Arc::new(MemoryStore::new());
        zarr_store_tests::restore(&*copy, &zarr_store_tests::objects(&*store));
        settle(&store).expect("settles");
        let now = objects(&*store);
        assert!(now == new || (result.is_err() && now == old), "operation {number}");
        done[usize::from(now == new)] += 1;
        assert_eq!(found(&store), Vec::<&str>::new(), "operation {number}");
        if is_half.is_ok() {
            continue;
        }
        // Arrays that are still the old ones lose all shards that are cut.
        let emptied: Arc<dyn Store> = Arc::new(MemoryStore::new());
        zarr_store_tests::restore(&*emptied, &zarr_store_tests::objects(&*copy));
        let mut lost = Vec::new();
        for path in ["g/a", "g/b"] {
            if open(&emptied, path).expect("opens").shape() == [length] {
                lost.push(path);
                for number in 0..2 {
                    let key = Key::new(format!("{path}/c/{number}")).expect("a key");
                    emptied.delete(&key).expect("deletes");
                }
            }
        }
        settle(&emptied).expect("settles");
        for path in lost {
            let first = if path == "g/a" { 16 } else { 24 };
            let value = |index: &u64| match index {
                100.. => value(index),
                index if *index < first => vec![0],
                index => value(index),
            };
            let expected: Vec<Vec<u8>> = indices.iter().map(value).collect();
            let found = rows(&open(&emptied, path).expect("opens"), 0);
            assert_eq!(found, expected, "operation {number}: {path}");
        }
        // Elements of a cut shard, and of the last inner chunk, which is not full.
        half += 1;
        for path in ["g/a", "g/b"] {
            let array = open(&copy, path).expect("opens");
            let is_old = array.shape() == [length];
            for index in [11, 3, 20] {
                let at = indices.iter().position(|of| *of == index).expect("is kept") as u64;
                let at = if is_old { index } else { at };
                array.write(at..at + 1, &[77]).expect("writes");
            }
        }
        settle(&copy).expect("settles");
        let mut expected = expected.clone();
        for index in [11, 3, 20] {
            expected[indices.iter().position(|of| *of == index).expect("is kept")] = vec![77];
        }
        for path in ["g/a", "g/b"] {
            let found = rows(&open(&copy, path).expect("opens"), 0);
            assert_eq!(found, expected, "operation {number}: {path}");
        }
    }
    assert!(done.iter().all(|count| *count > 20) && half > 1, "{done:?} {half}");
}
