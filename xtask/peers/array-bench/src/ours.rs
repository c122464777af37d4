//! zarr-kit.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use zarr_kit::{Array, ArrayMetadata, LocalStore, Prefix, Selection};

use crate::Result;
use crate::cases::Work;

pub fn write(work: &Work, path: &Path, threads: usize) -> Result<()> {
    write_array(path, &work.layout.document, work.data, threads)
}

pub fn write_array(path: &Path, document: &str, data: &[u8], threads: usize) -> Result<()> {
    create(path, document)?;
    let array = open(path, threads)?;
    Ok(array.write(Selection::whole(array.shape()), data)?)
}

pub fn read(_: &Work, path: &Path, out: &mut Vec<u8>, threads: usize) -> Result<()> {
    if out.is_empty() {
        *out = read_fresh(path, threads)?;
        return Ok(());
    }
    let array = open(path, threads)?;
    Ok(array.read_into(Selection::whole(array.shape()), out)?)
}

/// Reads into fresh memory.
pub fn read_fresh(path: &Path, threads: usize) -> Result<Vec<u8>> {
    let array = open(path, threads)?;
    Ok(array.read(Selection::whole(array.shape()))?)
}

/// Creates the array, unless there is one.
pub fn create(path: &Path, document: &str) -> Result<()> {
    if !path.join("zarr.json").exists() {
        let store = Arc::new(LocalStore::create(path)?);
        let metadata = ArrayMetadata::from_json(document.as_bytes())?;
        Array::create(store, &Prefix::root(), metadata)?;
    }
    Ok(())
}

pub fn open(path: &Path, threads: usize) -> Result<Array> {
    let threads = NonZeroUsize::new(threads).ok_or("no threads")?;
    let array = Array::open(Arc::new(LocalStore::open(path)?), &Prefix::root())?;
    Ok(array.with_threads(threads))
}
