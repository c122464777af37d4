//! Puts on a condition, and updates.

use std::array;
use std::thread;

use super::operations::{delete, found, key, put, read, some};
use crate::{
    Change, PutOutcome, Store, StoreError, StoreExt as _, UpdatePolicy, Version, remove, replace,
    update,
};

/// Tests that conditional puts write an object only if it is missing, or only if it has a version;
/// or that the store refuses all conditions.
///
/// # Panics
/// If the store behaves differently, or not as [`Store::capabilities`] says.
pub fn conditional_puts(store: &dyn Store) {
    let a = key("conditional");
    if let Err(StoreError::Unsupported { .. }) = store.put_if(&a, b"x", None) {
        let claimed = store.capabilities().conditional_put;
        assert!(!claimed, "the capability of conditional puts is claimed, and one is refused");
        return;
    }
    delete(store, &a);
    let version = || {
        let meta = some("head", found("head", store.head(&a)));
        some("the version of an object", meta.version)
    };
    let expect = |bytes: &[u8], expected: Option<&Version>, outcome| {
        let put = found("conditional put", store.put_if(&a, bytes, expected));
        assert_eq!(put, outcome, "put of {bytes:?} if the version is {expected:?}");
    };
    expect(b"1", None, PutOutcome::Written);
    expect(b"2", None, PutOutcome::Changed);
    assert_eq!(read(store, &a).as_deref(), Some(&b"1"[..]), "what was put first");
    let first = version();
    expect(b"3", Some(&first), PutOutcome::Written);
    expect(b"4", Some(&first), PutOutcome::Changed);
    assert_eq!(read(store, &a).as_deref(), Some(&b"3"[..]), "what was put last");
    let third = version();
    put(store, &a, b"5");
    expect(b"6", Some(&third), PutOutcome::Changed);
    let fifth = version();
    delete(store, &a);
    expect(b"7", Some(&fifth), PutOutcome::Changed);
    assert_eq!(read(store, &a), None, "an object that was deleted");
}

/// Tests that [`update`], [`replace`] and [`remove`] change an object, and that an error changes
/// nothing.
///
/// # Panics
/// If they behave differently.
pub fn updates(store: &dyn Store) {
    let a = key("updates/c/0");
    let mut buffer = vec![1; 10];
    let mut step = |change: Change, bytes: &[u8], expected: Option<&[u8]>| {
        let mut deletable = true;
        update(store, &a, UpdatePolicy::AcceptSingleProcess, &mut buffer, |current, buffer| {
            let now = current.exists.then_some(buffer.as_slice());
            assert_eq!(now, expected, "the bytes before an update");
            assert!(current.exists || buffer.is_empty(), "bytes of a missing object");
            deletable = current.can_delete;
            buffer.clear();
            buffer.extend_from_slice(bytes);
            Ok::<_, StoreError>(change)
        })
        .map(|()| deletable)
    };
    found("update", step(Change::Keep, b"no", None));
    found("update", step(Change::Put, b"one", None));
    found("update", step(Change::Keep, b"no", Some(b"one")));
    let deletable = found("update", step(Change::Put, b"two", Some(b"one")));
    let deleted = step(Change::Delete, b"", Some(b"two"));
    if deletable {
        found("update that deletes", deleted);
        assert_eq!(read(store, &a), None, "an object that was deleted by an update");
    } else {
        let is_refused = matches!(deleted, Err(StoreError::Unsupported { .. }));
        assert!(is_refused, "an update that cannot delete gives {deleted:?}");
        assert_eq!(read(store, &a).as_deref(), Some(&b"two"[..]), "the object after that");
    }
    // An error in the middle changes nothing, and releases the lock.
    found("replace", replace(store, &a, b"three"));
    for _ in 0..2 {
        let policy = UpdatePolicy::AcceptSingleProcess;
        let failed = update(store, &a, policy, &mut buffer, |_, buffer| {
            buffer.push(1);
            Err(StoreError::NoExclusion { key: "made up".to_owned() })
        });
        let is_it = failed.is_err_and(|error| error.to_string().contains("made up"));
        assert!(is_it, "an update does not return the error of its closure");
        let now = read(store, &a);
        assert_eq!(now.as_deref(), Some(&b"three"[..]), "an update that failed");
    }
    found("remove", remove(store, &a));
    assert_eq!(read(store, &a), None, "an object that was removed");
}

/// Tests that no count is lost if threads count in shared objects.
///
/// # Panics
/// If a count is lost.
pub fn concurrent_updates(store: &dyn Store) {
    const THREADS: usize = 8;
    const ROUNDS: u64 = 25;
    let keys = [key("count/0"), key("count/1")];
    thread::scope(|scope| {
        for number in 0..THREADS {
            let keys = &keys;
            scope.spawn(move || {
                let mut buffer = Vec::new();
                for key in keys.iter().cycle().skip(number).take(ROUNDS as usize) {
                    let policy = UpdatePolicy::AcceptSingleProcess;
                    let counted = update(store, key, policy, &mut buffer, |_, bytes| {
                        let mut counts = counts_in(bytes);
                        counts.iter_mut().skip(number).take(1).for_each(|count| *count += 1);
                        *bytes = counts.iter().flat_map(|count| count.to_le_bytes()).collect();
                        Ok::<_, StoreError>(Change::Put)
                    });
                    found(format_args!("update of {key}"), counted);
                }
            });
        }
    });
    let [a, b] = keys.each_ref().map(|key| {
        let bytes = some(format_args!("get of {key}"), read(store, key));
        delete(store, key);
        counts_in(&bytes)
    });
    for (number, (a, b)) in a.into_iter().zip(b).enumerate() {
        assert_eq!(a + b, ROUNDS, "the updates of thread {number} that were not lost");
    }

    fn counts_in(bytes: &[u8]) -> [u64; THREADS] {
        let mut counts = bytes
            .chunks_exact(8)
            .map(|count| u64::from_le_bytes(count.try_into().unwrap_or_default()));
        array::from_fn(|_| counts.next().unwrap_or(0))
    }
}
