//! Random arrays that can be joined, and what their join must hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarr_array::store::{Links, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Selection};
use zarr_join::{Arrangement, Member, Members};
use zarr_metadata::{ArrayBuilder, ChunkEdges, ChunkGrid, Codec, DataType};

/// Numbers that look random and are the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Less than `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Every object of a store.
pub(crate) fn objects(store: &dyn Store) -> BTreeMap<String, Vec<u8>> {
    let keys = store.list(&Prefix::root(), Links::Follow);
    keys.map(|key| {
        let key = key.expect("lists");
        (key.to_string(), store.read(&key).expect("reads").expect("is there"))
    })
    .collect()
}

pub(crate) fn whole(array: &Array) -> Vec<u8> {
    array.read(Selection::whole(array.shape())).expect("reads")
}

/// Edges that cover an extent, perhaps more than it.
fn edges(random: &mut Random, extent: u64) -> ChunkEdges {
    if random.one_in(2) {
        return ChunkEdges::Regular(1 + random.below(4));
    }
    let (mut lengths, mut sum) = (Vec::new(), 0);
    while sum < extent || lengths.is_empty() {
        let edge = 1 + random.below(4);
        lengths.push(edge);
        sum += edge;
    }
    if random.one_in(4) {
        lengths.push(2);
    }
    lengths.into()
}

fn chain(random: &mut Random, rank: usize) -> Vec<Codec> {
    let order: Vec<usize> = (0..rank).rev().collect();
    match random.below(4) {
        0 => vec![Codec::bytes()],
        1 => vec![Codec::transpose(order), Codec::bytes(), Codec::Crc32c],
        2 => vec![Codec::transpose(order), Codec::packbits(0..=7), Codec::Crc32c],
        _ => vec![Codec::sharding(vec![1; rank], [Codec::bytes()])],
    }
}

/// Members with random chunks, chains, fill values and stored chunks.
pub(crate) fn random_members(random: &mut Random) -> (Vec<Member>, Arrangement) {
    let rank = 1 + random.below(3) as usize;
    let counts: Vec<u64> = (0..rank).map(|_| 1 + random.below(3)).collect();
    let (arrangement, counts) = match random.below(3) {
        0 => (Arrangement::Tiles(counts.clone()), counts),
        1 => {
            let axis = random.below(rank as u64 + 1) as usize;
            (Arrangement::NewAxis(axis), vec![1; rank])
        }
        _ => {
            let axis = random.below(rank as u64) as usize;
            let mut along = vec![1; rank];
            along[axis] = counts[axis];
            (Arrangement::Along(axis), along)
        }
    };
    let lengths: Vec<Vec<u64>> =
        counts.iter().map(|count| (0..*count).map(|_| random.below(8)).collect()).collect();
    let number = match arrangement {
        Arrangement::NewAxis(_) => 1 + random.below(3),
        _ => counts.iter().product(),
    };
    let common_grid: Vec<ChunkEdges> = lengths
        .iter()
        .map(|lengths| edges(random, lengths.iter().copied().max().unwrap_or(0)))
        .collect();
    let common_chain = chain(random, rank);
    let members = (0..number)
        .map(|tile| {
            let mut left = if matches!(arrangement, Arrangement::NewAxis(_)) { 0 } else { tile };
            let mut shape = vec![0; rank];
            for axis in (0..rank).rev() {
                shape[axis] = lengths[axis][(left % counts[axis]) as usize];
                left /= counts[axis];
            }
            let other = |random: &mut Random| random.one_in(4);
            let grid: Vec<ChunkEdges> = if other(random) {
                shape.iter().map(|extent| edges(random, *extent)).collect()
            } else {
                common_grid.clone()
            };
            let chain = if other(random) { chain(random, rank) } else { common_chain.clone() };
            let fill = if other(random) { 9 } else { 7 };
            let grid = ChunkGrid::Rectilinear { chunk_shapes: grid };
            let metadata = ArrayBuilder::new(shape.clone(), DataType::Uint8)
                .chunk_grid(grid)
                .codecs(chain)
                .fill_value(fill)
                .build()
                .expect("valid");
            let store = Arc::new(MemoryStore::new());
            let array = Array::create(store, &Prefix::root(), metadata).expect("creates");
            // Some chunks stay absent.
            for _ in 0..random.below(4) {
                let region: Vec<_> = shape
                    .iter()
                    .map(|extent| {
                        let start = random.below(extent + 1);
                        start..start + random.below(extent - start + 1)
                    })
                    .collect();
                let count = region.iter().map(|range| range.end - range.start).product::<u64>();
                let values: Vec<u8> = (0..count).map(|_| random.below(256) as u8).collect();
                array.write(region.as_slice(), &values).expect("writes");
            }
            Member::new(format!("member {tile}"), array)
        })
        .collect();
    (members, arrangement)
}

/// The elements of the joined array, put together one by one.
pub(crate) fn expected(members: &Members) -> Vec<u8> {
    let shape = members.shape();
    let count: u64 = shape.iter().product();
    let mut out = vec![0; count as usize];
    for (number, member) in members.members().iter().enumerate() {
        let values = whole(member.array());
        let region = members.region(number);
        let lengths: Vec<u64> = region.iter().map(|range| range.end - range.start).collect();
        for (at, value) in values.iter().enumerate() {
            let mut left = at as u64;
            let mut index = vec![0; shape.len()];
            for axis in (0..shape.len()).rev() {
                index[axis] = region[axis].start + left % lengths[axis];
                left /= lengths[axis];
            }
            let to = index.iter().zip(&shape).fold(0, |to, (index, length)| to * length + index);
            out[to as usize] = *value;
        }
    }
    out
}
