//! Ctrl-C between two requests to a store.
//!
//! Python handles signals on its main thread, and only while the interpreter runs. It does not run
//! while elements are read or written. So each operation wraps its store. The wrapper asks the
//! interpreter from time to time, and ends the operation with an error after a handler has raised
//! an exception.

use std::any::Any;
use std::fmt;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use zarr_kit::array::Hierarchy;
use zarr_kit::array::store::{
    AsyncStore, Key, KeyFilter, Layer, Listing, Object, Operation, ReadRange, StoreError,
    StoreFuture, interruptible,
};
use zarr_kit::{Prefix, Store};

use crate::conversion::error::{Done, Raised};

/// The time between two questions to the interpreter, which may be running other threads.
const PAUSE: Duration = Duration::from_millis(20);

/// The exception that a signal handler has raised during one operation.
pub(crate) struct Signals {
    /// The thread that began the operation: only it can be the main thread.
    thread: ThreadId,
    asked: Mutex<Instant>,
    is_raised: AtomicBool,
    /// Whether the operation has changed a store.
    has_written: AtomicBool,
    raised: Mutex<Option<PyErr>>,
}

/// A panic as an exception that `except Exception` catches, which pyo3's is not.
fn of_panic(payload: &(dyn Any + Send)) -> Raised {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no message");
    PyRuntimeError::new_err(format!("a fault of zarr-kit: {text}")).into()
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
        let asked = Arc::clone(&signals);
        // A wait for a lock is no request between which it could be asked.
        let work = || interruptible(Arc::new(move || asked.is_raised()), || work(&signals));
        let caught = panic::catch_unwind(AssertUnwindSafe(work));
        let result = caught.map_err(|payload| of_panic(&*payload))?;
        match signals.raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error.into()),
            None => result.map_err(Into::into),
        }
    }

    /// Runs work on another thread, while this one asks for signals: their handlers raise no exception
    /// in the midst of a call of Python that the work makes.
    pub(crate) fn apart<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let (done, is_done) = mpsc::channel();
            let worker = scope.spawn(move || {
                let _at_end: mpsc::Sender<()> = done;
                work()
            });
            while is_done.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                self.is_raised();
            }
            worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
        })
    }

    /// The store with operations that end with an error after a handler has raised an exception.
    pub(crate) fn guard(self: &Arc<Self>, store: &Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Guarded { inner: Arc::clone(store), signals: Arc::clone(self) })
    }

    /// The hierarchy with such a store.
    pub(crate) fn guard_all(self: &Arc<Self>, hierarchy: &Hierarchy) -> Hierarchy {
        hierarchy.with_store(self.guard(hierarchy))
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

struct Guarded<S: ?Sized> {
    inner: Arc<S>,
    signals: Arc<Signals>,
}

impl<S: ?Sized> Guarded<S> {
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
}

impl<S: fmt::Debug + ?Sized> fmt::Debug for Guarded<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Layer for Guarded<dyn Store> {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn around(&self, store: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(self.signals.guard(&store))
    }

    fn around_reads(&self, inner: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        Some(Arc::new(Guarded { inner, signals: Arc::clone(&self.signals) }))
    }

    fn pass<T>(
        &self,
        operation: Operation,
        name: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.check(operation, name)?;
        let done = match operation {
            Operation::Lock => {
                let signals = Arc::clone(&self.signals);
                interruptible(Arc::new(move || signals.is_raised()), work)?
            }
            _ => work()?,
        };
        if matches!(operation, Operation::Put | Operation::Delete) {
            self.signals.wrote();
        }
        Ok(done)
    }

    /// The listing ends with an error at the first entry after a signal.
    fn pass_listing<'s, T: Send + 's>(
        &'s self,
        prefix: &Prefix,
        list: impl FnOnce() -> Listing<'s, T>,
    ) -> Listing<'s, T> {
        let prefix = prefix.clone();
        Box::new(list().map(move |entry| {
            self.check(Operation::List, prefix.as_str())?;
            entry
        }))
    }

    fn delete_where(&self, prefix: &Prefix, which: &KeyFilter) -> Result<(), StoreError> {
        self.check(Operation::Delete, prefix.as_str())?;
        // It may fail midway.
        self.signals.wrote();
        self.inner().delete_where(prefix, which)
    }
}

impl AsyncStore for Guarded<dyn AsyncStore> {
    fn get(&self, key: &Key, range: ReadRange<'_>, buffer: Vec<u8>) -> StoreFuture<Option<Object>> {
        match self.check(Operation::Get, key.as_str()) {
            Ok(()) => self.inner.get(key, range, buffer),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}
