//! Interrupts every operation on the store.

use std::sync::Arc;

use zarr_array::store::{Fault, FaultStore, MemoryStore, Store, UpdatePolicy};

use super::between::assert_between;
use super::{Workload, objects, restore, states_of};

/// Every step, interrupted before and after each of its operations, and then repeated.
fn dies_at_every_operation(make: &dyn Fn() -> Arc<dyn Store>, policy: UpdatePolicy) -> u64 {
    let workload = |store| Workload::new(store, 1).in_order().with_policy(policy);
    // The stored objects differ between stores: not all of them can remove a chunk in an update.
    let states = states_of(&workload(make()));
    let mut operations = 0;
    let run =
        |store: Arc<dyn Store>, step| workload(store).step(step).expect("there is such a step");
    for (step, pair) in states.windows(2).enumerate() {
        let [old, new] = pair else { unreachable!() };
        let begin = || {
            let inner = make();
            restore(&*inner, old);
            inner
        };
        let counted = Arc::new(FaultStore::new(begin()));
        run(counted.clone(), step).expect("nothing goes wrong");
        assert!(objects(counted.inner()) == *new, "step {step}");
        for number in 0..counted.operations() {
            for fault in [Fault::DieBefore, Fault::DieAfter] {
                let what = format!("step {step}, operation {number}, {fault:?}");
                let inner = begin();
                let dying = Arc::new(FaultStore::new(inner.clone()).at(number, fault));
                // A step may succeed only if all of it is done: the operations after that look at
                // the consolidated metadata above.
                let outcome = run(dying.clone(), step);
                assert!(dying.is_dead(), "{what}");
                assert!(outcome.is_err() || objects(&*inner) == *new, "{what} is not reported");
                assert_between(&inner, old, new, &what);
                run(inner.clone(), step).unwrap_or_else(|error| panic!("{what}: again: {error}"));
                assert!(objects(&*inner) == *new, "{what}: the result of doing it again");
                operations += 1;
            }
        }
    }
    operations
}

#[test]
fn dying_at_any_operation_leaves_old_or_new_and_doing_it_again_completes() {
    let ended = dies_at_every_operation(&|| Arc::new(MemoryStore::new()), UpdatePolicy::default());
    println!("ended at {ended} operations");
    assert!(ended > 500, "{ended}");
}

/// The same without locks between processes, with conditional puts.
#[cfg(feature = "object_store")]
#[test]
fn dying_on_object_storage_leaves_old_or_new_and_doing_it_again_completes() {
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use zarr_array::store::{ConditionalPut, RemoteStore, StoreOptions};
    let make = || -> Arc<dyn Store> {
        let backend = Arc::new(InMemory::new());
        Arc::new(RemoteStore::new(
            backend,
            Path::default(),
            ConditionalPut::Supported,
            &StoreOptions::new(),
        ))
    };
    let ended = dies_at_every_operation(&make, UpdatePolicy::AcceptSingleProcess);
    assert!(ended > 500, "{ended}");
}
