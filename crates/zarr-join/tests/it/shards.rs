//! Joins into shards, out of shards and between them: encoded chunks move as they are stored.

use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Selection};
use zarr_join::{Arrangement, Join, JoinOptions, JoinPlan, JoinSummary, Member, Members};
use zarr_metadata::{
    ArrayBuilder, ArrayMetadata, ChunkEdges, ChunkGrid, Codec, DataType, IndexLocation, Sharding,
};
use zarr_store_tests::objects;

use crate::cases::{Random, expected, whole};

/// An array of bytes, of chunks or shards of these edges on each axis.
pub(crate) fn array(shape: &[u64], edges: &[Vec<u64>], codecs: &[Codec]) -> ArrayMetadata {
    let chunk_shapes = edges.iter().map(|edges| match &**edges {
        [edge] => ChunkEdges::Regular(*edge),
        edges => edges.into(),
    });
    let builder = ArrayBuilder::new(shape, DataType::Uint8).fill_value(0);
    let builder = match edges.iter().all(|edges| edges.len() == 1) {
        true => builder.chunk_shape(edges.concat()),
        false => {
            builder.chunk_grid(ChunkGrid::Rectilinear { chunk_shapes: chunk_shapes.collect() })
        }
    };
    builder.codecs(codecs.to_vec()).build().expect("valid")
}

pub(crate) fn shard(unit: &[u64], codecs: &[Codec], location: IndexLocation) -> Vec<Codec> {
    let mut shard = Sharding::new(unit, codecs.to_vec());
    shard.index_location = location;
    vec![Codec::ShardingIndexed(Box::new(shard))]
}

/// Edges of whole units that reach the end of the axis.
fn edges(random: &mut Random, unit: u64, extent: u64) -> Vec<u64> {
    if random.one_in(2) {
        return vec![unit * (1 + random.below(4))];
    }
    let mut edges = Vec::new();
    while edges.iter().sum::<u64>() < extent || edges.len() < 2 {
        edges.push(unit * (1 + random.below(3)));
    }
    edges
}

/// Elements of which every third box of 8 is fill values.
fn elements(random: &mut Random, count: u64) -> Vec<u8> {
    let mut made = Vec::new();
    while (made.len() as u64) < count {
        let fill = random.one_in(3);
        made.extend((0..8).map(|_| if fill { 0 } else { random.below(4) as u8 }));
    }
    made.truncate(count as usize);
    made
}

fn member(store: &Arc<dyn Store>, name: &str, metadata: &ArrayMetadata, values: &[u8]) -> Member {
    let place = Prefix::new(name).expect("a prefix");
    let array = Array::create(store.clone(), &place, metadata.clone()).expect("creates");
    array.write(Selection::whole(metadata.shape()), values).expect("writes");
    Member::new(name, array)
}

fn joined(plan: &JoinPlan) -> (Arc<MemoryStore>, JoinSummary) {
    let to = Arc::new(MemoryStore::new());
    let store: Arc<dyn Store> = to.clone();
    let (_, did) =
        plan.execute(&store, &Prefix::root(), &JoinOptions::new(), &|_| {}).expect("joins");
    (to, did)
}

/// What a plain write of the elements stores.
pub(crate) fn written(metadata: &ArrayMetadata, values: &[u8]) -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::new());
    let array = Array::create(store.clone(), &Prefix::root(), metadata.clone()).expect("creates");
    array.write(Selection::whole(metadata.shape()), values).expect("writes");
    store
}

#[test]
fn joined_shards_are_those_that_a_write_stores_in_any_layout() {
    let inner = [
        vec![Codec::bytes()],
        vec![Codec::transpose([1, 0]), Codec::bytes(), Codec::Crc32c],
        vec![Codec::bytes(), Codec::zstd(3)],
    ];
    let (mut assembled, mut decoded, mut moved) = (0, 0, 0);
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let units = [1 + random.below(3), 1 + random.below(3)];
        let codecs = &inner[random.below(3) as usize];
        let location = |random: &mut Random| match random.one_in(2) {
            true => IndexLocation::Start,
            false => IndexLocation::End,
        };
        let stack = random.one_in(4);
        let axis = random.below(2) as usize;
        let (mut extents, count) =
            ([1 + random.below(9), 1 + random.below(9)], 2 + random.below(3));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let members: Vec<Member> = (0..count)
            .map(|number| {
                if !stack {
                    // Mostly whole units; the last member ends anywhere.
                    extents[axis] = units[axis] * (1 + random.below(5));
                    if number + 1 == count || random.one_in(6) {
                        extents[axis] = 1 + random.below(9);
                    }
                }
                let metadata = match random.one_in(3) {
                    true => array(&extents, &units.map(|unit| vec![unit]), codecs),
                    false => {
                        let outer = [0, 1].map(|at| edges(&mut random, units[at], extents[at]));
                        let location = location(&mut random);
                        array(&extents, &outer, &shard(&units, codecs, location))
                    }
                };
                let values = elements(&mut random, extents.iter().product());
                member(&store, &format!("m{number}"), &metadata, &values)
            })
            .collect();
        let arrangement = if stack { Arrangement::NewAxis(0) } else { Arrangement::Along(axis) };
        let all = expected(&Members::new(members.clone(), arrangement.clone()).expect("fits"));
        let wanted = random.below(3);
        let outer = [1 + random.below(3), 1 + random.below(3)].map(|count| vec![count]);
        let location = location(&mut random);
        let planned = Join::new(members, arrangement).plan_with(|metadata| {
            let mut units = units.to_vec();
            let mut codecs = codecs.clone();
            let mut outer = outer.to_vec();
            if stack {
                units.insert(0, 1);
                outer.insert(0, vec![1 + random.below(3)]);
                codecs = codecs
                    .iter()
                    .map(|codec| match codec {
                        Codec::Transpose(_) => Codec::transpose([0, 2, 1]),
                        other => other.clone(),
                    })
                    .collect();
            }
            let of = |edges: &[Vec<u64>], codecs: &[Codec]| array(metadata.shape(), edges, codecs);
            let chunks: Vec<Vec<u64>> = units.iter().map(|unit| vec![*unit]).collect();
            let outer: Vec<Vec<u64>> =
                outer.iter().zip(&units).map(|(count, unit)| vec![count[0] * unit]).collect();
            Ok::<_, zarr_join::JoinError>(match wanted {
                0 => None,
                1 => Some(of(&chunks, &codecs)),
                _ => Some(of(&outer, &shard(&units, &codecs, location))),
            })
        });
        // Members' chunks that end within a unit make no shards of whole units.
        let Ok(plan) = planned else {
            assert_eq!(wanted, 0, "seed {seed}: {:?}", planned.err());
            continue;
        };
        let (to, did) = joined(&plan);
        let alone = written(plan.metadata(), &all);
        assert_eq!(objects(&*to), objects(&*alone), "seed {seed}");
        let opened = Array::open(to, &Prefix::root()).expect("opens");
        assert_eq!(whole(&opened), all, "seed {seed}");
        assert_eq!(did.written, plan.written_chunks() as u64, "seed {seed}");
        assembled += did.assembled;
        decoded += did.written;
        moved += did.copied;
    }
    assert!(assembled > 900 && decoded > 100 && moved > 900, "{assembled} {decoded} {moved}");
}

#[test]
fn chunks_that_cannot_be_decoded_are_joined_into_shards_and_back() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let codecs = [Codec::bytes(), Codec::zstd(3)];
    let plain = array(&[8], &[vec![2]], &codecs);
    let members = ["a", "b"].map(|name| member(&store, name, &plain, &[1, 2, 3, 4, 5, 6, 7, 8]));
    let key = |text: &str| zarr_array::store::Key::new(text).expect("a key");
    store.put(&key("a/c/1"), b"no zstd").expect("puts");
    let shards = plain.with_layout(None, None, Some(&ChunkGrid::Regular { chunk_shape: vec![6] }));
    let wanted = shards.expect("valid");
    let into = Join::new(members.to_vec(), Arrangement::Along(0))
        .plan_with(|metadata| {
            let grid = ChunkGrid::Regular { chunk_shape: vec![6] };
            metadata
                .with_layout(None, None, Some(&grid))
                .map(Some)
                .map_err(zarr_join::JoinError::Metadata)
        })
        .expect("fits");
    assert_eq!(into.metadata().codecs(), wanted.codecs());
    assert_eq!((into.assembled_chunks(), into.written_chunks()), (3, 0));
    let (to, did) = joined(&into);
    assert_eq!((did.assembled, did.written), (3, 0));
    let sharded = Array::open(to, &Prefix::root()).expect("opens");
    assert!(sharded.read(2..4).is_err());
    assert_eq!(sharded.read(4..16).expect("reads"), [5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8]);

    let back = Join::new(vec![Member::new("sharded", sharded)], Arrangement::Along(0))
        .plan_with(|metadata| {
            metadata.without_shards().map(Some).map_err(zarr_join::JoinError::Metadata)
        })
        .expect("fits");
    let (to, did) = joined(&back);
    assert_eq!((did.assembled, did.written), (8, 0));
    assert_eq!(to.read(&key("c/1")).expect("reads").as_deref(), Some(&b"no zstd"[..]));
}

/// The last shard of a member is not full: it is a shard of the joined array's shape, but what moves is
/// what it has within it.
#[test]
fn shards_that_are_not_full_are_joined_to_shards_of_the_same_shape() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let shards = shard(&[2], &[Codec::bytes(), Codec::Crc32c], IndexLocation::End);
    let of = |name, length: u8| {
        let metadata = array(&[length.into()], &[vec![12]], &shards);
        member(&store, name, &metadata, &(1..=length).collect::<Vec<u8>>())
    };
    let plan = Join::new(vec![of("a", 16), of("b", 9)], Arrangement::Along(0))
        .plan_with(|metadata| {
            let grid = ChunkGrid::Regular { chunk_shape: vec![12] };
            let same = metadata.with_shape_and_grid(metadata.shape(), &grid);
            same.map(Some).map_err(zarr_join::JoinError::Metadata)
        })
        .expect("fits");
    assert_eq!(plan.moved_chunks(), 1);
    assert_eq!((plan.assembled_chunks(), plan.written_chunks()), (2, 0));
    let (to, did) = joined(&plan);
    assert_eq!((did.assembled, did.written), (2, 0));
    let all: Vec<u8> = (1..=16).chain(1..=9).collect();
    assert_eq!(objects(&*to), objects(&*written(plan.metadata(), &all)));
}

#[test]
fn a_shard_that_changes_is_named() {
    changes(|changed| changed.write(4..5, &[9]).expect("writes"));
    // Its index cannot be read.
    changes(|changed| {
        let key = zarr_array::store::Key::new("a/c/1").expect("a key");
        changed.store().put(&key, b"x").expect("puts");
    });
}

fn changes(change: fn(&Array)) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let shards = shard(&[2], &[Codec::bytes()], IndexLocation::End);
    let of = |name| member(&store, name, &array(&[6], &[vec![4]], &shards), &[1, 2, 3, 4, 5, 6]);
    let members = vec![of("a"), of("b")];
    let changed = members[0].array().clone();
    let plan = Join::new(members, Arrangement::Along(0))
        .plan_with(|metadata| {
            let grid = ChunkGrid::Regular { chunk_shape: vec![12] };
            let shards = metadata.with_layout(None, None, Some(&grid));
            shards.map(Some).map_err(zarr_join::JoinError::Metadata)
        })
        .expect("fits");
    assert_eq!((plan.assembled_chunks(), plan.written_chunks()), (1, 0));
    change(&changed);
    let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let result = plan.execute(&to, &Prefix::root(), &JoinOptions::new(), &|_| {});
    let message = result.map(drop).expect_err("has changed").to_string();
    assert_eq!(message, "a: a/c/1 has changed since the join was planned: plan it again");
}

#[test]
fn a_member_that_differs_is_decoded_and_the_others_are_not() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let codecs = [Codec::bytes(), Codec::zstd(3)];
    let of = |unit: u64, codecs: &[Codec]| {
        array(&[8], &[vec![4]], &shard(&[unit], codecs, IndexLocation::End))
    };
    let values = [1, 2, 3, 4, 5, 6, 7, 8];
    let members = vec![
        member(&store, "same", &of(2, &codecs), &values),
        member(&store, "smaller", &of(1, &codecs), &values),
        member(&store, "harder", &of(2, &[Codec::bytes(), Codec::zstd(5)]), &values),
        member(&store, "again", &of(2, &codecs), &values),
    ];
    let plan = Join::new(members, Arrangement::Along(0))
        .plan_with(|metadata| {
            let grid = ChunkGrid::Regular { chunk_shape: vec![8] };
            let changed = metadata.with_shape_and_grid(metadata.shape(), &grid);
            changed.map(Some).map_err(zarr_join::JoinError::Metadata)
        })
        .expect("fits");
    assert_eq!((plan.assembled_chunks(), plan.written_chunks()), (2, 2));
    let (to, _) = joined(&plan);
    let opened = Array::open(to, &Prefix::root()).expect("opens");
    assert_eq!(whole(&opened), values.repeat(4));
}

#[test]
fn shards_of_shards_and_chunks_become_the_same_shards() {
    let codecs = [Codec::bytes(), Codec::zstd(3)];
    let inner = shard(&[2], &codecs, IndexLocation::End);
    let nested = shard(&[4], &inner, IndexLocation::End);
    let values: Vec<u8> = (1..=8).collect();
    let nested = array(&[8], &[vec![8]], &nested);
    let plain = array(&[8], &[vec![2]], &codecs);
    for order in [[&nested, &plain], [&plain, &nested]] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let members = ["a", "b"].into_iter().zip(order);
        let members = members.map(|(name, metadata)| member(&store, name, metadata, &values));
        let plan = Join::new(members.collect(), Arrangement::Along(0))
            .plan_with(|metadata| {
                Ok::<_, zarr_join::JoinError>(Some(array(metadata.shape(), &[vec![4]], &inner)))
            })
            .expect("fits");
        assert_eq!((plan.assembled_chunks(), plan.written_chunks()), (4, 0));
        let (to, _) = joined(&plan);
        let alone = written(plan.metadata(), &values.repeat(2));
        assert_eq!(objects(&*to), objects(&*alone));
    }
}
