//! The threads that work for asynchronous reads.

use std::cell::Cell;
use std::io;
use std::num::NonZeroUsize;
use std::panic;
use std::sync::LazyLock;
use std::thread;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::store::PerProcess;

/// Threads for the process, however many reads there are: one for each core, started as they are
/// needed, ended after some seconds without work, and served in the order of asking. Of a runtime it
/// is the threads for blocking work alone; nothing drives it, and nothing shuts it down. A process
/// that was forked starts its own.
pub(super) struct Pool {
    name: &'static str,
    threads: PerProcess<Result<Runtime, (io::ErrorKind, String)>>,
}

/// Those that decode what has come.
pub(super) static DECODERS: Pool = Pool { name: "zarr-decode", threads: PerProcess::new() };

/// Those that ask quick stores and decode. Apart from the others, so that a store which turns out not
/// to answer keeps none from decoding what other stores have given.
pub(super) static READERS: Pool = Pool { name: "zarr-read", threads: PerProcess::new() };

thread_local! {
    /// Whether this is a thread of a pool.
    static IN_POOL: Cell<bool> = const { Cell::new(false) };
}

/// How many there are at most.
pub(super) fn count() -> NonZeroUsize {
    static COUNT: LazyLock<NonZeroUsize> =
        LazyLock::new(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
    *COUNT
}

impl Pool {
    /// Does `work` on one of the threads. Given up when dropped, unless it has begun; a panic in it
    /// goes on in whoever awaits it.
    ///
    /// A store may itself wait for a read of another array, on a thread of a pool that may have no
    /// other: there it is done at once.
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
