//! Many small objects by zarrs, for `many_objects.py`: listed, copied and deleted.

use std::path::Path;
use std::sync::Arc;
use std::thread;

use zarrs::array::{Array, ArrayMetadata, ArraySubset};
use zarrs::filesystem::FilesystemStore;
use zarrs::group::{Group, GroupMetadata};
use zarrs::node::Node;
use zarrs::storage::{ListableStorageTraits as _, StorePrefix, WritableStorageTraits as _};

use crate::Result;

const THREADS: usize = 2;

type Store = Arc<FilesystemStore>;

/// Prints the number of objects in the store.
pub fn list(folder: &Path) -> Result<()> {
    println!("{}", store(folder)?.list_prefix(&StorePrefix::root())?.len());
    Ok(())
}

/// Prints the number of nodes of the hierarchy.
pub fn tree(folder: &Path) -> Result<()> {
    let node = Node::open(&store(folder)?, "/")?;
    println!("{}", node.hierarchy_tree().lines().count());
    Ok(())
}

/// Copies an array, or a group of arrays, chunk by chunk and undecoded.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    let (from, to) = (store(from)?, store(to)?);
    let node = Node::open(&from, "/")?;
    let paths: Vec<&str> = match node.children() {
        [] => vec!["/"],
        children => {
            let metadata = GroupMetadata::try_from(r#"{"zarr_format":3,"node_type":"group"}"#)?;
            Group::new_with_metadata(Arc::clone(&to), "/", metadata)?.store_metadata()?;
            children.iter().map(|child| child.path().as_str()).collect()
        }
    };
    let part = paths.len().div_ceil(THREADS);
    let copy = |path: &str| copy_array(&from, &to, path, if paths.len() == 1 { THREADS } else { 1 });
    thread::scope(|scope| {
        let parts = paths.chunks(part).map(|paths| {
            let all = || paths.iter().try_for_each(|path| copy(path).map_err(|error| error.to_string()));
            scope.spawn(all)
        });
        let parts: Vec<_> = parts.collect();
        parts.into_iter().try_for_each(|part| Ok(part.join().expect("a thread that ends")?))
    })
}

fn copy_array(from: &Store, to: &Store, path: &str, threads: usize) -> Result<()> {
    let source = Array::open(Arc::clone(from), path)?;
    let metadata: ArrayMetadata = source.metadata().clone();
    let target = Array::new_with_metadata(Arc::clone(to), path, metadata)?;
    target.store_metadata()?;
    let chunks: Vec<Vec<u64>> = ArraySubset::new_with_shape(source.chunk_grid_shape().to_vec())
        .indices()
        .into_iter()
        .map(|indices| indices.to_vec())
        .collect();
    let copy = |chunk: &Vec<u64>| -> std::result::Result<(), String> {
        let Some(bytes) = source.retrieve_encoded_chunk(chunk).map_err(|error| error.to_string())? else {
            return Ok(());
        };
        // SAFETY: the bytes are of a chunk of an array with the same metadata.
        unsafe { target.store_encoded_chunk(chunk, bytes.into()) }.map_err(|error| error.to_string())
    };
    thread::scope(|scope| {
        let parts = chunks.chunks(chunks.len().div_ceil(threads).max(1));
        let parts: Vec<_> =
            parts.map(|part| scope.spawn(move || part.iter().try_for_each(copy))).collect();
        parts.into_iter().try_for_each(|part| Ok(part.join().expect("a thread that ends")?))
    })
}

/// Removes all objects of the store.
pub fn delete(folder: &Path) -> Result<()> {
    Ok(store(folder)?.erase_prefix(&StorePrefix::root())?)
}

fn store(folder: &Path) -> Result<Store> {
    Ok(Arc::new(FilesystemStore::new(folder)?))
}
