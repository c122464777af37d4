//! Shards that are not full, after which others are appended: inner chunks move as they are stored.

use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, ArrayError, Group, Selection};
use zarr_join::rearrange::{Rearrangement, Span};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, Codec, DataType, GroupMetadata, IndexLocation};
use zarr_store_tests::sampled;

use super::groups::{at, open, run, settle};
use super::{found, objects, rows};
use crate::cases::Random;
use crate::shards::{array, shard};

/// An array with elements, whole boxes of which are the fill value.
pub(super) fn stored(random: &mut Random, metadata: ArrayMetadata) -> Array {
    let shape = metadata.shape().to_vec();
    let count = shape.iter().product::<u64>();
    let mut elements = Vec::new();
    while (elements.len() as u64) < count {
        let fill = random.one_in(3);
        elements.extend((0..8).map(|_| if fill { 0 } else { random.below(5) as u8 }));
    }
    elements.truncate(count as usize);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
    array.write(Selection::whole(&shape), &elements).expect("writes");
    array
}

fn append(array: &Array, axis: usize, others: Vec<Array>) -> Result<Array, ArrayError> {
    let kept = Span::Kept(0..array.shape()[axis]);
    let spans = std::iter::once(kept).chain(others.into_iter().map(Span::Inserted));
    Rearrangement::plan(array, axis, spans)?.execute(&|_| {})
}

#[test]
fn appended_shards_have_the_elements_of_both_in_any_layout() {
    let inner = [
        vec![Codec::bytes()],
        vec![Codec::transpose([1, 0]), Codec::bytes(), Codec::Crc32c],
        vec![Codec::bytes(), Codec::zstd(3)],
    ];
    let (mut done, mut written) = (0, 0);
    for seed in (0..1200).step_by(sampled(1)) {
        let random = &mut Random::new(seed);
        let axis = random.below(2) as usize;
        let units = [1 + random.below(3), 1 + random.below(3)];
        let other_axis = 1 + random.below(7);
        let codecs = inner[random.below(3) as usize].clone();
        let layout = |random: &mut Random, length: u64| {
            let mut shape = [other_axis; 2];
            shape[axis] = length;
            let codecs = if random.one_in(6) { &inner[0] } else { &codecs };
            let location = match random.one_in(2) {
                true => IndexLocation::Start,
                false => IndexLocation::End,
            };
            let regular = |n: &[u64; 2]| [0, 1].map(|at| vec![units[at] * n[at]]).to_vec();
            match random.below(6) {
                0 => array(&shape, &regular(&[1, 1]), codecs),
                // Shards within shards.
                1 => {
                    let within = shard(&units, codecs, location);
                    let units = units.map(|unit| unit * 2);
                    array(&shape, &regular(&[4, 2]), &shard(&units, &within, location))
                }
                // Edges of several lengths.
                2 => {
                    let mut edges = regular(&[2, 2]);
                    edges[axis].clear();
                    while edges[axis].iter().sum::<u64>() < length || edges[axis].len() < 2 {
                        edges[axis].push(units[axis] * (1 + random.below(4)));
                    }
                    array(&shape, &edges, &shard(&units, codecs, location))
                }
                // A codec after the shards: they are one unit.
                3 => {
                    let mut codecs = shard(&units, codecs, location);
                    codecs.push(Codec::Crc32c);
                    array(&shape, &regular(&[3, 2]), &codecs)
                }
                _ => {
                    let n = [1 + random.below(4), 1 + random.below(4)];
                    array(&shape, &regular(&n), &shard(&units, codecs, location))
                }
            }
        };
        let length = |random: &mut Random| match random.one_in(2) {
            true => units[axis] * (1 + random.below(5)),
            false => 1 + random.below(12),
        };
        let own_length = length(random);
        let metadata = layout(random, own_length);
        let own = stored(random, metadata);
        let others: Vec<Array> = (0..1 + random.below(3))
            .map(|_| match random.below(5) {
                0 => own.clone(),
                other => {
                    let length = length(random);
                    let metadata = match other {
                        // As the first.
                        1 | 2 => {
                            let mut shape = own.shape().to_vec();
                            shape[axis] = length;
                            own.metadata().with_shape(&shape)
                        }
                        _ => Ok(layout(random, length)),
                    };
                    // A list of edges may not reach so far.
                    let metadata = metadata.unwrap_or_else(|_| own.metadata().clone());
                    stored(random, metadata)
                }
            })
            .collect();
        let mut expected = rows(&own, axis);
        expected.extend(others.iter().flat_map(|other| rows(other, axis)));
        let what = format!("seed {seed}");
        let appended = match append(&own, axis, others) {
            Ok(appended) => appended,
            // After a full shard, others must have the same chunks.
            Err(error @ ArrayError::Refused { .. }) => {
                assert!(
                    error.to_string().contains("the inserted array differs"),
                    "{what}: {error}"
                );
                continue;
            }
            Err(error) => panic!("{what}: {error}"),
        };
        assert_eq!(rows(&appended, axis), expected, "{what}");
        assert_eq!(found(appended.store()), Vec::<&str>::new(), "{what}");
        done += 1;
        // Where inner chunks end where arrays end, the objects are those that a write stores.
        let all = appended.read(Selection::whole(appended.shape())).expect("reads");
        let again = crate::shards::written(appended.metadata(), &all);
        written += u32::from(objects(&*again) == objects(&**appended.store()));
    }
    assert!(done > 700 && written > 600, "{done} {written}");
}

/// Damages the first inner chunks, of two bytes and a checksum each, of a shard.
pub(super) fn damage(store: &dyn Store, key: &str, count: usize) {
    let key = Key::new(key).expect("a key");
    let mut bytes = store.read(&key).expect("reads").expect("is there");
    bytes[..6 * count].fill(7);
    store.put(&key, &bytes).expect("puts");
}

fn checked(length: u64) -> ArrayMetadata {
    let codecs = shard(&[2], &[Codec::bytes(), Codec::Crc32c], IndexLocation::End);
    array(&[length], &[vec![12]], &codecs)
}

/// No inner chunk could be decoded, and none is: they are in the new shard as they were stored.
#[test]
fn inner_chunks_that_cannot_be_decoded_are_appended() {
    let random = &mut Random::new(3);
    let of = |length: u64| {
        let random = &mut Random::new(length);
        let array = stored(random, checked(length));
        array.write(0..length, &vec![9; length as usize]).expect("writes");
        array
    };
    let (own, more) = (of(16), of(20));
    damage(&**own.store(), "c/1", 2);
    damage(&**more.store(), "c/0", 6);
    // Without decoding a fill value, too.
    let sparse = stored(random, checked(12));
    sparse.write(0..12, &[0; 12]).expect("writes");
    let appended = append(&own, 0, vec![more, sparse]).expect("appends");
    assert_eq!(appended.shape(), [48]);
    assert_eq!(appended.read(0..12).expect("reads"), [9; 12]);
    for unit in (12..28).step_by(2) {
        let error = appended.read(unit..unit + 2).expect_err("is damaged").to_string();
        assert!(error.contains("crc32c"), "{unit}: {error}");
    }
    assert_eq!(appended.read(28..48).expect("reads"), [vec![9; 8], vec![0; 12]].concat());
}

/// The inner chunk in which the first array ends gets elements of the next, and only that is decoded.
#[test]
fn only_the_inner_chunk_that_arrays_share_is_decoded() {
    let of = |length: u64| {
        let array = stored(&mut Random::new(1), checked(length));
        array.write(0..length, &vec![9; length as usize]).expect("writes");
        array
    };
    let own = of(9);
    // The last one stays whole.
    damage(&**own.store(), "c/0", 4);
    let appended = append(&own, 0, vec![of(6)]).expect("appends");
    assert!(appended.read(0..8).is_err());
    assert_eq!(appended.read(8..15).expect("reads"), [9; 7]);

    let own = of(9);
    damage(&**own.store(), "c/0", 5);
    let before = objects(&**own.store());
    assert!(append(&own, 0, vec![of(6)]).is_err());
    assert_eq!(objects(&**own.store()), before);
}

#[test]
fn strings_in_shards_are_appended_as_they_are() {
    let of = |elements: &[&str]| {
        let inner = vec![Codec::VlenUtf8, Codec::zstd(1)];
        let length = elements.len() as u64;
        let metadata = ArrayBuilder::new([length], DataType::String)
            .chunk_shape([6])
            .codecs(vec![Codec::sharding([2], inner)])
            .build()
            .expect("valid");
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
        array.write_as(0..length, elements).expect("writes");
        array
    };
    for (own, more) in [
        (&["a", "", "ccc", "d"][..], &["e", "f", "", "", "i"][..]),
        (&["a", "bb", "c"], &["d", "", "f", "g"]),
    ] {
        let appended = append(&of(own), 0, vec![of(more), of(&["x"])]).expect("appends");
        let all = [own, more, &["x"]].concat();
        let read = appended.read_as::<String>(0..all.len() as u64).expect("reads");
        assert!(read.iter().eq(all.iter().copied()), "{all:?}");
    }
}

/// A group of two arrays of this length and value, in shards whose first inner chunks are damaged.
fn group(length: u64, value: u8, damaged: usize) -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    for path in ["", "g"] {
        Group::create(store.clone(), &at(path), GroupMetadata::new()).expect("new");
    }
    for path in ["g/a", "g/b"] {
        let document = checked(length).json().trim_end().trim_end_matches('}').to_owned();
        let named = document + ", \"dimension_names\": [\"time\"], \"attributes\": {\"a\": 1}}";
        let metadata = ArrayMetadata::from_json(named.as_bytes()).expect("valid");
        let array = Array::create(store.clone(), &at(path), metadata).expect("creates");
        array.write(0..length, &vec![value; length as usize]).expect("writes");
        if damaged > 0 {
            damage(&*store, &format!("{path}/c/0"), damaged);
        }
    }
    store
}

/// A group whose shards are appended to, ended at every operation: what cannot be decoded is there
/// before and after, also where the repair moves it again. Of a shard without stored elements, nothing is.
#[test]
fn groups_of_damaged_and_of_empty_shards_end_old_or_new() {
    // The second ends within an inner chunk, which is decoded.
    for (length, value, damaged, more) in [(4, 9, 2, 3), (5, 9, 2, 0), (4, 0, 0, 0)] {
        let build = || group(length, value, damaged);
        let other = Group::open(group(6, value, more), &at("g")).expect("opens");
        let spans = [Span::Kept(0..length), Span::Inserted(other)];
        let (old, whole) = (objects(&*build()), build());
        let counted = Arc::new(FaultStore::new(whole.clone()));
        run(&(counted.clone() as Arc<dyn Store>), &spans).expect("appends");
        let (new, mut done) = (objects(&*whole), [0; 2]);
        for number in 0..counted.operations() {
            let store = build();
            let dying: Arc<dyn Store> =
                Arc::new(FaultStore::new(store.clone()).at(number, Fault::DieAfter));
            let result = run(&dying, &spans);
            settle(&store).expect("settles");
            let now = objects(&*store);
            assert!(now == new || (result.is_err() && now == old), "{length}: operation {number}");
            done[usize::from(now == new)] += 1;
            let array = open(&store, "g/b").expect("opens");
            assert_eq!(array.read(0..4).is_err(), damaged > 0, "{length}: operation {number}");
        }
        assert!(done.iter().all(|count| *count > 20), "{done:?}");
    }
}
