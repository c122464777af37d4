//! A store with as few locks as a store may have, in which every lock that is nested otherwise than
//! stores allow is an error.

use std::io::Error;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use zarr_store::{AsyncStore, Key, Layer, LockGuard, LockScope, Operation, Store, StoreError};

/// A store with two locks, one for all chunks and one for all other keys, beside what another store
/// keeps. Threads of one operation may share it, but no two operations: who waits for the lock of a
/// document waits for itself.
#[derive(Debug, Clone)]
pub struct FewLocks {
    inner: Arc<dyn Store>,
    locks: Arc<Locks>,
}

#[derive(Debug, Default)]
struct Locks {
    held: Mutex<Held>,
    freed: Condvar,
    documents: AtomicU64,
    chunks: AtomicU64,
}

#[derive(Debug, Default)]
struct Held {
    documents: bool,
    chunks: Option<ThreadId>,
    /// What was refused, since callers may go on after an error.
    refused: Vec<String>,
}

/// Holds one of the two locks.
struct Holding {
    locks: Arc<Locks>,
    is_chunk: bool,
}

impl FewLocks {
    /// The store with these locks.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, locks: Arc::default() }
    }

    /// What was refused.
    #[must_use]
    pub fn refused(&self) -> Vec<String> {
        self.locks.held().refused.clone()
    }

    /// How often the locks of documents and those of chunks were taken.
    #[must_use]
    pub fn taken(&self) -> [u64; 2] {
        [&self.locks.documents, &self.locks.chunks].map(|count| count.load(Ordering::Relaxed))
    }

    fn take(&self, keys: &[Key]) -> Result<LockGuard, StoreError> {
        let is_document =
            |key: &Key| [".json", ".zjoin"].iter().any(|end| key.as_str().ends_with(end));
        let is_chunk = !keys.iter().all(is_document);
        let here = thread::current().id();
        let mut held = self.locks.held();
        let refused = match () {
            () if is_chunk && keys.len() > 1 => "several chunks are locked at once",
            () if held.chunks == Some(here) => "this thread holds the lock of a chunk",
            () if !is_chunk && held.documents => "the lock of a document is held",
            () => "",
        };
        if !refused.is_empty() {
            let keys: Vec<&str> = keys.iter().map(Key::as_str).collect();
            let message = format!("{} is locked while {refused}", keys.join(", "));
            held.refused.push(message.clone());
            return Err(StoreError::Io {
                operation: Operation::Lock,
                key: keys.join(", "),
                cause: Error::other(message),
            });
        }
        if is_chunk {
            while held.chunks.is_some() {
                held = self.locks.freed.wait(held).unwrap_or_else(PoisonError::into_inner);
            }
            held.chunks = Some(here);
            self.locks.chunks.fetch_add(1, Ordering::Relaxed);
        } else {
            held.documents = true;
            self.locks.documents.fetch_add(1, Ordering::Relaxed);
        }
        drop(held);
        let holding = Holding { locks: Arc::clone(&self.locks), is_chunk };
        Ok(LockGuard::new(LockScope::AllProcesses, holding))
    }
}

impl Locks {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        let mut held = self.locks.held();
        if self.is_chunk {
            held.chunks = None;
            self.locks.freed.notify_one();
        } else {
            held.documents = false;
        }
    }
}

impl Layer for FewLocks {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn lock(&self, key: &Key) -> Result<LockGuard, StoreError> {
        self.take(std::slice::from_ref(key))
    }

    fn lock_all(&self, keys: &[Key]) -> Result<LockGuard, StoreError> {
        self.take(keys)
    }

    fn around(&self, inner: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(Arc::new(Self { inner, locks: Arc::clone(&self.locks) }))
    }

    fn around_reads(&self, reads: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        Some(reads)
    }
}
