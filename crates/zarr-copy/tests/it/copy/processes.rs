//! Parts of a copy by processes that are killed.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use zarr_array::store::{Fault, FaultStore, LocalStore, Prefix, Store};
use zarr_array::{Array, Part, Selection};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, CopySummary, TransferError};
use zarr_store_tests::{child, folder_in_memory, objects};

use super::ends::{array, copy_with, group, prefix};
use super::parts::Random;
use super::{LITTLE, elements};

type Shared = Arc<dyn Store>;

const CHILD: &str = "copy::processes::child";

/// Copies a part in a separate process.
#[test]
#[ignore = "run by other tests"]
fn child() {
    let Some(job) = child::job() else { return };
    let words: Vec<&str> = job.split(' ').collect();
    let [from, to, part, last] = words[..] else { panic!("no such job: {job}") };
    copy_part(from, to, part, last.parse().expect("a number"));
}

/// The size of the array that processes copy: its chunks take a while.
const SIDE: u64 = 480;

fn large(folder: &std::path::Path) -> Shared {
    let store: Shared = Arc::new(LocalStore::create(folder).expect("creates"));
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [{SIDE}, {SIDE}],
        "data_type": "int16", "chunk_grid": {{"name": "regular", "configuration":
        {{"chunk_shape": [40, 50]}}}}, "chunk_key_encoding": {{"name": "default"}},
        "fill_value": 0, "codecs": {LITTLE}}}"#
    );
    group(&store, "");
    group(&store, "g");
    for name in ["x", "g/y"] {
        let metadata = zarr_metadata::ArrayMetadata::from_json(document.as_bytes()).expect("ok");
        let array = Array::create(store.clone(), &prefix(name), metadata).expect("creates");
        let values: Vec<i16> =
            (0..SIDE * SIDE).map(|at| i16::try_from(at % 30_011).expect("small")).collect();
        array.write_as::<i16>(Selection::whole(array.shape()), &values).expect("writes");
    }
    array(&store, "small");
    store
}

/// One part of a copy between two folders, in other chunks: what a process does. It is killed at
/// its operation `last` of the target, or later, if it makes so many.
fn copy_part(from: &str, to: &str, part: &str, last: u64) {
    let from: Shared = Arc::new(LocalStore::open(from).expect("opens"));
    let to = FaultStore::new(LocalStore::create(to).expect("creates"));
    let to = Arc::new(to.at(last, Fault::Delay(Duration::from_secs(3600))));
    let watched = Arc::clone(&to);
    thread::spawn(move || {
        while watched.operations() <= last {
            thread::sleep(Duration::from_micros(200));
        }
        // Nothing is unwound, and the other threads are wherever they are.
        std::process::abort();
    });
    let (to, part): (Shared, Part) = (to, part.parse().expect("a part"));
    processes_copy(&from, &to, &CopyOptions::new().memory(60_000).part(part)).expect("copies");
}

fn processes_copy(
    from: &Shared,
    to: &Shared,
    options: &CopyOptions,
) -> Result<CopySummary, TransferError> {
    copy_with((from, ""), (to, ""), options, &|old| {
        let chunk: Vec<u64> = old.shape().iter().map(|length| length.div_ceil(23)).collect();
        let grid = zarr_metadata::ChunkGrid::Regular { chunk_shape: chunk };
        old.with_shape_and_grid(old.shape(), &grid).expect("fits")
    })
}

/// 16 parts, of which four processes run at a time, in random order, some of them twice; many are
/// killed at random operations and run again.
#[test]
fn sixteen_parts_by_four_processes_that_are_killed() {
    const OF: u32 = 16;
    let folder = folder_in_memory();
    let path = |name: &str| folder.path().join(name);
    let from = large(&path("from"));
    let plain: Shared = Arc::new(LocalStore::create(path("plain")).expect("creates"));
    processes_copy(&from, &plain, &CopyOptions::new().memory(60_000)).expect("copies");
    let expected = objects(&*plain);
    let mut random = Random(4);
    let mut kills = 0;
    for round in 0..3 {
        let to = path(&format!("to{round}"));
        let mut waiting = random.shuffled(OF);
        waiting.extend([3, 11]);
        let mut running = Vec::new();
        let mut kills_left = 16_u32;
        while !waiting.is_empty() || !running.is_empty() {
            while running.len() < 4
                && let Some(part) = waiting.pop()
            {
                let last = match kills_left {
                    0 => u64::MAX,
                    _ => random.below(120) as u64,
                };
                kills_left -= u32::from(last < u64::MAX);
                let (from, to) = (path("from"), to.display());
                let job = format!("{} {to} {part}/{OF} {last}", from.display());
                running.push((part, child::start(CHILD, &job)));
            }
            let (part, (mut child, mut output)) = running.swap_remove(random.below(running.len()));
            let mut text = String::new();
            std::io::Read::read_to_string(&mut output, &mut text).expect("text");
            let ended = child.wait().expect("ends");
            if !ended.success() {
                // Windows has a code for a process that aborts.
                assert!(!cfg!(unix) || ended.code().is_none(), "part {part}: {text}");
                kills += 1;
                waiting.insert(random.below(waiting.len() + 1), part);
            }
        }
        let found: Shared = Arc::new(LocalStore::open(&to).expect("opens"));
        assert!(objects(&*found) == expected, "round {round}");
        let mut ids = Vec::new();
        check(&found, &Prefix::root(), &CheckOptions::new().data(true), &mut |found| {
            // The source lacks chunks, too.
            if found.id() != "few-missing-chunks" {
                ids.push(found.to_string());
            }
        })
        .expect("checks");
        assert_eq!(ids, Vec::<String>::new());
    }
    assert!(kills > 20, "{kills}");
    let copied = Array::open(plain, &prefix("small")).expect("opens");
    assert_eq!(copied.read(Selection::whole(copied.shape())).expect("reads"), elements());
}
