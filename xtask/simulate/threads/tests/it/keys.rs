//! Locks by key.

use std::sync::Arc;

use shuttle::sync::atomic::{AtomicU32, Ordering};
use shuttle::thread;

use crate::locks::lock_table::LockTable;

/// At most one thread holds a name, and each one gets it in the end.
#[test]
fn a_name_is_held_by_one_thread() {
    crate::in_orders(crate::ORDERS, || {
        let table = Arc::new(LockTable::new());
        let inside: Arc<[AtomicU32; 2]> = Arc::default();
        let threads = [0, 1, 0, 0].map(|name: usize| {
            let (table, inside) = (table.clone(), inside.clone());
            thread::spawn(move || {
                for _ in 0..2 {
                    let held = table.lock(name).expect("one process");
                    assert_eq!(inside[name].fetch_add(1, Ordering::SeqCst), 0, "held twice");
                    inside[name].fetch_sub(1, Ordering::SeqCst);
                    drop(held);
                }
            })
        });
        threads.into_iter().for_each(|thread| thread.join().expect("ends"));
    });
}
