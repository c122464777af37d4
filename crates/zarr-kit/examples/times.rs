//! Times as timestamps: daily data whose time axis is an array of `numpy.datetime64`.
//!
//! `cargo run --example times --features jiff`

use std::error::Error;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use zarr_kit::metadata::TimeUnit;
use zarr_kit::{Array, ArrayBuilder, DataType, MemoryStore};

fn main() -> Result<(), Box<dyn Error>> {
    // Steps of hours since 1970; elements that were never written are "NaT".
    let hours = DataType::NumpyDatetime64(TimeUnit::Hour.into());
    let metadata = ArrayBuilder::new([4], hours).dimension_names(["time"]).build()?;
    let time = Array::create(Arc::new(MemoryStore::new()), "", metadata)?;

    let midnight: Timestamp = "2024-02-29T00:00:00Z".parse()?;
    let noon = midnight + SignedDuration::from_hours(12);
    time.write_as(0..2, &[Some(midnight), Some(noon)])?;
    assert_eq!(time.read_as::<Option<Timestamp>>(0..3)?, [Some(midnight), Some(noon), None]);
    // What is stored are whole numbers.
    assert_eq!(time.read_as::<i64>(0..2)?, [474_768, 474_780]);

    // Nothing is rounded to an hour.
    let later = noon + SignedDuration::from_mins(30);
    let error = time.write_as(2..3, &[Some(later)]).expect_err("no whole hour");
    println!("refused: {error}");
    Ok(())
}

#[test]
fn runs() -> Result<(), Box<dyn Error>> {
    main()
}
