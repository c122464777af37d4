//! Reads of parts, and of stores that can only be read.

use std::collections::BTreeMap;
use std::ops::Range;
use std::pin::pin;
use std::slice::from_ref;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread::{self, Thread};

use super::listings::keys_below;
use super::operations::{delete, found, key, pattern, put, read, some};
use crate::{
    Key, Object, ObjectMeta, Prefix, ReadRange, Store, StoreError, StoreExt as _, StoreFuture,
};

/// Tests reading parts of an object, also by the [asynchronous interface](Store::asynchronous).
/// Ranges beyond the end must be errors with the object's size.
///
/// # Panics
/// If the store behaves differently.
pub fn ranges(store: &dyn Store) {
    let a = key("ranges/shard");
    let mut out = vec![7; 100];
    for range in [ReadRange::Ranges(&[]), ReadRange::Suffix(1), ReadRange::Suffix(0)] {
        let meta = found("get of a missing object", store.get(&a, range, &mut out));
        assert_eq!(meta, None, "{range:?} of a missing object");
        assert!(out.is_empty(), "{range:?} of a missing object leaves bytes in the buffer");
    }
    put(store, &a, &pattern(1000));
    parts_of(store, &a, &pattern(1000));
    delete(store, &a);
}

/// Tests a store that can only be read: it must have exactly these objects, and refuse to put or
/// delete any.
///
/// # Panics
/// If the store has other objects or bytes, or can be written.
pub fn reads(store: &dyn Store, objects: &BTreeMap<String, Vec<u8>>) {
    let listed = keys_below(store, &Prefix::root());
    assert!(listed.iter().eq(objects.keys()), "the store lists {listed:?}");
    for (name, bytes) in objects {
        parts_of(store, &key(name), bytes);
    }
    let none = key("conformance/none");
    assert_eq!(read(store, &none), None, "an object that is not there");
    assert_eq!(found("head", store.head(&none)), None, "an object that is not there");
    let all = objects.keys().map(String::as_str).chain([none.as_str()]);
    for name in all {
        let key = key(name);
        assert!(store.put(&key, b"x").is_err(), "{key} can be put");
        if objects.contains_key(name) {
            assert!(store.delete(&key).is_err(), "{key} can be deleted");
        }
        assert_eq!(read(store, &key), objects.get(name).cloned(), "{key} after a put was refused");
    }
}

/// Ranges of an object are ranges of its bytes.
fn parts_of(store: &dyn Store, a: &Key, bytes: &[u8]) {
    let mut out = Vec::new();
    let (meta, len) = (found("head", store.head(a)), bytes.len() as u64);
    let size = some(format_args!("head of {a}"), meta.as_ref()).size;
    assert_eq!(size, len, "the size of {a}");
    let half = len / 2;
    // Overlapping, out of order, empty, whole, at both ends.
    let asked = [half..len, 0..len.min(1), half..half, len..len, half..len - len / 3, 0..len];
    let part = |range: &Range<u64>| {
        let ends = [range.start, range.end].map(|end| usize::try_from(end).unwrap_or(usize::MAX));
        bytes.get(ends[0]..ends[1]).unwrap_or_default()
    };
    let all: Vec<u8> = asked.iter().flat_map(|range| part(range).to_vec()).collect();
    check(store, a, ReadRange::Ranges(&asked), &all, meta.as_ref());
    for range in &asked {
        check(store, a, ReadRange::Ranges(from_ref(range)), part(range), meta.as_ref());
    }
    check(store, a, ReadRange::Ranges(&[]), &[], meta.as_ref());
    for suffix in [half, 0, len] {
        check(store, a, ReadRange::Suffix(suffix), part(&(len - suffix..len)), meta.as_ref());
    }
    check(store, a, ReadRange::All, bytes, meta.as_ref());

    // Errors of a part of a store name keys as the whole store does.
    let backwards = Range { start: 20, end: 10 };
    for beyond in [
        0..len + 1,
        len..len + 1,
        len + 1..len + 1,
        len + 9..len + 19,
        u64::MAX - 1..u64::MAX,
        backwards,
    ] {
        for ranges in [vec![0..len, beyond.clone()], vec![beyond.clone()]] {
            match store.get(a, ReadRange::Ranges(&ranges), &mut out) {
                Err(StoreError::Range { key, range, size })
                    if key.ends_with(a.as_str()) && (&range, size) == (&beyond, len) => {}
                other => panic!("{ranges:?} of {len} bytes at {a} give {other:?}"),
            }
        }
    }
    for beyond in [len + 1, u64::MAX] {
        match store.get(a, ReadRange::Suffix(beyond), &mut out) {
            Err(StoreError::Suffix { key, len: asked, size })
                if key.ends_with(a.as_str()) && (asked, size) == (beyond, len) => {}
            other => panic!("a suffix of {beyond} of {len} bytes at {a} gives {other:?}"),
        }
    }
}

/// One read gives these bytes, and tells the version that `head` tells. So does the asynchronous one.
fn check(
    store: &dyn Store,
    a: &Key,
    range: ReadRange<'_>,
    bytes: &[u8],
    meta: Option<&ObjectMeta>,
) {
    let what = format!("{range:?} of {a}");
    let mut out = vec![7; 3];
    let told = found(&what, store.get(a, range, &mut out));
    assert!(out == bytes, "{what} has {} bytes, and not these {}", out.len(), bytes.len());
    assert_eq!(told.as_ref(), meta, "{what} and head tell the same");
    if let Some(reads) = store.asynchronous() {
        let object = found(&what, wait(reads.get(a, range, vec![7; 3])));
        let Object { bytes: read, meta: told } = some(&what, object);
        assert!(
            read == bytes && Some(&told) == meta,
            "{what} differs if it is read asynchronously"
        );
    }
}

/// Waits for a future on this thread, which is the executor.
fn wait<T>(future: StoreFuture<T>) -> Result<T, StoreError> {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}
