//! zarrs.

use std::path::Path;
use std::sync::Arc;

use unsafe_cell_slice::UnsafeCellSlice;
use zarrs::array::{
    Array, ArrayBytes, ArrayBytesDecodeIntoTarget, ArrayBytesFixedDisjointView, ArrayMetadata,
    CodecOptions,
};
use zarrs::filesystem::FilesystemStore;

use crate::Result;
use crate::cases::Work;

pub fn write(work: &Work, path: &Path, threads: usize) -> Result<()> {
    write_array(path, &work.layout.document, work.data, threads)
}

pub fn write_array(path: &Path, document: &str, data: &[u8], threads: usize) -> Result<()> {
    let array = create(path, document)?;
    let bytes = ArrayBytes::new_flen(data);
    Ok(array.store_array_subset_opt(&array.subset_all(), bytes, &options(threads))?)
}

pub fn create(path: &Path, document: &str) -> Result<Array<FilesystemStore>> {
    std::fs::create_dir_all(path)?;
    let store = Arc::new(FilesystemStore::new(path)?);
    let metadata = ArrayMetadata::try_from(document)?;
    let array = Array::new_with_metadata(store, "/", metadata)?;
    array.store_metadata()?;
    Ok(array)
}

pub fn read(work: &Work, path: &Path, out: &mut Vec<u8>, threads: usize) -> Result<()> {
    if out.is_empty() {
        *out = read_fresh(path, threads)?;
        return Ok(());
    }
    read_array(path, out, work.case.element_size, threads)
}

/// Reads into fresh memory.
pub fn read_fresh(path: &Path, threads: usize) -> Result<Vec<u8>> {
    let array = open(path)?;
    let bytes: ArrayBytes<'_> =
        array.retrieve_array_subset_opt(&array.subset_all(), &options(threads))?;
    Ok(bytes.into_fixed()?.into_owned())
}

/// Reads into a buffer that is as long as the array.
pub fn read_array(path: &Path, out: &mut [u8], size: usize, threads: usize) -> Result<()> {
    let array = open(path)?;
    let (whole, shape) = (array.subset_all(), array.shape());
    let out = UnsafeCellSlice::new(out);
    // SAFETY: the view is the only one of the buffer, which nothing else touches while it lives.
    let mut view = unsafe { ArrayBytesFixedDisjointView::new(out, size, shape, whole.clone())? };
    let target = ArrayBytesDecodeIntoTarget::Fixed(&mut view);
    Ok(array.retrieve_array_subset_into_opt(&whole, target, &options(threads))?)
}

pub fn open(path: &Path) -> Result<Array<FilesystemStore>> {
    Ok(Array::open(Arc::new(FilesystemStore::new(path)?), "/")?)
}

/// So many threads, and no more: by default at least four chunks are worked on at once.
pub fn options(threads: usize) -> CodecOptions {
    CodecOptions::default().with_concurrent_target(threads).with_chunk_concurrent_minimum(threads)
}
