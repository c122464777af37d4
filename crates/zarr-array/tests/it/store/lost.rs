//! Servers that execute requests without saying so, or say so without executing them.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, Store, StoreError, StoreExt as _, UpdatePolicy};
use zarr_array::unfinished::is_ended;
use zarr_array::{Array, ArrayError, Group, Part, Resize, create_parents};
use zarr_copy::{CopyOptions, Endpoint, MARKER, TransferError, copy_array, copy_tree};
use zarr_metadata::{ArrayMetadata, GroupMetadata};
use zarr_store_tests::Objects;
use zarr_store_tests::server::{LOST, Server, ServerFault, soon};
use zarr_store_tests::{key, keys_below};

fn metadata(length: u64) -> ArrayMetadata {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [{length}],
        "data_type": "uint8", "fill_value": 0, "codecs": [{{"name": "bytes"}}],
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [4]}}}},
        "chunk_key_encoding": {{"name": "default"}}}}"#
    );
    ArrayMetadata::from_json(document.as_bytes()).unwrap()
}

fn sole(array: Array) -> Array {
    array.with_update_policy(UpdatePolicy::AcceptSingleProcess)
}

/// A repeated put is refused if the first one was executed: the stored object shows that.
#[test]
fn changes_are_done_once_whatever_answer_is_lost() {
    for fault in LOST {
        let server = Server::start();
        let store = soon(&server);
        let lose = || server.plan("PUT", "zarr.json", 1, fault);

        lose();
        let array = sole(Array::create(store.clone(), &Prefix::root(), metadata(8)).unwrap());
        lose();
        let array = array.append(0, 3, &[1, 2, 3]).unwrap();
        assert_eq!(array.shape(), [11], "{fault:?}");
        lose();
        let array = array.resize(Resize::to([10]).keep(true)).unwrap();
        lose();
        let array = array.update_attributes(&[("a", Some("1"))]).unwrap();
        assert!(server.is_done());

        let found = Array::open(store.clone(), &Prefix::root()).unwrap();
        assert_eq!(found.metadata(), array.metadata());
        assert_eq!(found.read(6..10).unwrap(), [0, 0, 1, 2], "{fault:?}");
        assert_eq!(server.object("zarr.json").unwrap(), array.metadata().json().as_bytes());
    }
}

/// Two appends that grow an array alike would both put their elements in the same place.
#[test]
fn an_append_does_not_take_over_that_of_another() {
    for fault in LOST {
        let server = Server::start();
        let store = soon(&server);
        let array = Array::create(store.clone(), &Prefix::root(), metadata(8)).unwrap();
        let other = array.metadata().with_shape(&[9]).unwrap().json().as_bytes().to_vec();
        server.plan("PUT", "zarr.json", 1, fault);
        server.change("PUT", "zarr.json", |objects| {
            objects.insert("base/zarr.json".to_owned(), other);
        });
        let error = array.append(0, 1, &[1]).unwrap_err();
        assert!(matches!(error, ArrayError::Stale { .. }), "{fault:?}: {error}");
        assert!(server.is_done());
        assert_eq!(Array::open(store, &Prefix::root()).unwrap().read(8..9).unwrap(), [0]);
    }
}

/// Only a put with a lost answer can be our own: otherwise the same document was put by somebody
/// else.
#[test]
fn what_was_there_before_was_not_created() {
    for fault in [None, Some(ServerFault::DoneThenFails), Some(ServerFault::Closes)] {
        let server = Server::start();
        let store = server.open();
        let first = Prefix::new("a").unwrap();
        Array::create(store.clone(), &first, metadata(8)).unwrap();
        let other = Prefix::new("g").unwrap();
        Group::create(store.clone(), &other, GroupMetadata::new()).unwrap();
        // Lost answers of other puts say nothing about this one.
        if let Some(fault) = fault {
            server.plan("PUT", "base/h/zarr.json", 1, fault);
            let prefix = Prefix::new("h").unwrap();
            Group::create(store.clone(), &prefix, GroupMetadata::new()).unwrap();
        }
        let error = Array::create(store.clone(), &first, metadata(8)).unwrap_err();
        assert!(matches!(error, ArrayError::Exists { .. }), "{error}");
        let error = Group::create(store, &other, GroupMetadata::new()).unwrap_err();
        assert!(matches!(error, ArrayError::Exists { .. }), "{error}");
    }
}

/// Where others put something else at the same moment, that is found and named.
#[test]
fn what_others_put_meanwhile_is_seen() {
    let at = |text: &str| match text {
        "" => Prefix::root(),
        text => Prefix::new(text).unwrap(),
    };
    let other = metadata(5).json().to_owned();
    let put = |path: &'static str, document: &str| {
        let document = document.as_bytes().to_vec();
        move |objects: &mut Objects| drop(objects.insert(path.to_owned(), document))
    };

    let server = Server::start();
    let store = server.open();
    let group = r#"{"zarr_format": 3, "node_type": "group"}"#;
    server.change("PUT", "q/zarr.json", put("base/q/zarr.json", group));
    create_parents(&store, &at("q/new")).unwrap();
    server.change("PUT", "base/r/zarr.json", put("base/r/zarr.json", &other));
    let error = create_parents(&store, &at("r/new")).unwrap_err();
    assert!(matches!(error, ArrayError::NotGroup { .. }), "{error}");
    assert!(server.is_done());

    let source: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = Array::create(source.clone(), &at("a"), metadata(8)).unwrap();
    array.write(0..8, &[5; 8]).unwrap();
    Group::create(source.clone(), &Prefix::root(), GroupMetadata::new()).unwrap();
    let copy = |from: &str, to: &str| {
        let (from, to) = (at(from), at(to));
        let (from, to) = (Endpoint::new(&source, &from), Endpoint::new(&store, &to));
        let options = CopyOptions::new().part(Part::new(1, 1).unwrap());
        let mut same = |_: &Prefix, array: &ArrayMetadata| Ok(array.clone());
        copy_tree(from, to, &mut same, &options, &mut |_, _| {}).map(drop)
    };
    server.change("PUT", "h/zarr.json", put("base/h/zarr.json", &other));
    let error = copy("a", "h").unwrap_err();
    assert!(matches!(error, TransferError::OtherDocument { .. }), "{error}");
    // Below the root of the copy.
    server.change("PUT", "i/a/zarr.json", put("base/i/a/zarr.json", &other));
    let error = copy("", "i").unwrap_err();
    assert!(matches!(error, TransferError::OtherDocument { .. }), "{error}");
    assert_eq!(server.object("i/zarr.json"), None);
    // Also without parts, and where the other was there first.
    let whole = |to: &str| {
        let (from, to) = (at("a"), at(to));
        let (from, to) = (Endpoint::new(&source, &from), Endpoint::new(&store, &to));
        let mut same = |_: &Prefix, array: &ArrayMetadata| Ok(array.clone());
        copy_tree(from, to, &mut same, &CopyOptions::new(), &mut |_, _| {}).map(drop)
    };
    server.change("PUT", "l/zarr.json", put("base/l/zarr.json", &other));
    let error = whole("l").unwrap_err();
    assert!(matches!(error, TransferError::OtherDocument { .. }), "{error}");
    assert_eq!(server.object("l/zarr.json").unwrap(), other.as_bytes());
    server.change("PUT", &format!("m/{MARKER}"), put("base/m/zarr.json", &other));
    let error = whole("m").unwrap_err();
    assert!(matches!(error, TransferError::Exists { .. }), "{error}");
    assert_eq!(server.object("m/zarr.json").unwrap(), other.as_bytes());
    // The marker of this copy has ended, since no server removes on a condition.
    let marker = format!("m/{MARKER}");
    assert!(is_ended(&server.object(&marker).unwrap()));
    assert_eq!(keys_below(&*store, "m"), BTreeSet::from([marker, "m/zarr.json".to_owned()]));
    // Another copy that begins at the same moment.
    let marker = format!("base/n/{MARKER}");
    server.change("PUT", &format!("n/{MARKER}"), |objects| {
        objects.insert(marker, b"{}".to_vec());
    });
    let error = whole("n").unwrap_err();
    assert!(matches!(error, TransferError::Unfinished { .. }), "{error}");
    assert_eq!(server.object(&format!("n/{MARKER}")).unwrap(), b"{}");
    assert_eq!(keys_below(&*store, "n").len(), 1);
    // What another part of this copy would put.
    server.change("PUT", "k/zarr.json", put("base/k/zarr.json", metadata(8).json()));
    copy("a", "k").unwrap();
    assert!(server.is_done());
    // Another run of this part completes the copy, and removes what this one has just recorded.
    let record = "p/zarr-kit-copy.1.done.json";
    let document = metadata(8).json().as_bytes().to_vec();
    server.change("HEAD", record, move |objects| {
        objects.retain(|key, _| !key.starts_with("base/p/zarr-kit-copy"));
        objects.insert("base/p/zarr.json".to_owned(), document);
    });
    copy("a", "p").unwrap();
    assert!(server.is_done());
    assert!(!keys_below(&*store, "p").iter().any(|key| key.contains("zarr-kit-copy")));
}

/// Objects copied unchanged, and chunks that are encoded again.
#[test]
fn a_copy_notices_what_was_not_stored() {
    let source: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let from = Array::create(source.clone(), &Prefix::root(), metadata(20)).unwrap();
    from.write(0..20, &[5; 20]).unwrap();
    for fault in [None, Some(ServerFault::Lost), Some(ServerFault::Halved)] {
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
                        let (from, to) =
                            (Endpoint::new(&source, &root), Endpoint::new(&store, &root));
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
    server.plan("PUT", "base/a", 1, ServerFault::Halved);
    let error = checked.put(&key("a"), b"0123").unwrap_err();
    let StoreError::Io { cause, .. } = &error else { panic!("{error}") };
    assert_eq!(cause.kind(), io::ErrorKind::InvalidData);
    insta::assert_snapshot!(error, @r#"cannot write "a": the server said that it stored 4 bytes, but it has 2 bytes"#);
    // The same length, but the old content.
    checked.put(&key("a"), b"0123").unwrap();
    server.plan("PUT", "base/a", 1, ServerFault::Swapped);
    let error = checked.put(&key("a"), b"4567").unwrap_err();
    insta::assert_snapshot!(error, @r#"cannot write "a": the server said that it stored 4 bytes, but it has another ETag"#);
    // This costs nothing elsewhere.
    let before = server.count("HEAD", "");
    server.open().put(&key("a"), b"x").unwrap();
    assert_eq!(server.count("HEAD", ""), before);
}
