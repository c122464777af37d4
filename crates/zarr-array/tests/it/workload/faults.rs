//! Interrupts every operation on the store.

use std::sync::Arc;

#[cfg(feature = "async")]
use zarr_array::store::UpdatePolicy;
use zarr_array::store::{Fault, FaultStore, MemoryStore, Store};
#[cfg(feature = "object_store")]
use zarr_store_tests::sampled;

use super::between::assert_between;
use super::{Workload, objects, restore, states_of};

/// Every step, interrupted before and after each of its operations, and then repeated.
fn dies_at_every_operation(
    make: &dyn Fn() -> Arc<dyn Store>,
    set: &dyn Fn(Workload) -> Workload,
    sample: usize,
) -> u64 {
    let workload = |store| set(Workload::new(store, 1).in_order());
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
        let faults = (0..counted.operations())
            .flat_map(|number| [Fault::DieBefore, Fault::DieAfter].map(|fault| (number, fault)));
        // Steps begin with different ones.
        for (number, fault) in faults.skip(step % sample).step_by(sample) {
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
    operations
}

#[test]
fn dying_at_any_operation_leaves_old_or_new_and_doing_it_again_completes() {
    let ended = dies_at_every_operation(&|| Arc::new(MemoryStore::new()), &|workload| workload, 1);
    println!("ended at {ended} operations");
    assert!(ended > 500, "{ended}");
}

/// The same without locks between processes, with conditional puts; a third of the operations.
#[cfg(feature = "object_store")]
#[test]
fn dying_on_object_storage_leaves_old_or_new_and_doing_it_again_completes() {
    let set = |workload: Workload| workload.with_policy(UpdatePolicy::AcceptSingleProcess);
    let sample = sampled(3);
    let ended = dies_at_every_operation(&remote, &set, sample);
    assert!(ended > 500 / sample as u64, "{ended}");
}

/// An empty store of a client of object storage.
#[cfg(feature = "object_store")]
pub(crate) fn remote() -> Arc<dyn Store> {
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use zarr_array::store::{ConditionalPut, RemoteStore, StoreOptions};
    let (backend, options) = (Arc::new(InMemory::new()), StoreOptions::new());
    Arc::new(RemoteStore::new(backend, Path::default(), ConditionalPut::Supported, &options))
}

/// The same by changes that do not block.
#[cfg(feature = "async")]
#[test]
fn asynchronous_changes_that_die_leave_old_or_new_and_doing_them_again_completes() {
    let set = |workload: Workload| workload.asynchronous();
    let ended = dies_at_every_operation(&|| Arc::new(MemoryStore::new()), &set, 1);
    assert!(ended > 500, "{ended}");
}

/// After each step every object is the same whether the steps block or not, in every kind of
/// store.
#[cfg(feature = "async")]
#[test]
fn asynchronous_changes_store_what_blocking_ones_do() {
    use crate::asynchronous::face::{Faced, Manner};
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("makes a folder"));
    let local = |number: usize| -> Arc<dyn Store> {
        let folder: &tempfile::TempDir = &folders[number];
        Arc::new(zarr_array::store::LocalStore::create(folder.path()).expect("makes a store"))
    };
    let memory = || -> Arc<dyn Store> { Arc::new(MemoryStore::new()) };
    let far = || -> Arc<dyn Store> { Arc::new(Faced::new(memory(), Manner::Blocking)) };
    let stores = [
        [memory(), memory()],
        [far(), far()],
        [local(0), local(1)],
        #[cfg(feature = "object_store")]
        [remote(), remote()],
    ];
    for [blocking, asynchronous] in stores {
        let policy = UpdatePolicy::AcceptSingleProcess;
        let what = format!("{asynchronous:?}");
        let wanted = states_of(&Workload::new(blocking, 1).with_policy(policy));
        let found = Workload::new(asynchronous, 1).with_policy(policy).asynchronous();
        assert!(states_of(&found) == wanted, "{what}");
        assert_eq!(wanted.len(), 26);
    }
}
