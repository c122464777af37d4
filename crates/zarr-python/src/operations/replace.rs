//! New nodes, also in place of old ones, and nodes that are deleted.

use std::fs;
use std::sync::Arc;

use pyo3::prelude::*;
use zarr_kit::array::{create_parents, delete_node, open_node};
use zarr_kit::copy::create_over;
use zarr_kit::metadata::NodeMetadata;
use zarr_kit::{
    Array, ArrayError, ArrayMetadata, Group, GroupMetadata, MemoryStore, Opened, Prefix, Store,
};

use crate::array::PyArray;
use crate::conversion::error::{Done, Raised};
use crate::group::PyGroup;
use crate::node::At;
use crate::process::signals::Signals;

/// Creates an array. With `overwrite`, it takes the place of an array in the steps of a copy that
/// overwrites: after a kill, the old or the new one is there, or a marker that says so. A group is
/// deleted with all that is below it.
fn array(
    store: Arc<dyn Store>,
    prefix: &Prefix,
    metadata: ArrayMetadata,
    overwrite: bool,
) -> Result<Array, Raised> {
    if overwrite {
        match open_node(&store, prefix) {
            Ok(NodeMetadata::Group(_)) => {
                // What cannot be created must not cost the group.
                let trial: Arc<dyn Store> = Arc::new(MemoryStore::new());
                Array::create(trial, &Prefix::root(), metadata.clone())?;
                delete_node(&store, prefix)?;
            }
            Ok(NodeMetadata::Array(_)) | Err(ArrayError::Unfinished { .. }) => {
                return Ok(create_over(store, prefix, metadata)?);
            }
            Err(ArrayError::NotFound { .. }) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
    create_parents(&store, prefix)?;
    Ok(Array::create(store, prefix, metadata)?)
}

/// Creates a group. With `overwrite`, the node in its place is deleted with all that is below it. An
/// unfinished copy is left alone: it may be at work.
fn group(
    store: Arc<dyn Store>,
    prefix: &Prefix,
    metadata: GroupMetadata,
    overwrite: bool,
) -> Result<Group, Raised> {
    if overwrite {
        match open_node(&store, prefix) {
            Ok(_) => delete_node(&store, prefix)?,
            Err(ArrayError::NotFound { .. }) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
    create_parents(&store, prefix)?;
    Ok(Group::create(store, prefix, metadata)?)
}

/// Creates an array. With `overwrite`, in place of the node that is there.
#[pyfunction]
#[pyo3(signature = (at, document, overwrite = false))]
pub(crate) fn create_array(
    py: Python<'_>,
    at: At<'_>,
    document: &str,
    overwrite: bool,
) -> Done<PyArray> {
    let metadata = ArrayMetadata::from_json(document.as_bytes())?;
    let is_below = matches!(at, At::Below(..));
    let (place, prefix) = at.place(py, true)?;
    // Not by requests to a server for each new node of a group.
    if !is_below || place.is_quick() {
        place.note_other_files(py, &prefix);
    }
    let create = |signals: &Arc<Signals>| {
        place.change(signals, |store| array(store, &prefix, metadata, overwrite))
    };
    let made = place.named(&prefix, py.detach(|| Signals::during(create)))?;
    Ok(PyArray::new(made.with_store(Arc::clone(&place.store)), place))
}

/// Creates a group. With `enter`, in a `with` block, which the caller ends; with `overwrite`, in place
/// of the node that is there.
#[pyfunction]
#[pyo3(signature = (at, document, enter = false, overwrite = false))]
pub(crate) fn create_group(
    py: Python<'_>,
    at: At<'_>,
    document: &str,
    enter: bool,
    overwrite: bool,
) -> Done<PyGroup> {
    let metadata = GroupMetadata::from_json(document.as_bytes())?;
    let is_below = matches!(at, At::Below(..));
    let (place, prefix) = at.place(py, true)?;
    if enter {
        place.block.enter();
    }
    // Not by requests to a server for each new node of a group.
    if !is_below || place.is_quick() {
        place.note_other_files(py, &prefix);
    }
    let create = |signals: &Arc<Signals>| {
        place.change(signals, |store| group(store, &prefix, metadata, overwrite))
    };
    let made = place.named(&prefix, py.detach(|| Signals::during(create)))?;
    Ok(PyGroup::new(made.with_store(Arc::clone(&place.store)), place))
}

/// Deletes a node with all that is below it. Never a folder that is not a node: it may be anything.
#[pyfunction]
pub(crate) fn delete(py: Python<'_>, node: At<'_>) -> Done<()> {
    let (place, prefix) = node.place(py, false)?;
    let delete = |signals: &Arc<Signals>| {
        place.change(signals, |store| {
            open_node(&store, &prefix)?;
            delete_node(&store, &prefix)
        })
    };
    place.named(&prefix, py.detach(|| Signals::during(delete)))?;
    if let Some(folder) = place.opened().and_then(Opened::folder).filter(|_| prefix.is_root()) {
        // It stays if other files are in it.
        drop(fs::remove_dir(folder));
    }
    Ok(())
}
