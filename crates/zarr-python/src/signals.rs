//! Ctrl-C between two requests to a store.
//!
//! Python handles signals on its main thread, and only while the interpreter runs. It does not run
//! while elements are read or written. So each operation wraps its store in one that asks the
//! interpreter from time to time, and ends the operation with an error after a handler has raised
//! an exception.

use std::fmt;
use std::io::{self, IoSlice};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use zarr_kit::array::store::{
    AsyncStore, Capabilities, DirEntry, Extension, GetInto, Key, Links, Listing, Location,
    LockGuard, ObjectFile, ObjectMeta, Operation, PutFrom, PutMode, PutOutcome, ReadRange, Sharing,
    StoreError,
};
use zarr_kit::{Prefix, Store};

use crate::error::{Done, Raised};

/// The time between two questions to the interpreter, which may be running other threads.
const PAUSE: Duration = Duration::from_millis(20);

/// The exception that a signal handler has raised during one operation.
pub(crate) struct Signals {
    /// The thread that began the operation: the only one that can be the main thread.
    thread: ThreadId,
    asked: Mutex<Instant>,
    is_raised: AtomicBool,
    /// Whether the operation has changed a store.
    has_written: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

impl Signals {
    /// Runs an operation without the GIL on stores that [`guard`](Self::guard) gave.
    ///
    /// # Errors
    /// The exception of a signal handler, or the operation's own error.
    pub(crate) fn during<T, E: Into<Raised>>(
        work: impl FnOnce(&Arc<Self>) -> Result<T, E>,
    ) -> Done<T> {
        let signals = Arc::new(Self {
            thread: thread::current().id(),
            asked: Mutex::new(Instant::now()),
            is_raised: AtomicBool::new(false),
            has_written: AtomicBool::new(false),
            raised: Mutex::new(None),
        });
        let result = work(&signals);
        match signals.raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error.into()),
            None => result.map_err(Into::into),
        }
    }

    /// The store, whose operations end with an error after a handler has raised an exception.
    pub(crate) fn guard(self: &Arc<Self>, store: &Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Guarded { store: Arc::clone(store), signals: Arc::clone(self) })
    }

    /// Whether the operation has changed a store.
    pub(crate) fn has_written(&self) -> bool {
        self.has_written.load(Ordering::Relaxed)
    }

    fn wrote(&self) {
        self.has_written.store(true, Ordering::Relaxed);
    }

    /// Ends the operation with this error.
    pub(crate) fn raise(&self, error: PyErr) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.is_raised.store(true, Ordering::Relaxed);
    }

    fn is_raised(&self) -> bool {
        if self.is_raised.load(Ordering::Relaxed) {
            return true;
        }
        if thread::current().id() != self.thread || !self.is_time() {
            return false;
        }
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => false,
            Err(error) => {
                self.raise(error);
                true
            }
        }
    }

    fn is_time(&self) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = asked.elapsed() >= PAUSE;
        if is_time {
            *asked = Instant::now();
        }
        is_time
    }
}

struct Guarded {
    store: Arc<dyn Store>,
    signals: Arc<Signals>,
}

impl Guarded {
    fn check(&self, operation: Operation, key: &str) -> Result<(), StoreError> {
        match self.signals.is_raised() {
            false => Ok(()),
            true => Err(StoreError::Io {
                operation,
                key: key.to_owned(),
                cause: io::ErrorKind::Interrupted.into(),
            }),
        }
    }

    /// A listing that ends with an error at the first entry after a signal.
    fn checked<'s, T: 's>(&'s self, prefix: &Prefix, listing: Listing<'s, T>) -> Listing<'s, T> {
        let prefix = prefix.clone();
        Box::new(listing.map(move |entry| {
            self.check(Operation::List, prefix.as_str())?;
            entry
        }))
    }
}

impl fmt::Debug for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.store.fmt(f)
    }
}

impl Store for Guarded {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        self.check(Operation::Get, key.as_str())?;
        self.store.get(key, range, out)
    }

    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        self.check(Operation::Get, key.as_str())?;
        self.store.get_into(key, out)
    }

    fn put_opts(
        &self,
        key: &Key,
        pieces: &[IoSlice<'_>],
        mode: PutMode<'_>,
    ) -> Result<PutOutcome, StoreError> {
        self.check(Operation::Put, key.as_str())?;
        let outcome = self.store.put_opts(key, pieces, mode)?;
        self.signals.wrote();
        Ok(outcome)
    }

    fn delete(&self, key: &Key) -> Result<(), StoreError> {
        self.check(Operation::Delete, key.as_str())?;
        self.store.delete(key)?;
        self.signals.wrote();
        Ok(())
    }

    fn list(&self, prefix: &Prefix, links: Links) -> Listing<'_, Key> {
        self.checked(prefix, self.store.list(prefix, links))
    }

    fn list_described(&self, prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        Some(self.checked(prefix, self.store.list_described(prefix)?))
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        self.checked(prefix, self.store.list_dir(prefix))
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.store.lock(key)
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        self.check(Operation::Head, key.as_str())?;
        self.store.head(key)
    }

    fn delete_prefix(&self, prefix: &Prefix) -> Result<(), StoreError> {
        self.check(Operation::Delete, prefix.as_str())?;
        // It may fail midway.
        self.signals.wrote();
        self.store.delete_prefix(prefix)
    }

    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn clean(&self, prefix: &Prefix, removed: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        self.store.clean(prefix, removed)
    }

    fn without_key(&self, prefix: &Prefix, found: &mut dyn FnMut(&str)) -> Result<(), StoreError> {
        self.store.without_key(prefix, found)
    }

    fn location(&self, prefix: &Prefix) -> Option<Location> {
        self.store.location(prefix)
    }

    fn put_from(
        &self,
        key: &Key,
        from: &dyn Store,
        from_key: &Key,
        expected: &ObjectMeta,
        sharing: Sharing,
    ) -> Result<PutFrom, StoreError> {
        self.check(Operation::Put, key.as_str())?;
        let outcome = self.store.put_from(key, from, from_key, expected, sharing)?;
        self.signals.wrote();
        Ok(outcome)
    }

    fn file(&self, key: &Key) -> Result<Option<ObjectFile>, StoreError> {
        self.check(Operation::Get, key.as_str())?;
        self.store.file(key)
    }

    fn file_path(&self, key: &Key) -> Result<Option<PathBuf>, StoreError> {
        self.store.file_path(key)
    }

    fn asynchronous(&self) -> Option<Arc<dyn AsyncStore>> {
        self.store.asynchronous()
    }

    fn extension(&self, prefix: &Prefix) -> Option<Extension> {
        self.store.extension(prefix)
    }

    fn checked(&self) -> Option<Arc<dyn Store>> {
        self.store.checked().map(|store| self.signals.guard(&store))
    }
}
