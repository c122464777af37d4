//! The mean of an array that need not fit in memory: chunks are read and added on all cores.
//!
//! `cargo run --example parallel_mean`

use std::error::Error;
use std::sync::{Arc, Mutex};

use zarr_kit::{Array, ArrayBuilder, ArrayError, DataType, MemoryStore};

fn mean(array: &Array) -> Result<f64, ArrayError> {
    let total = Mutex::new((0.0, 0_u64));
    array.chunks()?.par_for_each(|chunk| {
        // This closure runs on several threads at once, each with its own chunk.
        let present = |value: &f32| !value.is_nan();
        let values = chunk.read_as::<f32>()?;
        let sum: f64 = values.iter().copied().filter(present).map(f64::from).sum();
        let count = values.iter().filter(|value| present(value)).count();
        let mut total = total.lock().expect("no thread panics");
        total.0 += sum;
        total.1 += count as u64;
        Ok::<_, ArrayError>(())
    })?;
    let (sum, count) = total.into_inner().expect("no thread panics");
    Ok(sum / count as f64)
}

fn main() -> Result<(), Box<dyn Error>> {
    let metadata = ArrayBuilder::new([1000, 400], DataType::Float32)
        .chunk_shape([100, 100])
        .fill_value(f64::NAN)
        .build()?;
    let array = Array::create(Arc::new(MemoryStore::new()), "", metadata)?;
    // Chunks are written in parallel, too. Those of the last columns stay empty: NaN.
    array.chunks()?.par_for_each(|chunk| {
        let [rows, columns] = [&chunk.region()[0], &chunk.region()[1]];
        if columns.start >= 300 {
            return Ok(());
        }
        let values = rows.clone().flat_map(|row| columns.clone().map(move |_| row as f32));
        chunk.write_as(&values.collect::<Vec<_>>())
    })?;
    let mean = mean(&array)?;
    println!("mean {mean}");
    assert_eq!(mean, 499.5);
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
