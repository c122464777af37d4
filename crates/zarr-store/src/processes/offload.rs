//! Work that blocks, for callers that must not.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use crate::processes::runtime::Task;
use crate::{AsyncStore, Key, Object, Operation, ReadRange, Store, StoreError, StoreFuture};

/// An asynchronous interface for a store that blocks: threads of this crate read it.
#[derive(Debug, Clone)]
pub struct Offload {
    store: Arc<dyn Store>,
}

impl Offload {
    /// An asynchronous interface of `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }
}

impl AsyncStore for Offload {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        mut buffer: Vec<u8>,
    ) -> StoreFuture<Option<Object>> {
        let (store, key, range) = (Arc::clone(&self.store), key.clone(), range.to_owned());
        let name = key.to_string();
        Box::pin(async move {
            let work = move || {
                let meta = store.get(&key, range.borrow(), &mut buffer)?;
                Ok(meta.map(|meta| Object { bytes: buffer, meta }))
            };
            Task::start_blocking(Operation::Get, &name, work).await?.await
        })
    }
}

thread_local! {
    /// Whether this thread runs work of [`run_blocking`].
    static RUNS_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, which may wait for a store, on a thread where that is allowed. The future can be
/// awaited on any executor.
///
/// For work of several requests, such as the change of an object. Up to 256 pieces of work per
/// process run at once; others wait. Dropping the future cancels work that has not begun; work that
/// has begun is finished.
///
/// Work that is awaited within other work runs on the same thread at once: a store may itself
/// wait for work.
///
/// # Errors
/// [`StoreError`], which names `operation` and `name`, if there are no threads.
///
/// # Panics
/// If `work` does.
pub async fn run_blocking<T: Send + 'static>(
    operation: Operation,
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    if RUNS_WORK.get() {
        return Ok(work());
    }
    let work = move || {
        RUNS_WORK.set(true);
        let done = panic::catch_unwind(AssertUnwindSafe(work));
        RUNS_WORK.set(false);
        Ok(done)
    };
    let done = Task::start_blocking(operation, name, work).await?.await?;
    Ok(done.unwrap_or_else(|panic| panic::resume_unwind(panic)))
}

#[cfg(all(test, feature = "object_store"))]
mod tests {
    use futures_executor::block_on;
    use futures_util::future::join_all;

    use super::*;

    #[test]
    fn work_that_waits_for_more_work_is_done() {
        // More than run at once; each waits for one more.
        let run = |number| {
            run_blocking(Operation::Get, "a", move || {
                block_on(run_blocking(Operation::Get, "b", move || number)).expect("runs")
            })
        };
        let done: Vec<usize> = block_on(join_all((0..600).map(run)))
            .into_iter()
            .map(|done| done.expect("runs"))
            .collect();
        assert_eq!(done, (0..600).collect::<Vec<_>>());
    }

    #[test]
    fn a_panic_goes_on_in_whoever_waits() {
        let work = run_blocking::<()>(Operation::Get, "a", || panic::resume_unwind(Box::new(7)));
        let caught = panic::catch_unwind(AssertUnwindSafe(|| block_on(work)));
        assert_eq!(caught.expect_err("panics").downcast_ref(), Some(&7));
        assert_eq!(block_on(run_blocking(Operation::Get, "a", || 5)).expect("runs"), 5);
    }
}
