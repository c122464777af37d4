//! Creates and changes groups, and deletes nodes, without blocking the thread.

use std::sync::Arc;

use zarr_metadata::{ArrayMetadata, GroupMetadata};

use super::{delete_node, refresh_consolidated};
use crate::array::Array;
use crate::group::Group;
use crate::parents::create_parents;
use crate::store::{Prefix, Store};
use crate::threads::{self, ArrayFuture};

/// As [`create_parents`], without blocking the thread. The future borrows nothing, and can be
/// awaited on any executor. Dropping it cancels the creation unless it has begun.
///
/// # Errors
/// As [`create_parents`].
pub fn create_parents_async(store: Arc<dyn Store>, prefix: &Prefix) -> ArrayFuture<()> {
    let prefix = prefix.clone();
    threads::change(move || create_parents(&store, &prefix))
}

/// As [`delete_node`], without blocking the thread. The future borrows nothing, and can be awaited
/// on any executor. Dropping it cancels the deletion unless it has begun; otherwise it is finished.
///
/// # Errors
/// As [`delete_node`].
pub fn delete_node_async(store: Arc<dyn Store>, prefix: &Prefix) -> ArrayFuture<()> {
    let prefix = prefix.clone();
    threads::change(move || delete_node(&store, &prefix))
}

/// As [`refresh_consolidated`], without blocking the thread. The future borrows nothing, and can be
/// awaited on any executor. Dropping it cancels the change unless it has begun.
///
/// # Errors
/// As [`refresh_consolidated`].
pub fn refresh_consolidated_async(store: Arc<dyn Store>, prefix: &Prefix) -> ArrayFuture<()> {
    let prefix = prefix.clone();
    threads::change(move || refresh_consolidated(&store, &prefix))
}

impl Group {
    /// As [`create`](Group::create), without blocking the thread. The future borrows nothing, and
    /// can be awaited on any executor. Dropping it cancels the creation unless it has begun.
    ///
    /// # Errors
    /// As [`create`](Group::create).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Group, delete_node_async};
    /// # use zarr_array::store::{MemoryStore, Prefix, Store};
    /// # use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
    /// # let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// # let metadata = ArrayBuilder::new([90], DataType::Float32).build()?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let root = Group::create_async(store.clone(), &Prefix::root(), GroupMetadata::new()).await?;
    /// let group = root.create_group_async("weather", GroupMetadata::new()).await?;
    /// group.create_array_async("rain", metadata).await?;
    /// let root = root.consolidate_async().await?;
    /// assert!(root.metadata().consolidated_metadata().is_some());
    /// delete_node_async(store, &Prefix::new("weather/rain")?).await?;
    /// assert!(group.children_async().await?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_async(
        store: Arc<dyn Store>,
        prefix: &Prefix,
        metadata: GroupMetadata,
    ) -> ArrayFuture<Self> {
        let prefix = prefix.clone();
        threads::change(move || Self::create(store, &prefix, metadata))
    }

    /// As [`create_array`](Group::create_array), without blocking the thread; see
    /// [`create_async`](Group::create_async).
    ///
    /// # Errors
    /// As [`create_array`](Group::create_array).
    pub fn create_array_async(&self, path: &str, metadata: ArrayMetadata) -> ArrayFuture<Array> {
        let (group, path) = (self.clone(), path.to_owned());
        threads::change(move || group.create_array(&path, metadata))
    }

    /// As [`create_group`](Group::create_group), without blocking the thread; see
    /// [`create_async`](Group::create_async).
    ///
    /// # Errors
    /// As [`create_group`](Group::create_group).
    pub fn create_group_async(&self, path: &str, metadata: GroupMetadata) -> ArrayFuture<Self> {
        let (group, path) = (self.clone(), path.to_owned());
        threads::change(move || group.create_group(&path, metadata))
    }

    /// As [`update_attributes`](Group::update_attributes), without blocking the thread. Dropping
    /// the future cancels the change unless it has begun.
    ///
    /// # Errors
    /// As [`update_attributes`](Group::update_attributes).
    pub fn update_attributes_async(&self, changes: &[(&str, Option<&str>)]) -> ArrayFuture<Self> {
        let (group, changes) = (self.clone(), threads::owned(changes));
        threads::change(move || group.update_attributes(&threads::borrowed(&changes)))
    }

    /// As [`consolidate`](Group::consolidate), without blocking the thread. Dropping the future
    /// cancels the change unless it has begun.
    ///
    /// # Errors
    /// As [`consolidate`](Group::consolidate).
    pub fn consolidate_async(&self) -> ArrayFuture<Self> {
        let group = self.clone();
        threads::change(move || group.consolidate())
    }

    /// As [`remove_consolidated`](Group::remove_consolidated), without blocking the thread. Dropping
    /// the future cancels the change unless it has begun.
    ///
    /// # Errors
    /// As [`remove_consolidated`](Group::remove_consolidated).
    pub fn remove_consolidated_async(&self) -> ArrayFuture<bool> {
        let group = self.clone();
        threads::change(move || group.remove_consolidated())
    }
}
