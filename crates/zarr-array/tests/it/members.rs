//! Arrays that consist of others, compared with their elements laid side by side in memory.

#[cfg(feature = "async")]
mod faces;
mod stacked;

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_array::store::{Capabilities, Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{
    Array, ArrayError, AxisSelection, Hierarchy, JoinedNodes, MemberSource, Members, Selection,
};
use zarr_grid::{Axis, Grid, Run};
use zarr_metadata::{ArrayMetadata, DataType};
use zarr_store_tests::hand_on;
use zarr_view::{Output, View};

#[cfg(feature = "async")]
use crate::asynchronous::face::{Faced, Manner};

/// A store whose root is an array that consists of others.
#[derive(Debug)]
struct Joined {
    inner: MemoryStore,
    members: Arc<Members>,
    /// How many requests it wants at once.
    requests: usize,
}

impl Store for Joined {
    hand_on!(inner: get head put_opts delete list list_dir lock);

    fn capabilities(&self) -> Capabilities {
        Capabilities::new().requests_in_flight(NonZeroUsize::new(self.requests).expect("some"))
    }
}

impl JoinedNodes for Joined {
    fn members(&self, prefix: &Prefix) -> Option<Arc<Members>> {
        prefix.is_root().then(|| Arc::clone(&self.members))
    }
}

/// The array at the root.
fn open(store: Joined) -> Array {
    let store = Arc::new(store);
    Array::open(Hierarchy::joined(store.clone(), store), &Prefix::root()).unwrap()
}

/// Open arrays, numbered by `counts` on the axes.
struct Open {
    arrays: Vec<Option<Array>>,
    counts: Vec<u64>,
    opened: AtomicU64,
}

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Open")
    }
}

impl MemberSource for Open {
    fn open(&self, member: &[u64]) -> Result<Option<Array>, ArrayError> {
        self.opened.fetch_add(1, Ordering::Relaxed);
        let at = member.iter().zip(&self.counts).fold(0, |at, (n, count)| at * count + n);
        Ok(self.arrays[usize::try_from(at).unwrap()].clone())
    }

    fn name(&self, member: &[u64]) -> String {
        format!("month {member:?}")
    }
}

/// Numbers that look random, from a seed.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    /// Edges of chunks with this sum.
    fn edges(&mut self, mut length: u64) -> Vec<u64> {
        let mut edges = Vec::new();
        while length > 0 {
            let edge = 1 + self.roll(length);
            edges.push(edge);
            length -= edge;
        }
        edges
    }
}

fn axis(edges: &[u64]) -> Axis {
    let runs = edges.iter().map(|edge| Run { edge: *edge, count: 1 });
    Axis::from_runs(edges.iter().sum(), runs).unwrap()
}

const LITTLE: &str = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;

/// Chains whose chunks no other reads.
fn chain(dice: &mut Dice, rank: usize) -> String {
    let order: Vec<usize> = (0..rank).rev().collect();
    match dice.roll(4) {
        0 => LITTLE.to_owned(),
        1 => r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#.to_owned(),
        2 => format!(
            r#"[{{"name": "transpose", "configuration": {{"order": {order:?}}}}},
            {{"name": "packbits"}}, {{"name": "gzip", "configuration": {{"level": 1}}}}]"#
        ),
        _ => format!(
            r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {:?},
            "codecs": [{{"name": "bytes", "configuration": {{"endian": "big"}}}}],
            "index_codecs": {LITTLE}, "index_location": "end"}}}}]"#,
            vec![1; rank]
        ),
    }
}

fn create(shape: &[u64], grid: &str, fill: u16, codecs: &str) -> Array {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": {shape:?}, "data_type": "uint16",
        "chunk_grid": {grid}, "chunk_key_encoding": {{"name": "default"}}, "fill_value": {fill},
        "codecs": {codecs}}}"#
    );
    let metadata = ArrayMetadata::from_json(document.as_bytes()).expect("valid");
    Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).expect("creates")
}

fn rectilinear(edges: &[Vec<u64>]) -> String {
    format!(
        r#"{{"name": "rectilinear", "configuration": {{"kind": "inline", "chunk_shapes": {edges:?}}}}}"#
    )
}

/// A member with some chunks and some elements written.
fn member(dice: &mut Dice, shape: &[u64]) -> Array {
    let regular = dice.roll(2) == 0;
    let grid = match regular {
        // Chunks may be longer than the array.
        true => {
            let chunks: Vec<u64> = shape.iter().map(|length| 1 + dice.roll(length + 2)).collect();
            format!(r#"{{"name": "regular", "configuration": {{"chunk_shape": {chunks:?}}}}}"#)
        }
        false => rectilinear(&shape.iter().map(|length| dice.edges(*length)).collect::<Vec<_>>()),
    };
    let codecs = chain(dice, shape.len());
    let fill = u16::try_from(dice.roll(1000)).unwrap();
    let array = create(shape, &grid, fill, &codecs);
    for _ in 0..dice.roll(3) {
        let part: Vec<Range<u64>> = shape
            .iter()
            .map(|length| {
                let start = dice.roll(*length);
                start..start + 1 + dice.roll(length - start)
            })
            .collect();
        let selection: Selection = part.into_iter().collect();
        let count = selection.elements().unwrap();
        let elements: Vec<u16> =
            (0..count).map(|_| u16::try_from(dice.roll(65_536)).unwrap()).collect();
        array.write_as(&selection, &elements).unwrap();
    }
    array
}

/// An array that consists of others, and its elements.
struct Case {
    array: Array,
    members: Arc<Members>,
    elements: Vec<u16>,
}

/// The place of an index in C order.
fn place(index: &[u64], shape: &[u64]) -> usize {
    let at = index.iter().zip(shape).fold(0, |at, (index, length)| at * length + index);
    usize::try_from(at).unwrap()
}

/// Calls `visit` with each index of an array of this shape, in C order.
fn for_each_index(shape: &[u64], mut visit: impl FnMut(&[u64])) {
    let count: u64 = shape.iter().product();
    for number in 0..count {
        let mut left = number;
        let mut index = vec![0; shape.len()];
        for (at, length) in index.iter_mut().zip(shape).rev() {
            *at = left % length;
            left /= length;
        }
        visit(&index);
    }
}

fn case(dice: &mut Dice) -> Case {
    const FILL: u16 = 7;
    let rank = usize::try_from(1 + dice.roll(3)).unwrap();
    let stacked = (rank > 1 && dice.roll(3) == 0).then_some(rank / 2);
    // The lengths of the members on each axis.
    let lengths: Vec<Vec<u64>> = (0..rank)
        .map(|axis| match stacked {
            Some(new) if new == axis => vec![1; usize::try_from(1 + dice.roll(4)).unwrap()],
            _ => (0..=dice.roll(3)).map(|_| 1 + dice.roll(6)).collect(),
        })
        .collect();
    let grid = Grid::new(lengths.iter().map(|lengths| axis(lengths)).collect::<Vec<_>>());
    let shape = grid.shape().to_vec();
    let counts: Vec<u64> = grid.occupied().to_vec();
    let mut elements = vec![FILL; usize::try_from(shape.iter().product::<u64>()).unwrap()];
    let mut arrays = Vec::new();
    for_each_index(&counts, |number| {
        let (mut at, mut size) = (vec![0; rank], vec![0; rank]);
        grid.chunk_origin(number, &mut at).unwrap();
        grid.chunk_shape(number, &mut size).unwrap();
        if dice.roll(6) == 0 {
            return arrays.push(None);
        }
        let mut own = size.clone();
        if let Some(axis) = stacked {
            own.remove(axis);
        }
        let array = member(dice, &own);
        let mut read = array.read_as::<u16>(Selection::whole(&own)).unwrap().into_iter();
        // Some members are in stores with asynchronous interfaces, or distant ones without.
        #[cfg(feature = "async")]
        let array = match dice.roll(3) {
            0 => array,
            number => {
                let manner = if number == 1 { Manner::Ready } else { Manner::Blocking };
                let store = Faced::new(array.store().clone(), manner);
                array.with_store(Arc::new(store))
            }
        };
        for_each_index(&size, |index| {
            let index: Vec<u64> = index.iter().zip(&at).map(|(a, b)| a + b).collect();
            elements[place(&index, &shape)] = read.next().unwrap();
        });
        arrays.push(Some(array));
    });
    let source = Arc::new(Open { arrays, counts, opened: AtomicU64::new(0) });
    let members = Members::new(grid, DataType::Uint16, source);
    let members = Arc::new(match stacked {
        Some(axis) => members.new_axis(axis),
        None => members,
    });
    // Chunks that lie within members, but need not be chunks of theirs.
    let chunks: Vec<Vec<u64>> = lengths
        .iter()
        .map(|lengths| lengths.iter().flat_map(|length| dice.edges(*length)).collect())
        .collect();
    let array = create(&shape, &rectilinear(&chunks), FILL, LITTLE);
    let requests = if dice.roll(2) == 0 { 1 } else { 1000 };
    let store = Joined { inner: MemoryStore::new(), members: members.clone(), requests };
    let document = array.metadata().json().as_bytes();
    store.put(&Key::new("zarr.json").unwrap(), document).unwrap();
    let array = open(store);
    Case { array, members, elements }
}

/// A selection along an axis, with the indices that it means.
fn asked(dice: &mut Dice, length: u64) -> (AxisSelection, Vec<u64>) {
    let start = dice.roll(length);
    let range = start..start + 1 + dice.roll(length - start);
    match dice.roll(5) {
        0 => (start.into(), vec![start]),
        1 => (range.clone().into(), range.collect()),
        2 => {
            let step = 1 + dice.roll(3);
            let distance = usize::try_from(step).unwrap();
            let step = i64::try_from(step).unwrap();
            match dice.roll(2) {
                0 => {
                    let indices = range.clone().step_by(distance).collect();
                    (AxisSelection::Step { range, step }, indices)
                }
                _ => {
                    let indices = range.clone().rev().step_by(distance).collect();
                    (AxisSelection::Step { range, step: -step }, indices)
                }
            }
        }
        3 => {
            let list: Vec<u64> = (0..1 + dice.roll(8)).map(|_| dice.roll(length)).collect();
            (list.clone().into(), list)
        }
        _ => {
            let mask: Vec<bool> = (0..length).map(|_| dice.roll(2) == 0).collect();
            let indices = (0..length).filter(|at| mask[usize::try_from(*at).unwrap()]).collect();
            (mask.into(), indices)
        }
    }
}

#[test]
fn reads_are_those_of_the_members_side_by_side() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for round in 0..150 {
        let Case { array, elements, .. } = case(&mut dice);
        let shape = array.shape().to_vec();
        let threads = NonZeroUsize::new(1 + round % 3);
        let array = array.with_threads(threads);
        assert_eq!(array.read_as::<u16>(Selection::whole(&shape)).unwrap(), elements);
        for _ in 0..20 {
            let (axes, indices): (Vec<AxisSelection>, Vec<Vec<u64>>) =
                shape.iter().map(|length| asked(&mut dice, *length)).unzip();
            let selection = Selection::new(axes);
            let counts: Vec<u64> =
                indices.iter().map(|axis| u64::try_from(axis.len()).unwrap()).collect();
            let mut expected = Vec::new();
            for_each_index(&counts, |at| {
                let axes = at.iter().zip(&indices);
                let index: Vec<u64> =
                    axes.map(|(at, axis)| axis[usize::try_from(*at).unwrap()]).collect();
                expected.push(elements[place(&index, &shape)]);
            });
            let read = array.read_as::<u16>(&selection).unwrap();
            assert_eq!(read, expected, "round {round}: {selection:?} of {array:?}");

            // The last element first.
            let count = expected.len();
            let mut out = vec![0; 2 * count];
            let sizes: Vec<usize> =
                selection.shape().iter().map(|size| usize::try_from(*size).unwrap()).collect();
            let backwards = View::contiguous(&sizes).unwrap();
            let backwards = (0..sizes.len())
                .fold(backwards, |view, axis| view.flip(axis).expect("an axis of the view"));
            array.read_into(&selection, Output::new(&mut out, &backwards, 2).unwrap()).unwrap();
            let out: Vec<u16> =
                out.chunks(2).rev().map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
            assert_eq!(out, expected);

            #[cfg(feature = "async")]
            {
                let awaited = array.asynchronous().read_as::<u16>(&selection);
                assert_eq!(crate::asynchronous::block_on(awaited).unwrap(), expected);
            }

            let plan = array.layout().plan(&selection).unwrap();
            for chunk in plan.chunks(0..plan.len()).unwrap() {
                if let Some(reads) = chunk.reads(&array).unwrap() {
                    assert!(reads.ranges.iter().all(|range| range.end <= reads.stored_bytes));
                }
            }
        }
    }
}

#[test]
fn strings_are_those_of_the_members() {
    let strings = |length: u64, chunk: u64, fill: &str, codecs: &str| {
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [{length}],
            "data_type": "string", "chunk_key_encoding": {{"name": "default"}},
            "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [{chunk}]}}}},
            "fill_value": "{fill}", "codecs": {codecs}}}"#
        );
        let metadata = ArrayMetadata::from_json(document.as_bytes()).unwrap();
        Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).unwrap()
    };
    let gzip = r#"["vlen-utf8", {"name": "gzip", "configuration": {"level": 1}}]"#;
    let first = strings(5, 3, "?", gzip);
    first.write_as(0..3, &["Zürich", "", "Genève"]).unwrap();
    let last = strings(4, 2, "-", r#"["vlen-utf8"]"#);
    last.write_as(2..3, &["Basel"]).unwrap();
    let arrays = vec![Some(first), None, Some(last)];
    let source = Open { arrays, counts: vec![3], opened: AtomicU64::new(0) };
    let members = Members::new(Grid::new([axis(&[5, 2, 4])]), DataType::String, Arc::new(source));
    let store = Joined { inner: MemoryStore::new(), members: Arc::new(members), requests: 1 };
    let document = strings(11, 1, "none", r#"["vlen-utf8"]"#);
    store.put(&Key::new("zarr.json").unwrap(), document.metadata().json().as_bytes()).unwrap();
    let array = open(store);
    let all = ["Zürich", "", "Genève", "?", "?", "none", "none", "-", "-", "Basel", "-"];
    assert!(array.read_as::<String>(0..11).unwrap().iter().eq(all));
    let some = ([10, 9, 0, 0, 6, 4],);
    let expected = ["-", "Basel", "Zürich", "Zürich", "none", "?"];
    assert!(array.read_as::<String>(some).unwrap().iter().eq(expected));
    let every_third = AxisSelection::Step { range: 0..11, step: -3 };
    assert!(array.read_as::<String>(every_third).unwrap().iter().eq(["-", "-", "?", ""]));
}

#[test]
fn members_are_opened_once_and_only_if_needed() {
    let member = |value: u16| {
        let grid = r#"{"name": "regular", "configuration": {"chunk_shape": [2]}}"#;
        let array = create(&[4], grid, 0, LITTLE);
        array.write_as(0..4, &[value; 4]).unwrap();
        Some(array)
    };
    let arrays = (0..3).map(member).collect();
    let source = Arc::new(Open { arrays, counts: vec![3], opened: AtomicU64::new(0) });
    let members = Members::new(Grid::new([axis(&[4, 4, 4])]), DataType::Uint16, source.clone());
    let store = Joined { inner: MemoryStore::new(), members: Arc::new(members), requests: 1 };
    let grid = r#"{"name": "regular", "configuration": {"chunk_shape": [2]}}"#;
    let document = create(&[12], grid, 0, LITTLE);
    store.put(&Key::new("zarr.json").unwrap(), document.metadata().json().as_bytes()).unwrap();
    let array = open(store);
    assert_eq!(source.opened.load(Ordering::Relaxed), 0);
    assert_eq!(array.read_as::<u16>(3..6).unwrap(), [0, 1, 1]);
    assert_eq!(array.read_as::<u16>(2..7).unwrap(), [0, 0, 1, 1, 1]);
    assert_eq!(source.opened.load(Ordering::Relaxed), 2);
}

#[test]
fn faults_name_the_member() {
    let grid = r#"{"name": "regular", "configuration": {"chunk_shape": [4]}}"#;
    let truncated = create(&[4], grid, 0, LITTLE);
    truncated.write_as(0..4, &[1_u16; 4]).unwrap();
    truncated.store().put(&Key::new("c/0").unwrap(), &[1]).unwrap();
    let longer = create(&[5], grid, 0, LITTLE);
    let regular = r#"{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}"#;
    let metadata = ArrayMetadata::from_json(regular.as_bytes()).unwrap();
    let store = Arc::new(MemoryStore::new());
    let signed = Array::create(store, &Prefix::root(), metadata).unwrap();
    #[cfg(feature = "async")]
    let truncated = {
        let face = Faced::new(truncated.store().clone(), Manner::Ready);
        truncated.with_store(Arc::new(face))
    };
    let arrays = vec![Some(truncated), Some(longer), Some(signed)];
    let source = Open { arrays, counts: vec![3], opened: AtomicU64::new(0) };
    let members = Members::new(Grid::new([axis(&[4, 4, 4])]), DataType::Uint16, Arc::new(source));
    let store = Joined { inner: MemoryStore::new(), members: Arc::new(members), requests: 1 };
    let document = create(&[12], grid, 0, LITTLE);
    store.put(&Key::new("zarr.json").unwrap(), document.metadata().json().as_bytes()).unwrap();
    let array = open(store);
    let messages = [0..1, 4..5, 11..12].map(|part| array.read(part).unwrap_err().to_string());
    // The same through asynchronous interfaces.
    #[cfg(feature = "async")]
    {
        let far: Arc<dyn Store> = Arc::new(faces::Far(array.store().clone()));
        let array = Array::open(array.hierarchy().with_store(far), &Prefix::root()).unwrap();
        for (part, message) in [0..1, 4..5, 11..12].into_iter().zip(&messages) {
            let awaited = crate::asynchronous::block_on(array.asynchronous().read(part));
            assert_eq!(awaited.unwrap_err().to_string(), *message);
        }
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn a_stack_of_members_knows_where_an_element_is() {
    let mut dice = Dice(99);
    for _ in 0..30 {
        let Case { array, members, elements } = case(&mut dice);
        let shape = array.shape().to_vec();
        for_each_index(&shape, |index| {
            let (number, within) = members.locate(index).unwrap();
            let found = match members.open(&number).unwrap() {
                Some(member) => {
                    let one: Selection = within.iter().copied().collect();
                    member.read_as::<u16>(one).unwrap()[0]
                }
                None => 7,
            };
            assert_eq!(found, elements[place(index, &shape)]);
        });
    }
}
