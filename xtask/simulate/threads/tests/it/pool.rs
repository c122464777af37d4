//! The threads that divide work.

use std::num::NonZeroUsize;

use shuttle::sync::atomic::{AtomicU32, Ordering};

use crate::parallel::{for_each, map};

const THREADS: NonZeroUsize = NonZeroUsize::new(3).expect("not 0");

/// Each item is worked on once, in whatever order threads go on.
#[test]
fn each_item_is_worked_on_once() {
    crate::in_orders(crate::ORDERS, || {
        let visits = [const { AtomicU32::new(0) }; 5];
        let work = |(): &mut (), range: std::ops::Range<u64>| {
            for item in range {
                visits[usize::try_from(item).expect("small")].fetch_add(1, Ordering::SeqCst);
            }
            Ok::<(), ()>(())
        };
        for_each(5, THREADS, || (), work).expect("nothing fails");
        assert!(visits.iter().all(|visit| visit.load(Ordering::SeqCst) == 1));
        let made = map(&[1, 2, 3, 4], THREADS, |item| Ok::<_, ()>(10 * item));
        assert_eq!(made, Ok(vec![10, 20, 30, 40]));
    });
}

/// An error is returned, and a thread that fails begins no other item.
#[test]
fn an_error_is_returned() {
    crate::in_orders(crate::ORDERS, || {
        let begun = AtomicU32::new(0);
        let work = |failed: &mut bool, range: std::ops::Range<u64>| {
            assert!(!*failed, "this thread has failed before");
            begun.fetch_add(1, Ordering::SeqCst);
            *failed = range.contains(&1);
            if *failed { Err(range.start) } else { Ok(()) }
        };
        assert_eq!(for_each(6, THREADS, || false, work), Err(1));
        let all = || for_each(6, THREADS, || (), |(), range| Err::<(), _>(range.start));
        assert!(all().expect_err("all fail") < 3, "the first of a thread");
    });
}
