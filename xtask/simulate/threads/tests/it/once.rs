//! Values that are made once in each process, such as runtimes.

use std::sync::Arc;

use shuttle::sync::Barrier;
use shuttle::sync::atomic::{AtomicU32, Ordering};
use shuttle::thread;

use crate::locks::lock_table::LockTable;
use crate::processes::per_process::PerProcess;
use crate::shuttled::process;

/// All threads of a process get one value.
#[test]
fn a_value_is_made_once_in_a_process() {
    crate::in_orders(crate::ORDERS, || {
        let value: Arc<PerProcess<u32>> = Arc::new(PerProcess::new());
        let made = Arc::new(AtomicU32::new(0));
        let threads = [1, 1, 2, 2].map(|id| {
            let (value, made) = (value.clone(), made.clone());
            thread::spawn(move || {
                process::play(id);
                let make = || 10 * id + made.fetch_add(1, Ordering::SeqCst);
                *value.get(make).expect("there is room")
            })
        });
        let got = threads.map(|thread| thread.join().expect("ends"));
        assert!(got[0] == got[1] && got[2] == got[3], "{got:?}");
        assert!(got[0] / 10 == 1 && got[2] / 10 == 2, "{got:?}");
        assert_eq!(made.load(Ordering::SeqCst), 2);
    });
}

/// A forked process, which has none of the other threads, waits for none of them: here one makes the
/// value, and goes on only after the forked process has its own.
#[test]
fn a_forked_process_does_not_wait_for_a_value_of_its_parent() {
    crate::in_orders(crate::ORDERS, || {
        let value: Arc<PerProcess<u32>> = Arc::new(PerProcess::new());
        let forked_is_done = Arc::new(Barrier::new(2));
        let parent = {
            let (value, forked_is_done) = (value.clone(), forked_is_done.clone());
            thread::spawn(move || {
                let make = || {
                    forked_is_done.wait();
                    1
                };
                *value.get(make).expect("there is room")
            })
        };
        let child = thread::spawn(move || {
            process::play(2);
            let own = *value.get(|| 2).expect("there is room");
            forked_is_done.wait();
            own
        });
        assert_eq!([parent, child].map(|thread| thread.join().expect("ends")), [1, 2]);
    });
}

/// Nor for a lock: here one holds it until the forked process has had it.
#[test]
fn a_forked_process_does_not_wait_for_a_lock_of_its_parent() {
    crate::in_orders(crate::ORDERS, || {
        let table = Arc::new(LockTable::new());
        let forked_is_done = Arc::new(Barrier::new(2));
        let threads = [1, 2].map(|id| {
            let (table, forked_is_done) = (table.clone(), forked_is_done.clone());
            thread::spawn(move || {
                process::play(id);
                let held = table.lock("key").expect("there is room");
                if id == 1 {
                    forked_is_done.wait();
                }
                drop(held);
                if id == 2 {
                    forked_is_done.wait();
                }
            })
        });
        threads.into_iter().for_each(|thread| thread.join().expect("ends"));
    });
}
