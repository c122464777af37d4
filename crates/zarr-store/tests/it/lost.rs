//! Servers that do what they are asked and do not say so, or say so and do not.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use zarr_store::{
    Change, DirEntry, Operation, Prefix, PutFrom, PutOutcome, Sharing, Store, StoreError,
    StoreExt as _, UpdatePolicy, Waiting, open_url, update,
};
use zarr_store_tests::server::{Copies, LOST, Server, ServerFault, soon};
use zarr_store_tests::{key, keys_below};

/// What somebody else put meanwhile is neither taken for ours nor overwritten.
#[test]
fn what_others_put_meanwhile_stays() {
    for fault in [ServerFault::Fails, ServerFault::Closes] {
        let server = Server::start();
        let store = server.open();
        let a = key("a");
        store.put(&a, b"1").unwrap();
        let old = store.head(&a).unwrap().unwrap().version;
        store.put(&a, b"2").unwrap();
        server.plan("PUT", "base/a", 1, fault);
        assert_eq!(store.put_if(&a, b"3", old.as_ref()).unwrap(), PutOutcome::Changed);
        assert!(server.is_done());
        assert_eq!(store.read(&a).unwrap().unwrap(), b"2");
        server.plan("PUT", "base/a", 1, fault);
        assert_eq!(store.put_if(&a, b"3", None).unwrap(), PutOutcome::Changed);
        assert_eq!(store.read(&a).unwrap().unwrap(), b"2");
    }
}

/// An outcome that cannot be found out is an error, not a guess.
#[test]
fn what_cannot_be_found_out_is_an_error() {
    let server = Server::start();
    let store = server.open();
    server.plan("PUT", "base/a", 1, ServerFault::DoneThenFails);
    server.plan("GET", "base/a", 100, ServerFault::Fails);
    let error = store.put_if(&key("a"), b"1", None).unwrap_err();
    assert!(matches!(error, StoreError::Remote { operation: Operation::Put, .. }), "{error}");
}

const CONFLICTS: [ServerFault; 3] = [
    ServerFault::Refuses("409 Conflict"),
    ServerFault::RefusesTruncated("409 Conflict"),
    ServerFault::Refuses("412 Precondition Failed"),
];

/// What a refusal says of an object is not believed: it is read.
#[test]
fn what_is_stored_decides_after_a_refusal() {
    each(CONFLICTS, |fault| {
        let server = Server::start();
        let store = server.open();
        let a = key("a");
        let put = |bytes: &[u8], expected: Option<&_>| {
            server.plan("PUT", "base/a", 1, fault);
            let outcome = store.put_if(&a, bytes, expected).unwrap();
            assert!(server.is_done(), "{fault:?}");
            outcome
        };
        assert_eq!(put(b"1", None), PutOutcome::Written, "{fault:?}");
        let first = store.head(&a).unwrap().unwrap().version;
        assert_eq!(put(b"2", first.as_ref()), PutOutcome::Written, "{fault:?}");
        assert_eq!(put(b"3", first.as_ref()), PutOutcome::Changed, "{fault:?}");
        assert_eq!(put(b"3", None), PutOutcome::Changed, "{fault:?}");
        assert_eq!(store.read(&a).unwrap().unwrap(), b"2");
        // Removed by another at the moment of the conflict.
        let second = store.head(&a).unwrap().unwrap().version;
        server.change("PUT", "base/a", |objects| objects.clear());
        assert_eq!(put(b"3", second.as_ref()), PutOutcome::Changed, "{fault:?}");
        assert_eq!(store.read(&a).unwrap(), None);
    });
}

/// Another's equal bytes are not ours, as long as no answer was lost.
#[test]
fn equal_bytes_of_another_are_not_ours() {
    let server = Server::start();
    let store = server.open();
    server.change("PUT", "base/a", |objects| {
        objects.insert("base/a".to_owned(), b"1".to_vec());
    });
    server.plan("PUT", "base/a", 1, CONFLICTS[0]);
    assert_eq!(store.put_if(&key("a"), b"1", None).unwrap(), PutOutcome::Changed);
}

/// What is not done after all retries is an error, and no claim about the object.
#[test]
fn a_conflict_without_end_is_an_error() {
    let server = Server::start();
    let options = Server::options(&server.endpoint).retries(1, Duration::from_secs(20));
    let store = open_url("s3://bucket/base", &options).unwrap();
    store.put(&key("b"), b"1").unwrap();
    let version = store.head(&key("b")).unwrap().unwrap().version;
    for fault in CONFLICTS {
        for (name, expected) in [("a", None), ("b", version.as_ref())] {
            server.plan("PUT", &format!("base/{name}"), 100, fault);
            let error = store.put_if(&key(name), b"2", expected).unwrap_err();
            assert!(matches!(error, StoreError::Remote { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains(&format!("{name:?}")), "{text}");
            assert!(text.contains("as it was before") && !text.contains("exists"), "{text}");
        }
    }
    assert_eq!(server.object("b").unwrap(), b"1");
    assert_eq!(server.object("a"), None);
}

/// Requests without a condition are repeated, but for listings, whose errors do not tell.
#[test]
fn conflicts_of_requests_without_a_condition_are_retried() {
    each([CONFLICTS[0], CONFLICTS[2]], |fault| {
        let server = Server::start();
        let store = server.open();
        let (a, b) = (key("a"), key("b"));
        for method in ["PUT", "HEAD", "GET", "POST"] {
            server.plan(method, "", 2, fault);
        }
        store.put(&a, b"1").unwrap();
        let meta = store.head(&a).unwrap().unwrap();
        assert_eq!(store.read(&a).unwrap().unwrap(), b"1");
        server.plan("PUT", "", 1, fault);
        let copied = store.put_from(&b, &*store, &a, &meta, Sharing::Never).unwrap();
        assert_eq!(copied, PutFrom::Copied);
        store.delete(&a).unwrap();
        assert_eq!(keys_below(&*store, ""), BTreeSet::from(["b".to_owned()]));
        assert!(server.is_done());
    });
}

/// A copy that the server did not make leaves nothing, and is not asked for again.
#[test]
fn copies_that_are_not_made_are_unsupported() {
    for copies in [Copies::Ignored, Copies::Refused] {
        let server = Server::start();
        let store = server.open();
        store.put(&key("a"), b"1").unwrap();
        let meta = store.head(&key("a")).unwrap().unwrap();
        server.copies(copies);
        for store in [store.clone(), store.checked().unwrap()] {
            let copied = store.put_from(&key("b"), &*store, &key("a"), &meta, Sharing::Never);
            assert_eq!(copied.unwrap(), PutFrom::Unsupported, "{copies:?}");
            assert_eq!(server.object("b"), None);
        }
        assert_eq!(server.count("PUT", "base/b"), 1, "{copies:?}");
    }
    // Once one has been seen, others are believed.
    let server = Server::start();
    let store = server.open();
    store.put(&key("a"), b"1").unwrap();
    let meta = store.head(&key("a")).unwrap().unwrap();
    for name in ["b", "c"] {
        let copied = store.put_from(&key(name), &*store, &key("a"), &meta, Sharing::Never);
        assert_eq!((copied.unwrap(), server.count("HEAD", "base/b")), (PutFrom::Copied, 1));
        assert_eq!(server.object(name).unwrap(), b"1");
    }
    assert_eq!(server.count("HEAD", "base/c"), 0);
}

/// Only what a server does not support is not asked for again: a copy that failed otherwise says
/// nothing about the next one.
#[test]
fn copies_go_on_after_one_that_failed() {
    let refused = |method, status| (method, ServerFault::Refuses(status), 100);
    let faults = [
        refused("PUT", "403 Forbidden"),
        refused("PUT", "503 Service Unavailable"),
        ("PUT", ServerFault::Resets, 100),
        // The copy is made, and not seen.
        refused("HEAD", "503 Service Unavailable"),
        // The first copy is not stored, although the server says so.
        ("PUT", ServerFault::Lost, 1),
    ];
    each(faults, |(method, fault, times)| {
        let server = Server::start();
        let options = Server::options(&server.endpoint).retries(1, Duration::from_secs(20));
        let store = open_url("s3://bucket/base", &options).unwrap();
        store.put(&key("a"), b"1").unwrap();
        let meta = store.head(&key("a")).unwrap().unwrap();
        server.plan(method, "base/b", times, fault);
        let copied = |name| store.put_from(&key(name), &*store, &key("a"), &meta, Sharing::Never);
        assert_eq!(copied("b").unwrap(), PutFrom::Unsupported, "{method} {fault:?}");
        assert_eq!(server.object("b"), None, "{method} {fault:?}");
        assert_eq!(copied("c").unwrap(), PutFrom::Copied, "{method} {fault:?}");
        assert_eq!(server.object("c").unwrap(), b"1");
    });
}

/// What a server does not support is asked for once.
#[test]
fn what_is_not_implemented_is_not_retried() {
    let server = Server::start();
    server.plan("PUT", "base/a", 100, ServerFault::Refuses("501 Not Implemented"));
    let error = server.open().put_if(&key("a"), b"1", None).unwrap_err().to_string();
    assert!(error.contains("501 Not Implemented") && error.contains("NotImplemented"), "{error}");
    assert_eq!(server.count("PUT", ""), 1);
}

/// Without the right to list, S3 refuses objects that are missing.
#[test]
fn a_refused_read_says_that_the_object_may_be_missing() {
    let server = Server::start();
    let store = open_url("s3://private/base", &Server::options(&server.endpoint)).unwrap();
    let (read, looked_up) = (store.read(&key("a")), store.head(&key("a")));
    for error in [read.unwrap_err(), looked_up.unwrap_err()] {
        let error = error.to_string();
        assert!(error.contains("may be missing") && error.contains("s3:ListBucket"), "{error}");
    }
    assert!(!store.put(&key("a"), b"1").unwrap_err().to_string().contains("ListBucket"));
}

/// A put is one request, so that no parts of an upload are left where it fails.
#[test]
fn a_put_that_fails_leaves_no_upload() {
    let server = Server::start();
    let options = Server::options(&server.endpoint).retries(0, Duration::from_secs(20));
    let store = open_url("s3://bucket/base", &options).unwrap();
    server.plan("PUT", "base/a", 1, ServerFault::Refuses("403 Forbidden"));
    // More than the 5 MiB from which on clients upload in parts.
    let bytes = vec![7; 6 << 20];
    store.put(&key("a"), &bytes).unwrap_err();
    store.put(&key("a"), &bytes).unwrap();
    assert_eq!(server.object("a").unwrap().len(), bytes.len());
    assert_eq!(server.count("", "upload"), 0);
    assert_eq!((server.count("PUT", "base/a"), server.count("", "")), (2, 2));
}

/// Calls `work` for each item on a thread of its own: most of the time is waiting.
fn each<T: Copy + Send>(items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    let work = &work;
    thread::scope(|scope| {
        for item in items {
            scope.spawn(move || work(item));
        }
    });
}

/// Every update counts once, with every answer to a put lost that can be.
#[test]
fn updates_are_done_once() {
    each(0..4, |first| {
        let server = Server::start();
        let store = server.open();
        for round in 0..6 {
            server.plan("PUT", "base/a", 1, LOST[(first + round) % 4]);
            update(&*store, &key("a"), UpdatePolicy::default(), &mut Vec::new(), |_, bytes| {
                bytes.push(7);
                Ok::<_, StoreError>(Change::Put)
            })
            .unwrap();
            assert_eq!(store.read(&key("a")).unwrap().unwrap(), vec![7; round + 1]);
        }
        assert!(server.is_done());
    });
}

#[test]
fn listings_go_on_after_lost_answers() {
    let faults =
        [ServerFault::Truncated, ServerFault::Closes, ServerFault::Fails, ServerFault::Silent];
    each(faults, |fault| {
        let server = Server::start();
        let store = soon(&server);
        for n in 0..23 {
            store.put(&key(&format!("a/{n:02}")), b"x").unwrap();
            store.put(&key(&format!("b/{n:02}/x")), b"x").unwrap();
        }
        // The first page, and a later one.
        server.plan("GET", "list-type=2&prefix", 1, fault);
        server.plan("GET", "continuation-token", 2, fault);
        let wanted: BTreeSet<String> = (0..23).map(|n| format!("a/{n:02}")).collect();
        assert_eq!(keys_below(&*store, "a"), wanted, "{fault:?}");
        server.plan("GET", "continuation-token", 2, fault);
        let entries = store.list_dir(&Prefix::new("b").unwrap()).map(Result::unwrap);
        let entries: Vec<_> = entries.collect();
        let wanted: Vec<_> =
            (0..23).map(|n| DirEntry::Prefix(Prefix::new(format!("b/{n:02}")).unwrap())).collect();
        assert_eq!(entries, wanted, "{fault:?}");
        assert!(server.is_done(), "{fault:?}");
    });
}

#[test]
fn deletions_go_on_after_lost_answers() {
    let faults = [
        ServerFault::Truncated,
        ServerFault::Closes,
        ServerFault::DoneThenCloses,
        ServerFault::Silent,
    ];
    each(faults, |fault| {
        let server = Server::start();
        let store = soon(&server);
        store.put(&key("c/0"), b"x").unwrap();
        server.plan("GET", "list-type=2", 1, fault);
        server.plan("POST", "delete", 1, fault);
        store.delete_prefix(&Prefix::new("c").unwrap()).unwrap();
        assert!(keys_below(&*store, "c").is_empty(), "{fault:?}");
        assert!(server.is_done(), "{fault:?}");
    });
}

/// Given up after the time that was allowed, and somebody is told what is waited for before.
#[test]
fn a_silent_server_is_told_of_and_given_up() {
    let server = Server::start();
    let told: Arc<Mutex<Vec<Waiting>>> = Arc::default();
    let tell = Arc::clone(&told);
    let options = Server::options(&server.endpoint)
        .retries(10, Duration::from_secs(7))
        .on_wait(move |waiting| tell.lock().unwrap().push(waiting.clone()));
    let store = open_url("s3://bucket/base", &options).unwrap();
    store.put(&key("quick"), b"x").unwrap();
    assert!(told.lock().unwrap().is_empty());
    server.plan("GET", "base/slow", 100, ServerFault::Silent);
    let begun = Instant::now();
    let error = store.read(&key("slow")).unwrap_err();
    assert!(matches!(error, StoreError::Remote { .. }), "{error}");
    let took = begun.elapsed();
    assert!(took > Duration::from_secs(6) && took < Duration::from_secs(25), "{took:?}");
    let told = told.lock().unwrap();
    let first = told.first().unwrap();
    let host = server.endpoint.strip_prefix("http://").unwrap();
    let waited = first.waited;
    assert!(waited >= Duration::from_secs(5) && waited < Duration::from_secs(7), "{waited:?}");
    assert_eq!(
        first.to_string(),
        format!(
            "AmazonS3(bucket) at {host} has not answered for 5 s, asked to read \"slow\"; tried \
             again for up to 7 s"
        )
    );
}

/// A bucket that does not exist is an error: as an object that is not there, each chunk of an array
/// would read as the fill value.
#[test]
fn a_missing_bucket_is_no_missing_object() {
    let server = Server::start();
    let key = key("c/0");
    let read = |url: &str| {
        let options = Server::options(&server.endpoint);
        open_url(url, &options).unwrap().read(&key)
    };
    assert!(matches!(read("s3://bucket/base"), Ok(None)));
    let error = read("s3://missing/base").unwrap_err();
    assert_eq!(error.server_fault(), Some(zarr_store::ServerFault::NoBucket), "{error}");
    assert!(error.to_string().contains("c/0"), "{error}");
}
