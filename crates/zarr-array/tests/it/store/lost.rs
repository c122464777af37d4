//! Servers that execute requests without saying so, or say so without executing them.

use std::io;
use std::sync::Arc;

use zarr_array::copy::{CopyOptions, Endpoint, copy_array, copy_tree};
use zarr_array::store::{MemoryStore, Prefix, Store, StoreError, StoreExt as _, UpdatePolicy};
use zarr_array::{Array, ArrayError, Cut, Group};
use zarr_metadata::{ArrayMetadata, GroupMetadata};
use zarr_store_tests::key;
use zarr_store_tests::server::{LOST, Server, ServerFault, soon};

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
        let array = array.append(0, 3, &[1, 2, 3], &[]).unwrap();
        assert_eq!(array.shape(), [11], "{fault:?}");
        lose();
        let array = array.resize(&[10], &[vec![]], Cut::Keep).unwrap();
        lose();
        let array = array.update_attributes(&[("a", Some("1"))]).unwrap();
        assert!(server.is_done());

        let found = Array::open(store.clone(), &Prefix::root()).unwrap();
        assert_eq!(found.metadata(), array.metadata());
        assert_eq!(found.read(6..10).unwrap(), [0, 0, 1, 2], "{fault:?}");
        assert_eq!(server.object("zarr.json").unwrap(), array.metadata().json().as_bytes());
    }
}

/// Only a put with a lost answer can be our own: otherwise the same document was put by somebody
/// else.
#[test]
fn what_was_there_before_was_not_created() {
    for fault in [None, Some(ServerFault::DoneThenFails), Some(ServerFault::Closes)] {
        let server = Server::start();
        let store = soon(&server);
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
