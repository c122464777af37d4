//! A store in a zip archive.

mod archive;
mod read;
mod source;
mod write;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use self::archive::Archive;
use self::source::Source;
use self::write::{Session, container, replaced};
use super::document;
use super::listing::failed;
use super::sorted;
use super::{
    Capabilities, DirEntry, Durability, Key, Links, Listing, LocalStore, Location, LockGuard,
    ObjectMeta, Operation, Prefix, ProcessLocks, PutMode, PutOutcome, ReadRange, Store, StoreError,
};

/// A store in one zip archive: a local file, or an object of another store.
///
/// Objects are read by range, without unpacking the archive. Stored entries are read where they
/// are; deflated ones are decompressed for every read, up to the last byte that is asked for. Whole
/// reads compare the checksum. Other methods of compression and encrypted entries are refused when
/// they are read. Entries whose names are no keys, such as `../a` or `/a`, are not objects; of
/// several entries with one name, the last is the object.
///
/// # Writing
/// A local archive can be made, and objects can be added to one. New objects are stored, not
/// compressed, in a temporary copy beside the archive, which takes its place when
/// [`finish`](Store::finish) is called. Until then others see the old archive, and a process that
/// is killed leaves it. **A store that is dropped before `finish` adds nothing.** The copy costs as
/// much as the archive is large, unless the file system shares the blocks of copies: write many
/// objects before each `finish`.
///
/// An archive cannot give up or replace what is in it: deleting and overwriting are refused, except
/// for objects that have been put since the last `finish`. If another writer replaces the archive
/// meanwhile, `finish` fails and adds nothing.
///
/// # Examples
/// ```
/// use zarr_store::{Key, Store, StoreExt, ZipStore};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("data.zip");
/// let store = ZipStore::create(&path)?;
/// store.put(&Key::new("a/c/0")?, b"chunk")?;
/// store.finish()?;
///
/// let store = ZipStore::open(&path)?;
/// assert_eq!(store.read(&Key::new("a/c/0")?)?.as_deref(), Some(&b"chunk"[..]));
/// assert!(store.delete(&Key::new("a/c/0")?).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ZipStore(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// The store that holds the archive, and its key there.
    store: Arc<dyn Store>,
    key: Key,
    /// The archive as a file, if it can be written.
    path: Option<PathBuf>,
    durability: Durability,
    /// The most bytes to which a document may be inflated.
    max_document: u64,
    /// `None` if there is no archive yet.
    archive: RwLock<Option<Arc<Archive>>>,
    /// Whether there is a session: readers need not wait for writers if there is none.
    writes: AtomicBool,
    session: Mutex<Option<Session>>,
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
        if store.archive().is_none() {
            let shown = path.as_ref().display();
            return Err(StoreError::io(Operation::Open, shown, io::ErrorKind::NotFound.into()));
        }
        Ok(store)
    }

    /// The store in the zip archive at `path`, which the first [`finish`](Store::finish) makes if
    /// there is none. Its folder must exist.
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
        if zip.archive().is_none() {
            let (operation, key) = (Operation::Open, zip.0.key.to_string());
            let reason = "there is no such archive".to_owned();
            return Err(StoreError::Container { operation, key, reason });
        }
        Ok(zip)
    }

    /// The same store, with this durability of finished archives.
    #[must_use]
    pub fn with_durability(self, durability: Durability) -> Self {
        match Arc::try_unwrap(self.0) {
            Ok(inner) => Self(Arc::new(Inner { durability, ..inner })),
            // Others use it as it is.
            Err(shared) => Self(shared),
        }
    }

    /// The same store, with this limit on the bytes of a deflated document; see
    /// [`StoreOptions::max_document`](crate::StoreOptions::max_document).
    #[must_use]
    pub fn with_max_document(self, bytes: u64) -> Self {
        match Arc::try_unwrap(self.0) {
            Ok(inner) => Self(Arc::new(Inner { max_document: bytes, ..inner })),
            // Others use it as it is.
            Err(shared) => Self(shared),
        }
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
        let source = Source::open(Arc::clone(&store), key.clone())?;
        let archive = source.map(Archive::open).transpose()?.map(Arc::new);
        Ok(Self(Arc::new(Inner {
            store,
            key,
            path,
            durability: Durability::default(),
            max_document: document::MOST,
            archive: RwLock::new(archive),
            writes: AtomicBool::new(false),
            session: Mutex::new(None),
            locks: ProcessLocks::new(),
        })))
    }

    fn archive(&self) -> Option<Arc<Archive>> {
        self.0.archive.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn session(&self) -> MutexGuard<'_, Option<Session>> {
        self.0.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `with` with the session, if there is one.
    fn in_session<T>(&self, with: impl FnOnce(&Session) -> Option<T>) -> Option<T> {
        if !self.0.writes.load(Ordering::Acquire) {
            return None;
        }
        self.session().as_ref().and_then(with)
    }

    fn refuse(operation: Operation, key: &Key, missing: &'static str) -> StoreError {
        StoreError::Unsupported { operation, key: key.to_string(), missing }
    }

    fn put(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        let Some(path) = &self.0.path else {
            let missing = "way to write to a zip archive in another store: write a local one, and \
                           put it there";
            return Err(Self::refuse(Operation::Put, key, missing));
        };
        let archive = self.archive();
        let mut session = self.session();
        if archive.as_ref().is_some_and(|archive| archive.entries.contains_key(key.as_str())) {
            if mode == PutMode::Create {
                return Ok(PutOutcome::Changed);
            }
            let missing = "way to replace what is in a zip archive: write to a new one";
            return Err(Self::refuse(Operation::Put, key, missing));
        }
        let found = session.as_ref().and_then(|session| session.entries.get(key.as_str()));
        let is_met = match mode {
            PutMode::Overwrite => true,
            PutMode::Create => found.is_none(),
            PutMode::Update(version) => {
                found.is_some_and(|found| found.meta().version.as_ref() == Some(version))
            }
        };
        if !is_met {
            return Ok(PutOutcome::Changed);
        }
        let open = match &mut *session {
            Some(session) => session,
            none => none.insert(Session::begin(path, archive.as_deref())?),
        };
        self.0.writes.store(true, Ordering::Release);
        open.put(path, key, pieces)?;
        Ok(PutOutcome::Written)
    }
}

impl Store for ZipStore {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let new = self.in_session(|session| {
            let written = session.entries.get(key.as_str())?;
            Some(session.get(key, written, range, out).map(|()| written.meta()))
        });
        if let Some(read) = new {
            return read.map(Some);
        }
        if let Some(archive) = self.archive()
            && let Some(entry) = archive.entries.get(key.as_str())
        {
            archive.get(key, entry, range, self.0.max_document, out)?;
            return Ok(Some(archive.meta(entry)));
        }
        out.clear();
        Ok(None)
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        self.put(key, pieces, mode)
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        let new =
            self.in_session(|session| session.entries.get(key.as_str()).map(|found| found.meta()));
        let old = || {
            let archive = self.archive()?;
            archive.entries.get(key.as_str()).map(|entry| archive.meta(entry))
        };
        Ok(new.or_else(old))
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        if self.archive().is_some_and(|archive| archive.entries.contains_key(key.as_str())) {
            let missing = "way to delete from a zip archive: write to a new one";
            return Err(Self::refuse(Operation::Delete, key, missing));
        }
        match &mut *self.session() {
            Some(session) => session.remove(key),
            None => Ok(()),
        }
    }

    fn list(&self, prefix: &Prefix, _: Links) -> Listing<'_, Key> {
        let mut keys = BTreeSet::new();
        if let Some(archive) = self.archive() {
            keys.extend(sorted::below(&archive.entries, prefix).map(str::to_owned));
        }
        self.in_session(|session| {
            keys.extend(sorted::below(&session.entries, prefix).map(str::to_owned));
            Some(())
        });
        Box::new(keys.into_iter().map(|key| Ok(Key::new(key)?)))
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        let mut entries = BTreeSet::new();
        let mut add =
            |found: Result<Vec<DirEntry>, StoreError>| found.map(|found| entries.extend(found));
        let old = self.archive().map(|archive| sorted::children(&archive.entries, prefix));
        let new = self.in_session(|session| Some(sorted::children(&session.entries, prefix)));
        match old.into_iter().chain(new).try_for_each(&mut add) {
            Ok(()) => Box::new(entries.into_iter().map(Ok)),
            Err(error) => failed(error),
        }
    }

    /// Excludes the threads that use this store. Other writers are noticed by
    /// [`finish`](Store::finish).
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.0.locks.lock(key)
    }

    /// Conditional puts work, since `finish` replaces the archive only if nobody else has.
    fn capabilities(&self) -> Capabilities {
        let requests = self.0.store.capabilities().requests_in_flight;
        let is_written = self.0.path.is_some();
        Capabilities::new()
            .conditional_put(is_written)
            .vectored_put(is_written)
            .requests_in_flight(requests)
    }

    /// Removes what dead writers of this archive left beside it.
    fn clean(&self, _: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        match &self.0.path {
            Some(path) => super::local::clean_beside(path, removed),
            None => Ok(()),
        }
    }

    /// Names such as `../a` are below the root and no other prefix.
    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        if let Some(archive) = self.archive() {
            sorted::names_below(&archive.without_key, prefix).for_each(found);
        }
        Ok(())
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        let archive = self.0.store.location(&Prefix::from(self.0.key.clone()))?;
        Some(archive.below(prefix))
    }

    fn finish(&self) -> Result<(), StoreError> {
        let Some(path) = &self.0.path else { return Ok(()) };
        let mut session = self.session();
        let Some(open) = session.take() else { return Ok(()) };
        self.0.writes.store(false, Ordering::Release);
        let base = self.archive();
        // For as long as the archive is compared and replaced.
        let _guard = self.0.store.lock(&self.0.key)?;
        let now = self.0.store.head(&self.0.key)?;
        if now.as_ref() != base.as_ref().map(|base| &base.source.meta) {
            return Err(replaced(path));
        }
        open.finish(path, self.0.durability)?;
        let source = Source::open(Arc::clone(&self.0.store), self.0.key.clone())?;
        let source = source.ok_or_else(|| container(path, "it vanished when it was finished"))?;
        let archive = Archive::open(source)?;
        *self.0.archive.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(archive));
        Ok(())
    }
}
