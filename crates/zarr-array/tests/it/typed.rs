//! Elements as Rust's types: the matching data types, and their stored form.

use std::sync::Arc;

use bytemuck::{CheckedBitPattern, NoUninit};
use zarr_array::store::{Key, MemoryStore, Prefix, StoreExt as _};
use zarr_array::{Array, ArrayError, Element, Selection};
use zarr_metadata::{ArrayBuilder, Codec, DataType};

fn array(data_type: &str) -> Array {
    let data_type = DataType::from_name(data_type).expect("a data type");
    let builder = ArrayBuilder::new([3], data_type).chunk_shape([2]).codecs([Codec::bytes()]);
    let metadata = builder.build().expect("valid");
    Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)
        .expect("creates")
        .with_empty_chunks_stored(true)
}

/// Writes three elements, which must be stored as these bytes, and reads them in each way.
fn travels<T>(data_type: &str, elements: [T; 3], stored: &[u8])
where
    T: Element + bytemuck::Pod + PartialEq + std::fmt::Debug,
{
    let (array, whole) = (array(data_type), Selection::whole(&[3]));
    array.write_as(&whole, &elements).expect("writes");
    let mut bytes = Vec::new();
    for chunk in ["c/0", "c/1"] {
        let key = Key::new(chunk).expect("a key");
        bytes.extend(array.store().read(&key).expect("reads").expect("stored"));
    }
    assert_eq!(bytes.get(..stored.len()), Some(stored), "{data_type}");
    assert_eq!(array.read_as::<T>(&whole).expect("reads"), elements, "{data_type}");
    assert_eq!(array.read_as::<T>(1..1).expect("reads"), [], "{data_type}");
    let mut out = [elements[0]; 2];
    array.read_into(Selection::parse("2:0:-1", &[3]).expect("valid"), &mut out).expect("reads");
    assert_eq!(out, [elements[2], elements[1]], "{data_type}");
    let short = array.read_into(&whole, &mut out).expect_err("too short");
    assert!(matches!(short, ArrayError::BufferLength { .. }), "{short}");
    let long = array.read_into(1..2, &mut out).expect_err("too long");
    assert!(matches!(long, ArrayError::BufferLength { .. }), "{long}");
    let long = array.write_as(0..1, &elements[..2]).expect_err("too many");
    assert!(matches!(long, ArrayError::BufferLength { .. }), "{long}");
    let grown = array.append_as(0, 1, &elements[..1]).expect("appends");
    assert_eq!(grown.read_as::<T>(3..4).expect("reads"), elements[..1]);
}

#[test]
fn numbers_are_stored_little_endian() {
    travels::<i8>("int4", [-8, 7, 0], &[0xf8, 7, 0]);
    travels::<u16>("uint16", [1, 0x0203, 4], &[1, 0, 3, 2, 4, 0]);
    travels::<i64>("int64", [-2, 1, 0], &(-2_i64).to_le_bytes());
    travels::<f64>("float64", [0.1, -0.0, f64::MAX], &0.1_f64.to_le_bytes());
    travels::<[u8; 3]>("r24", [[1, 2, 3], [4, 5, 6], [7, 8, 9]], &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[cfg(feature = "half")]
#[test]
fn half_precision_has_types_of_its_own() {
    use half::{bf16, f16};
    let wide = [1.0_f32, -2.0, 0.5];
    travels::<f16>("float16", wide.map(f16::from_f32), &[0x00, 0x3c, 0x00, 0xc0, 0x00, 0x38]);
    travels::<bf16>("bfloat16", wide.map(bf16::from_f32), &[0x80, 0x3f, 0x00, 0xc0, 0x00, 0x3f]);
    assert!(array("bfloat16").read_as::<f16>(Selection::whole(&[3])).is_err());
}

#[cfg(feature = "num-complex")]
#[test]
fn complex_numbers_have_the_real_part_first() {
    use num_complex::Complex;
    let elements = [Complex::new(1.0_f32, -2.0), Complex::new(0.5, 0.0), Complex::new(0.0, 1.0)];
    let stored = [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0];
    travels::<Complex<f32>>("complex64", elements, &stored);
    travels::<Complex<f32>>("complex_float32", elements, &stored);
    let wide = elements.map(|z| Complex::new(f64::from(z.re), f64::from(z.im)));
    travels::<Complex<f64>>("complex128", wide, &1.0_f64.to_le_bytes());
}

#[test]
fn bool_takes_the_two_values_that_decoding_allows() {
    let array = array("bool");
    array.write_as(Selection::whole(&[3]), &[true, false, true]).expect("writes");
    let found = array.read_as::<bool>(Selection::whole(&[3])).expect("reads");
    assert_eq!(found, [true, false, true]);
    assert_eq!(array.read(Selection::whole(&[3])).expect("reads"), [1, 0, 1]);
}

#[derive(Clone, Copy, Debug, PartialEq, NoUninit, CheckedBitPattern)]
#[repr(u8)]
enum Ground {
    Water = 0,
    Soil = 1,
}

impl Element for Ground {
    const NAME: &'static str = "Ground";

    fn matches(data_type: &DataType) -> bool {
        matches!(data_type, DataType::Uint8 | DataType::Uint16)
    }
}

#[test]
fn a_value_that_a_type_lacks_is_refused() {
    let (array, whole) = (array("uint8"), Selection::whole(&[3]));
    array.write_as(1..2, &[Ground::Soil]).expect("writes");
    let found = array.read_as::<Ground>(&whole).expect("reads");
    assert_eq!(found, [Ground::Water, Ground::Soil, Ground::Water]);
    array.write(2..3, &[2]).expect("writes");
    let error = array.read_as::<Ground>(&whole).expect_err("no such ground");
    assert_eq!(error.to_string(), "an element of data type uint8 is not a value of Ground");
}

#[test]
fn a_type_of_another_size_is_refused_whatever_it_says() {
    let (array, whole) = (array("uint16"), Selection::whole(&[3]));
    let refused = "elements of data type uint16 cannot be taken as Ground";
    assert_eq!(array.read_as::<Ground>(&whole).expect_err("one byte").to_string(), refused);
    let error = array.write_as(&whole, &[Ground::Soil; 6]).expect_err("one byte");
    assert_eq!(error.to_string(), refused);
    assert!(array.read_as::<i16>(&whole).is_err());
}
