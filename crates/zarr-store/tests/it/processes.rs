//! This test binary, run again as other processes.

use std::io::{BufReader, Read};
use std::process::{Child, ChildStdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use zarr_store::{
    Change, Key, LocalStore, Store, StoreError, StoreExt as _, StoreOptions, UpdatePolicy,
    open_url, update,
};
use zarr_store_tests::child::{self, say};
use zarr_store_tests::{SetAtEnd, key, sampled};

const CHILD: &str = "processes::child";

/// Does one job of those below, in a process of its own.
#[test]
#[ignore = "run by other tests"]
fn child() {
    let Some(job) = child::job() else { return };
    let words: Vec<&str> = job.split(' ').collect();
    match words[..] {
        ["count", url, first, threads, rounds] => {
            let store = open_url(url, &StoreOptions::new()).unwrap();
            count(
                &store,
                first.parse().unwrap(),
                threads.parse().unwrap(),
                rounds.parse().unwrap(),
            );
        }
        ["write", root] => write_for_ever(root),
        ["lock", root] => hold_lock(root),
        ["share", root] => share_for_ever(root),
        #[cfg(unix)]
        ["denied", root] => super::local::denied(root),
        _ => panic!("no such job: {job}"),
    }
}

/// A process that does `job`, with its standard input and output in our hands.
pub(crate) fn start(job: &str) -> (Child, BufReader<ChildStdout>) {
    child::start(CHILD, job)
}

#[cfg(unix)]
pub(crate) fn start_as(
    command: &mut std::process::Command,
    job: &str,
) -> (Child, BufReader<ChildStdout>) {
    child::start_as(command, CHILD, job)
}

/// How many chunks all participants count in.
const CHUNKS: usize = 3;

/// Room for so many participants in a chunk.
const SLOTS: usize = 16;

/// Each thread adds one to a number of its own in each chunk, once a round. The numbers of all lie
/// side by side, so that every update rewrites everybody's.
fn count(store: &Arc<dyn Store>, first: usize, threads: usize, rounds: usize) {
    thread::scope(|scope| {
        for slot in first..first + threads {
            scope.spawn(move || {
                let mut buffer = Vec::new();
                for round in 0..rounds {
                    for chunk in 0..CHUNKS {
                        let key = key(&format!("shared/c/{}", (chunk + slot + round) % CHUNKS));
                        let policy = UpdatePolicy::RequireExclusion;
                        update(&**store, &key, policy, &mut buffer, |_, bytes| {
                            bytes.resize(8 * SLOTS, 0);
                            let own = &mut bytes[8 * slot..8 * slot + 8];
                            let count = u64::from_le_bytes(own.try_into().unwrap());
                            own.copy_from_slice(&(count + 1).to_le_bytes());
                            Ok::<_, StoreError>(Change::Put)
                        })
                        .unwrap();
                    }
                }
            });
        }
    });
}

/// 8 threads here and 4 processes of 2 threads each count in shared chunks; no count is lost.
pub(crate) fn count_in_threads_and_processes(url: &str, rounds: usize) {
    const HERE: usize = 8;
    const PROCESSES: usize = 4;
    let store = open_url(url, &StoreOptions::new()).unwrap();
    let children: Vec<_> = (0..PROCESSES)
        .map(|n| start(&format!("count {url} {} 2 {rounds}", HERE + 2 * n)))
        .collect();
    count(&store, 0, HERE, rounds);
    for (mut child, mut output) in children {
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success(), "{text}");
    }
    for chunk in 0..CHUNKS {
        let bytes = store.read(&key(&format!("shared/c/{chunk}"))).unwrap().unwrap();
        let counts: Vec<u64> =
            bytes.chunks_exact(8).map(|own| u64::from_le_bytes(own.try_into().unwrap())).collect();
        assert_eq!(counts, [rounds as u64; SLOTS], "chunk {chunk}");
    }
}

#[test]
fn no_update_is_lost_between_threads_and_processes() {
    let folder = tempfile::tempdir().unwrap();
    count_in_threads_and_processes(folder.path().to_str().unwrap(), 100 / sampled(2));
    // Every lock file is gone again.
    let names: Vec<_> = std::fs::read_dir(folder.path().join("shared/c"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), CHUNKS, "{names:?}");
}

/// The chunks that a killed writer writes, and the bytes of one in a given state.
pub(crate) const WRITTEN: usize = 4;

pub(crate) fn written_key(n: usize) -> Key {
    key(&format!("killed/c/{n}/0"))
}

/// Every byte tells the state, and the size changes with it.
#[cfg(unix)]
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    let Some(&state) = bytes.first() else { return false };
    bytes.len() == 50_000 + 1000 * usize::from(state) && bytes.iter().all(|&byte| byte == state)
}

fn write_for_ever(root: &str) {
    let store = LocalStore::open(root).unwrap();
    say("writing");
    let mut buffer = Vec::new();
    for state in (0..=250_u8).cycle() {
        for n in 0..WRITTEN {
            let bytes = vec![state; 50_000 + 1000 * usize::from(state)];
            if n % 2 == 0 {
                store.put(&written_key(n), &bytes).unwrap();
                continue;
            }
            update(&store, &written_key(n), UpdatePolicy::default(), &mut buffer, |_, buffer| {
                buffer.clone_from(&bytes);
                Ok::<_, StoreError>(Change::Put)
            })
            .unwrap();
        }
    }
}

fn hold_lock(root: &str) {
    let store = LocalStore::open(root).unwrap();
    let guard = store.lock(&key("a/b")).unwrap();
    say("locked");
    // Until the parent writes a line, or kills.
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    drop(guard);
    say("unlocked");
    std::io::stdin().read_line(&mut line).unwrap();
}

/// Two threads share a lock, of which one always has it.
fn share_for_ever(root: &str) {
    let store = LocalStore::open(root).unwrap();
    let share = |pause: u64| {
        thread::sleep(Duration::from_millis(pause));
        loop {
            let held = store.lock_shared(&key("x")).unwrap();
            thread::sleep(Duration::from_millis(20));
            drop(held);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| share(10));
        say("shared");
        share(0);
    });
}

/// Who waits to have a lock alone gets it, although others always share it: other threads, or threads
/// of another process.
#[test]
fn who_waits_for_a_shared_lock_has_a_turn() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    store.put(&key("x"), b"1").unwrap();
    let rounds = || {
        for _ in 0..10 {
            drop(store.lock(&key("x")).unwrap());
        }
    };
    let stops = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stops = SetAtEnd(&stops);
        for pause in [0, 10] {
            let (store, stops) = (&store, &stops);
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(pause));
                while !stops.load(Ordering::Relaxed) {
                    let held = store.lock_shared(&key("x")).unwrap();
                    thread::sleep(Duration::from_millis(20));
                    drop(held);
                }
            });
        }
        thread::sleep(Duration::from_millis(50));
        rounds();
    });
    let (mut child, mut output) = start(&format!("share {}", folder.path().display()));
    child::wait_for(&mut output, "shared");
    thread::sleep(Duration::from_millis(50));
    rounds();
    child.kill().unwrap();
    child.wait().unwrap();
    // The one file that may be left is that of the lock which was shared.
    drop(store.lock(&key("x")).unwrap());
    let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["x"]);
}
