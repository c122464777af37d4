//! Giving up a wait for a lock.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The time between two questions whether to give up.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

type Question = Arc<dyn Fn() -> bool>;

thread_local! {
    static QUESTION: RefCell<Option<Question>> = const { RefCell::new(None) };
}

/// Runs `work`. While it waits on this thread for the lock of another thread or process,
/// `gives_up` is asked every 50 ms; once it is true, the lock fails with an error of the kind
/// [`Interrupted`](io::ErrorKind::Interrupted). An interpreter asks for signals in this way.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_store::{Key, LocalStore, Store, interruptible};
///
/// let folder = tempfile::tempdir()?;
/// let store = LocalStore::open(folder.path())?;
/// let key = Key::new("x")?;
/// let held = store.lock(&key)?;
/// std::thread::scope(|scope| {
///     let waiting = scope.spawn(|| interruptible(Arc::new(|| true), || store.lock(&key).is_err()));
///     assert!(waiting.join().expect("ends"));
/// });
/// # drop(held);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn interruptible<T>(gives_up: Arc<dyn Fn() -> bool>, work: impl FnOnce() -> T) -> T {
    /// Restores the previous question, also if the work panics.
    struct Before(Option<Question>);
    impl Drop for Before {
        fn drop(&mut self) {
            QUESTION.set(self.0.take());
        }
    }
    let _before = Before(QUESTION.replace(Some(gives_up)));
    work()
}

/// Whether a wait on this thread is to be given up: asks the question of [`interruptible`], if there is
/// one.
#[must_use]
pub fn is_interrupted() -> bool {
    let question = QUESTION.with_borrow(Clone::clone);
    question.is_some_and(|gives_up| gives_up())
}

/// The error of a wait that was given up.
pub(crate) fn given_up() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "interrupted while another holds its lock")
}
