//! The operations that access a store, without blocking the thread.
//!
//! [`Array::asynchronous`] and [`Group::asynchronous`] return handles. Their methods have the names
//! of the blocking methods, take owned elements, and return futures. The functions here have the
//! names of the functions in the crate's root. The futures borrow nothing, so they can be spawned,
//! and run on any executor.
//!
//! # Examples
//! ```
//! # use std::sync::Arc;
//! # use zarr_array::store::{MemoryStore, Prefix};
//! # use zarr_metadata::{ArrayBuilder, DataType};
//! use zarr_array::asynchronous::AsyncArray;
//!
//! # let metadata = ArrayBuilder::new([3], DataType::Int16).build()?;
//! # let store = Arc::new(MemoryStore::new());
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let array = AsyncArray::create(store, &Prefix::root(), metadata).await?;
//! array.asynchronous().write_as(0..2, [1_i16, 2]).await?;
//! assert_eq!(array.asynchronous().read_as::<i16>(0..3).await?, [1, 2, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use zarr_codec::Options;
use zarr_metadata::{ArrayMetadata, GroupMetadata, NodeMetadata};

use crate::array::Array;
pub use crate::array::AsyncArray;
use crate::change;
use crate::error::ArrayError;
use crate::hierarchy::{Group, Hierarchy, node, parents};
use crate::store::{AsPrefix, Prefix, Store, UpdatePolicy};
use crate::threads::{self, ArrayFuture};

/// Runs requests to a store on a thread where blocking is allowed. Dropping the future cancels it
/// unless it has begun.
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
pub fn open_node(store: Arc<dyn Store>, prefix: &Prefix) -> ArrayFuture<NodeMetadata> {
    let prefix = prefix.clone();
    run(Arc::clone(&store), move || node::open(&store, &prefix))
}

/// As [`create_parents`](crate::create_parents), without blocking the thread. The future borrows nothing, and can be
/// awaited on any executor. Dropping it cancels the creation unless it has begun.
///
/// # Errors
/// As [`create_parents`](crate::create_parents).
pub fn create_parents(store: Arc<dyn Store>, prefix: &Prefix) -> ArrayFuture<()> {
    let prefix = prefix.clone();
    threads::change(move || parents::create_parents(&store, &prefix))
}

/// As [`delete_node`](crate::delete_node), without blocking the thread. The future borrows nothing, and can be awaited
/// on any executor. Dropping it cancels the deletion unless it has begun; otherwise it is finished.
///
/// # Errors
/// As [`delete_node`](crate::delete_node).
pub fn delete_node(store: Arc<dyn Store>, prefix: &Prefix) -> ArrayFuture<()> {
    let prefix = prefix.clone();
    threads::change(move || change::delete_node(&store, &prefix))
}

/// As [`refresh_consolidated`](crate::refresh_consolidated), without blocking the thread. The future borrows nothing, and can be
/// awaited on any executor. Dropping it cancels the change unless it has begun.
///
/// # Errors
/// As [`refresh_consolidated`](crate::refresh_consolidated).
pub fn refresh_consolidated(
    store: Arc<dyn Store>,
    prefix: &Prefix,
    policy: UpdatePolicy,
) -> ArrayFuture<()> {
    let prefix = prefix.clone();
    threads::change(move || change::refresh_consolidated(&store, &prefix, policy))
}

impl AsyncArray {
    /// As [`open`](Array::open), without blocking the thread. The future borrows nothing, and can be
    /// awaited on any executor.
    ///
    /// # Errors
    /// As [`open`](Array::open).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Group;
    /// use zarr_array::asynchronous::{AsyncArray, AsyncGroup};
    /// # use zarr_array::store::{MemoryStore, Prefix, Store};
    /// # use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
    /// # let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// # let group = Group::create(store.clone(), &Prefix::root(), GroupMetadata::new())?;
    /// # group.create_array("rain", ArrayBuilder::new([90], DataType::Float32).build()?)?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let root = AsyncGroup::open(store.clone(), "").await?;
    /// assert_eq!(root.asynchronous().children().await?, ["rain"]);
    /// let array = AsyncArray::open(store, "rain").await?;
    /// assert_eq!(array.shape(), root.asynchronous().array("rain").await?.shape());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(
        store: impl Into<Hierarchy>,
        prefix: &(impl AsPrefix + ?Sized),
    ) -> ArrayFuture<Array> {
        Self::open_with(store, prefix, Options::new())
    }

    /// As [`open_with`](Array::open_with), without blocking the thread; see
    /// [`open`](Self::open).
    ///
    /// # Errors
    /// As [`open_with`](Array::open_with).
    pub fn open_with(
        store: impl Into<Hierarchy>,
        prefix: &(impl AsPrefix + ?Sized),
        options: Options,
    ) -> ArrayFuture<Array> {
        let prefix = prefix.to_prefix();
        let hierarchy = store.into();
        run(hierarchy.store().clone(), move || Array::open_with(hierarchy, &prefix?, options))
    }
}

/// The operations of a [`Group`] that access the store, without blocking the thread; made by
/// [`Group::asynchronous`].
#[derive(Clone, Debug)]
pub struct AsyncGroup(Group);

impl Group {
    /// The operations that access the store, without blocking the thread, by the same names.
    #[must_use]
    pub fn asynchronous(&self) -> AsyncGroup {
        AsyncGroup(self.clone())
    }
}

impl AsyncGroup {
    /// As [`open`](Group::open), without blocking the thread. The future borrows nothing, and can be
    /// awaited on any executor.
    ///
    /// # Errors
    /// As [`open`](Group::open).
    pub fn open(
        store: impl Into<Hierarchy>,
        prefix: &(impl AsPrefix + ?Sized),
    ) -> ArrayFuture<Group> {
        let prefix = prefix.to_prefix();
        let hierarchy = store.into();
        run(hierarchy.store().clone(), move || Group::open(hierarchy, &prefix?))
    }

    /// As [`open_consolidated`](Group::open_consolidated), without blocking the thread.
    ///
    /// # Errors
    /// As [`open_consolidated`](Group::open_consolidated).
    pub fn open_consolidated(
        store: impl Into<Hierarchy>,
        prefix: &(impl AsPrefix + ?Sized),
    ) -> ArrayFuture<Group> {
        let prefix = prefix.to_prefix();
        let hierarchy = store.into();
        run(hierarchy.store().clone(), move || Group::open_consolidated(hierarchy, &prefix?))
    }

    /// As [`children`](Group::children), without blocking the thread.
    ///
    /// # Errors
    /// As [`children`](Group::children).
    pub fn children(&self) -> ArrayFuture<Vec<String>> {
        let group = self.0.clone();
        run(Arc::clone(self.0.store()), move || group.children())
    }

    /// As [`node`](Group::node), without blocking the thread.
    ///
    /// # Errors
    /// As [`node`](Group::node).
    pub fn node(&self, path: &str) -> ArrayFuture<NodeMetadata> {
        let (group, path) = (self.0.clone(), path.to_owned());
        run(Arc::clone(self.0.store()), move || group.node(&path))
    }

    /// As [`array`](Group::array), without blocking the thread.
    ///
    /// # Errors
    /// As [`array`](Group::array).
    pub fn array(&self, path: &str) -> ArrayFuture<Array> {
        let (group, path) = (self.0.clone(), path.to_owned());
        run(Arc::clone(self.0.store()), move || group.array(&path))
    }

    /// As [`group`](Group::group), without blocking the thread.
    ///
    /// # Errors
    /// As [`group`](Group::group).
    pub fn group(&self, path: &str) -> ArrayFuture<Group> {
        let (group, path) = (self.0.clone(), path.to_owned());
        run(Arc::clone(self.0.store()), move || group.group(&path))
    }

    /// As [`create`](Group::create), without blocking the thread. The future borrows nothing, and
    /// can be awaited on any executor. Dropping it cancels the creation unless it has begun.
    ///
    /// # Errors
    /// As [`create`](Group::create).
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::asynchronous::{self, AsyncGroup};
    /// # use zarr_array::store::{MemoryStore, Prefix, Store};
    /// # use zarr_metadata::{ArrayBuilder, DataType, GroupMetadata};
    /// # let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// # let metadata = ArrayBuilder::new([90], DataType::Float32).build()?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// # runtime.block_on(async {
    /// let root = AsyncGroup::create(store.clone(), &Prefix::root(), GroupMetadata::new()).await?;
    /// let group = root.asynchronous().create_group("weather", GroupMetadata::new()).await?;
    /// group.asynchronous().create_array("rain", metadata).await?;
    /// let root = root.asynchronous().consolidate().await?;
    /// assert!(root.metadata().consolidated_metadata().is_some());
    /// asynchronous::delete_node(store, &Prefix::new("weather/rain")?).await?;
    /// assert!(group.asynchronous().children().await?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create(
        store: Arc<dyn Store>,
        prefix: &(impl AsPrefix + ?Sized),
        metadata: GroupMetadata,
    ) -> ArrayFuture<Group> {
        let prefix = prefix.to_prefix();
        threads::change(move || Group::create(store, &prefix?, metadata))
    }

    /// As [`create_array`](Group::create_array), without blocking the thread; see
    /// [`create`](Self::create).
    ///
    /// # Errors
    /// As [`create_array`](Group::create_array).
    pub fn create_array(&self, path: &str, metadata: ArrayMetadata) -> ArrayFuture<Array> {
        let (group, path) = (self.0.clone(), path.to_owned());
        threads::change(move || group.create_array(&path, metadata))
    }

    /// As [`create_group`](Group::create_group), without blocking the thread; see
    /// [`create`](Self::create).
    ///
    /// # Errors
    /// As [`create_group`](Group::create_group).
    pub fn create_group(&self, path: &str, metadata: GroupMetadata) -> ArrayFuture<Group> {
        let (group, path) = (self.0.clone(), path.to_owned());
        threads::change(move || group.create_group(&path, metadata))
    }

    /// As [`update_attributes`](Group::update_attributes), without blocking the thread. Dropping
    /// the future cancels the change unless it has begun.
    ///
    /// # Errors
    /// As [`update_attributes`](Group::update_attributes).
    pub fn update_attributes(&self, changes: &[(&str, Option<&str>)]) -> ArrayFuture<Group> {
        let (group, changes) = (self.0.clone(), threads::owned(changes));
        threads::change(move || group.update_attributes(&threads::borrowed(&changes)))
    }

    /// As [`consolidate`](Group::consolidate), without blocking the thread. Dropping the future
    /// cancels the change unless it has begun.
    ///
    /// # Errors
    /// As [`consolidate`](Group::consolidate).
    pub fn consolidate(&self) -> ArrayFuture<Group> {
        let group = self.0.clone();
        threads::change(move || group.consolidate())
    }

    /// As [`remove_consolidated`](Group::remove_consolidated), without blocking the thread. Dropping
    /// the future cancels the change unless it has begun.
    ///
    /// # Errors
    /// As [`remove_consolidated`](Group::remove_consolidated).
    pub fn remove_consolidated(&self) -> ArrayFuture<bool> {
        let group = self.0.clone();
        threads::change(move || group.remove_consolidated())
    }
}
