//! `february`: the lines that `docs/from-zarrs.md` has of zarrs, run on the weather of Seattle.
//!
//! A test of `zarr-cli` compares the two texts.

#![forbid(unsafe_code)]

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures");
    std::env::set_current_dir(&fixtures)?;
    let february = february()?;
    let expected = std::fs::read("seattle-weather.expected/temp_max.raw")?;
    let expected: Vec<f32> = expected
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    assert_eq!(february, expected[31..60]);
    println!("{february:?}");
    Ok(())
}

fn february() -> Result<Vec<f32>, Box<dyn Error>> {
    // What the page shows begins here.
    use std::sync::Arc;
    use zarrs::array::{Array, ArraySubset};
    use zarrs::filesystem::FilesystemStore;

    let store = Arc::new(FilesystemStore::new("seattle-weather.zarr")?);
    let array = Array::open(store, "/temp_max")?;
    let subset = ArraySubset::new_with_ranges(&[31..60]);
    let february: Vec<f32> = array.retrieve_array_subset(&subset)?;
    // And ends here.
    Ok(february)
}
