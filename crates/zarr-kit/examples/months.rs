//! Daily values in chunks of one month: created, written, described by attributes, extended.
//!
//! `cargo run --example months`

use std::error::Error;
use std::sync::Arc;

use zarr_kit::array::create_parents;
use zarr_kit::{Array, ArrayBuilder, DataType, MemoryStore, Prefix, Store};

fn main() -> Result<(), Box<dyn Error>> {
    // `LocalStore::create("weather.zarr")?` keeps the array on disk.
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let prefix = Prefix::new("2015/rain")?;
    let metadata = ArrayBuilder::new([90], DataType::Float32)
        .chunks([[31, 28, 31].into()])
        .fill_value(f64::NAN)
        .dimension_names(["day"])
        .attributes(r#"{"units": "mm", "valid_range": [0, 500]}"#)
        .build()?;
    create_parents(&store, &prefix)?;
    let rain = Array::create(store, &prefix, metadata)?;

    // Months are found by their chunks, and written each as one object.
    for month in rain.chunks()? {
        let days = month.region()[0].clone();
        let values: Vec<f32> = days.map(|day| if day % 3 == 0 { 2.5 } else { 0.0 }).collect();
        month.write_as(&values)?;
    }

    // Any days, across chunks.
    let week = rain.read_as::<f32>(28..35)?;
    println!("the last days of January and the first of February: {week:?}");
    assert_eq!(week, [0.0, 0.0, 2.5, 0.0, 0.0, 2.5, 0.0]);

    // Attributes are Rust values, by serde.
    let units: Option<String> = rain.metadata().attribute_as("units")?;
    let range: Option<[f64; 2]> = rain.metadata().attribute_as("valid_range")?;
    println!("in {}, from {:?}", units.unwrap_or_default(), range);

    // April, which becomes visible at once when all of it is written.
    let rain = rain.append_as::<f32>(0, (30, [30]), &[1.0; 30])?;
    assert_eq!(rain.shape(), [120]);
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
