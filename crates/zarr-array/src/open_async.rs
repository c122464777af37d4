//! Opening arrays and groups, and looking into groups, without blocking the thread.

use std::sync::Arc;

use zarr_codec::Options;

use crate::array::Array;
use crate::error::ArrayError;
use crate::group::Group;
use crate::node;
use crate::store::{Prefix, Store};
use crate::threads::{self, ArrayFuture};
use zarr_metadata::NodeMetadata;

/// Runs what asks a store where blocking is allowed. Dropping the future cancels it unless it has
/// begun.
fn run<T: Send + 'static>(
    store: Arc<dyn Store>,
    work: impl FnOnce() -> Result<T, ArrayError> + Send + 'static,
) -> ArrayFuture<T> {
    Box::pin(async move { threads::run_blocking(&*store, work).await? })
}

/// As [`open_node`](crate::open_node), without blocking the thread. The future borrows nothing, and
/// can be awaited on any executor.
///
/// # Errors
/// As [`open_node`](crate::open_node).
pub fn open_node_async(store: Arc<dyn Store>, prefix: &Prefix) -> ArrayFuture<NodeMetadata> {
    let prefix = prefix.clone();
    run(Arc::clone(&store), move || node::open(&store, &prefix))
}

impl Array {
    /// As [`open`](Array::open), without blocking the thread. The future borrows nothing, and can be
    /// awaited on any executor.
    ///
    /// # Errors
    /// As [`open`](Array::open).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Group};
    /// # use zarr_array::store::{MemoryStore, Prefix, Store};
    /// # use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
    /// # let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// # let group = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new())?;
    /// # group.create_array("rain", ArrayBuilder::new([90], DataType::Float32).build()?)?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let root = Group::open_async(store.clone(), &Prefix::root()).await?;
    /// assert_eq!(root.children_async().await?, ["rain"]);
    /// let array = Array::open_async(store, &Prefix::new("rain")?).await?;
    /// assert_eq!(array.shape(), root.array_async("rain").await?.shape());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_async(store: Arc<dyn Store>, prefix: &Prefix) -> ArrayFuture<Self> {
        Self::open_with_async(store, prefix, Options::new())
    }

    /// As [`open_with`](Array::open_with), without blocking the thread; see
    /// [`open_async`](Array::open_async).
    ///
    /// # Errors
    /// As [`open_with`](Array::open_with).
    pub fn open_with_async(
        store: Arc<dyn Store>,
        prefix: &Prefix,
        options: Options,
    ) -> ArrayFuture<Self> {
        let prefix = prefix.clone();
        run(Arc::clone(&store), move || Self::open_with(store, &prefix, options))
    }
}

impl Group {
    /// As [`open`](Group::open), without blocking the thread. The future borrows nothing, and can be
    /// awaited on any executor.
    ///
    /// # Errors
    /// As [`open`](Group::open).
    pub fn open_async(store: Arc<dyn Store>, prefix: &Prefix) -> ArrayFuture<Self> {
        let prefix = prefix.clone();
        run(Arc::clone(&store), move || Self::open(store, &prefix))
    }

    /// As [`open_consolidated`](Group::open_consolidated), without blocking the thread.
    ///
    /// # Errors
    /// As [`open_consolidated`](Group::open_consolidated).
    pub fn open_consolidated_async(store: Arc<dyn Store>, prefix: &Prefix) -> ArrayFuture<Self> {
        let prefix = prefix.clone();
        run(Arc::clone(&store), move || Self::open_consolidated(store, &prefix))
    }

    /// As [`children`](Group::children), without blocking the thread.
    ///
    /// # Errors
    /// As [`children`](Group::children).
    pub fn children_async(&self) -> ArrayFuture<Vec<String>> {
        let group = self.clone();
        run(Arc::clone(self.store()), move || group.children())
    }

    /// As [`node`](Group::node), without blocking the thread.
    ///
    /// # Errors
    /// As [`node`](Group::node).
    pub fn node_async(&self, path: &str) -> ArrayFuture<NodeMetadata> {
        let (group, path) = (self.clone(), path.to_owned());
        run(Arc::clone(self.store()), move || group.node(&path))
    }

    /// As [`array`](Group::array), without blocking the thread.
    ///
    /// # Errors
    /// As [`array`](Group::array).
    pub fn array_async(&self, path: &str) -> ArrayFuture<Array> {
        let (group, path) = (self.clone(), path.to_owned());
        run(Arc::clone(self.store()), move || group.array(&path))
    }

    /// As [`group`](Group::group), without blocking the thread.
    ///
    /// # Errors
    /// As [`group`](Group::group).
    pub fn group_async(&self, path: &str) -> ArrayFuture<Self> {
        let (group, path) = (self.clone(), path.to_owned());
        run(Arc::clone(self.store()), move || group.group(&path))
    }
}
