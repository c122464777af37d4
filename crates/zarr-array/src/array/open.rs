//! Arrays that are opened from a store, and created in one.

use std::sync::Arc;

use zarr_codec::Options;
use zarr_metadata::{ArrayMetadata, NodeMetadata};

use crate::array::Array;
use crate::change::{Scope, update_consolidated};
use crate::error::ArrayError;
use crate::hierarchy::Hierarchy;
use crate::hierarchy::node::{self, METADATA_KEY};
use crate::store::{AsPrefix, Key, Prefix, Store, UpdatePolicy};

impl Array {
    /// Opens the array at `prefix`, its path in the store: a [`Prefix`] or text, `"group/rain"`,
    /// where the empty text is the root of the store.
    ///
    /// # Errors
    /// [`ArrayError::Path`] if the text is not a path; [`ArrayError`] if there is no array, or its
    /// metadata is not valid or not supported.
    pub fn open(
        store: impl Into<Hierarchy>,
        prefix: &(impl AsPrefix + ?Sized),
    ) -> Result<Self, ArrayError> {
        Self::open_with(store, prefix, Options::new())
    }

    /// As [`open`](Array::open) with other [`Options`]: limits of decoding, and codecs of other
    /// authors.
    ///
    /// # Errors
    /// As [`open`](Array::open).
    pub fn open_with(
        store: impl Into<Hierarchy>,
        prefix: &(impl AsPrefix + ?Sized),
        options: Options,
    ) -> Result<Self, ArrayError> {
        let (hierarchy, prefix) = (store.into(), &prefix.to_prefix()?);
        match node::open(&hierarchy, prefix)? {
            NodeMetadata::Array(metadata) => Self::bind(hierarchy, prefix, metadata, options),
            NodeMetadata::Group(_) => Err(ArrayError::NotArray { path: node::display(prefix) }),
        }
    }

    /// Binds metadata that has already been read to a place in a store, without accessing the
    /// store.
    ///
    /// # Errors
    /// [`ArrayError`] if the chain does not fit, or the data type is not supported.
    pub fn with_metadata(
        store: impl Into<Hierarchy>,
        prefix: &Prefix,
        metadata: ArrayMetadata,
        options: Options,
    ) -> Result<Self, ArrayError> {
        Self::bind(store.into(), prefix, metadata, options)
    }

    /// Creates an array at `prefix`, where there must be no node yet, and writes its metadata.
    ///
    /// # Errors
    /// [`ArrayError`] if there is a node already, if the chain does not fit, or if the fill value
    /// would not survive the chain (SD-49). [`ArrayError::NotEmpty`] if there is no node, but
    /// chunks of an earlier one: the new array would show them, so they must be
    /// [deleted](crate::delete_node) first. [`ArrayError::Unfinished`] if there is an unfinished
    /// copy; [`ArrayError::Path`] if the text is not a path. Nothing has been written then.
    pub fn create(
        store: Arc<dyn Store>,
        prefix: &(impl AsPrefix + ?Sized),
        metadata: ArrayMetadata,
    ) -> Result<Self, ArrayError> {
        Self::create_with(store, prefix, metadata, Options::new())
    }

    /// As [`create`](Array::create) with other [`Options`]; third-party codecs are assumed to
    /// keep the fill value.
    ///
    /// # Errors
    /// As [`create`](Array::create).
    pub fn create_with(
        store: Arc<dyn Store>,
        prefix: &(impl AsPrefix + ?Sized),
        metadata: ArrayMetadata,
        options: Options,
    ) -> Result<Self, ArrayError> {
        let (metadata, prefix) = (metadata.into_version_3(), &prefix.to_prefix()?);
        let array = Self::with_metadata(store, prefix, metadata, options)?;
        let key = prefix.key(METADATA_KEY)?;
        array.check_writable(&key)?;
        if array.store().head(&key)?.is_none() {
            node::refuse_unfinished(array.store(), prefix)?;
            array.check_empty()?;
        }
        node::create(array.store(), prefix, array.shared.compiled.metadata.json().as_bytes())?;
        update_consolidated(array.store(), prefix, Scope::Node, UpdatePolicy::default());
        Ok(array)
    }
}

/// Refuses to create an array with codecs that cannot write, or that would change its fill value
/// (SD-49). `key` is the key of its document, for the message.
///
/// # Errors
/// [`ArrayError::Chain`] that names the codec; [`ArrayError::FillValue`] and
/// [`ArrayError::RefusedFillValue`].
pub fn refuse_unwritable(array: &Array, key: &Key) -> Result<(), ArrayError> {
    array.check_writable(key)
}
