//! Copies in parts: in any order, twice, at the same time, and cut off at every step.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use zarr_array::store::{Fault, FaultStore, Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, ArrayError, Group, Part, delete_node};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, CopySummary, MARKER, PartStatus, TransferError};
use zarr_store_tests::{objects, restore};

use super::ends::{array, copy, copy_root, group, prefix};
use super::{LITTLE, regular, source, targets};

type Shared = Arc<dyn Store>;

fn memory() -> Shared {
    Arc::new(MemoryStore::new())
}

fn options(number: u32, of: u32) -> CopyOptions {
    CopyOptions::new().memory(1000).part(Part::new(number, of).expect("a part"))
}

fn whole_tree(from: &Shared, chunks: Option<[u64; 2]>) -> Shared {
    let to = memory();
    copy_root(from, &to, chunks, &CopyOptions::new().memory(1000)).expect("copies");
    to
}

/// A group with arrays of all chunk counts, other objects, and consolidated metadata.
fn hierarchy() -> Shared {
    let from = memory();
    group(&from, "");
    array(&from, "a");
    group(&from, "g");
    array(&from, "g/b");
    array(&from, "folder/deep/c");
    for name in ["README.md", "g/table/part.0", "g/table/part.1", "a/notes.txt"] {
        from.put(&Key::new(name).expect("a key"), name.as_bytes()).expect("puts");
    }
    for path in ["g", ""] {
        Group::open(from.clone(), &prefix(path)).and_then(|group| group.consolidate()).expect("ok");
    }
    from
}

/// Numbers that look random, the same in each run.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("small") % below.max(1)
    }

    pub(super) fn shuffled(&mut self, of: u32) -> Vec<u32> {
        let mut parts: Vec<u32> = (1..=of).collect();
        for at in (1..parts.len()).rev() {
            parts.swap(at, self.below(at + 1));
        }
        parts
    }
}

#[test]
fn parts_in_any_order_make_the_copy_of_one_process() {
    let (from, _) = source(&regular([6, 4]), LITTLE);
    let mut random = Random(1);
    for metadata in targets() {
        let plain = MemoryStore::new();
        super::copy(&from, Arc::new(plain.clone()), metadata.clone(), &CopyOptions::new())
            .expect("copies");
        for of in [1, 2, 3, 16, 100] {
            let to = MemoryStore::new();
            let run = |part| {
                let options = options(part, of).memory(3000).verify(part % 2 == 0);
                super::copy(&from, Arc::new(to.clone()), metadata.clone(), &options)
            };
            let (mut bytes, parts) = (0, random.shuffled(of));
            let (last, others) = parts.split_last().expect("at least one");
            for part in others {
                let done = run(*part).expect("copies");
                bytes += done.bytes;
                assert_eq!(done.part, Some(PartStatus::Waiting));
                // Again: nothing is left to do.
                let again = run(*part).expect("copies");
                assert_eq!((again.bytes, again.part), (0, Some(PartStatus::Waiting)));
                let opened = Array::open(Arc::new(to.clone()), &Prefix::root());
                let Err(ArrayError::Unfinished { parts: Some(state), resumable: true, .. }) =
                    opened
                else {
                    panic!("{opened:?}")
                };
                assert_eq!(state.of, of);
                assert!(state.missing.iter().any(|range| range.contains(last)));
                assert!(!state.missing.iter().any(|range| range.contains(part)));
            }
            let done = run(*last).expect("copies");
            assert_eq!(done.part, Some(PartStatus::Completed));
            assert_eq!(bytes + done.bytes, 480);
            assert_eq!(objects(&to), objects(&plain), "{of} parts");
            for part in [1, of] {
                assert_eq!(run(part).expect("is there").part, Some(PartStatus::WasComplete));
            }
            assert_eq!(objects(&to), objects(&plain), "{of} parts, again");
        }
    }
}

#[test]
fn parts_of_a_hierarchy_make_the_copy_of_one_process() {
    let from = hierarchy();
    let mut random = Random(2);
    for chunks in [None, Some([7, 5])] {
        let plain = objects(&*whole_tree(&from, chunks));
        for of in [1, 3, 16] {
            let to = memory();
            let mut others = 0;
            let parts = random.shuffled(of);
            for part in &parts {
                let done = copy_root(&from, &to, chunks, &options(*part, of)).expect("copies");
                others += done.others;
                let is_last = Some(part) == parts.last();
                assert_eq!(done.part == Some(PartStatus::Completed), is_last);
                // Until then, neither the root nor anything below it is a node.
                let found = objects(&*to);
                assert_eq!(found.keys().any(|key| key.ends_with("zarr.json")), is_last);
                if !is_last {
                    let mut ids = Vec::new();
                    let options = CheckOptions::new();
                    check(&to, &Prefix::root(), &options, &mut |found| ids.push(found.id()))
                        .expect("checks");
                    assert_eq!(ids, ["unfinished-copy"]);
                }
            }
            assert!(objects(&*to) == plain, "{of} parts");
            assert_eq!(others, 4);
            let again = copy_root(&from, &to, chunks, &options(1, of)).expect("is there");
            assert_eq!(again.part, Some(PartStatus::WasComplete));
            assert!(objects(&*to) == plain, "{of} parts, again");
        }
    }
}

/// What a copy by one process keeps as it is, parts keep too. Its documents, and those of nodes below
/// it, are put when all parts are done, as those of others.
#[test]
fn nodes_whose_document_is_not_valid_are_copied_in_parts() {
    const OF: u32 = 3;
    const WRONG: &str = r#"{"zarr_format": 3, "node_type": "group", "attributes": 1}"#;
    let key = |text: &str| Key::new(text).expect("a key");
    let from = hierarchy();
    array(&from, "g/wrong/below");
    from.put(&key("g/wrong/notes.txt"), b"notes").expect("puts");
    from.put(&key("g/wrong/zarr.json"), WRONG.as_bytes()).expect("puts");
    let keeping = |part| options(part, OF).keep_unfit(true);
    let plain = memory();
    copy_root(&from, &plain, Some([7, 5]), &CopyOptions::new().keep_unfit(true)).expect("copies");
    assert_eq!(objects(&*plain)["g/wrong/zarr.json"], WRONG.as_bytes());

    let to = memory();
    let refused = copy_root(&from, &to, Some([7, 5]), &options(1, OF)).expect_err("not valid");
    assert!(refused.to_string().starts_with("source: g/wrong/zarr.json: "), "{refused}");
    assert!(objects(&*to).is_empty());

    let mut random = Random(5);
    for part in random.shuffled(OF) {
        assert!(!objects(&*to).keys().any(|key| key.ends_with("zarr.json")), "before {part}");
        let done = copy_root(&from, &to, Some([7, 5]), &keeping(part)).expect("copies");
        let kept: Vec<_> = done.kept.iter().map(|kept| &*kept.path).collect();
        assert_eq!(kept, ["g/wrong"]);
    }
    assert!(objects(&*to) == objects(&*plain));
    let again = copy_root(&from, &to, Some([7, 5]), &keeping(2)).expect("is there");
    assert_eq!(again.part, Some(PartStatus::WasComplete));

    // The target of another copy, without the document below.
    to.delete(&key("g/wrong/below/zarr.json")).expect("deletes");
    let refused = copy_root(&from, &to, Some([7, 5]), &keeping(2));
    assert!(matches!(refused, Err(TransferError::Exists { .. })), "{refused:?}");

    // The part that completes the copy dies at any of its steps.
    let others = memory();
    for part in 1..OF {
        copy_root(&from, &others, Some([7, 5]), &keeping(part)).expect("copies");
    }
    let others = objects(&*others);
    let begun = || {
        let store = MemoryStore::new();
        restore(&store, &others);
        store
    };
    let counted = Arc::new(FaultStore::new(begun()));
    let shared: Shared = counted.clone();
    copy_root(&from, &shared, Some([7, 5]), &keeping(OF)).expect("copies");
    for step in 0..counted.operations() {
        let inner = begun();
        let dying: Shared = Arc::new(FaultStore::new(inner.clone()).at(step, Fault::DieAfter));
        copy_root(&from, &dying, Some([7, 5]), &keeping(OF)).expect_err("dies");
        for part in [OF, 1] {
            copy_root(&from, &(Arc::new(inner.clone()) as Shared), Some([7, 5]), &keeping(part))
                .unwrap_or_else(|error| panic!("{step}, then part {part}: {error}"));
        }
        assert!(objects(&inner) == objects(&*plain), "{step}");
    }

    // The document has changed since, and still is not valid.
    let to: Shared = Arc::new(begun());
    from.put(&key("g/wrong/zarr.json"), WRONG.replace('1', "2").as_bytes()).expect("puts");
    let refused = copy_root(&from, &to, Some([7, 5]), &keeping(OF));
    assert!(matches!(refused, Err(TransferError::OtherCopy { .. })), "{refused:?}");
}

#[test]
fn what_version_3_cannot_express_is_left_out_by_every_part() {
    let (from, plain, to) = (super::unfit::pickled(), memory(), memory());
    copy_root(&from, &plain, None, &CopyOptions::new().keep_unfit(true)).expect("copies");
    let refused = copy_root(&from, &to, None, &options(1, 2)).expect_err("pickled").to_string();
    assert!(refused.starts_with("source: b/.zarray: $.filters[0].id: "), "{refused}");
    assert!(objects(&*to).is_empty());
    for part in [2, 1] {
        let done = copy_root(&from, &to, None, &options(part, 2).keep_unfit(true)).expect("copies");
        let missing: Vec<_> = done.untranslated.iter().map(|array| &*array.path).collect();
        assert_eq!(missing, ["b"]);
    }
    assert!(objects(&*to) == objects(&*plain));
}

/// A part that was killed while it ran late may have left its records in a complete copy. They are not
/// copied: in the target they would say that a part is done.
#[test]
fn records_that_are_left_at_the_source_are_no_records_of_the_copy() {
    let from = hierarchy();
    let plain = objects(&*from);
    for part in 1..=3 {
        let name = format!("zarr-kit-copy.{part}.done.json");
        from.put(&Key::new(name).expect("a key"), b"{}").expect("puts");
    }
    let to = memory();
    for part in [3, 1, 2] {
        let done = copy_root(&from, &to, None, &options(part, 3)).expect("copies");
        assert_eq!(done.part == Some(PartStatus::Completed), part == 2);
    }
    assert!(objects(&*to) == plain);
    assert!(objects(&*whole_tree(&from, None)) == plain);
    // Of an array that is copied object by object, too.
    let (from, to) = (memory(), memory());
    array(&from, "");
    let plain = objects(&*from);
    from.put(&Key::new("zarr-kit-copy.2.done.json").expect("a key"), b"{}").expect("puts");
    for part in [1, 2] {
        copy_root(&from, &to, None, &options(part, 2)).expect("copies");
    }
    assert!(objects(&*to) == plain);
}

/// A part that dies at any of its steps, first, in between or last, is run again.
#[test]
fn parts_that_die_at_any_step_are_run_again() {
    const OF: u32 = 3;
    let from = hierarchy();
    for chunks in [None, Some([7, 5])] {
        let plain = objects(&*whole_tree(&from, chunks));
        for before in 0..OF {
            let done = memory();
            for part in 1..=before {
                copy_root(&from, &done, chunks, &options(part, OF)).expect("copies");
            }
            let done = objects(&*done);
            let begun = || {
                let store = MemoryStore::new();
                restore(&store, &done);
                store
            };
            let dying = before + 1;
            let counted = Arc::new(FaultStore::new(begun()));
            let shared: Shared = counted.clone();
            copy_root(&from, &shared, chunks, &options(dying, OF)).expect("copies");
            for step in 0..counted.operations() {
                for fault in [Fault::DieBefore, Fault::DieAfter] {
                    let at = format!("{chunks:?}: part {dying} {fault:?} {step}");
                    let inner = begun();
                    let faulty: Shared = Arc::new(FaultStore::new(inner.clone()).at(step, fault));
                    copy_root(&from, &faulty, chunks, &options(dying, OF)).expect_err("dies");
                    let to: Shared = Arc::new(inner.clone());
                    let found = objects(&inner);
                    // The document of the root is there only if all is.
                    if found.contains_key("zarr.json") {
                        let is_there = |(key, bytes)| found.get(key) == Some(bytes);
                        assert!(plain.iter().all(is_there), "{at}");
                    }
                    let rest: Vec<u32> = match dying == OF {
                        // Any part completes what only lacks that.
                        true => vec![dying, 1],
                        false => (dying + 1..=OF).chain([dying]).collect(),
                    };
                    for part in rest {
                        copy_root(&from, &to, chunks, &options(part, OF))
                            .unwrap_or_else(|error| panic!("{at}, then part {part}: {error}"));
                    }
                    assert!(objects(&inner) == plain, "{at}");
                }
            }
        }
    }
}

/// Threads run the same and other parts at the same time, with delays where it matters.
#[test]
fn parts_at_the_same_time_and_twice() {
    const OF: u32 = 4;
    let from = hierarchy();
    let plain = objects(&*whole_tree(&from, Some([7, 5])));
    let mut random = Random(3);
    for round in 0..60 {
        let inner = MemoryStore::new();
        let start = std::sync::Barrier::new(8);
        thread::scope(|scope| {
            for at in 0..8 {
                let delays: Vec<_> = (0..3).map(|_| random.below(120)).collect();
                let (inner, start, from) = (inner.clone(), &start, &from);
                scope.spawn(move || {
                    let slow = delays.iter().fold(FaultStore::new(inner), |store, delay| {
                        let delay = u64::try_from(*delay).expect("small");
                        store.at(delay, Fault::Delay(Duration::from_millis(1 + delay % 7)))
                    });
                    let to: Shared = Arc::new(slow);
                    start.wait();
                    copy_root(from, &to, Some([7, 5]), &options(at % OF + 1, OF))
                        .unwrap_or_else(|error| panic!("round {round}: {error}"));
                });
            }
        });
        assert!(objects(&inner) == plain, "round {round}: {:?}", objects(&inner).keys());
    }
}

#[test]
fn another_request_is_refused() {
    let (here, elsewhere) = (hierarchy(), hierarchy());
    let begun = || {
        let to = memory();
        copy_root(&here, &to, Some([7, 5]), &options(1, 3)).expect("copies");
        to
    };
    let to = begun();
    let before = objects(&*to);
    let other = |refused: Result<CopySummary, TransferError>| {
        assert!(matches!(refused, Err(TransferError::OtherCopy { .. })), "{refused:?}");
    };
    other(copy_root(&here, &to, Some([5, 7]), &options(2, 3)));
    other(copy_root(&here, &to, None, &options(2, 3)));
    other(copy_root(&elsewhere, &to, Some([7, 5]), &options(2, 3)));
    other(copy_root(&here, &to, Some([7, 5]), &options(2, 3).nodes_only(true)));
    let parts = |refused: Result<CopySummary, TransferError>, expected: Option<u32>| {
        let Err(TransferError::OtherParts { of, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!(of, expected);
    };
    parts(copy_root(&here, &to, Some([7, 5]), &options(2, 4)), Some(3));
    let plain = CopyOptions::new().memory(1000);
    parts(copy_root(&here, &to, Some([7, 5]), &plain), Some(3));
    parts(copy_root(&here, &to, Some([7, 5]), &plain.clone().resume(true)), Some(3));
    let overwrites = copy_root(&here, &to, Some([7, 5]), &options(2, 3).overwrite(true));
    assert!(matches!(overwrites, Err(TransferError::PartOverwrites)), "{overwrites:?}");
    assert_eq!(objects(&*to), before);
    let is_source = copy_root(&to, &memory(), None, &options(1, 2));
    assert!(matches!(is_source, Err(TransferError::UnfinishedSource { .. })), "{is_source:?}");

    // Of the same source with another document in it.
    let deep = Array::open(here.clone(), &prefix("folder/deep/c")).expect("opens");
    deep.update_attributes(&[("title", Some("\"new\""))]).expect("updates");
    let plain_target = copy_root(&here, &to, None, &options(2, 3));
    other(plain_target);

    // A copy that is not in parts.
    let inner = MemoryStore::new();
    let dying: Shared = Arc::new(FaultStore::new(inner.clone()).at(20, Fault::DieBefore));
    copy_root(&here, &dying, Some([7, 5]), &plain).expect_err("dies");
    let unfinished: Shared = Arc::new(inner);
    parts(copy_root(&here, &unfinished, Some([7, 5]), &options(1, 3)), None);

    // What is not a copy of this source, although the documents of the roots are equal.
    let small = memory();
    group(&small, "");
    array(&small, "x");
    let refused = copy_root(&small, &whole_tree(&elsewhere, None), None, &options(1, 3));
    assert!(matches!(refused, Err(TransferError::Exists { .. })), "{refused:?}");
    let strange = memory();
    strange.put(&Key::new("thesis.tex").expect("a key"), b"").expect("puts");
    let refused = copy_root(&small, &strange, None, &options(1, 3));
    assert!(matches!(refused, Err(TransferError::NotEmpty { .. })), "{refused:?}");
    assert_eq!(objects(&*strange).len(), 1);

    // An overwrite by one process, and a deletion, remove parts as well.
    copy_root(&here, &to, None, &plain.overwrite(true)).expect("overwrites");
    assert!(objects(&*to) == objects(&*here));
    let to = begun();
    delete_node(&to, &Prefix::root()).expect("deletes");
    assert!(objects(&*to).is_empty());
}

/// The target is removed while a part is copied: it stops, and leaves nothing that looks whole.
#[test]
fn a_part_whose_copy_is_removed_stops() {
    let from = hierarchy();
    let inner = MemoryStore::new();
    copy_root(&from, &(Arc::new(inner.clone()) as Shared), Some([7, 5]), &options(1, 3))
        .expect("copies");
    let to: Shared = Arc::new(inner.clone());
    let removed = thread::scope(|scope| {
        let run = scope.spawn(|| {
            let slow: Shared = Arc::new(
                FaultStore::new(inner.clone()).at(30, Fault::Delay(Duration::from_millis(300))),
            );
            copy_root(&from, &slow, Some([7, 5]), &options(2, 3))
        });
        thread::sleep(Duration::from_millis(150));
        to.delete(&Key::new(MARKER).expect("a key")).expect("deletes");
        run.join().expect("no panic")
    });
    assert!(matches!(removed, Err(TransferError::Removed { .. })), "{removed:?}");
    assert!(!objects(&inner).keys().any(|key| key.ends_with("zarr.json")));
}

#[test]
fn a_part_copies_from_and_to_places_within_stores() {
    let (from, to) = (memory(), memory());
    array(&from, "deep/a");
    for part in [2, 1] {
        copy((&from, "deep/a"), (&to, "there/b"), Some([7, 5]), &options(part, 2)).expect("copies");
    }
    let plain = memory();
    copy((&from, "deep/a"), (&plain, "there/b"), Some([7, 5]), &CopyOptions::new()).expect("ok");
    assert!(objects(&*to) == objects(&*plain));
}
