//! The handle of an archive: opening it, and its current content.

use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarr_store::{
    DocumentLimit, Durability, Key, Listing, LocalStore, ObjectMeta, Operation, Prefix,
    ProcessLocks, Store, StoreError, failed_listing, sorted,
};

use super::archive::Archive;
use super::source::Source;

/// The number of times that a read looks again at an archive that others replace meanwhile.
pub(super) const ATTEMPTS: usize = 100;

/// A store in one zip archive: a local file, or an object of another store.
///
/// Objects are read by range, without unpacking the archive. Stored entries are read in place.
/// Deflated entries are decompressed for every read, up to the last requested byte. Whole reads
/// compare the checksum. Other methods of compression and encrypted entries are refused when they
/// are read. Entries with names that are no keys, such as `../a` or `/a`, are not objects. Of
/// several entries with one name, the last is the object.
///
/// # Writing
/// A local archive can be made, and objects can be added to one, in a [session](Store::session).
/// New objects are stored uncompressed in a temporary copy beside the archive. The copy replaces
/// the archive when the session is [committed](zarr_store::Session::commit). Until then others see
/// the old archive, which also remains after the process is killed. The copy costs as much as the
/// archive is large, unless the file system shares the blocks of copies. **A put outside of a
/// session is a separate session**: put many objects in one session.
///
/// There is one session of an archive at a time: the next one waits, in any thread or process.
/// Readers do not wait. They see the last commit, also of others.
///
/// Entries of an archive cannot be removed or replaced: deleting and overwriting are refused,
/// except for objects of the same session. If another program that ignores the lock replaces the
/// archive meanwhile, the commit fails and adds nothing, and reading fails if the content has
/// changed.
///
/// # Examples
/// ```
/// use zarr_store::{Key, Store, StoreExt};
/// use zarr_zip::ZipStore;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("data.zip");
/// let store = ZipStore::create(&path)?;
/// let session = store.session()?.ok_or("a local archive has sessions")?;
/// session.store().put(&Key::new("a/zarr.json")?, b"{}")?;
/// session.store().put(&Key::new("a/c/0")?, b"chunk")?;
/// assert_eq!(store.read(&Key::new("a/c/0")?)?, None);
/// session.commit()?;
///
/// let store = ZipStore::open(&path)?;
/// assert_eq!(store.read(&Key::new("a/c/0")?)?.as_deref(), Some(&b"chunk"[..]));
/// assert!(store.delete(&Key::new("a/c/0")?).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ZipStore {
    pub(super) inner: Arc<Inner>,
    pub(super) durability: Durability,
    /// The most bytes to which a document may be inflated.
    pub(super) documents: DocumentLimit,
}

/// The state that clones of a handle share.
#[derive(Debug)]
pub(super) struct Inner {
    /// The store that holds the archive, and its key there.
    pub(super) store: Arc<dyn Store>,
    pub(super) key: Key,
    /// The archive as a file, if it can be written.
    pub(super) path: Option<PathBuf>,
    /// The archive as it was seen last; `None` if there was none.
    archive: Mutex<Option<Arc<Archive>>>,
    pub(super) locks: ProcessLocks,
}

impl ZipStore {
    /// The store in the zip archive at `path`.
    ///
    /// # Errors
    /// [`StoreError::Io`] if there is no such file, [`StoreError::Container`] if it is not a zip
    /// archive of one file without overlapping entries.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::opened(path.as_ref(), false, |folder| LocalStore::open(folder))
    }

    /// As [`open`](Self::open), or [`create`](Self::create) if the archive may be missing; its folder is
    /// opened by this function.
    pub(super) fn opened(
        path: &Path,
        may_be_missing: bool,
        folder: impl FnOnce(&Path) -> Result<LocalStore, StoreError>,
    ) -> Result<Self, StoreError> {
        let store = Self::local(path, folder)?;
        if !may_be_missing && store.known().is_none() {
            let shown = path.display();
            return Err(StoreError::io(Operation::Open, shown, io::ErrorKind::NotFound.into()));
        }
        Ok(store)
    }

    /// The store in the zip archive at `path`, which the first commit makes if there is none. Its folder must exist.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn create(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::opened(path.as_ref(), true, |folder| LocalStore::open(folder))
    }

    /// The store in an archive that is an object of another store, to be read only.
    ///
    /// # Errors
    /// [`StoreError::Container`] if there is no such object, or as for [`open`](Self::open);
    /// otherwise errors of the other store.
    pub fn within(store: Arc<dyn Store>, key: Key) -> Result<Self, StoreError> {
        let zip = Self::new(store, key, None)?;
        if zip.known().is_none() {
            let reason = "there is no such archive";
            return Err(StoreError::container(Operation::Open, &zip.inner.key, reason));
        }
        Ok(zip)
    }

    /// The same store, with sessions that commit archives with this durability.
    #[must_use]
    pub fn with_durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// The same store, with this limit on the bytes of a deflated document; see
    /// [`StoreOptions::max_document`](zarr_store::StoreOptions::max_document).
    #[must_use]
    pub fn with_document_limit(self, documents: DocumentLimit) -> Self {
        Self { documents, ..self }
    }

    fn local(
        path: &Path,
        folder: impl FnOnce(&Path) -> Result<LocalStore, StoreError>,
    ) -> Result<Self, StoreError> {
        let fail = |cause| StoreError::io(Operation::Open, path.display(), cause);
        // The caller chose this path, so symbolic links in it are followed.
        let path = match dunce::canonicalize(path) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let name = path.file_name().ok_or(error).map_err(fail)?;
                let folder = path.parent().filter(|folder| *folder != Path::new(""));
                dunce::canonicalize(folder.unwrap_or(Path::new("."))).map_err(fail)?.join(name)
            }
            Err(error) => return Err(fail(error)),
        };
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let key = Key::new(name)?;
        let folder = folder(path.parent().unwrap_or(&path))?;
        Self::new(Arc::new(folder), key, Some(path))
    }

    fn new(store: Arc<dyn Store>, key: Key, path: Option<PathBuf>) -> Result<Self, StoreError> {
        let (archive, locks) = (Mutex::new(None), ProcessLocks::new());
        let inner = Arc::new(Inner { store, key, path, archive, locks });
        let zip =
            Self { inner, durability: Durability::default(), documents: DocumentLimit::default() };
        zip.refreshed()?;
        Ok(zip)
    }

    fn archive(&self) -> MutexGuard<'_, Option<Arc<Archive>>> {
        self.inner.archive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The archive as it was seen last.
    pub(super) fn known(&self) -> Option<Arc<Archive>> {
        self.archive().clone()
    }

    /// The current archive, if others may have added to it: a local one.
    pub(super) fn current(&self) -> Result<Option<Arc<Archive>>, StoreError> {
        match self.inner.path {
            Some(_) => self.refreshed(),
            None => Ok(self.known()),
        }
    }

    /// The current archive: read again, if it was replaced by one with more objects.
    pub(super) fn refreshed(&self) -> Result<Option<Arc<Archive>>, StoreError> {
        let Inner { store, key, .. } = &*self.inner;
        let fail = |reason: &str| Err(StoreError::container(Operation::Get, key, reason));
        let mut attempt = 0;
        loop {
            attempt += 1;
            let (known, source) = (self.known(), Source::open(Arc::clone(store), key.clone())?);
            let source = match (&known, source) {
                (None, None) => {
                    zarr_store::reached!("zip: no archive yet");
                    return Ok(None);
                }
                (Some(_), None) => return fail("the archive was removed after it was opened"),
                (Some(known), Some(source)) if known.source.meta == source.meta => {
                    return Ok(Some(Arc::clone(known)));
                }
                (_, Some(source)) => source,
            };
            let meta = source.meta.clone();
            let opened = Archive::open(source);
            let mut state = self.archive();
            match opened {
                Ok(archive) if state.as_ref().is_none_or(|old| archive.extends(old)) => {
                    zarr_store::reached!("zip: the archive is read");
                    let archive = Arc::new(archive);
                    *state = Some(Arc::clone(&archive));
                    return Ok(Some(archive));
                }
                opened => {
                    drop(state);
                    // Another thread may have seen a later one, or it was replaced once more.
                    if attempt < ATTEMPTS && store.head(key)?.as_ref() != Some(&meta) {
                        continue;
                    }
                    opened?;
                    return fail(
                        "another archive took its place after it was opened; open it again",
                    );
                }
            }
        }
    }

    /// The objects below `prefix`, sorted, from one archive.
    pub(super) fn described(&self, prefix: &Prefix) -> Listing<'static, (Key, ObjectMeta)> {
        let archive = match self.current() {
            Ok(Some(archive)) => archive,
            Ok(None) => return Box::new(iter::empty()),
            Err(error) => return failed_listing(error),
        };
        let keys: Vec<String> =
            sorted::below(&archive.entries, prefix).map(str::to_owned).collect();
        Box::new(keys.into_iter().filter_map(move |key| match Key::new(key) {
            Ok(key) => archive.head(&key).map(|meta| Ok((key, meta))),
            Err(error) => Some(Err(error.into())),
        }))
    }
}

pub(super) fn refuse_deletion(key: &Key) -> StoreError {
    StoreError::unsupported(
        Operation::Delete,
        key,
        "way to delete from a zip archive: copy it into a folder, and change it there",
    )
}
