//! A store, and which of its arrays consist of others.

mod around;
pub(crate) mod children;
pub(crate) mod group;
pub(crate) mod members;
pub mod node;
mod owners;
pub(crate) mod parents;
mod snapshot;
mod unlisted;
pub mod version_2;
mod without_key;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::store::{Prefix, Store};

pub use around::{HierarchyAround, hierarchies_around};
pub use group::Group;
pub use members::{MemberSource, Members};
pub use owners::{Owner, Owners, is_of_another_program, other_names};
pub use parents::create_parents;
pub use unlisted::UnlistedStore;
pub use without_key::names as names_without_key;
/// The markers of unfinished work: a copy has no document until it is complete.
pub use zarr_journal as unfinished;

/// The arrays of a hierarchy that consist of member arrays. A store knows only objects, not members.
pub trait JoinedNodes: fmt::Debug + Send + Sync {
    /// The members of the array at `prefix`; `None` for any other node.
    fn members(&self, prefix: &Prefix) -> Option<Arc<Members>>;
}

/// A store, and the [members](Members) of its joined arrays.
///
/// A store converts to it wherever a function takes one, and it can be used like a pointer to the
/// store.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::store::{MemoryStore, Prefix};
/// use zarr_array::{Array, Hierarchy, JoinedNodes, Members};
/// # use zarr_array::{ArrayError, MemberSource};
/// # use zarr_grid::Grid;
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// # #[derive(Debug)]
/// # struct Nowhere;
/// # impl MemberSource for Nowhere {
/// #     fn open(&self, _: &[u64]) -> Result<Option<Array>, ArrayError> { Ok(None) }
/// #     fn name(&self, _: &[u64]) -> String { String::new() }
/// # }
///
/// /// The root is an array that consists of others.
/// #[derive(Debug)]
/// struct Joined(Arc<Members>);
///
/// impl JoinedNodes for Joined {
///     fn members(&self, prefix: &Prefix) -> Option<Arc<Members>> {
///         prefix.is_root().then(|| Arc::clone(&self.0))
///     }
/// }
///
/// # let members = Arc::new(Members::new(Grid::regular(&[4], &[2])?, DataType::Uint8, Arc::new(Nowhere)));
/// let store = Arc::new(MemoryStore::new());
/// # let metadata = ArrayBuilder::new([4], DataType::Uint8).chunk_shape([2]).build()?;
/// # Array::create(store.clone(), &Prefix::root(), metadata)?;
/// assert!(Array::open(store.clone(), &Prefix::root())?.members().is_none());
/// let joined = Hierarchy::joined(store, Arc::new(Joined(members)));
/// assert!(Array::open(joined, &Prefix::root())?.members().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hierarchy {
    store: Arc<dyn Store>,
    joined: Option<Arc<dyn JoinedNodes>>,
}

impl Hierarchy {
    /// A store with arrays that consist of others; `nodes` knows them.
    pub fn joined(store: Arc<dyn Store>, nodes: Arc<dyn JoinedNodes>) -> Self {
        Self { store, joined: Some(nodes) }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The same arrays in another store with the same objects, such as a wrapper of the first
    /// store.
    #[must_use]
    pub fn with_store(&self, store: Arc<dyn Store>) -> Self {
        Self { store, joined: self.joined.clone() }
    }

    /// The members of the array at `prefix`; `None` for any other node.
    #[must_use]
    pub fn members(&self, prefix: &Prefix) -> Option<Arc<Members>> {
        self.joined.as_ref()?.members(prefix)
    }
}

impl Deref for Hierarchy {
    type Target = Arc<dyn Store>;

    fn deref(&self) -> &Arc<dyn Store> {
        &self.store
    }
}

impl From<Arc<dyn Store>> for Hierarchy {
    fn from(store: Arc<dyn Store>) -> Self {
        Self { store, joined: None }
    }
}

impl<S: Store + 'static> From<Arc<S>> for Hierarchy {
    fn from(store: Arc<S>) -> Self {
        let store: Arc<dyn Store> = store;
        store.into()
    }
}

impl From<&Arc<dyn Store>> for Hierarchy {
    fn from(store: &Arc<dyn Store>) -> Self {
        Arc::clone(store).into()
    }
}

impl From<&Self> for Hierarchy {
    fn from(hierarchy: &Self) -> Self {
        hierarchy.clone()
    }
}
