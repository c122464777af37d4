//! Arrays and groups that can be joined, and what their join must hold: also for the tests of
//! zarr-virtual-join.

use std::sync::Arc;

use zarr_array::store::{LocalStore, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Group, Selection};
use zarr_join::{Arrangement, GroupMember, Member, Members};
use zarr_metadata::{ArrayBuilder, ChunkEdges, ChunkGrid, Codec, DataType, GroupMetadata};

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

/// An array of the fixture of Seattle.
pub(crate) fn fixture(name: &str) -> Array {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/seattle-weather.zarr");
    let store = Arc::new(LocalStore::open(root).expect("is there"));
    Array::open(store, &Prefix::new(name).expect("a prefix")).expect("opens")
}

/// One of the fixture's chunks as an array of its own, with the same object.
pub(crate) fn month(of: &Array, chunk: u64) -> Member {
    let mut index = vec![0; of.shape().len()];
    index[0] = chunk;
    let region = of.layout().chunk_region(&index).expect("is declared");
    let shape: Vec<u64> = region.iter().map(|range| range.end - range.start).collect();
    let grid = ChunkGrid::Regular { chunk_shape: shape.clone() };
    let metadata = of.metadata().with_shape_and_grid(&shape, &grid).expect("valid");
    let store = Arc::new(MemoryStore::new());
    let array = Array::create(store.clone(), &Prefix::root(), metadata).expect("creates");
    let object = of.store().read(&of.layout().key(&index).expect("a key")).expect("reads");
    let key = array.layout().key(&vec![0; index.len()]).expect("a key");
    store.put(&key, &object.expect("is stored")).expect("puts");
    Member::new(format!("month {chunk}"), array)
}

/// The first year, of twelve months.
pub(crate) fn year(of: &Array) -> Vec<Member> {
    (0..12).map(|chunk| month(of, chunk)).collect()
}

/// What a member has.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) time: Vec<i32>,
    pub(crate) x: Vec<f64>,
    /// The attributes of `time`.
    pub(crate) attributes: &'static str,
}

pub(crate) fn case(name: &'static str, time: impl IntoIterator<Item = i32>) -> Case {
    let time = time.into_iter().collect();
    Case { name, time, x: vec![0.5, 1.5], attributes: r#"{"units": "days since 2020-01-01"}"# }
}

pub(crate) fn group(case: &Case) -> GroupMember {
    GroupMember::new(case.name, group_in(Arc::new(MemoryStore::new()), &Prefix::root(), case))
}

pub(crate) fn group_in(store: Arc<dyn Store>, at: &Prefix, case: &Case) -> Group {
    let root = GroupMetadata::new().with_attributes(r#"{"title": "t"}"#).expect("valid");
    let root = Group::create(store, at, root).expect("creates");
    let (days, width) = (case.time.len() as u64, case.x.len() as u64);
    let make = |path: &str, builder: ArrayBuilder, names: &[&str]| {
        let builder = builder.dimension_names(names.iter().copied());
        root.create_array(path, builder.build().expect("valid")).expect("creates")
    };
    let time = ArrayBuilder::new([days], DataType::Int32).attributes(case.attributes);
    let time = make("time", time.chunk_shape([days.max(1)]), &["time"]);
    time.write_as::<i32>(0..days, &case.time).expect("writes");
    let x = make("x", ArrayBuilder::new([width], DataType::Float64), &["x"]);
    x.write_as::<f64>(0..width, &case.x).expect("writes");
    root.create_group("surface", GroupMetadata::new()).expect("creates");
    let rain = ArrayBuilder::new([width, days], DataType::Float64).chunk_shape([1, days.max(1)]);
    let rain = make("surface/rain", rain, &["x", "time"]);
    let values: Vec<f64> =
        case.x.iter().flat_map(|x| case.time.iter().map(move |t| f64::from(*t) + x)).collect();
    rain.write_as::<f64>([0..width, 0..days], &values).expect("writes");
    make("crs", ArrayBuilder::new([], DataType::Int8).attributes(r#"{"epsg": 1}"#), &[]);
    root
}
