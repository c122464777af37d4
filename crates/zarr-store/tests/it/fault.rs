use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zarr_store::{
    Change, Fault, FaultStore, Links, LocalStore, MemoryStore, Prefix, ReadRange, Store,
    StoreError, StoreExt as _, UpdatePolicy, update,
};
use zarr_store_tests::{key, keys_below};

#[test]
fn faults_do_what_they_say() {
    let inner = MemoryStore::new();
    let (a, b) = (key("a"), key("b"));
    let delay = Duration::from_millis(20);
    let store = FaultStore::new(inner.clone())
        .at(1, Fault::Fail(ErrorKind::StorageFull))
        .at(3, Fault::Truncate(2))
        .at(4, Fault::Truncate(2))
        .at(5, Fault::Truncate(2))
        .at(6, Fault::Truncate(2))
        .at(7, Fault::Delay(delay))
        .on(b.clone(), Fault::Fail(ErrorKind::PermissionDenied));

    store.put(&a, b"01234").unwrap();
    let error = store.put(&a, b"56789").unwrap_err();
    insta::assert_snapshot!(error, @r#"cannot write "a": failed at operation 1 on purpose"#);
    assert_eq!(store.read(&a).unwrap().unwrap(), b"01234");
    assert_eq!(store.read(&a).unwrap().unwrap(), b"01");
    assert_eq!(store.size(&a).unwrap(), Some(2));
    let mut out = Vec::new();
    store.get(&a, ReadRange::Suffix(1), &mut out).unwrap();
    assert_eq!(out, b"1");
    store.put(&a, b"abc").unwrap();
    assert_eq!(inner.read(&a).unwrap().unwrap(), b"ab");
    let start = Instant::now();
    assert_eq!(store.read(&a).unwrap().unwrap(), b"ab");
    assert!(start.elapsed() >= delay);

    for _ in 0..2 {
        let error = store.read(&b).unwrap_err();
        assert!(
            matches!(&error, StoreError::Io { cause, .. } if cause.kind() == ErrorKind::PermissionDenied)
        );
    }
    assert_eq!(store.operations(), 10);
    assert!(!store.is_dead());
}

#[test]
fn the_dead_stay_dead() {
    for (fault, survives) in [(Fault::DieBefore, false), (Fault::DieAfter, true)] {
        let inner = MemoryStore::new();
        let store = FaultStore::new(&inner).at(1, fault);
        let (a, b) = (key("a"), key("b"));
        store.put(&a, b"1").unwrap();
        store.put(&b, b"2").unwrap_err();
        assert!(store.is_dead());
        store.put(&a, b"3").unwrap_err();
        store.read(&a).unwrap_err();
        store.delete(&a).unwrap_err();
        store.lock(&a).unwrap_err();
        store.size(&a).unwrap_err();
        store.list(&Prefix::root(), Links::Follow).next().unwrap().unwrap_err();
        assert_eq!(inner.read(&a).unwrap().unwrap(), b"1");
        assert_eq!(inner.read(&b).unwrap().is_some(), survives);
    }
}

/// Updates of several objects, interrupted at every operation: each object is old or new, and
/// repeating all of it completes it.
#[test]
fn updates_that_die_at_any_operation_leave_old_or_new() {
    let work = |store: &dyn Store| -> Result<(), StoreError> {
        for name in ["x/0", "x/1", "x/2"] {
            let mut buffer = Vec::new();
            update(store, &key(name), UpdatePolicy::default(), &mut buffer, |_, bytes| {
                bytes.clear();
                bytes.extend_from_slice(&[2; 100]);
                Ok::<_, StoreError>(Change::Put)
            })?;
        }
        store.delete(&key("x/3"))
    };
    let fresh = |store: &dyn Store| {
        for name in ["x/0", "x/1", "x/3"] {
            store.put(&key(name), &[1; 50]).unwrap();
        }
    };
    let counted = FaultStore::new(MemoryStore::new());
    fresh(counted.inner());
    work(&counted).unwrap();
    let operations = counted.operations();
    assert_eq!(operations, 3 * 3 + 1);

    let folder = tempfile::tempdir().unwrap();
    for number in 0..operations {
        for fault in [Fault::DieBefore, Fault::DieAfter] {
            for local in [false, true] {
                let inner: Arc<dyn Store> = if local {
                    let root = folder.path().join(format!("{number}{fault:?}"));
                    Arc::new(LocalStore::create(root).unwrap())
                } else {
                    Arc::new(MemoryStore::new())
                };
                fresh(&inner);
                work(&FaultStore::new(&inner).at(number, fault)).unwrap_err();
                for (name, may_be_missing) in
                    [("x/0", false), ("x/1", false), ("x/2", true), ("x/3", true)]
                {
                    match inner.read(&key(name)).unwrap() {
                        Some(bytes) => {
                            assert!(bytes == [1; 50] || bytes == [2; 100], "{name}: {bytes:?}");
                        }
                        None => assert!(may_be_missing, "{name}"),
                    }
                }
                work(&inner).unwrap();
                assert_eq!(keys_below(&inner, "").len(), 3);
                for name in ["x/0", "x/1", "x/2"] {
                    assert_eq!(inner.read(&key(name)).unwrap().unwrap(), [2; 100]);
                }
            }
        }
    }
}
