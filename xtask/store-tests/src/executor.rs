//! Tasks on several kinds of executors.

use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

/// Runs a future on an executor without input and output.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// Fails instead of waiting forever.
fn within_two_minutes(work: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        work();
        sender.send(()).unwrap();
    });
    match receiver.recv_timeout(Duration::from_secs(120)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("an operation does not return"),
        _ => thread.join().unwrap(),
    }
}

/// Does `work` in a task of each kind, and on a thread where blocking is allowed.
pub fn in_every_context(work: impl Fn() + Clone + Send + 'static) {
    within_two_minutes(move || {
        let current = || Builder::new_current_thread().build().unwrap();
        let multi = Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let task = |work: &dyn Fn()| work();
        current().block_on(async { task(&work) });
        let spawned = |runtime: &Runtime| {
            let work = work.clone();
            runtime.block_on(runtime.spawn(async move { work() })).unwrap();
        };
        spawned(&current());
        spawned(&multi);
        multi.block_on(multi.spawn_blocking(work)).unwrap();
    });
}
