//! Creates arrays in place of others, by the steps of a copy.

use std::sync::Arc;

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::node::{self, METADATA_KEY};
use zarr_array::unfinished::{Kind, Unfinished};
use zarr_codec::Options;
use zarr_metadata::{ArrayMetadata, NodeMetadata};
use zarr_store::{Prefix, Store};

use crate::CopyOptions;
use crate::begin::begin;
use crate::endpoint::Endpoint;
use crate::error::{TransferError, target};
use crate::marker::Marker;

/// Creates an array with this metadata at `prefix`, in place of the array that is there: its
/// document and all of its chunks are removed.
///
/// # Steps
/// The steps of a copy that overwrites: the [`MARKER`](crate::MARKER) is put, the old document is
/// removed, then the chunks, then the new document is put and the marker removed. After a kill at
/// any moment the old array exists, or the new one, or only the marker. `check` names the marker,
/// and [`Array::open`] reports it. Calling this again, also with other metadata, starts again. A
/// reader that has opened the old array may read fill values in place of removed chunks.
///
/// # Errors
/// [`ArrayError::NotArray`] if there is a group or an unfinished copy of a group;
/// [`ArrayError::Version2`] for a node of Zarr version 2; [`TransferError::Foreign`] if the old
/// array's folder has an object of another owner; [`TransferError::NotEmpty`] if there is no array
/// but another object; otherwise as for [`Array::create`]. After these errors, nothing has been
/// removed.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::Array;
/// use zarr_copy::create_over;
/// use zarr_store::{MemoryStore, Prefix};
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// let (store, root) = (Arc::new(MemoryStore::new()), Prefix::root());
/// let old = ArrayBuilder::new([3], DataType::Uint8).build()?;
/// Array::create(store.clone(), &root, old)?.write(0..3, &[1, 2, 3])?;
/// let new = ArrayBuilder::new([2], DataType::Uint8).fill_value(9).build()?;
/// let array = create_over(store, &root, new)?;
/// assert_eq!(array.read(0..2)?, [9, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn create_over(
    store: Arc<dyn Store>,
    prefix: &Prefix,
    metadata: ArrayMetadata,
) -> Result<Array, TransferError> {
    let metadata = metadata.into_version_3();
    let array = Array::with_metadata(store, prefix, metadata, Options::new()).map_err(target)?;
    let store = array.store();
    node::refuse_unwritable(&array, &prefix.key(METADATA_KEY)?).map_err(target)?;
    node::refuse_place(store, prefix).map_err(target)?;
    let is_group = match node::open(store, prefix) {
        Ok(node) => matches!(node, NodeMetadata::Group(_)),
        Err(ArrayError::NotFound { .. }) => false,
        Err(cause @ ArrayError::Unfinished { .. }) => {
            match Unfinished::at(&**store, prefix).map_err(target)?.map(|found| found.kind) {
                // It is unknown what would be removed.
                Some(None) => return Err(target(cause)),
                Some(Some(kind)) => kind == Kind::Group,
                None => false,
            }
        }
        Err(cause) => return Err(target(cause)),
    };
    if is_group {
        return Err(target(ArrayError::NotArray { path: node::display(prefix) }));
    }
    let to = Endpoint::new(store, prefix);
    let marker = Marker::of_creation(to, array.metadata().json().to_owned())?;
    let options = CopyOptions::new().overwrite(true);
    let mut marker = marker.of_this_run();
    let found = begin(&mut marker, &[], Some(array.metadata()), &options, &mut |_| Ok(()))?;
    marker.end(&[], found)?;
    to.refresh_above();
    Ok(array)
}
