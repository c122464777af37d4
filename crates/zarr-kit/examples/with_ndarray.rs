//! Regions as arrays of the crate `ndarray`, with as many axes as the type says.
//!
//! `cargo run --example with_ndarray --features ndarray`

use std::error::Error;
use std::sync::Arc;

use ndarray::{Array2, Array3, Axis, s};
use zarr_kit::{Array, ArrayBuilder, DataType, MemoryStore, Selection};

fn main() -> Result<(), Box<dyn Error>> {
    let metadata = ArrayBuilder::new([60, 40], DataType::Float64).chunk_shape([16, 16]).build()?;
    let array = Array::create(Arc::new(MemoryStore::new()), "", metadata)?;

    let field = Array2::from_shape_fn((40, 60), |(x, y)| (100 * y + x) as f64);
    // A view of any layout: here the transpose, without a copy by the caller.
    array.write_as(Selection::whole(array.shape()), &field.t())?;
    // Every second column of ten rows, from a slice with steps.
    array.write_as([0..10, 0..20], &field.slice(s![0..40;2, 0..10]).t())?;

    let rows = array.read_as::<Array2<f64>>([10..12, 0..40])?;
    println!("means of two rows: {}", rows.mean_axis(Axis(1)).expect("not empty"));
    assert_eq!(rows[(1, 3)], 1103.0);
    let first = array.read_as::<Array2<f64>>([0..1, 0..4])?;
    assert_eq!(first, ndarray::arr2(&[[0.0, 2.0, 4.0, 6.0]]));

    // Another number of axes is an error before anything is read.
    let error = array.read_as::<Array3<f64>>([0..1, 0..4]).expect_err("two axes");
    println!("refused: {error}");
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
