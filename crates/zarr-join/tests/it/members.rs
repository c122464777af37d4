//! The checks before joining: every message names the member.

use std::slice;
use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::{MemoryStore, Prefix};
use zarr_join::{Arrangement, Join, JoinError, Member, Members};
use zarr_metadata::{ArrayBuilder, DataType};

fn array(shape: &[u64], data_type: DataType, names: &[&str]) -> Array {
    let mut builder = ArrayBuilder::new(shape, data_type);
    if !names.is_empty() {
        builder = builder.dimension_names(names.iter().copied());
    }
    let metadata = builder.build().expect("valid");
    Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).expect("creates")
}

fn bytes(shape: &[u64]) -> Array {
    array(shape, DataType::Uint8, &[])
}

fn join(arrays: &[Array], arrangement: Arrangement) -> Result<Members, JoinError> {
    let named = arrays.iter().zip('a'..);
    Members::new(named.map(|(array, name)| Member::new(name, array.clone())).collect(), arrangement)
}

fn message(arrays: &[Array], arrangement: Arrangement) -> String {
    join(arrays, arrangement).expect_err("does not fit").to_string()
}

#[test]
fn members_lie_end_to_end_stacked_or_as_tiles() {
    let members = [bytes(&[2, 3]), bytes(&[5, 3])];
    let joined = join(&members, Arrangement::Along(0)).expect("fits");
    assert_eq!((joined.shape(), joined.region(1)), (vec![7, 3], vec![2..7, 0..3]));

    let members = [bytes(&[2, 3]), bytes(&[2, 3])];
    for (axis, shape) in [(0, [2, 2, 3]), (1, [2, 2, 3]), (2, [2, 3, 2])] {
        let joined = join(&members, Arrangement::NewAxis(axis)).expect("fits");
        assert_eq!((joined.shape(), joined.new_axis()), (shape.to_vec(), Some(axis)));
        assert_eq!(joined.region(1)[axis], 1..2);
    }

    let members = [[2, 3], [2, 1], [4, 3], [4, 1], [1, 3], [1, 1]].map(|shape| bytes(&shape));
    let joined = join(&members, Arrangement::Tiles(vec![3, 2])).expect("fits");
    assert_eq!((joined.shape(), joined.region(3)), (vec![7, 4], vec![2..6, 3..4]));
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let short = bytes(&[2, 3]);
    let along = Arrangement::Along;
    let metadata = ArrayBuilder::new([1 << 63], DataType::Uint8).chunk_shape([1 << 32]);
    let metadata = metadata.build().expect("valid");
    let long =
        Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).expect("creates");
    let cases = [
        message(&[], along(0)),
        message(slice::from_ref(&short), along(2)),
        message(slice::from_ref(&short), Arrangement::NewAxis(3)),
        message(&[short.clone(), bytes(&[2, 4])], along(0)),
        message(&[short.clone(), bytes(&[2])], along(0)),
        message(&[short.clone(), array(&[2, 3], DataType::Int8, &[])], along(0)),
        message(&[short.clone(), array(&[2, 3], DataType::Uint8, &["y", "x"])], along(0)),
        message(&[short.clone(), short.clone()], Arrangement::Tiles(vec![1, 3])),
        message(&[short.clone(), short.clone()], Arrangement::Tiles(vec![2])),
        message(&[long.clone(), long], along(0)),
        message(
            &[short.clone(), short.clone(), short.clone(), bytes(&[2, 5])],
            Arrangement::Tiles(vec![2, 2]),
        ),
    ];
    insta::assert_snapshot!(cases.join("\n"), @r"
    there is nothing to join
    axis 2 is out of range: the members have 2 axes
    axis 3 is out of range: the members have 2 axes
    b: axis 1 has length 4, but 3 in a
    b: number of axes: 1, but 2 in a
    b: data type: int8, but uint8 in a; int16 has the numbers of both
    b: dimension names: y, x, but absent in a
    a grid of [1, 3] tiles does not fit 2 members of 2 axes
    a grid of [2] tiles does not fit 2 members of 2 axes
    b: axis 0 of the joined array would exceed 18446744073709551615
    d: axis 1 has length 5, but 3 in b
    ");
}

/// Types that differ only in a parameter have one name, so that a message shows all of them.
#[test]
fn types_of_one_name_are_told_with_their_parameters() {
    let texts = |length: u64| {
        let json = format!(
            r#"{{"name": "fixed_length_utf32", "configuration": {{"length_bytes": {length}}}}}"#
        );
        array(&[2, 3], DataType::from_json(json.as_bytes()).expect("a type"), &[])
    };
    let told = message(&[texts(4), texts(8)], Arrangement::Along(0));
    for length in ["1 code point", "2 code points"] {
        assert!(told.contains(&format!("fixed_length_utf32 ({length})")), "{told}");
    }
}

/// A plan lists the chunks that are written. Absent chunks of another fill value are some.
#[test]
fn more_absent_chunks_than_can_be_listed_are_refused() {
    let member = |name: &str, length: u64, fill: u8| {
        let metadata = ArrayBuilder::new([length, 3], DataType::Uint8).chunk_shape([1, 2]);
        let metadata = metadata.fill_value(fill).build().expect("valid");
        let store = Arc::new(MemoryStore::new());
        Member::new(name, Array::create(store, &Prefix::root(), metadata).expect("creates"))
    };
    let plan = |fill| {
        let members = vec![member("a", 1, 0), member("b", 1_000_000_000_000, fill)];
        Join::new(members, Arrangement::Along(0)).plan()
    };
    assert_eq!(plan(0).expect("fits").written_chunks(), 0);
    let error = plan(1).expect_err("is refused").to_string();
    let expected = "b: another fill value: 2000000000000 chunks that are not stored would be written, \
                    and 16777216 are allowed: give the joined array larger chunks";
    assert_eq!(error, expected);
}
