//! A store in a folder of the local file system.

mod direct;
mod durable;
mod leftovers;
mod list;
mod lock;
mod names;
mod path;
mod read;
mod write;

use std::fs;
use std::io::{self, IoSlice};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::leftovers::{Leftover, LeftoverKind};
use super::{
    DirEntry, Key, Links, Location, LockGuard, ObjectMeta, Operation, Prefix, ReadRange, Store,
    StoreError,
};

/// A store in a folder: one file for each key.
///
/// A write goes to a temporary file in the same folder, which is then renamed, so that a reader
/// sees the old chunk or the new, and a killed process leaves one of them. What it may also leave
/// is a temporary file, which no listing shows and [`leftovers`](LocalStore::leftovers) names;
/// [`clean`](Store::clean) removes it. Folders are made on demand.
///
/// Symbolic links are followed within the root. One that leads outside is refused, unless allowed
/// with [`with_outside_links`](LocalStore::with_outside_links). The root itself may be reached by links.
/// On Linux an object whose path has no links is opened for reading in one step, which nothing that
/// changes links meanwhile can lead elsewhere. All else, and every path with a link in it, is looked
/// at first and used then: that keeps what somebody else packed into a store from leading elsewhere,
/// and is no defence against another process that changes links while the store is used.
///
/// # Examples
/// ```
/// use zarr_store::{Key, LocalStore, Store};
///
/// let folder = tempfile::tempdir()?;
/// let store = LocalStore::create(folder.path().join("data.zarr"))?;
/// store.put(&Key::new("c/0/0")?, b"chunk")?;
/// assert_eq!(std::fs::read(folder.path().join("data.zarr/c/0/0"))?, b"chunk");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct LocalStore {
    /// Absolute and free of links.
    root: PathBuf,
    durability: Durability,
    /// Shared by all handles that come of one: what the one knows the others do.
    folders: Arc<durable::Folders>,
    outside_links: bool,
}

/// What a finished write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// The end of the process, by whatever signal. After a power failure a chunk written in the
    /// last seconds may be lost or empty, as the file system sees fit.
    #[default]
    ProcessEnd,
    /// A power failure too: the file is flushed to the device before the write returns, and so are
    /// its name and those of all folders on the way to it, whoever made them, the folders above the
    /// store among them. A finished removal survives as well.
    PowerFailure,
}

impl LocalStore {
    /// The store in the folder `root`, which must exist.
    ///
    /// # Errors
    /// [`StoreError::Io`] if there is no such folder or it cannot be looked at.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, StoreError> {
        let given = root.as_ref();
        let fail = |cause| StoreError::io(Operation::Open, given.display(), cause);
        let root = fs::canonicalize(given).map_err(fail)?;
        if !fs::metadata(&root).map_err(fail)?.is_dir() {
            return Err(fail(io::ErrorKind::NotADirectory.into()));
        }
        let folders = Arc::default();
        Ok(Self { root, durability: Durability::default(), folders, outside_links: false })
    }

    /// The store in the folder `root`, which is made if there is none.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it cannot be made.
    pub fn create(root: impl AsRef<Path>) -> Result<Self, StoreError> {
        let given = root.as_ref();
        fs::create_dir_all(given)
            .map_err(|cause| StoreError::io(Operation::Open, given.display(), cause))?;
        Self::open(given)
    }

    /// The same store with writes that survive what `durability` says.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The same store, following symbolic links out of the root if `allowed`.
    ///
    /// For stores of one's own that are spread over several disks by links.
    #[must_use]
    pub fn with_outside_links(mut self, allowed: bool) -> Self {
        self.outside_links = allowed;
        self
    }

    /// The folder, as an absolute path without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Calls `visit` with every file below `prefix` that is no object: temporary and lock files
    /// that killed writers left or that living ones use now, and names that no key can have.
    ///
    /// # Errors
    /// As for [`Store::list`].
    pub fn leftovers(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(Leftover) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        leftovers::leftovers(self, prefix, visit)
    }
}

impl Store for LocalStore {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        read::get(self, key, range, out)
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        read::head(self, key)
    }

    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        write::put(self, key, &[IoSlice::new(bytes)])
    }

    fn put_vectored(&self, key: &Key, pieces: &[IoSlice<'_>]) -> Result<(), StoreError> {
        write::put(self, key, pieces)
    }

    // Elsewhere the standard library takes the pieces one by one.
    fn is_vectored(&self) -> bool {
        cfg!(unix)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        write::delete(self, key)
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        write::delete_prefix(self, prefix)
    }

    fn list(
        &self,
        prefix: &Prefix,
        links: Links,
        visit: &mut dyn FnMut(Key) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        list::list(self, prefix, links, visit)
    }

    fn list_dir(
        &self,
        prefix: &Prefix,
        visit: &mut dyn FnMut(DirEntry) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        list::list_dir(self, prefix, visit)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        lock::lock(self, key)
    }

    fn clean(&self, prefix: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        leftovers::clean(self, prefix, removed)
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        path::location(&self.root, prefix)
    }
}
