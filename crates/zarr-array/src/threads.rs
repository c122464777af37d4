//! Threads for asynchronous operations.

use std::cell::Cell;
use std::io;
use std::panic;
use std::pin::Pin;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::error::ArrayError;
pub(crate) use crate::parallel::cores;
use crate::store::{self, Operation, PerProcess, Store, StoreError};

/// An asynchronous operation. It borrows nothing and can be spawned on any executor.
pub type ArrayFuture<T> = Pin<Box<dyn Future<Output = Result<T, ArrayError>> + Send>>;

/// A process-wide pool with one thread per core, for any number of operations. Threads start on
/// demand, end after some seconds without work, and take work in order. The pool consists of the
/// blocking threads of a runtime on which nothing else runs, and it is never shut down. A forked
/// process starts its own.
pub(crate) struct Pool {
    name: &'static str,
    threads: PerProcess<Result<Runtime, (io::ErrorKind, String)>>,
}

/// Threads that decode fetched chunks.
pub(crate) static DECODERS: Pool = Pool { name: "zarr-decode", threads: PerProcess::new() };

/// Threads that read from and write to fast stores, and decode and encode. They are separate, so
/// that a store that stops answering does not block the decoding of data from other stores.
pub(crate) static FAST: Pool = Pool { name: "zarr-fast", threads: PerProcess::new() };

thread_local! {
    /// Whether this is a thread of a pool.
    static IN_POOL: Cell<bool> = const { Cell::new(false) };
}

/// Whether a store gains from more simultaneous requests than there are cores, because it answers
/// more slowly than a thread can ask.
pub(crate) fn is_far(store: &dyn Store) -> bool {
    store.asynchronous().is_some() || store.capabilities().requests_in_flight > cores()
}

/// Runs `work`, which waits for `store`, without blocking other work: on a thread of [`FAST`] or,
/// for a remote store, on a thread that may wait for long.
///
/// Dropping the future cancels work that has not begun. A panic in it continues in the awaiting
/// task.
pub(crate) async fn run_blocking<T: Send + 'static>(
    store: &dyn Store,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ArrayError> {
    if is_far(store) {
        return Ok(store::run_blocking(Operation::Open, NAME, work).await?);
    }
    FAST.run(work).await.map_err(interrupted)
}

/// Runs a change of documents, which waits for their locks, where waiting blocks nothing else.
///
/// A thread makes the change from the first lock to the last. A future that held a lock between two
/// steps would keep it while it is not polled, or forever if it is forgotten. Threads of [`FAST`]
/// are no solution: as many changes as cores could wait there for a lock of another process, and
/// reads would wait behind them.
///
/// Dropping the future cancels a change that has not begun. A panic in it continues in the
/// awaiting task.
pub(crate) fn change<T: Send + 'static>(
    change: impl FnOnce() -> Result<T, ArrayError> + Send + 'static,
) -> ArrayFuture<T> {
    Box::pin(async move { store::run_blocking(Operation::Open, NAME, change).await? })
}

/// Changes of attributes for another thread.
pub(crate) fn owned(changes: &[(&str, Option<&str>)]) -> Vec<(String, Option<String>)> {
    changes.iter().map(|(name, json)| ((*name).to_owned(), json.map(str::to_owned))).collect()
}

/// Changes of attributes as the blocking methods take them.
pub(crate) fn borrowed(changes: &[(String, Option<String>)]) -> Vec<(&str, Option<&str>)> {
    changes.iter().map(|(name, json)| (name.as_str(), json.as_deref())).collect()
}

/// The name of the threads in errors.
const NAME: &str = "the threads of asynchronous operations";

/// The error if threads cannot be started, or have been shut down.
pub(crate) fn interrupted(
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> ArrayError {
    StoreError::io(Operation::Open, NAME, io::Error::other(source)).into()
}

impl Pool {
    /// Runs `work` on one of the threads. Dropping the future cancels it unless it has begun; a
    /// panic in it continues in the awaiting task.
    ///
    /// On a thread of a pool `work` runs at once: a store may itself wait for an operation on
    /// another array, and this may be the pool's only thread.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        if IN_POOL.get() {
            return Ok(work());
        }
        let threads = self
            .threads
            .get(|| self.start())
            .ok_or_else(|| io::Error::other("too many processes before this one forked"))?
            .as_ref()
            .map_err(|(kind, message)| io::Error::new(*kind, message.as_str()))?;
        let mut task = Task(threads.spawn_blocking(work));
        (&mut task.0).await.map_err(|error| match error.try_into_panic() {
            Ok(panic) => panic::resume_unwind(panic),
            Err(error) => error.into(),
        })
    }

    fn start(&self) -> Result<Runtime, (io::ErrorKind, String)> {
        Builder::new_current_thread()
            .max_blocking_threads(cores().get())
            .thread_name(self.name)
            .on_thread_start(|| IN_POOL.set(true))
            .build()
            .map_err(|error| (error.kind(), error.to_string()))
    }
}

struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
