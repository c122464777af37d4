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
use crate::whole::Work;

pub fn write(work: &Work, path: &Path, threads: usize) -> Result<()> {
    std::fs::create_dir_all(path)?;
    let store = Arc::new(FilesystemStore::new(path)?);
    let metadata = ArrayMetadata::try_from(work.layout.document.as_str())?;
    let array = Array::new_with_metadata(store, "/", metadata)?;
    array.store_metadata()?;
    let bytes = ArrayBytes::new_flen(work.data);
    Ok(array.store_array_subset_opt(&array.subset_all(), bytes, &options(threads))?)
}

pub fn read(work: &Work, path: &Path, out: &mut Vec<u8>, threads: usize) -> Result<()> {
    let array = open(path)?;
    let whole = array.subset_all();
    if out.is_empty() {
        let bytes: ArrayBytes<'_> = array.retrieve_array_subset_opt(&whole, &options(threads))?;
        *out = bytes.into_fixed()?.into_owned();
        return Ok(());
    }
    let (size, shape) = (work.case.element_size, array.shape());
    // SAFETY: the view is the only one of the buffer, which nothing else touches while it lives.
    let mut view = unsafe {
        ArrayBytesFixedDisjointView::new(UnsafeCellSlice::new(out), size, shape, whole.clone())?
    };
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
