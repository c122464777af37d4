//! This test binary, run again as other processes.

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread;

use zarr_array::store::{
    Change, Key, LocalStore, Prefix, Store, StoreError, StoreExt as _, StoreOptions, UpdatePolicy,
    open_url, update,
};
use zarr_array::{Array, Region};
use zarr_metadata::ArrayMetadata;

use super::conformance::key;

const JOB: &str = "ZARR_KIT_TEST_JOB";

/// Does one job of those below, in a process of its own.
#[test]
#[ignore = "run by other tests"]
fn child() {
    let Ok(job) = env::var(JOB) else { return };
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
        ["interleave", url, first, threads, rounds] => {
            let store = open_url(url, &StoreOptions::new()).unwrap();
            let array = Array::open(store, &Prefix::root()).unwrap();
            let (first, threads) = (first.parse().unwrap(), threads.parse().unwrap());
            interleave(&array, first, threads, rounds.parse().unwrap());
        }
        ["write", root] => write_for_ever(root),
        ["workload", root, step] => {
            crate::workload::run_from(root, step.parse().unwrap(), say);
        }
        ["lock", root] => hold_lock(root),
        #[cfg(all(feature = "aws", feature = "async"))]
        ["fork", url, endpoint] => super::fork::use_forked(url, endpoint),
        #[cfg(all(feature = "aws", feature = "async"))]
        ["lock-forked"] => super::fork::lock_forked(),
        ["denied", root] => super::local::denied(root),
        _ => panic!("no such job: {job}"),
    }
}

/// A process that does `job`, with its standard input and output in our hands.
pub(crate) fn start(job: &str) -> (Child, BufReader<ChildStdout>) {
    start_as(&mut Command::new(env::current_exe().unwrap()), job)
}

pub(crate) fn start_as(command: &mut Command, job: &str) -> (Child, BufReader<ChildStdout>) {
    command
        .args(["--exact", "store::processes::child", "--ignored", "--nocapture"])
        .env(JOB, job)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    // A program that has just been copied is busy as long as a child of another test, between its
    // fork and its exec, still has it open for writing.
    let mut child = loop {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::yield_now();
            }
            started => break started.unwrap(),
        }
    };
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// Waits for a line that a job prints of its own, past those of the test harness.
pub(crate) fn wait_for(output: &mut BufReader<ChildStdout>, marker: &str) {
    let mut line = String::new();
    while !line.contains(marker) {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0, "the process ended before {marker:?}");
    }
}

pub(super) fn say(marker: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{marker}").unwrap();
    out.flush().unwrap();
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

/// How many elements each participant has in the shared array.
const OWN: usize = 5;

/// The elements of one participant: every 16th, so that every chunk has some of each.
fn own(slot: usize) -> Region {
    Region::parse(&format!("{slot}::{SLOTS}"), &[(SLOTS * OWN) as u64]).unwrap()
}

/// Each thread writes its own elements once a round, and finds what it wrote before.
fn interleave(array: &Array, first: usize, threads: usize, rounds: u16) {
    thread::scope(|scope| {
        for slot in first..first + threads {
            scope.spawn(move || {
                let region = own(slot);
                let value = |round: u16| vec![round * 16 + slot as u16; OWN];
                for round in 1..=rounds {
                    array.write_as(&region, &value(round)).unwrap();
                    let found: Vec<u16> = array.read_as(&region).unwrap();
                    assert_eq!(found, value(round), "participant {slot}, round {round}");
                }
            });
        }
    });
}

/// 8 threads here and 4 processes of 2 threads each write interleaved elements of shared chunks,
/// some of them shards; none is lost.
pub(crate) fn interleave_in_threads_and_processes(url: &str, rounds: u16) {
    const HERE: usize = 8;
    const PROCESSES: usize = 4;
    let sharded = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [10],
        "codecs": [{"name": "packbits"}, {"name": "crc32c"}], "index_codecs": [
        {"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}}]"#;
    let packed = r#"[{"name": "packbits", "configuration": {"last_bit": 12}}]"#;
    for (name, codecs) in [("shards", sharded), ("packed", packed)] {
        let url = format!("{url}/{name}");
        let store = open_url(&url, &StoreOptions::new().create(true)).unwrap();
        let document = format!(
            r#"{{"zarr_format": 3, "node_type": "array", "shape": [{}], "data_type": "uint16",
            "chunk_grid": {{"name": "rectilinear", "configuration": {{"kind": "inline",
            "chunk_shapes": [[30, 50]]}}}}, "chunk_key_encoding": {{"name": "default"}},
            "fill_value": 0, "codecs": {codecs}}}"#,
            SLOTS * OWN
        );
        let metadata = ArrayMetadata::from_json(document.as_bytes()).unwrap();
        let array = Array::create(store, &Prefix::root(), metadata).unwrap();
        let children: Vec<_> = (0..PROCESSES)
            .map(|n| start(&format!("interleave {url} {} 2 {rounds}", HERE + 2 * n)))
            .collect();
        interleave(&array, 0, HERE, rounds);
        for (mut child, mut output) in children {
            let mut text = String::new();
            output.read_to_string(&mut text).unwrap();
            assert!(child.wait().unwrap().success(), "{text}");
        }
        let all: Vec<u16> = array.read_as(&Region::whole(array.shape())).unwrap();
        for (at, element) in all.iter().enumerate() {
            assert_eq!(*element, rounds * 16 + (at % SLOTS) as u16, "{name}: element {at}");
        }
    }
}

#[test]
fn no_element_is_lost_between_threads_and_processes() {
    let folder = tempfile::tempdir().unwrap();
    interleave_in_threads_and_processes(folder.path().to_str().unwrap(), 100);
}

#[test]
fn no_update_is_lost_between_threads_and_processes() {
    let folder = tempfile::tempdir().unwrap();
    count_in_threads_and_processes(folder.path().to_str().unwrap(), 100);
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
