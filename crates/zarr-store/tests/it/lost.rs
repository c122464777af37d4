//! Servers that do what they are asked and do not say so, or say so and do not.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use zarr_store::{
    Change, DirEntry, Operation, Prefix, PutOutcome, Store, StoreError, StoreExt as _,
    UpdatePolicy, Waiting, open_url, update,
};
use zarr_store_tests::server::{LOST, Server, ServerFault, soon};
use zarr_store_tests::{key, keys_below};

/// What somebody else put meanwhile is neither taken for ours nor overwritten.
#[test]
fn what_others_put_meanwhile_stays() {
    for fault in [ServerFault::Fails, ServerFault::Closes] {
        let server = Server::start();
        let store = soon(&server);
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
    let store = soon(&server);
    server.plan("PUT", "base/a", 1, ServerFault::DoneThenFails);
    server.plan("GET", "base/a", 100, ServerFault::Fails);
    let error = store.put_if(&key("a"), b"1", None).unwrap_err();
    assert!(matches!(error, StoreError::Remote { operation: Operation::Put, .. }), "{error}");
}

/// Every update counts once, with every answer to a put lost that can be.
#[test]
fn updates_are_done_once() {
    let server = Server::start();
    let store = server.open();
    for round in 0..40 {
        server.plan("PUT", "base/a", 1, LOST[round % 4]);
        update(&*store, &key("a"), UpdatePolicy::default(), &mut Vec::new(), |_, bytes| {
            bytes.push(7);
            Ok::<_, StoreError>(Change::Put)
        })
        .unwrap();
        assert_eq!(store.read(&key("a")).unwrap().unwrap(), vec![7; round + 1]);
    }
    assert!(server.is_done());
}

#[test]
fn listings_go_on_after_lost_answers() {
    let server = Server::start();
    let store = soon(&server);
    for n in 0..23 {
        store.put(&key(&format!("a/{n:02}")), b"x").unwrap();
        store.put(&key(&format!("b/{n:02}/x")), b"x").unwrap();
    }
    for fault in
        [ServerFault::Truncated, ServerFault::Closes, ServerFault::Fails, ServerFault::Silent]
    {
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
    }
    for fault in [
        ServerFault::Truncated,
        ServerFault::Closes,
        ServerFault::DoneThenCloses,
        ServerFault::Silent,
    ] {
        store.put(&key("c/0"), b"x").unwrap();
        server.plan("GET", "list-type=2", 1, fault);
        server.plan("POST", "delete", 1, fault);
        store.delete_prefix(&Prefix::new("c").unwrap()).unwrap();
        assert!(keys_below(&*store, "c").is_empty());
    }
    assert!(server.is_done());
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
    let error = read("s3://missing/base").unwrap_err().to_string();
    assert!(error.contains("NoSuchBucket") && error.contains("c/0"), "{error}");
}
