//! Servers that do what they are asked and do not say so, or say so and do not.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use zarr_array::copy::{CopyOptions, Side, copy_array, copy_tree};
use zarr_array::store::{
    Change, DirEntry, MemoryStore, Operation, Prefix, PutOutcome, Store, StoreError, StoreExt as _,
    UpdatePolicy, Waiting, open_url, update,
};
use zarr_array::{Array, ArrayError, Cut, Group, Region};
use zarr_metadata::{ArrayMetadata, GroupMetadata};

use super::conformance::{key, keys_below};
use super::server::{Fault, Server};

const LOST: [Fault; 5] = [
    Fault::DoneThenFails,
    Fault::DoneThenCloses,
    Fault::Fails,
    Fault::Closes,
    Fault::DoneThenSilent,
];

fn metadata(length: u64) -> ArrayMetadata {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [{length}],
        "data_type": "uint8", "fill_value": 0, "codecs": [{{"name": "bytes"}}],
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [4]}}}},
        "chunk_key_encoding": {{"name": "default"}}}}"#
    );
    ArrayMetadata::from_json(document.as_bytes()).unwrap()
}

/// A store whose requests are given up after a second.
fn soon(server: &Server) -> Arc<dyn Store> {
    let options = Server::options(&server.endpoint).setting("timeout", "1 s");
    open_url("s3://bucket/base", &options).unwrap()
}

fn sole(array: Array) -> Array {
    array.with_update_policy(UpdatePolicy::AcceptSingleProcess)
}

/// A put that is repeated is refused where it was done the first time: what is there tells.
#[test]
fn changes_are_done_once_whatever_answer_is_lost() {
    for fault in LOST {
        let server = Server::start();
        let store = soon(&server);
        let lose = || server.plan("PUT", "zarr.json", 1, fault);

        lose();
        let array = sole(Array::create(store.clone(), &Prefix::root(), metadata(8)).unwrap());
        lose();
        let array = array.append(0, 3, &[1, 2, 3], &[]).unwrap();
        assert_eq!(array.shape(), [11], "{fault:?}");
        lose();
        let array = array.resize(&[10], &[vec![]], Cut::Keep).unwrap();
        lose();
        let array = array.update_attributes(&[("a", Some("1"))]).unwrap();
        assert!(server.is_done());

        let found = Array::open(store.clone(), &Prefix::root()).unwrap();
        assert_eq!(found.metadata(), array.metadata());
        assert_eq!(found.read(&Region::from(6..10)).unwrap(), [0, 0, 1, 2], "{fault:?}");
        assert_eq!(server.object("zarr.json").unwrap(), array.metadata().json().as_bytes());
    }
}

/// Only a put whose answer was lost can have been done by us: the same document of somebody else is
/// there already.
#[test]
fn what_was_there_before_was_not_created() {
    for fault in [None, Some(Fault::DoneThenFails), Some(Fault::Closes)] {
        let server = Server::start();
        let store = soon(&server);
        Array::create(store.clone(), &Prefix::root(), metadata(8)).unwrap();
        let other = Prefix::new("g").unwrap();
        Group::create(store.clone(), &other, GroupMetadata::new()).unwrap();
        // Lost answers of others' puts say nothing of ours.
        if let Some(fault) = fault {
            server.plan("PUT", "base/h/zarr.json", 1, fault);
            let prefix = Prefix::new("h").unwrap();
            Group::create(store.clone(), &prefix, GroupMetadata::new()).unwrap();
        }
        let error = Array::create(store.clone(), &Prefix::root(), metadata(8)).unwrap_err();
        assert!(matches!(error, ArrayError::Exists { .. }), "{error}");
        let error = Group::create(store, &other, GroupMetadata::new()).unwrap_err();
        assert!(matches!(error, ArrayError::Exists { .. }), "{error}");
    }
}

/// What somebody else put meanwhile is neither taken for ours nor overwritten.
#[test]
fn what_others_put_meanwhile_stays() {
    for fault in [Fault::Fails, Fault::Closes] {
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
    server.plan("PUT", "base/a", 1, Fault::DoneThenFails);
    server.plan("GET", "base/a", 100, Fault::Fails);
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
    for fault in [Fault::Truncated, Fault::Closes, Fault::Fails, Fault::Silent] {
        // The first page, and a later one.
        server.plan("GET", "list-type=2&prefix", 1, fault);
        server.plan("GET", "continuation-token", 2, fault);
        let wanted: BTreeSet<String> = (0..23).map(|n| format!("a/{n:02}")).collect();
        assert_eq!(keys_below(&*store, "a"), wanted, "{fault:?}");
        let mut entries = Vec::new();
        server.plan("GET", "continuation-token", 2, fault);
        let list = store.list_dir(&Prefix::new("b").unwrap(), &mut |entry| {
            entries.push(entry);
            ControlFlow::Continue(())
        });
        list.unwrap();
        let wanted: Vec<_> =
            (0..23).map(|n| DirEntry::Prefix(Prefix::new(format!("b/{n:02}")).unwrap())).collect();
        assert_eq!(entries, wanted, "{fault:?}");
    }
    for fault in [Fault::Truncated, Fault::Closes, Fault::DoneThenCloses, Fault::Silent] {
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
    server.plan("GET", "base/slow", 100, Fault::Silent);
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

/// Objects as they are, and chunks that are made anew.
#[test]
fn a_copy_notices_what_was_not_stored() {
    let source: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let from = Array::create(source.clone(), &Prefix::root(), metadata(20)).unwrap();
    from.write(&Region::from(0..20), &[5; 20]).unwrap();
    for fault in [None, Some(Fault::Lost), Some(Fault::Halved)] {
        for part in ["c/3", "c/0", "zarr.json"] {
            let run = |as_it_is: bool| {
                let server = Server::start();
                if let Some(fault) = fault {
                    server.plan("PUT", part, 1, fault);
                }
                let (store, root) = (server.open(), Prefix::root());
                let options = CopyOptions::new();
                match as_it_is {
                    true => {
                        let (from, to) = (Side::new(&source, &root), Side::new(&store, &root));
                        let mut same = |_: &Prefix, array: &ArrayMetadata| Ok(array.clone());
                        copy_tree(from, to, &mut same, &options, &mut |_, _| {}).map(drop)
                    }
                    false => copy_array(&from, store, &root, metadata(20), &options, &mut |_| {})
                        .map(drop),
                }
            };
            for as_it_is in [true, false] {
                match (fault, run(as_it_is)) {
                    (None, result) => result.unwrap(),
                    (Some(fault), Ok(())) => {
                        panic!("{fault:?} of {part} went unnoticed: {as_it_is}")
                    }
                    (Some(_), Err(error)) => {
                        let text = error.to_string();
                        assert!(text.contains("the server said that it stored"), "{text}");
                    }
                }
            }
        }
    }
    let server = Server::start();
    let checked = server.open().checked().unwrap();
    server.plan("PUT", "base/a", 1, Fault::Halved);
    let error = checked.put(&key("a"), b"0123").unwrap_err();
    let StoreError::Io { cause, .. } = &error else { panic!("{error}") };
    assert_eq!(cause.kind(), io::ErrorKind::InvalidData);
    insta::assert_snapshot!(error, @r#"cannot write "a": the server said that it stored 4 bytes, but it has 2 bytes"#);
    // The same length, but what was there before.
    checked.put(&key("a"), b"0123").unwrap();
    server.plan("PUT", "base/a", 1, Fault::Swapped);
    let error = checked.put(&key("a"), b"4567").unwrap_err();
    insta::assert_snapshot!(error, @r#"cannot write "a": the server said that it stored 4 bytes, but it has another ETag"#);
    // Nobody pays for it elsewhere.
    let before = server.count("HEAD", "");
    server.open().put(&key("a"), b"x").unwrap();
    assert_eq!(server.count("HEAD", ""), before);
}
