//! zarrs.

use std::path::Path;
use std::sync::Arc;

use zarrs::array::CodecOptions;
use zarrs::array::{Array, ArrayBytes, ArrayMetadata};
use zarrs::filesystem::FilesystemStore;

use crate::Result;
use crate::cases::Case;

pub fn write(case: &Case, path: &Path, data: &[u8], threads: usize) -> Result<()> {
    std::fs::create_dir_all(path)?;
    let store = Arc::new(FilesystemStore::new(path)?);
    let document = case.document();
    let array = Array::new_with_metadata(store, "/", ArrayMetadata::try_from(document.as_str())?)?;
    array.store_metadata()?;
    let options = options(threads);
    let bytes = ArrayBytes::new_flen(data);
    Ok(array.store_array_subset_opt(&array.subset_all(), bytes, &options)?)
}

pub fn read(_: &Case, path: &Path, out: &mut Vec<u8>, threads: usize) -> Result<()> {
    let store = Arc::new(FilesystemStore::new(path)?);
    let array = Array::open(store, "/")?;
    let bytes: ArrayBytes<'_> =
        array.retrieve_array_subset_opt(&array.subset_all(), &options(threads))?;
    let bytes = bytes.into_fixed()?;
    if out.is_empty() {
        *out = bytes.into_owned();
    }
    Ok(())
}

fn options(threads: usize) -> CodecOptions {
    CodecOptions::default().with_concurrent_target(threads)
}
