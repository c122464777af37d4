use std::ops::Range;
use std::sync::Arc;

use object_store::ObjectStoreExt as _;
use object_store::memory::InMemory;
use object_store::path::Path;
use zarr_store::{
    AsyncStore, Change, ConditionalPut, LockScope, MemoryStore, Prefix, ReadRange, RemoteStore,
    Store, StoreError, StoreExt, StoreOptions, UpdatePolicy, conformance, update,
};
use zarr_store_tests::executor::block_on;
use zarr_store_tests::{key, keys_below, without_key};

fn in_memory(base: &str, conditional_put: ConditionalPut) -> RemoteStore {
    let backend = Arc::new(InMemory::new());
    RemoteStore::new(backend, Path::from(base), conditional_put, &StoreOptions::new())
}

#[test]
fn object_store_in_memory() {
    for base in ["", "deep/base"] {
        let store: Arc<dyn Store> = Arc::new(in_memory(base, ConditionalPut::Supported));
        conformance::all(&store);
        assert_eq!(store.lock(&key("a")).unwrap().scope(), LockScope::Process);
    }
}

/// Backends hold longer names than keys are.
#[test]
fn names_that_are_no_keys_are_told() {
    for base in ["", "deep/base"] {
        let backend = Arc::new(InMemory::new());
        let long = "x".repeat(zarr_store::MAX_KEY_LEN + 1);
        for name in ["a/0".to_owned(), long.clone(), format!("a/{long}")] {
            let path = format!("{base}/{name}");
            let path = Path::from(path.trim_matches('/'));
            block_on(backend.put(&path, "x".into())).unwrap();
        }
        let options = StoreOptions::new();
        let unsupported = ConditionalPut::Unsupported;
        let store = RemoteStore::new(backend, Path::from(base), unsupported, &options);
        assert_eq!(keys_below(&store, "").into_iter().collect::<Vec<_>>(), ["a/0"]);
        assert_eq!(without_key(&store, ""), [format!("a/{long}"), long.clone()]);
        assert_eq!(without_key(&store, "a"), [format!("a/{long}")]);
        assert_eq!(without_key(&store, "b"), Vec::<String>::new());
    }
}

#[test]
fn one_request_at_a_time_is_enough() {
    let options = StoreOptions::new().requests_in_flight(1);
    let backend = Arc::new(InMemory::new());
    let store: Arc<dyn Store> =
        Arc::new(RemoteStore::new(backend, Path::default(), ConditionalPut::Supported, &options));
    conformance::all(&store);
}

/// As many as can be counted are as good as without a limit.
#[test]
fn any_number_of_requests_is_a_limit() {
    for requests in [0, 1, usize::MAX / 8, usize::MAX / 8 + 1, usize::MAX] {
        let options = StoreOptions::new().requests_in_flight(requests);
        let backend = Arc::new(InMemory::new());
        let store = RemoteStore::new(backend, Path::default(), ConditionalPut::Supported, &options);
        assert_eq!(store.read(&key("a")).unwrap(), None);
    }
}

#[test]
fn without_exclusion_an_update_is_refused_unless_asked_for() {
    let store = in_memory("", ConditionalPut::Unsupported);
    let a = key("a");
    let mut buffer = Vec::new();
    let put = |_, bytes: &mut Vec<u8>| {
        bytes.push(1);
        Ok::<_, StoreError>(Change::Put)
    };
    let error = update(&store, &a, UpdatePolicy::RequireExclusion, &mut buffer, put).unwrap_err();
    insta::assert_snapshot!(error, @r#"cannot update "a": this store has neither locks between processes nor conditional writes, so that another writer's change could be lost"#);
    assert_eq!(store.read(&a).unwrap(), None);
    for _ in 0..2 {
        update(&store, &a, UpdatePolicy::AcceptSingleProcess, &mut buffer, put).unwrap();
    }
    assert_eq!(store.read(&a).unwrap().unwrap(), [1, 1]);
    assert!(matches!(
        StoreExt::put_if(&store, &a, b"x", None),
        Err(StoreError::Unsupported { .. })
    ));
}

/// What another writer puts between the read and the put of an update is not overwritten: the change
/// is made again, to the newer bytes.
#[test]
fn an_update_that_another_writer_overtakes_is_made_again() {
    for before in [None, Some("before")] {
        let backend = Arc::new(InMemory::new());
        let handle = || {
            let options = StoreOptions::new();
            RemoteStore::new(backend.clone(), Path::default(), ConditionalPut::Supported, &options)
        };
        let (ours, theirs, a) = (handle(), handle(), key("a"));
        if let Some(before) = before {
            StoreExt::put(&theirs, &a, before.as_bytes()).unwrap();
        }
        let mut found = Vec::new();
        update(&ours, &a, UpdatePolicy::default(), &mut Vec::new(), |current, bytes| {
            found.push(current.exists.then(|| String::from_utf8(bytes.clone()).unwrap()));
            if found.len() == 1 {
                StoreExt::put(&theirs, &a, b"theirs").unwrap();
            }
            bytes.extend_from_slice(b", ours");
            Ok::<_, StoreError>(Change::Put)
        })
        .unwrap();
        assert_eq!(found, [before.map(str::to_owned), Some("theirs".to_owned())]);
        assert_eq!(ours.read(&a).unwrap().unwrap(), b"theirs, ours");
    }
}

/// Two handles of one bucket lock the same names, two buckets with the same keys do not.
#[test]
fn threads_of_other_handles_are_kept_out_too() {
    let store = in_memory("x", ConditionalPut::Supported);
    let guard = store.lock(&key("a")).unwrap();
    drop(store.lock(&key("b")).unwrap());
    let other = store.clone();
    let waiting = std::thread::spawn(move || drop(other.lock(&key("a")).unwrap()));
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(!waiting.is_finished());
    drop(guard);
    waiting.join().unwrap();
    drop(store.lock(&key("a")).unwrap());
}

#[test]
fn listing_more_than_a_page() {
    let store = in_memory("base", ConditionalPut::Supported);
    for n in 0..2500 {
        StoreExt::put(&store, &key(&format!("a/c/{n}")), b"").unwrap();
    }
    assert_eq!(keys_below(&store, "a").len(), 2500);
    store.delete_prefix(&Prefix::new("a/c").unwrap()).unwrap();
    assert!(keys_below(&store, "").is_empty());
}

/// Ranges of any kind against cutting the whole object, close together and far apart.
#[test]
fn ranges_are_those_of_the_whole_object() {
    let store = in_memory("", ConditionalPut::Supported);
    let a = key("shard");
    let size = 20_u64 << 20;
    let mut bytes = vec![0; size as usize];
    for (at, word) in bytes.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&(at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    }
    StoreExt::put(&store, &a, &bytes).unwrap();
    let mut seed = 1_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut out = Vec::new();
    for round in 0..60 {
        let count = random(12);
        // Dense, so that gaps are bridged, or all over the object.
        let window = if round % 2 == 0 { 300_000 } else { size };
        let start = random(size - window + 1);
        let ranges: Vec<Range<u64>> = (0..count)
            .map(|_| {
                let start = start + random(window);
                let most = (size - start).min([10, 1000, 5 << 20][random(3) as usize]);
                start..start + random(most + 1)
            })
            .collect();
        let parts = ranges.iter().map(|at| &bytes[at.start as usize..at.end as usize]);
        let expected = parts.collect::<Vec<_>>().concat();
        let meta = Store::get(&store, &a, ReadRange::Ranges(&ranges), &mut out).unwrap();
        assert_eq!(meta.unwrap().size, size);
        assert!(out == expected, "round {round}: {ranges:?}");
        let len = random(100_000);
        let meta = Store::get(&store, &a, ReadRange::Suffix(len), &mut out).unwrap();
        assert_eq!(meta.unwrap().size, size);
        assert!(out == bytes[(size - len) as usize..], "the last {len} bytes");
    }
}

/// A range that a damaged index might hold costs an error, not memory.
#[test]
fn absurd_ranges_take_no_memory() {
    let store = in_memory("", ConditionalPut::Supported);
    let a = key("a");
    StoreExt::put(&store, &a, b"0123").unwrap();
    for range in [0..1 << 40, 1 << 60..(1 << 60) + (1 << 50)] {
        let mut out = Vec::new();
        for ranges in [vec![range.clone()], vec![range.clone(), 0..1]] {
            let error = Store::get(&store, &a, ReadRange::Ranges(&ranges), &mut out).unwrap_err();
            assert!(matches!(error, StoreError::Range { size: 4, .. }), "{error}");
        }
        assert!(out.capacity() < 1 << 20);
    }
    let mut out = Vec::new();
    let error = Store::get(&store, &a, ReadRange::Suffix(1 << 45), &mut out).unwrap_err();
    assert!(matches!(error, StoreError::Suffix { size: 4, .. }), "{error}");
    assert!(out.capacity() < 1 << 20);
}

pub(crate) async fn asynchronous(store: &dyn Store) {
    let (a, missing) = (key("async/a"), key("async/b"));
    store.put(&a, b"01234").unwrap();
    let face = store.asynchronous().unwrap();
    assert!(face.get(&missing, ReadRange::All, vec![1; 10]).await.unwrap().is_none());
    let found = face.get(&a, ReadRange::All, Vec::with_capacity(100)).await.unwrap().unwrap();
    assert_eq!((found.bytes.as_slice(), found.meta.size), (&b"01234"[..], 5));
    assert_eq!(store.head(&a).unwrap().as_ref(), Some(&found.meta));
    let ranges = [3..5, 0..1];
    for (range, bytes) in
        [(ReadRange::Ranges(&ranges), &b"340"[..]), (ReadRange::Suffix(2), &b"34"[..])]
    {
        let part = face.get(&a, range, vec![9; 3]).await.unwrap().unwrap();
        assert_eq!((part.bytes.as_slice(), &part.meta), (bytes, &found.meta));
        assert!(face.get(&missing, range, Vec::new()).await.unwrap().is_none());
    }
    let beyond = [3..6, 0..1];
    let error = face.get(&a, ReadRange::Ranges(&beyond), Vec::new()).await.unwrap_err();
    assert!(matches!(error, StoreError::Range { size: 5, .. }), "{error}");
    store.delete(&a).unwrap();
    assert!(face.get(&a, ReadRange::All, found.bytes).await.unwrap().is_none());
}

/// Any executor will do, even one that knows nothing of input and output.
#[test]
fn the_asynchronous_face_is_the_same_store() {
    let store: Arc<dyn Store> = Arc::new(in_memory("x", ConditionalPut::Supported));
    block_on(asynchronous(&store));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(asynchronous(&Box::new(&*store)));
    // Blocking stores have none of their own.
    assert!(MemoryStore::new().asynchronous().is_none());
}

/// The blocking face works on a thread of somebody else's runtime, where blocking on a future
/// through that runtime would panic.
#[test]
fn the_blocking_face_works_within_a_runtime() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let store = in_memory("x", ConditionalPut::Supported);
    let task = runtime.spawn(async move {
        StoreExt::put(&store, &key("a"), b"1").unwrap();
        assert_eq!(store.read(&key("a")).unwrap().unwrap(), b"1");
        assert_eq!(keys_below(&store, "").len(), 1);
    });
    runtime.block_on(task).unwrap();
}

/// A read that is dropped, before it begins or while it is under way, gives back its place among
/// the requests in flight.
#[test]
fn dropped_reads_make_room_for_others() {
    let options = StoreOptions::new().requests_in_flight(1);
    let store = RemoteStore::new(
        Arc::new(InMemory::new()),
        Path::default(),
        ConditionalPut::Supported,
        &options,
    );
    let a = key("a");
    StoreExt::put(&store, &a, &[1; 1000]).unwrap();
    for round in 0..200_u64 {
        let mut get = AsyncStore::get(&store, &a, ReadRange::All, Vec::new());
        if round % 3 > 0 {
            let waker = std::task::Waker::noop();
            let _ = get.as_mut().poll(&mut std::task::Context::from_waker(waker));
            std::thread::sleep(std::time::Duration::from_micros(round));
        }
        drop(get);
        assert_eq!(store.read(&a).unwrap().unwrap(), [1; 1000]);
    }
}

/// Several writers put the same bytes, as the parts of a copy that run twice, in a store that gives
/// each put an ETag of its own.
#[test]
fn equal_bytes_of_others_are_no_failure_of_a_checked_put() {
    let store = in_memory("", ConditionalPut::Supported);
    let checked = store.checked().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..300).for_each(|_| checked.put(&key("a"), b"equal").unwrap()));
        }
    });
}
