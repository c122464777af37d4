//! The arrays in `fixtures`, which zarrs did not write.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use zarrs::array::Array;
use zarrs::filesystem::FilesystemStore;

use crate::{Result, create, read, stored, write};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures");

/// Packed chunks of months are read, and written again with the same bytes.
#[test]
fn seattle_weather() -> Result<()> {
    zarrs_kit::register();
    for (name, is_packed_last) in
        [("rain", true), ("temp_max_12bit", true), ("temp_range_12bit", false)]
    {
        let folder = format!("{FIXTURES}/seattle-weather.zarr/{name}");
        let expected = fs::read(format!("{FIXTURES}/seattle-weather.expected/{name}.raw"))?;
        let array = Array::open(Arc::new(FilesystemStore::new(&folder)?), "/")?;
        assert_eq!(read(&array, &array.subset_all())?, expected, "{name}");
        let document = serde_json::from_slice(&fs::read(format!("{folder}/zarr.json"))?)?;
        let (again, store) = create(&document)?;
        write(&again, &expected)?;
        assert_eq!(read(&again, &again.subset_all())?, expected, "{name}");
        // What zstd writes differs between its versions.
        let mut keys = Vec::new();
        chunks(Path::new(&folder), "c", &mut keys)?;
        assert!(keys.len() > 40, "{name}");
        for key in keys.iter().filter(|_| is_packed_last) {
            assert_eq!(stored(&store, key)?, fs::read(format!("{folder}/{key}"))?, "{name} {key}");
        }
    }
    Ok(())
}

/// The keys of all chunks in a folder.
fn chunks(folder: &Path, key: &str, keys: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(folder.join(key))? {
        let key = format!("{key}/{}", entry?.file_name().to_string_lossy());
        match folder.join(&key).is_dir() {
            true => chunks(folder, &key, keys)?,
            false => keys.push(key),
        }
    }
    Ok(())
}
