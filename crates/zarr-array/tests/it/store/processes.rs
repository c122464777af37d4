//! This test binary, run again as other processes.

use std::io::{BufReader, Read};
use std::process::{Child, ChildStdout};
use std::thread;

use zarr_array::store::{LocalStore, Prefix, StoreOptions, open_url};
use zarr_array::{Array, Selection};
use zarr_metadata::ArrayMetadata;
use zarr_store_tests::child::{self, say};
use zarr_store_tests::sampled;

const CHILD: &str = "store::processes::child";

/// Does one of the jobs below in a separate process.
#[test]
#[ignore = "run by other tests"]
fn child() {
    let Some(job) = child::job() else { return };
    let words: Vec<&str> = job.split(' ').collect();
    match words[..] {
        ["interleave", url, first, threads, rounds] => {
            let store = open_url(url, &StoreOptions::new()).unwrap();
            let array = Array::open(store, &Prefix::root()).unwrap();
            let (first, threads) = (first.parse().unwrap(), threads.parse().unwrap());
            interleave(&array, first, threads, rounds.parse().unwrap());
        }
        // Writes each byte of its input to all elements.
        ["fill", root] => {
            let store = std::sync::Arc::new(LocalStore::open(root).unwrap());
            let array = Array::open(store, &Prefix::root()).unwrap();
            let region = Selection::whole(array.shape());
            for value in std::io::stdin().lock().bytes() {
                array.write(&region, &vec![value.unwrap(); 4]).unwrap();
                say("written");
            }
        }
        ["workload", root, step] => {
            crate::workload::run_from(root, step.parse().unwrap(), say);
        }
        #[cfg(all(unix, feature = "aws", feature = "async"))]
        ["fork", url, endpoint] => super::fork::use_forked(url, endpoint),
        #[cfg(all(unix, feature = "aws", feature = "async"))]
        ["lock-forked"] => super::fork::lock_forked(),
        _ => panic!("no such job: {job}"),
    }
}

/// A process that does `job`, with its standard input and output connected to the caller.
pub(crate) fn start(job: &str) -> (Child, BufReader<ChildStdout>) {
    child::start(CHILD, job)
}

/// The number of participants.
const SLOTS: usize = 16;

/// The number of elements per participant in the shared array.
const OWN: usize = 5;

/// The elements of one participant: every 16th, so that every chunk has some of each.
fn own(slot: usize) -> Selection {
    Selection::parse(&format!("{slot}::{SLOTS}"), &[(SLOTS * OWN) as u64]).unwrap()
}

/// Each thread writes its own elements once per round, and finds those it wrote before.
fn interleave(array: &Array, first: usize, threads: usize, rounds: u16) {
    thread::scope(|scope| {
        for slot in first..first + threads {
            scope.spawn(move || {
                let region = own(slot);
                let value = |round: u16| vec![round * 16 + slot as u16; OWN];
                for round in 1..=rounds {
                    array.write_as(&region, &value(round)).unwrap();
                    let found = array.read_as::<u16>(&region).unwrap();
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
        let all = array.read_as::<u16>(Selection::whole(array.shape())).unwrap();
        for (at, element) in all.iter().enumerate() {
            assert_eq!(*element, rounds * 16 + (at % SLOTS) as u16, "{name}: element {at}");
        }
    }
}

#[test]
fn no_element_is_lost_between_threads_and_processes() {
    let folder = tempfile::tempdir().unwrap();
    // Without locks, the first rounds lose elements.
    let rounds = if sampled(2) == 1 { 100 } else { 25 };
    interleave_in_threads_and_processes(folder.path().to_str().unwrap(), rounds);
}
