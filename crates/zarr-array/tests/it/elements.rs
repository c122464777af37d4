//! What elements are, which are selected and where they go, in all combinations.

use std::borrow::Cow;
use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix};
use zarr_array::{Array, ArrayError, Points, Selection};
use zarr_metadata::{ArrayBuilder, DataType, Optional};
use zarr_view::{Output, View};

/// Four rows of three columns, in chunks of two by two.
fn array(data_type: DataType) -> Array {
    let builder = ArrayBuilder::new([4, 3], data_type).chunk_shape([2, 2]);
    let metadata = builder.build().expect("valid");
    Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata).expect("creates")
}

/// Elements (3, 0), (0, 2) and (1, 1).
fn points() -> Points {
    Points::from([[3, 0, 1], [0, 2, 1]])
}

#[test]
fn points_go_to_any_memory() {
    let array = array(DataType::Uint16);
    let table: Vec<u16> = (0..12).collect();
    array.write_as(Selection::whole(&[4, 3]), &table).expect("writes");
    let mut typed = [0_u16; 3];
    array.read_into(points(), &mut typed).expect("reads");
    assert_eq!(typed, [9, 2, 4]);
    let mut bytes = vec![0_u8; 6];
    array.read_into(points(), &mut bytes).expect("reads");
    assert_eq!(bytes, [9, 0, 2, 0, 4, 0]);
    // Every other place, from the end.
    let view = View::new(&[3], &[-2], 4).expect("a view");
    let mut spread = [7_u8; 10];
    let out = Output::new(&mut spread, &view, 2).expect("fits");
    array.read_into(points(), out).expect("reads");
    assert_eq!(spread, [4, 0, 7, 7, 2, 0, 7, 7, 9, 0]);
    array.write(points(), (&view, &[1, 0, 7, 7, 3, 0, 7, 7, 5, 0][..])).expect("writes");
    assert_eq!(array.read_as::<u16>(points()).expect("reads"), [5, 3, 1]);

    let square = View::contiguous(&[1, 3]).expect("a view");
    let mut six = [0; 6];
    let out = Output::new(&mut six, &square, 2).expect("fits");
    let error = array.read_into(points(), out).expect_err("one axis");
    assert!(matches!(error, ArrayError::Shape { .. }), "{error}");
    let error = array.write(points(), (&square, &[0; 6][..])).expect_err("one axis");
    assert!(matches!(error, ArrayError::Shape { .. }), "{error}");
    let error = array.write(points(), (&view, &[0; 9][..])).expect_err("too short");
    assert!(matches!(error, ArrayError::BufferLength { found: 9, expected: 10 }), "{error}");
    let error = array.read_into(points(), &mut [0_i16; 3]).expect_err("another type");
    assert!(matches!(error, ArrayError::ElementType { .. }), "{error}");
}

#[test]
fn text_and_bytes_are_written_from_what_holds_them() {
    let (texts, bytes) = (array(DataType::String), array(DataType::Bytes));
    let row = |index: u64| (index, 0..1);
    texts.write_as(row(0), &["a"]).expect("writes");
    texts.write_as(row(1), &vec![String::from("b")]).expect("writes");
    texts.write_as(row(2), &[Cow::Borrowed("c")]).expect("writes");
    texts.write_as(row(3), &Arc::new([Box::<str>::from("d")])).expect("writes");
    let read = texts.read_as::<String>((0..4, 0)).expect("reads");
    assert!(read.iter().eq(["a", "b", "c", "d"]));
    bytes.write_as(row(0), &[b"a\xff"]).expect("writes");
    bytes.write_as(row(1), &[vec![1_u8]]).expect("writes");
    bytes.write_as(row(2), &Cow::Borrowed(&[&[2_u8][..]][..])).expect("writes");
    let read = bytes.read_as::<Vec<u8>>((0..4, 0)).expect("reads");
    assert!(read.iter().eq([&b"a\xff"[..], &[1], &[2], &[]]));
    assert!(bytes.write_as(row(0), &["text"]).is_err());
    assert!(texts.read_as::<Option<i16>>(row(0)).is_err());
}

#[test]
fn an_append_of_another_type_changes_nothing() {
    let array = array(DataType::Uint16);
    assert!(array.append_as(0, 1, &[1_i32, 2, 3]).is_err());
    assert!(array.append_as(0, 1, &["a", "b", "c"]).is_err());
    assert_eq!(array.stored_chunks().count(), 0);
    let grown = array.append_as(0, 1, &[1_u16, 2, 3]).expect("appends");
    assert_eq!(grown.read_as::<u16>((3..5, 0..3)).expect("reads"), [0, 0, 0, 1, 2, 3]);
}

#[cfg(feature = "ndarray")]
#[test]
fn arrays_of_ndarray_are_sources_and_destinations() {
    use ndarray::{Array1, Array2, ArrayD, arr1, arr2, s};
    let array = array(DataType::Int32);
    let table = Array2::from_shape_fn((3, 4), |(x, y)| (10 * y + x) as i32);
    array.write_as([0..4, 0..3], &table.t()).expect("writes");
    assert_eq!(array.read_as::<Array1<i32>>(points()).expect("reads"), arr1(&[30, 2, 11]));
    assert_eq!(array.read_as::<Array1<i32>>((1, 0..3)).expect("reads"), arr1(&[10, 11, 12]));
    let error = array.read_as::<Array2<i32>>((1, 0..3)).expect_err("one axis");
    assert!(matches!(error, ArrayError::Axes { axes: 1, requested: 2 }), "{error}");
    let one = array.read_as::<ArrayD<i32>>((1, 2)).expect("reads");
    assert_eq!(one, ndarray::arr0(12).into_dyn());

    let mut out = arr2(&[[0; 4]; 2]);
    array.read_into([1..3, 0..2], &mut out.slice_mut(s![..;-1, ..;3])).expect("reads");
    assert_eq!(out, arr2(&[[20, 0, 0, 21], [10, 0, 0, 11]]));
    array.read_into([0..2, 0..4], &mut out).expect_err("three columns");
    let error = array.append_as(0, 2, &table.t()).expect_err("four rows");
    assert!(matches!(error, ArrayError::Shape { .. }), "{error}");
    let grown = array.append_as(0, 4, &table.t()).expect("appends");
    assert_eq!(grown.read_as::<i32>((7, 0..3)).expect("reads"), [30, 31, 32]);
}

#[test]
fn points_may_be_missing() {
    let optional = Optional::new(DataType::Int16).expect("an optional type");
    let array = array(DataType::ZarrsOptional(optional));
    let elements = [Some(-5_i16), None, Some(7)];
    array.write_as(points(), &elements).expect("writes");
    assert_eq!(array.read_as::<Option<i16>>(points()).expect("reads"), elements);
    assert_eq!(array.read_as::<Option<i16>>((0..2, 1)).expect("reads"), [None, Some(7)]);
}

#[cfg(feature = "async")]
#[test]
fn futures_of_elements_that_may_be_missing_do_the_same() {
    use zarr_store_tests::executor::block_on;
    let optional = Optional::new(DataType::Int16).expect("an optional type");
    let array = array(DataType::ZarrsOptional(optional));
    let elements = vec![None, Some(2_i16), Some(3), None];
    block_on(array.asynchronous().write_as((0..4, 1), elements.clone())).expect("writes");
    assert_eq!(array.read_as::<Option<i16>>((0..4, 1)).expect("reads"), elements);
    let read = array.asynchronous().read_as::<Option<i16>>((0..4, 1));
    assert_eq!(block_on(read).expect("reads"), elements);
    let read = block_on(array.asynchronous().read_as::<Option<i16>>(points()));
    assert_eq!(read.expect("reads"), [None, None, Some(2)]);
    assert!(block_on(array.asynchronous().read_as::<Option<i32>>((0..4, 1))).is_err());
}
