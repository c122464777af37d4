//! A store in a zip archive.

mod archive;
mod read;
mod session;
mod source;
mod turn;
mod write;

use std::fs;
use std::io::{self, IoSlice};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::archive::Archive;
use self::session::ZipSession;
use self::source::Source;
use self::turn::Turn;
use super::document;
use super::listing::failed;
use super::sorted;
use super::{
    Capabilities, DirEntry, Durability, Key, Links, Listing, LocalStore, Location, LockGuard,
    ObjectMeta, Operation, Prefix, ProcessLocks, PutMode, PutOutcome, ReadRange, Session, Store,
    StoreError,
};

/// How often a read looks again at an archive that others replace meanwhile.
const ATTEMPTS: usize = 100;

/// A store in one zip archive: a local file, or an object of another store.
///
/// Objects are read by range, without unpacking the archive. Stored entries are read where they
/// are; deflated ones are decompressed for every read, up to the last byte that is asked for. Whole
/// reads compare the checksum. Other methods of compression and encrypted entries are refused when
/// they are read. Entries whose names are no keys, such as `../a` or `/a`, are not objects; of
/// several entries with one name, the last is the object.
///
/// # Writing
/// A local archive can be made, and objects can be added to one, in a [session](Store::session). New
/// objects are stored, not compressed, in a temporary copy beside the archive, which takes its place
/// when the session is [committed](Session::commit). Until then others see the old archive, and a
/// process that is killed leaves it. The copy costs as much as the archive is large, unless the file
/// system shares the blocks of copies. **A put outside of a session is a session of its own**: put
/// many objects in one.
///
/// There is one session of an archive at a time: the next one waits, whatever thread or process
/// began it. Readers do not wait. They see what was committed last, also by others.
///
/// An archive cannot give up or replace what is in it: deleting and overwriting are refused, except
/// for objects of the same session. If a program that does not wait replaces the archive meanwhile,
/// the commit fails and adds nothing, and reading fails if something else is in it than before.
///
/// # Examples
/// ```
/// use zarr_store::{Key, Store, StoreExt, ZipStore};
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
    inner: Arc<Inner>,
    durability: Durability,
    /// The most bytes to which a document may be inflated.
    max_document: u64,
}

#[derive(Debug)]
struct Inner {
    /// The store that holds the archive, and its key there.
    store: Arc<dyn Store>,
    key: Key,
    /// The archive as a file, if it can be written.
    path: Option<PathBuf>,
    /// The archive as it was seen last; `None` if there was none.
    archive: Mutex<Option<Arc<Archive>>>,
    locks: ProcessLocks,
}

impl ZipStore {
    /// The store in the zip archive at `path`.
    ///
    /// # Errors
    /// [`StoreError::Io`] if there is no such file, [`StoreError::Container`] if it is not a zip
    /// archive of one file without overlapping entries.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let store = Self::local(path.as_ref())?;
        if store.known().is_none() {
            let shown = path.as_ref().display();
            return Err(StoreError::io(Operation::Open, shown, io::ErrorKind::NotFound.into()));
        }
        Ok(store)
    }

    /// The store in the zip archive at `path`, which the first commit makes if there is none. Its folder must exist.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn create(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::local(path.as_ref())
    }

    /// The store in an archive that is an object of another store, to be read only.
    ///
    /// # Errors
    /// [`StoreError::Container`] if there is no such object, or as for [`open`](Self::open);
    /// otherwise errors of the other store.
    pub fn within(store: Arc<dyn Store>, key: Key) -> Result<Self, StoreError> {
        let zip = Self::new(store, key, None)?;
        if zip.known().is_none() {
            let (operation, key) = (Operation::Open, zip.inner.key.to_string());
            let reason = "there is no such archive".to_owned();
            return Err(StoreError::Container { operation, key, reason });
        }
        Ok(zip)
    }

    /// The same store, whose sessions commit archives with this durability.
    #[must_use]
    pub fn with_durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// The same store, with this limit on the bytes of a deflated document; see
    /// [`StoreOptions::max_document`](crate::StoreOptions::max_document).
    #[must_use]
    pub fn with_max_document(self, bytes: u64) -> Self {
        Self { max_document: bytes, ..self }
    }

    fn local(path: &Path) -> Result<Self, StoreError> {
        let fail = |cause| StoreError::io(Operation::Open, path.display(), cause);
        // The caller chose this path, so symbolic links in it are followed.
        let path = match fs::canonicalize(path) {
            Ok(path) => path,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let name = path.file_name().ok_or(error).map_err(fail)?;
                let folder = path.parent().filter(|folder| *folder != Path::new(""));
                fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(fail)?.join(name)
            }
            Err(error) => return Err(fail(error)),
        };
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let key = Key::new(name)?;
        let folder = LocalStore::open(path.parent().unwrap_or(&path))?;
        Self::new(Arc::new(folder), key, Some(path))
    }

    fn new(store: Arc<dyn Store>, key: Key, path: Option<PathBuf>) -> Result<Self, StoreError> {
        let (archive, locks) = (Mutex::new(None), ProcessLocks::new());
        let inner = Arc::new(Inner { store, key, path, archive, locks });
        let zip = Self { inner, durability: Durability::default(), max_document: document::MOST };
        zip.refreshed()?;
        Ok(zip)
    }

    fn archive(&self) -> MutexGuard<'_, Option<Arc<Archive>>> {
        self.inner.archive.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The archive as it was seen last.
    fn known(&self) -> Option<Arc<Archive>> {
        self.archive().clone()
    }

    /// The archive as it is now, where others may have added to it: a local one.
    fn current(&self) -> Result<Option<Arc<Archive>>, StoreError> {
        match self.inner.path {
            Some(_) => self.refreshed(),
            None => Ok(self.known()),
        }
    }

    /// The archive as it is now: again read, if it was replaced by one with more objects.
    fn refreshed(&self) -> Result<Option<Arc<Archive>>, StoreError> {
        let Inner { store, key, .. } = &*self.inner;
        let fail = |reason: &str| {
            let (operation, key) = (Operation::Get, key.to_string());
            Err(StoreError::Container { operation, key, reason: reason.to_owned() })
        };
        let mut attempt = 0;
        loop {
            attempt += 1;
            let (known, source) = (self.known(), Source::open(Arc::clone(store), key.clone())?);
            let source = match (&known, source) {
                (None, None) => return Ok(None),
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
}

fn refuse(operation: Operation, key: &Key, missing: &'static str) -> StoreError {
    StoreError::Unsupported { operation, key: key.to_string(), missing }
}

fn refuse_deletion(key: &Key) -> StoreError {
    refuse(Operation::Delete, key, "way to delete from a zip archive: write to a new one")
}

impl Store for ZipStore {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let mut archive = self.known();
        let mut attempt = 0;
        loop {
            attempt += 1;
            let has = |archive: &Arc<Archive>| archive.entries.contains_key(key.as_str());
            if !archive.as_ref().is_some_and(has) {
                archive = self.current()?;
            }
            let entry = archive.as_ref().and_then(|archive| archive.entries.get(key.as_str()));
            let (Some(old), Some(entry)) = (&archive, entry) else {
                out.clear();
                return Ok(None);
            };
            let error = match old.get(key, entry, range, self.max_document, out) {
                Ok(()) => return Ok(Some(old.meta(entry))),
                Err(error) => error,
            };
            match self.refreshed()? {
                Some(new) if attempt < ATTEMPTS && !Arc::ptr_eq(&new, old) => archive = Some(new),
                _ => return Err(error),
            }
        }
    }

    /// A session with one put.
    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        let Some(session) = self.session()? else {
            let missing = "way to write to a zip archive in another store: write a local one, and \
                           put it there";
            return Err(refuse(Operation::Put, key, missing));
        };
        let outcome = session.store().put_opts(key, pieces, mode)?;
        session.commit()?;
        Ok(outcome)
    }

    fn session(&self) -> Result<Option<Session>, StoreError> {
        let begin = |path: &PathBuf| ZipSession::begin(self, path.clone());
        self.inner.path.as_ref().map(begin).transpose()
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        let known = self.known().and_then(|archive| archive.head(key));
        Ok(match known {
            Some(meta) => Some(meta),
            None => self.current()?.and_then(|archive| archive.head(key)),
        })
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        match self.head(key)? {
            Some(_) => Err(refuse_deletion(key)),
            None => Ok(()),
        }
    }

    fn list(&self, prefix: &Prefix, _: Links) -> Listing<'_, Key> {
        let archive = match self.current() {
            Ok(Some(archive)) => archive,
            Ok(None) => return Box::new(iter::empty()),
            Err(error) => return failed(error),
        };
        let keys: Vec<String> =
            sorted::below(&archive.entries, prefix).map(str::to_owned).collect();
        Box::new(keys.into_iter().map(|key| Ok(Key::new(key)?)))
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        let children = |archive: Arc<Archive>| sorted::children(&archive.entries, prefix);
        match self.current().and_then(|archive| archive.map(children).transpose()) {
            Ok(children) => Box::new(children.into_iter().flatten().map(Ok)),
            Err(error) => failed(error),
        }
    }

    /// Excludes the threads that use this store. Sessions exclude all others.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.inner.locks.lock(key)
    }

    /// Conditional puts work, since there is one session at a time.
    fn capabilities(&self) -> Capabilities {
        let requests = self.inner.store.capabilities().requests_in_flight;
        let is_written = self.inner.path.is_some();
        Capabilities::new()
            .conditional_put(is_written)
            .vectored_put(is_written)
            .requests_in_flight(requests)
    }

    /// Removes what dead writers of this archive left beside it, while there is no session.
    fn clean(&self, _: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        let Some(path) = &self.inner.path else { return Ok(()) };
        let _turn = Turn::wait(&self.inner.store, &self.inner.key, path)?;
        super::local::clean_beside(path, None, removed)
    }

    /// Names such as `../a` are below the root and no other prefix.
    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        if let Some(archive) = self.current()? {
            sorted::names_below(&archive.without_key, prefix).for_each(found);
        }
        Ok(())
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        let archive = self.inner.store.location(&Prefix::from(self.inner.key.clone()))?;
        Some(archive.below(prefix))
    }
}
