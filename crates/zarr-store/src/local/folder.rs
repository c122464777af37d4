//! The folder of a local store, and how it is opened.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use super::durable::Folders;
use super::names;
use super::other_format::not_a_folder;
use crate::waiting::{OnWait, Waiting};
use crate::{Operation, Prefix, Store, StoreError};

/// A store in a folder: one file per key.
///
/// A write creates a temporary file in the same folder and renames it. So a reader sees the old
/// object or the new one, also after the process was killed. A killed process may also leave the
/// temporary file behind. No listing includes it; [`leftovers`](LocalStore::leftovers) lists it and
/// [`clean`](crate::Store::clean) removes it. Folders are created on demand.
///
/// Symbolic links are followed within the root. A link that leads outside is refused, unless
/// [`with_outside_links`](LocalStore::with_outside_links) allows it. The path of the root itself
/// may have links. On Linux, an object with a path without links is opened for reading in one step,
/// which concurrent changes of links cannot mislead. All other paths are checked before they are
/// used. This protects from links in a store of another author, but not from another process that
/// changes links while the store is used.
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
    pub(super) root: PathBuf,
    /// The path that it was opened by, if links are on it.
    pub(super) named: Option<PathBuf>,
    pub(super) durability: Durability,
    /// The flushed folders, shared by all clones.
    pub(super) folders: Arc<Folders>,
    pub(super) outside_links: bool,
    /// Who is told that another process holds a lock.
    pub(super) on_wait: Option<OnWait>,
}

/// The failures that a finished write survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// The end of the process, by any signal. After a power failure, an object written in the last
    /// seconds may be lost or empty, depending on the file system.
    #[default]
    ProcessEnd,
    /// A power failure too. Before the write returns, the file is flushed to the device, with its
    /// name and the names of all folders above it. These include folders above the store and
    /// folders of other creators. A finished removal survives as well. So does an object of any
    /// writer with this durability that `list` or `head` has found.
    PowerFailure,
}

impl LocalStore {
    /// The store in the folder `root`, which must exist.
    ///
    /// # Errors
    /// [`StoreError::Io`] if there is no such folder or it cannot be accessed. For a NetCDF, HDF5,
    /// GRIB or TIFF file the message says how to make it readable.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, StoreError> {
        let given = root.as_ref();
        let fail = |cause| StoreError::io(Operation::Open, given.display(), cause);
        let root = dunce::canonicalize(given).map_err(|cause| match cause.kind() {
            io::ErrorKind::NotADirectory => fail(not_a_folder(given)),
            _ => fail(cause),
        })?;
        if !fs::metadata(&root).map_err(fail)?.is_dir() {
            return Err(fail(not_a_folder(given)));
        }
        let folders = Arc::default();
        let durability = Durability::default();
        let named = std::path::absolute(given).ok().filter(|path| {
            // The folder above `..` is not the one before it in the text.
            *path != root && !path.components().any(|part| part == Component::ParentDir)
        });
        Ok(Self { root, named, durability, folders, outside_links: false, on_wait: None })
    }

    /// The store in the folder `root`, which is created if it does not exist.
    ///
    /// # Errors
    /// [`StoreError::Io`] if it cannot be created.
    pub fn create(root: impl AsRef<Path>) -> Result<Self, StoreError> {
        let given = root.as_ref();
        if let Some(segment) = names::not_a_file_name(given) {
            return Err(StoreError::Reserved { key: given.display().to_string(), segment });
        }
        fs::create_dir_all(given)
            .map_err(|cause| StoreError::io(Operation::Open, given.display(), cause))?;
        Self::open(given)
    }

    /// The same store, with writes of this durability.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The same store, following symbolic links out of the root if `allowed`.
    ///
    /// Use it for a store that its owner has spread over several disks by links.
    #[must_use]
    pub fn with_outside_links(mut self, allowed: bool) -> Self {
        self.outside_links = allowed;
        self
    }

    /// The same store, which calls `told` when another process has held a lock for 5 s that this one
    /// waits for, then for 10 s, 20 s and so on.
    #[must_use]
    pub fn with_on_wait(self, told: impl Fn(&Waiting) + Send + Sync + 'static) -> Self {
        self.telling(Some(OnWait::new(told)))
    }

    /// Whether groups on the way to this folder, which has links, may follow changes: a link that
    /// leads out of the hierarchy around it is followed only on request.
    pub(super) fn may_follow(&self, named: &Path) -> bool {
        let has_root = |folder: &&Path| {
            folder.join("zarr.json").is_file()
                && dunce::canonicalize(folder).is_ok_and(|folder| self.root.starts_with(folder))
        };
        self.outside_links || named.ancestors().skip(1).any(|folder| has_root(&folder))
    }

    /// The file system with this folder, and where in it the folder is.
    pub(super) fn outer(&self, folder: &Path) -> Option<(Arc<dyn Store>, Prefix)> {
        let (mut root, mut names) = (folder, Vec::new());
        while let (Some(above), Some(name)) =
            (root.parent(), root.file_name().and_then(OsStr::to_str))
        {
            names.push(name);
            root = above;
        }
        names.reverse();
        let prefix = Prefix::new(names.join("/")).ok()?;
        let (root, folders) = (root.to_owned(), Arc::default());
        Some((Arc::new(Self { root, named: None, folders, ..self.clone() }), prefix))
    }

    pub(crate) fn telling(mut self, on_wait: Option<OnWait>) -> Self {
        self.on_wait = on_wait;
        self
    }

    /// The folder, as an absolute path without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }
}
