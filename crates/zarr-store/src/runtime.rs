//! The threads on which asynchronous operations run.

use std::io;
use std::pin::Pin;
#[cfg(feature = "object_store")]
use std::sync::Arc;
use std::sync::LazyLock;
use std::task::{Context, Poll};
#[cfg(feature = "object_store")]
use std::task::{Wake, Waker};
use std::thread;
#[cfg(feature = "object_store")]
use std::thread::Thread;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use super::{Operation, StoreError};

/// Threads that move bytes between sockets and buffers; decoding is done elsewhere.
const MAX_THREADS: usize = 4;

/// One runtime for the process, started at first use and never shut down: connections that are
/// kept alive belong to it, and shutting one down inside another runtime would panic.
static RUNTIME: LazyLock<Result<Runtime, (io::ErrorKind, String)>> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS)))
        .thread_name("zarr-store")
        .enable_all()
        .build()
        .map_err(|error| (error.kind(), error.to_string()))
});

fn runtime() -> Result<&'static Runtime, StoreError> {
    RUNTIME.as_ref().map_err(|(kind, message)| {
        let cause = io::Error::new(*kind, message.clone());
        StoreError::io(Operation::Open, "the input and output threads", cause)
    })
}

/// Something under way on the runtime's threads; given up when dropped.
///
/// It can be awaited on any executor, and waited for on any thread, a runtime's own included.
#[derive(Debug)]
pub(super) struct Task<T> {
    handle: JoinHandle<Result<T, StoreError>>,
    operation: Operation,
    name: String,
}

impl<T: Send + 'static> Task<T> {
    /// Starts `future`, on behalf of `operation` on the key or prefix `name`.
    #[cfg(feature = "object_store")]
    pub(super) fn start(
        operation: Operation,
        name: &str,
        future: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let handle = runtime()?.spawn(future);
        Ok(Self { handle, operation, name: name.to_owned() })
    }

    /// As [`start`](Task::start), for work that blocks its thread. Once it has begun it is not
    /// given up.
    pub(super) fn start_blocking(
        operation: Operation,
        name: &str,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let handle = runtime()?.spawn_blocking(work);
        Ok(Self { handle, operation, name: name.to_owned() })
    }

    /// Blocks the thread until it is done.
    #[cfg(feature = "object_store")]
    pub(super) fn wait(mut self) -> Result<T, StoreError> {
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut context = Context::from_waker(&waker);
        loop {
            match Pin::new(&mut self).poll(&mut context) {
                Poll::Ready(result) => return result,
                Poll::Pending => thread::park(),
            }
        }
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.handle).poll(context);
        polled.map(|joined| {
            // A panic within a client library ends the operation, not the process.
            joined.unwrap_or_else(|error| {
                Err(StoreError::Remote {
                    operation: self.operation,
                    key: self.name.clone(),
                    cause: Box::new(error),
                })
            })
        })
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.handle.abort();
    }
}

#[cfg(feature = "object_store")]
struct Unpark(Thread);

#[cfg(feature = "object_store")]
impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
