//! A store in a folder of the local file system.

mod direct;
mod durable;
mod leftovers;
mod list;
mod lock;
mod lock_file;
mod names;
mod path;
mod read;
mod share;
mod write;

use std::fs;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "zip")]
pub(crate) use self::durable::flush_entries;
#[cfg(feature = "zip")]
pub(crate) use self::leftovers::clean_beside;
pub use self::leftovers::{Leftover, LeftoverKind};
#[cfg(feature = "zip")]
pub(crate) use self::write::Temporary;
use super::{
    Capabilities, DirEntry, GetInto, Key, Links, Listing, Location, LockGuard, ObjectFile,
    ObjectMeta, Operation, Prefix, PutFrom, PutMode, PutOutcome, ReadRange, Sharing, Store,
    StoreError,
};

/// A store in a folder: one file per key.
///
/// A write creates a temporary file in the same folder and renames it, so that a reader sees the
/// old object or the new one, and a killed process leaves one of them. It may also leave the
/// temporary file, which no listing includes; [`leftovers`](LocalStore::leftovers) lists it and
/// [`clean`](Store::clean) removes it. Folders are created on demand.
///
/// Symbolic links are followed within the root. A link that leads outside is refused, unless
/// [`with_outside_links`](LocalStore::with_outside_links) allows it. The path of the root itself
/// may have links. On Linux, an object whose path has no links is opened for reading in one step,
/// which concurrent changes of links cannot mislead. All other paths are checked before they are
/// used: this protects from links in a store that somebody else made, but not from another process
/// that changes links while the store is used.
///
/// # Examples
/// ```
/// use zarr_store::{Key, LocalStore, StoreExt};
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
    /// Shared by all clones: what one has flushed the others know.
    folders: Arc<durable::Folders>,
    outside_links: bool,
}

/// What a finished write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// The end of the process, by any signal. After a power failure, an object written in the last
    /// seconds may be lost or empty, depending on the file system.
    #[default]
    ProcessEnd,
    /// A power failure too: before the write returns, the file is flushed to the device, and so are
    /// its name and the names of all folders above it, including those above the store and those
    /// that others created. A finished removal survives as well.
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

    /// The store in the folder `root`, which is created if it does not exist.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it cannot be created.
    pub fn create(root: impl AsRef<Path>) -> Result<Self, StoreError> {
        let given = root.as_ref();
        fs::create_dir_all(given)
            .map_err(|cause| StoreError::io(Operation::Open, given.display(), cause))?;
        Self::open(given)
    }

    /// The same store, whose writes survive what `durability` says.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The same store, following symbolic links out of the root if `allowed`.
    ///
    /// For a store that its owner has spread over several disks by links.
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

    /// Every file below `prefix` that is not an object: temporary and lock files, which killed
    /// writers left or living ones use now, and files whose names no key can have.
    ///
    /// # Errors
    /// As for [`Store::list`].
    pub fn leftovers(&self, prefix: &Prefix) -> Listing<'_, Leftover> {
        leftovers::leftovers(self, prefix)
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

    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        read::get_into(self, key, out)
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        mode.require_overwrite(key)?;
        write::put(self, key, pieces)?;
        Ok(PutOutcome::Written)
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        read::head(self, key)
    }

    // Elsewhere than on Unix the standard library writes the pieces one by one.
    fn capabilities(&self) -> Capabilities {
        Capabilities::new().vectored_put(cfg!(unix))
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        write::delete(self, key)
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        write::delete_prefix(self, prefix)
    }

    fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key> {
        list::list(self, prefix, links)
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        list::list_dir(self, prefix)
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        lock::lock(self, key)
    }

    fn finish(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn clean(&self, prefix: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        leftovers::clean(self, prefix, removed)
    }

    fn put_from(
        &self,
        key: &Key,
        from: &dyn Store,
        from_key: &Key,
        expected: &ObjectMeta,
        sharing: Sharing,
    ) -> Result<PutFrom, StoreError> {
        share::put_from(self, key, from, from_key, expected, sharing)
    }

    fn file(&self, key: &Key) -> Result<Option<ObjectFile>, StoreError> {
        let opened = read::open(self, Operation::Get, key)?;
        Ok(opened.map(|(file, meta)| ObjectFile { file, meta }))
    }

    fn file_path(&self, key: &Key) -> Result<Option<PathBuf>, StoreError> {
        self.unchecked_path(key.as_str()).map(Some)
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        path::location(&self.root, prefix)
    }
}
