//! A session of an archive: the archive when it began, and the added objects.

use std::collections::BTreeSet;
use std::io::IoSlice;
use std::mem;
use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zarr_store::{
    Capabilities, DirEntry, Key, Links, Listing, Location, LockGuard, ObjectMeta, Operation,
    Prefix, ProcessLocks, PutMode, PutOutcome, ReadRange, Session, Store, StoreError,
    TemporaryFile, failed_listing, sorted,
};

use super::archive::Archive;
use super::handle::{ZipStore, refuse_deletion};
use super::turn::Turn;
use super::write::{Draft, Written, container, replaced};

/// The store of a session.
#[derive(Debug)]
pub(super) struct ZipSession {
    zip: ZipStore,
    path: PathBuf,
    /// The archive that the session began with, which it adds to.
    base: Option<Arc<Archive>>,
    locks: ProcessLocks,
    /// The process that began it: a forked one has a copy of it, but neither the file nor the lock.
    process: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// Dropped in this order: the temporary archive is gone before another session begins.
    Open {
        draft: Option<Box<Draft>>,
        _turn: Turn,
    },
    Ended,
}

/// Ends a session that is dropped.
struct Ending(Arc<ZipSession>);

impl Drop for Ending {
    fn drop(&mut self) {
        if self.0.process == process::id() {
            drop(self.0.end());
        }
    }
}

impl Drop for ZipSession {
    fn drop(&mut self) {
        if self.process != process::id() {
            // The file and the lock belong to another process.
            let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            mem::forget(mem::replace(state, State::Ended));
        }
    }
}

impl ZipSession {
    /// Waits until no other session of the archive is open, and begins one.
    pub(super) fn begin(zip: &ZipStore, path: PathBuf) -> Result<Session, StoreError> {
        let turn = Turn::wait(&zip.inner.store, &zip.inner.key, &path)?;
        let session = Arc::new(Self {
            base: zip.refreshed()?,
            zip: zip.clone(),
            path,
            locks: ProcessLocks::new(),
            process: process::id(),
            state: Mutex::new(State::Open { draft: None, _turn: turn }),
        });
        let ending = Ending(Arc::clone(&session));
        Ok(Session::new(session, move || ending.0.commit()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) -> State {
        mem::replace(&mut *self.state(), State::Ended)
    }

    fn refuse_forked(&self, operation: Operation, key: &str) -> Result<(), StoreError> {
        if self.process == process::id() {
            return Ok(());
        }
        let reason = "the session belongs to the process that this one was forked from";
        Err(StoreError::Forked { operation, key: key.to_owned(), reason })
    }

    fn commit(&self) -> Result<(), StoreError> {
        self.refuse_forked(Operation::Put, "")?;
        let State::Open { draft: Some(draft), _turn } = self.end() else {
            zarr_store::reached!("zip: a session adds nothing");
            return Ok(());
        };
        // Programs that do not take turns may have replaced it.
        let now = self.zip.inner.store.head(&self.zip.inner.key)?;
        if zarr_store::step!("archive: comparison before the commit")
            && now.as_ref() != self.base.as_ref().map(|base| &base.source.meta)
        {
            return Err(replaced(&self.path));
        }
        draft.finish(&self.path, self.zip.durability)
    }

    fn in_base(&self, key: &Key) -> bool {
        self.base.as_ref().is_some_and(|base| base.entries.contains_key(key.as_str()))
    }

    /// Calls `look` with the added objects and the archive below them: the archive at the beginning
    /// of the session or, once it has ended, the last archive.
    fn look<T>(
        &self,
        operation: Operation,
        key: &str,
        look: impl FnOnce(Option<&Draft>, Option<&Archive>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.refuse_forked(operation, key)?;
        match &*self.state() {
            State::Open { draft, .. } => return look(draft.as_deref(), self.base.as_deref()),
            State::Ended => {}
        }
        look(None, self.zip.current()?.as_deref())
    }
}

impl Store for ZipSession {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        self.refuse_forked(Operation::Get, key.as_str())?;
        match &*self.state() {
            State::Ended => {}
            State::Open { draft, .. } => {
                let written = draft.as_ref().and_then(|draft| {
                    let written = draft.entries.get(key.as_str())?;
                    Some(draft.get(key, written, range, out).map(|()| written.meta()))
                });
                if let Some(read) = written {
                    return read.map(Some);
                }
                if !self.in_base(key) {
                    out.clear();
                    return Ok(None);
                }
            }
        }
        // Nothing that was there changes, and others may read it at the same time.
        self.zip.get(key, range, out)
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        self.refuse_forked(Operation::Put, key.as_str())?;
        let mut state = self.state();
        let State::Open { draft, .. } = &mut *state else {
            return Err(container(&self.path, "the session has ended; begin another one"));
        };
        if self.in_base(key) {
            return match mode {
                PutMode::Create => Ok(PutOutcome::Changed),
                _ => Err(StoreError::unsupported(
                    Operation::Put,
                    key,
                    "way to replace entries of a zip archive: copy it into a folder, and change it there",
                )),
            };
        }
        let found = draft.as_ref().and_then(|draft| draft.entries.get(key.as_str()));
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
        let draft = match draft {
            Some(draft) => draft,
            none => none.insert(Box::new(Draft::begin(&self.path, self.base.as_deref())?)),
        };
        draft.put(&self.path, key, pieces)?;
        Ok(PutOutcome::Written)
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        self.refuse_forked(Operation::Head, key.as_str())?;
        if let State::Open { draft, .. } = &*self.state() {
            let written = draft.as_ref().and_then(|draft| draft.entries.get(key.as_str()));
            if written.is_some() || !self.in_base(key) {
                return Ok(written.map(Written::meta));
            }
        }
        self.zip.head(key)
    }

    /// Objects that a session adds are not deflated.
    fn refuse_inflated(&self, key: &Key, most: u64) -> Result<(), StoreError> {
        self.zip.refuse_inflated(key, most)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.refuse_forked(Operation::Delete, key.as_str())?;
        match &mut *self.state() {
            State::Open { draft, .. } if !self.in_base(key) => match draft {
                Some(draft) => draft.remove(key),
                None => Ok(()),
            },
            State::Open { .. } => Err(refuse_deletion(key)),
            State::Ended => Err(container(&self.path, "the session has ended; begin another one")),
        }
    }

    fn list(&self, prefix: &Prefix, _: Links) -> Listing<'_, Key> {
        let keys = self.look(Operation::List, prefix.as_str(), |draft, base| {
            let mut keys = BTreeSet::new();
            if let Some(base) = base {
                keys.extend(sorted::below(&base.entries, prefix).map(str::to_owned));
            }
            if let Some(draft) = draft {
                keys.extend(sorted::below(&draft.entries, prefix).map(str::to_owned));
            }
            Ok(keys)
        });
        let each = |key: String| Ok(Key::new(key)?);
        keys.map_or_else(failed_listing, |keys| Box::new(keys.into_iter().map(each)))
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        let entries = self.look(Operation::List, prefix.as_str(), |draft, base| {
            let mut entries = BTreeSet::new();
            if let Some(base) = base {
                entries.extend(sorted::children(&base.entries, prefix)?);
            }
            if let Some(draft) = draft {
                entries.extend(sorted::children(&draft.entries, prefix)?);
            }
            Ok(entries)
        });
        entries.map_or_else(failed_listing, |entries| Box::new(entries.into_iter().map(Ok)))
    }

    /// Excludes the threads of this session: there is no other one meanwhile.
    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.locks.lock(key)
    }

    fn capabilities(&self) -> Capabilities {
        self.zip.capabilities().uncommitted(true)
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        self.zip.location(prefix)
    }

    /// Removes the leftover files of dead writers beside this archive.
    fn clean(&self, _: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        self.look(Operation::Delete, "", |draft, _| {
            TemporaryFile::clean_beside(&self.path, draft.and_then(Draft::temporary), removed)
        })
    }

    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        self.zip.without_key(prefix, found)
    }
}
