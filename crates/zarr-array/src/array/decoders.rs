//! The threads on which asynchronous reads decode.

use std::io;
use std::num::NonZeroUsize;
use std::panic;
use std::sync::LazyLock;
use std::thread;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// One pool for the process, however many reads there are: a thread for each core, started as they
/// are needed, ended after some seconds without work, and served in the order of asking. Of a
/// runtime it is the threads for blocking work alone; nothing drives it, and nothing shuts it down.
static THREADS: LazyLock<Result<Runtime, (io::ErrorKind, String)>> = LazyLock::new(|| {
    Builder::new_current_thread()
        .max_blocking_threads(count().get())
        .thread_name("zarr-decode")
        .build()
        .map_err(|error| (error.kind(), error.to_string()))
});

/// How many there are at most.
pub(super) fn count() -> NonZeroUsize {
    static COUNT: LazyLock<NonZeroUsize> =
        LazyLock::new(|| thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
    *COUNT
}

/// Does `work` on one of them. Given up when dropped, unless it has begun; a panic in it goes on in
/// whoever awaits it.
pub(super) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let threads =
        THREADS.as_ref().map_err(|(kind, message)| io::Error::new(*kind, message.as_str()))?;
    let mut task = Task(threads.spawn_blocking(work));
    (&mut task.0).await.map_err(|error| match error.try_into_panic() {
        Ok(panic) => panic::resume_unwind(panic),
        Err(error) => error.into(),
    })
}

struct Task<T>(JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
