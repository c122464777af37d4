//! Changes attributes or names of dimensions, and nothing else.

use std::sync::Arc;

use zarr_metadata::{MetadataError, NodeMetadata};

use super::update_consolidated::{Scope, update_consolidated};
use crate::array::Array;
use crate::error::ArrayError;
use crate::hierarchy::Group;
use crate::hierarchy::node::{self, METADATA_KEY};
use crate::store::{Change, Prefix, Store, UpdatePolicy, update};

impl Array {
    /// Sets attributes by name, each to a JSON text; removes an attribute if its text is `None`.
    ///
    /// The document is read again, changed and written in one step. So no concurrent change of it
    /// is lost, even if others have resized the array meanwhile. Attributes that are not named keep
    /// their text. Returns the array as stored.
    ///
    /// # Errors
    /// [`ArrayError::Metadata`] if a text is not JSON, or an error of the store. Then the
    /// document is unchanged.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([3], DataType::Uint8)
    /// #     .attributes(r#"{"units": "K", "scale": 1.50}"#)
    /// #     .build()?;
    /// # let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// let array = array.update_attributes(&[("units", Some(r#""degC""#)), ("old", None)])?;
    /// assert_eq!(array.metadata().attribute("units"), Some(r#""degC""#));
    /// assert_eq!(array.metadata().attribute("scale"), Some("1.50"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update_attributes(&self, changes: &[(&str, Option<&str>)]) -> Result<Self, ArrayError> {
        self.refuse_version_2()?;
        match update_attributes(self.store(), self.prefix(), self.update_policy(), changes)? {
            NodeMetadata::Array(metadata) => self.with_document(metadata),
            NodeMetadata::Group(_) => {
                Err(ArrayError::NotArray { path: node::display(self.prefix()) })
            }
        }
    }
}

impl Group {
    /// Sets attributes by name, each to a JSON text; removes an attribute if its text is `None`.
    /// See [`Array::update_attributes`].
    ///
    /// # Errors
    /// As [`Array::update_attributes`].
    pub fn update_attributes(&self, changes: &[(&str, Option<&str>)]) -> Result<Self, ArrayError> {
        self.refuse_version_2()?;
        match update_attributes(self.store(), self.prefix(), self.update_policy(), changes)? {
            NodeMetadata::Group(metadata) => Ok(self.with_document(metadata)),
            NodeMetadata::Array(_) => {
                Err(ArrayError::NotGroup { path: node::display(self.prefix()) })
            }
        }
    }
}

/// Sets attributes of the node at `prefix`, as [`Array::update_attributes`], and returns its document.
/// The node may be an array that does not open, because its data type, its grid, its chunk keys or a
/// codec is not known here: all else of its document keeps its text.
///
/// # Errors
/// As [`Array::update_attributes`].
pub fn update_attributes(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    policy: UpdatePolicy,
    changes: &[(&str, Option<&str>)],
) -> Result<NodeMetadata, ArrayError> {
    update_document(store, prefix, policy, |node| {
        Ok(match node {
            NodeMetadata::Array(array) => {
                NodeMetadata::Array(array.with_changed_attributes(changes)?)
            }
            NodeMetadata::Group(group) => {
                NodeMetadata::Group(group.with_changed_attributes(changes)?)
            }
        })
    })
}

/// Gives the dimensions of the array at `prefix` these names, or none where it is `None`, and returns its
/// document. All else of it keeps its text, as for [`update_attributes`].
///
/// # Errors
/// [`ArrayError::NotArray`] for a group; [`ArrayError::Metadata`] unless there is one per dimension;
/// otherwise as [`update_attributes`].
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::Array;
/// # use zarr_array::store::{MemoryStore, Prefix, UpdatePolicy};
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// let metadata = ArrayBuilder::new([3, 4], DataType::Uint8).build()?;
/// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
/// let (store, policy) = (array.store(), UpdatePolicy::default());
/// zarr_array::update_dimension_names(store, array.prefix(), policy, &[Some("y"), Some("x")])?;
/// let array = Array::open(store.clone(), array.prefix())?;
/// assert_eq!(array.metadata().dimension_names(), Some(&[Some("y".into()), Some("x".into())][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn update_dimension_names(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    policy: UpdatePolicy,
    names: &[Option<&str>],
) -> Result<NodeMetadata, ArrayError> {
    let updated = update_document(store, prefix, policy, |node| match node {
        NodeMetadata::Array(array) => array.with_dimension_names(names).map(NodeMetadata::Array),
        group @ NodeMetadata::Group(_) => Ok(group),
    })?;
    match updated {
        NodeMetadata::Array(_) => Ok(updated),
        NodeMetadata::Group(_) => Err(ArrayError::NotArray { path: node::display(prefix) }),
    }
}

/// Reads the document of the node at `prefix`, changes and puts it in one step.
fn update_document(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    policy: UpdatePolicy,
    mut change: impl FnMut(NodeMetadata) -> Result<NodeMetadata, MetadataError>,
) -> Result<NodeMetadata, ArrayError> {
    let key = prefix.key(METADATA_KEY)?;
    let wrong = |cause| ArrayError::Metadata { key: key.to_string(), cause };
    let mut changed = None;
    update(&**store, &key, policy, &mut Vec::new(), |current, document| {
        if !current.exists {
            return Err(ArrayError::NotFound { path: node::display(prefix) });
        }
        let node = NodeMetadata::from_json(document).map_err(wrong)?;
        let before = node.json().to_owned();
        let node = change(node).map_err(wrong)?;
        let is_same = node.json() == before;
        if !is_same {
            document.clear();
            document.extend_from_slice(node.json().as_bytes());
        }
        changed = Some(node);
        Ok(if is_same { Change::Keep } else { Change::Put })
    })?;
    update_consolidated(store, prefix, Scope::Node, policy);
    // A successful update has called the closure.
    changed.ok_or_else(|| ArrayError::NotFound { path: node::display(prefix) })
}
