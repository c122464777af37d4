//! The threads on which asynchronous operations run.

#[cfg(feature = "object_store")]
use std::any::Any;
use std::io;
#[cfg(feature = "object_store")]
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
#[cfg(feature = "object_store")]
use std::sync::mpsc;
use std::task::{Context, Poll};
use std::thread;

#[cfg(feature = "object_store")]
use futures_util::FutureExt as _;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

use crate::processes::per_process::PerProcess;
use crate::{Operation, StoreError};

/// The most threads, which only move bytes between sockets and buffers; decoding is done elsewhere.
const MAX_THREADS: usize = 4;

/// The most work that blocks its thread. It may wait for requests. Their clients look up names on
/// the 512 blocking threads of the same runtime: some must stay free.
const MAX_BLOCKING: usize = 256;

/// The threads, and a permit for each piece of work that may block one.
struct Threads {
    runtime: Runtime,
    blocking: Arc<Semaphore>,
}

/// One runtime per process, started at first use and never shut down: kept-alive connections belong
/// to it, and shutting it down inside another runtime would panic.
static THREADS: PerProcess<Result<Threads, (io::ErrorKind, String)>> = PerProcess::new();

fn start() -> Result<Threads, (io::ErrorKind, String)> {
    Builder::new_multi_thread()
        .worker_threads(thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS)))
        .thread_name("zarr-store")
        .enable_all()
        .build()
        .map(|runtime| Threads { runtime, blocking: Arc::new(Semaphore::new(MAX_BLOCKING)) })
        .map_err(|error| (error.kind(), error.to_string()))
}

fn threads(operation: Operation, name: &str) -> Result<&'static Threads, StoreError> {
    let started = THREADS.get(start);
    let started = started.ok_or_else(|| StoreError::too_many_forks(operation, name))?;
    started.as_ref().map_err(|(kind, message)| {
        let cause = io::Error::new(*kind, message.clone());
        StoreError::io(Operation::Open, "the input and output threads", cause)
    })
}

/// Runs `future` on the runtime's threads and blocks this thread until it is done. Errors name
/// `operation` and the key or prefix `name`.
///
/// The result comes through a channel of the standard library. This thread may itself be polling a
/// task of tokio: waiting for any type of tokio would use up that task's budget and then never
/// return.
#[cfg(feature = "object_store")]
pub(crate) fn wait<T: Send + 'static>(
    operation: Operation,
    name: &str,
    future: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    threads(operation, name)?.runtime.spawn(async move {
        // The receiver waits until there is a result.
        let _received = sender.send(AssertUnwindSafe(future).catch_unwind().await);
    });
    let fail = |cause: Box<dyn std::error::Error + Send + Sync>| StoreError::Remote {
        operation,
        key: name.to_owned(),
        cause,
    };
    match receiver.recv() {
        Ok(Ok(result)) => result,
        // A panic within a client library ends the operation, not the process.
        Ok(Err(panic)) => Err(fail(failed(said(&*panic)).into())),
        Err(closed) => Err(fail(closed.into())),
    }
}

/// The cause of an error after a panic within a client library, which met what it did not expect: an
/// answer of the server, or a setting.
fn failed(said: &str) -> String {
    format!(
        "the client library cannot handle this request or its answer ({said}); check the address and \
         the settings of the store"
    )
}

/// The message of a panic.
#[cfg(feature = "object_store")]
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// An operation running on the runtime's threads, to be awaited on any executor; cancelled when
/// dropped.
#[derive(Debug)]
pub(crate) struct Task<T> {
    handle: JoinHandle<Result<T, StoreError>>,
    operation: Operation,
    name: String,
}

impl<T: Send + 'static> Task<T> {
    /// Starts `future`. Errors name `operation` and the key or prefix `name`.
    #[cfg(feature = "object_store")]
    pub(crate) fn start(
        operation: Operation,
        name: &str,
        future: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let handle = threads(operation, name)?.runtime.spawn(future);
        Ok(Self { handle, operation, name: name.to_owned() })
    }

    /// As [`start`](Task::start), for work that blocks its thread, once there is a permit for it.
    /// Once begun it is not cancelled.
    pub(crate) async fn start_blocking(
        operation: Operation,
        name: &str,
        work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let Threads { runtime, blocking } = threads(operation, name)?;
        // The semaphore is never closed.
        let permit: Option<OwnedSemaphorePermit> = Arc::clone(blocking).acquire_owned().await.ok();
        let handle = runtime.spawn_blocking(move || {
            // Until the work ends, also if no caller waits for it any more.
            let _permit = permit;
            work()
        });
        Ok(Self { handle, operation, name: name.to_owned() })
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.handle).poll(context);
        polled.map(|joined| {
            // A panic within a client library ends the operation, not the process.
            joined.unwrap_or_else(|error| {
                let cause = failed(&error.to_string()).into();
                Err(StoreError::Remote { operation: self.operation, key: self.name.clone(), cause })
            })
        })
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.handle.abort();
    }
}
