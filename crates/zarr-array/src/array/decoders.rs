//! Thread pools for asynchronous reads.

use std::cell::Cell;
use std::io;
use std::num::NonZeroUsize;
use std::panic;
use std::sync::LazyLock;
use std::thread;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::store::PerProcess;

/// A process-wide pool with one thread per core, whatever the number of reads. Threads start on
/// demand, end after some seconds without work, and take work in order. It is only the blocking
/// threads of a runtime; nothing drives it, and nothing shuts it down. A process
/// that was forked starts its own.
pub(super) struct Pool {
    name: &'static str,
    threads: PerProcess<Result<Runtime, (io::ErrorKind, String)>>,
}

/// Threads that decode fetched chunks.
pub(super) static DECODERS: Pool = Pool { name: "zarr-decode", threads: PerProcess::new() };

/// Threads that read from fast stores and decode. They are separate, so that a store that stops
/// answering does not block the decoding of data from other stores.
pub(super) static READERS: Pool = Pool { name: "zarr-read", threads: PerProcess::new() };

thread_local! {
    /// Whether this is a thread of a pool.
    static IN_POOL: Cell<bool> = const { Cell::new(false) };
}

/// The largest number of threads.
pub(super) fn count() -> NonZeroUsize {
    static COUNT: LazyLock<NonZeroUsize> =
        LazyLock::new(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
    *COUNT
}

impl Pool {
    /// Runs `work` on one of the threads. Dropping the future cancels it unless it has begun; a
    /// panic in it continues in the awaiting task.
    ///
    /// On a thread of a pool `work` runs at once: a store may itself wait for a read of another
    /// array, on what may be the pool's only thread.
    pub(super) async fn run<T: Send + 'static>(
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
            .max_blocking_threads(count().get())
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
