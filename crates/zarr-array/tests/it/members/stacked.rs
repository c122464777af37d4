//! Stacks of members with elements of variable length, compared with lists of their elements.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use zarr_array::store::{Key, MemoryStore, Prefix, StoreExt as _};
use zarr_array::{AnySelection, Array, AxisSelection, Members, Points, Selection};
use zarr_grid::Grid;
use zarr_metadata::{ArrayBuilder, DataType, Optional};

use super::{Dice, Joined, Open, asked, axis, for_each_index, open, place};

/// What is read of an array of strings, or of optional numbers.
fn read(array: &Array, selection: &AnySelection) -> Vec<String> {
    match array.data_type() {
        DataType::String => {
            array.read_as::<String>(selection).unwrap().iter().map(str::to_owned).collect()
        }
        _ => shown(array.read_as::<Option<u16>>(selection).unwrap()),
    }
}

#[cfg(feature = "async")]
fn awaited(array: &Array, selection: Selection) -> Vec<String> {
    use crate::asynchronous::block_on;
    match array.data_type() {
        DataType::String => {
            let read = block_on(array.asynchronous().read_as::<String>(selection)).unwrap();
            read.iter().map(str::to_owned).collect()
        }
        _ => shown(block_on(array.asynchronous().read_as::<Option<u16>>(selection)).unwrap()),
    }
}

fn shown(read: Vec<Option<u16>>) -> Vec<String> {
    read.into_iter().map(|value| value.map_or(String::new(), |value| value.to_string())).collect()
}

fn array(shape: &[u64], chunks: Vec<u64>, data_type: &DataType) -> Array {
    let metadata = ArrayBuilder::new(shape, data_type.clone()).chunk_shape(chunks).build().unwrap();
    Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).unwrap()
}

/// A stack of members of this shape, some of which are missing, and its elements: numbers, or
/// nothing where a member is missing.
fn stack(dice: &mut Dice, own: &[u64], new: usize, data_type: &DataType) -> (Array, Vec<String>) {
    let count = 1 + dice.roll(4);
    let mut shape = own.to_vec();
    shape.insert(new, count);
    let mut elements = vec![String::new(); usize::try_from(shape.iter().product::<u64>()).unwrap()];
    let mut arrays = Vec::new();
    for number in 0..count {
        if dice.roll(4) == 0 {
            arrays.push(None);
            continue;
        }
        let chunks = own.iter().map(|length| 1 + dice.roll(*length)).collect();
        let member = array(own, chunks, data_type);
        let mut values = Vec::new();
        for_each_index(own, |index| {
            let mut index = index.to_vec();
            index.insert(new, number);
            let at = place(&index, &shape);
            values.push(u16::try_from(at).unwrap());
            elements[at] = at.to_string();
        });
        match data_type {
            DataType::String => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                member.write_as(Selection::whole(own), &values).unwrap();
            }
            _ => {
                let values: Vec<Option<u16>> = values.into_iter().map(Some).collect();
                member.write_as(Selection::whole(own), &values).unwrap();
            }
        }
        arrays.push(Some(member));
    }
    let edges: Vec<_> = (0..shape.len())
        .map(|at| match at == new {
            true => axis(&vec![1; usize::try_from(count).unwrap()]),
            false => axis(&shape[at..=at]),
        })
        .collect();
    let counts = (0..shape.len()).map(|at| if at == new { count } else { 1 }).collect();
    let source = Arc::new(Open { arrays, counts, opened: AtomicU64::new(0) });
    let members = Arc::new(Members::new(Grid::new(edges), data_type.clone(), source).new_axis(new));
    let chunks =
        (0..shape.len()).map(|at| if at == new { 1 } else { 1 + dice.roll(shape[at]) }).collect();
    let document = array(&shape, chunks, data_type);
    let store = Joined { inner: MemoryStore::new(), members, requests: 1 };
    store.put(&Key::new("zarr.json").unwrap(), document.metadata().json().as_bytes()).unwrap();
    (open(store), elements)
}

/// Repeated indices of the new axis were fill values.
#[test]
fn indices_of_the_new_axis_may_repeat() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let optional = DataType::ZarrsOptional(Optional::new(DataType::Uint16).unwrap());
    for own in [&[][..], &[4], &[3, 5]] {
        for new in 0..=own.len() {
            for round in 0..10 {
                let data_type = if round % 2 == 0 { &DataType::String } else { &optional };
                let (array, elements) = stack(&mut dice, own, new, data_type);
                let shape = array.shape();
                for _ in 0..20 {
                    let (axes, indices): (Vec<AxisSelection>, Vec<Vec<u64>>) =
                        shape.iter().map(|length| asked(&mut dice, *length)).unzip();
                    let selection = Selection::new(axes);
                    let mut expected = Vec::new();
                    let counts: Vec<u64> =
                        indices.iter().map(|axis| u64::try_from(axis.len()).unwrap()).collect();
                    for_each_index(&counts, |at| {
                        let axes = at.iter().zip(&indices);
                        let index: Vec<u64> =
                            axes.map(|(at, axis)| axis[usize::try_from(*at).unwrap()]).collect();
                        expected.push(elements[place(&index, shape)].clone());
                    });
                    let found = read(&array, &selection.clone().into());
                    assert_eq!(found, expected, "{selection:?} of {shape:?}");
                    #[cfg(feature = "async")]
                    assert_eq!(awaited(&array, selection), expected);
                }
                let points: Vec<Vec<u64>> = (0..20)
                    .map(|_| shape.iter().map(|length| dice.roll(*length)).collect())
                    .collect();
                let expected: Vec<String> =
                    points.iter().map(|point| elements[place(point, shape)].clone()).collect();
                let axes =
                    (0..shape.len()).map(|at| points.iter().map(|point| point[at]).collect());
                let points = Points::new(axes.collect());
                assert_eq!(
                    read(&array, &points.clone().into()),
                    expected,
                    "{points:?} of {shape:?}"
                );
            }
        }
    }
}
