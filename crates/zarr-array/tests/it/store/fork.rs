//! Stores and reads in a process that was forked from one that had used them.

use std::io::BufRead;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{panic, process, thread};

use fork::{Fork, WEXITSTATUS, WIFEXITED, fork, waitpid};
use object_store::memory::InMemory;
use zarr_array::store::{
    Change, ConditionalPut, Links, MemoryStore, Prefix, RemoteStore, Store, StoreError, StoreExt,
    StoreOptions, UpdatePolicy, open_url, update,
};
use zarr_array::{Array, Selection};
use zarr_metadata::ArrayMetadata;
use zarr_store_tests::child::say;
use zarr_store_tests::key;
use zarr_store_tests::server::Server;

use super::processes;
use crate::asynchronous::block_on;

/// Does `work` in a forked process, which must succeed.
fn forked(work: impl FnOnce()) {
    match fork().unwrap() {
        Fork::Parent(child) => {
            let status = waitpid(child).unwrap();
            assert!(WIFEXITED(status), "killed: {status}");
            assert_eq!(WEXITSTATUS(status), 0);
        }
        Fork::Child => {
            // Instead of waiting forever.
            thread::spawn(|| {
                thread::sleep(Duration::from_secs(60));
                eprintln!("the forked process hangs");
                process::exit(7);
            });
            let done = panic::catch_unwind(panic::AssertUnwindSafe(work));
            process::exit(if done.is_ok() { 0 } else { 8 });
        }
    }
}

fn array(store: Arc<dyn Store>) -> Array {
    let document = br#"{"zarr_format": 3, "node_type": "array", "shape": [400],
        "data_type": "uint8", "fill_value": 0,
        "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [10],
            "codecs": [{"name": "packbits"}], "index_codecs": [{"name": "bytes",
            "configuration": {"endian": "little"}}]}}],
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [20]}},
        "chunk_key_encoding": {"name": "default"}}"#;
    let metadata = ArrayMetadata::from_json(document).unwrap();
    let array = Array::create(store, &Prefix::root(), metadata).unwrap();
    array.write(0..400, &elements()).unwrap();
    array
}

fn elements() -> Vec<u8> {
    (0..400).map(|n| (n % 251) as u8).collect()
}

/// Reads and changes everything, in each way that has its own threads or locks.
fn use_it(array: &Array) {
    let whole = Selection::whole(array.shape());
    for _ in 0..5 {
        assert_eq!(array.read(&whole).unwrap(), elements());
        assert_eq!(block_on(array.asynchronous().read(&whole)).unwrap(), elements());
        array.write(3..4, &[3]).unwrap();
    }
    let store = array.store();
    update(store, &key("count"), UpdatePolicy::default(), &mut Vec::new(), |_, bytes| {
        bytes.push(1);
        Ok::<_, StoreError>(Change::Put)
    })
    .unwrap();
    let keys = store.list(&Prefix::root(), Links::Follow).collect::<Result<Vec<_>, _>>();
    assert_eq!(keys.unwrap().len(), 22);
}

/// In a separate process: forks, and forks again from there, with both sides working afterwards.
pub(super) fn use_forked(url: &str, endpoint: &str) {
    let store = open_url(url, &Server::options(endpoint).create(true)).unwrap();
    let array = &array(store);
    use_it(array);
    thread::scope(|scope| {
        // Another thread is working all the time.
        let (stop, stopped) = mpsc::channel::<()>();
        let reading = scope.spawn(move || {
            let mut rounds = 0;
            while stopped.try_recv() == Err(mpsc::TryRecvError::Empty) {
                assert!(array.store().read(&key("c/0")).unwrap().is_some());
                rounds += 1;
            }
            rounds
        });
        for _ in 0..5 {
            forked(|| {
                use_it(array);
                forked(|| use_it(array));
            });
        }
        drop(stop);
        assert!(reading.join().unwrap() > 0);
    });
    use_it(array);
    say("all ended");
}

/// In a separate process: locks that a thread of the parent holds are not held in the child.
pub(super) fn lock_forked() {
    let backend = Arc::new(InMemory::new());
    let given = RemoteStore::new(
        backend,
        object_store::path::Path::default(),
        ConditionalPut::Supported,
        &StoreOptions::new(),
    );
    let memory = MemoryStore::new();
    let (held, is_held) = mpsc::channel();
    let (let_go, may_go) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let (given, memory) = (&given, &memory);
        scope.spawn(move || {
            let _locks = [given.lock(&key("a")).unwrap(), memory.lock(&key("a")).unwrap()];
            held.send(()).unwrap();
            may_go.recv().unwrap();
        });
        is_held.recv().unwrap();
        forked(|| {
            drop(memory.lock(&key("a")).unwrap());
            drop(given.lock(&key("a")).unwrap());
        });
        let_go.send(()).unwrap();
    });
    StoreExt::put(&given, &key("a"), b"x").unwrap();
    forked(|| {
        // Such a client cannot be created again.
        let error = given.read(&key("a")).unwrap_err();
        insta::assert_snapshot!(error, @r#"cannot read "a": the client of this store was made before the process was forked; open the store anew in this process"#);
        assert!(matches!(error, StoreError::Forked { .. }));
        let mut keys = Store::list(&given, &Prefix::root(), Links::Follow);
        assert!(keys.next().unwrap().is_err() && keys.next().is_none());
    });
    say("all ended");
}

fn run(job: &str) {
    let (mut child, mut output) = processes::start(job);
    let mut lines = String::new();
    while output.read_line(&mut lines).unwrap() > 0 {}
    assert!(child.wait().unwrap().success() && lines.contains("all ended"), "{lines}");
}

#[test]
fn a_folder_is_used_after_a_fork() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    run(&format!("fork {} -", Path::new(&path).to_str().unwrap()));
}

#[test]
fn a_store_in_object_storage_is_used_after_a_fork() {
    let server = Server::start();
    run(&format!("fork s3://bucket/base {}", server.endpoint));
}

#[test]
fn locks_are_not_inherited_and_foreign_clients_are_refused() {
    run("lock-forked");
}
