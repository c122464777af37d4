//! What a copy resumes, and what it does not mistake for itself.

use std::sync::Arc;

use zarr_array::store::{
    Fault, FaultStore, Key, LocalStore, MemoryStore, Prefix, Store, StoreExt as _,
};
use zarr_array::{Array, Part, Selection};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, Endpoint, MARKER, TransferError, copy_tree};
use zarr_store_tests::{Objects, folder_in_memory, objects};

use super::ends::{array, copy, group, prefix};
use super::{LITTLE, SHAPE, documents_are_of_whole_nodes, metadata, regular};

type Shared = Arc<dyn Store>;

fn key(text: &str) -> Key {
    Key::new(text).expect("a key")
}

/// A target whose copy died at a given step.
fn killed(from: &Shared, chunks: Option<[u64; 2]>, step: u64, options: &CopyOptions) -> Shared {
    let inner = MemoryStore::new();
    let dying: Shared = Arc::new(FaultStore::new(inner.clone()).at(step, Fault::DieBefore));
    copy((from, "a"), (&dying, ""), chunks, options).expect_err("dies");
    Arc::new(inner)
}

#[test]
fn another_source_with_the_same_document_is_another_source() {
    let days = || -> Shared { Arc::new(MemoryStore::new()) };
    let (monday, tuesday) = (days(), days());
    array(&monday, "a");
    array(&monday, "b");
    Array::create(tuesday.clone(), &prefix("a"), metadata(&regular([6, 4]), LITTLE))
        .and_then(|array| array.write(Selection::whole(&SHAPE), &[7; 480]))
        .expect("writes");
    assert_eq!(objects(&monday)["a/zarr.json"], objects(&tuesday)["a/zarr.json"]);
    let options = CopyOptions::new().memory(1000);
    let resume = options.clone().resume(true);
    for chunks in [None, Some([7, 5])] {
        let to = killed(&monday, chunks, 18, &options);
        let before = objects(&to);
        assert!(before.contains_key(MARKER) && before.len() > 2, "{:?}", before.keys());
        let others = [
            copy((&tuesday, "a"), (&to, ""), chunks, &resume),
            copy((&monday, "b"), (&to, ""), chunks, &resume),
            copy((&monday, "a"), (&to, ""), Some([5, 7]), &resume),
        ];
        for refused in others {
            assert!(matches!(refused, Err(TransferError::OtherCopy { .. })), "{refused:?}");
            assert_eq!(objects(&to), before);
        }
        copy((&monday, "a"), (&to, ""), chunks, &resume).expect("resumes");

        // Finished now, and nothing shows from what.
        let finished = objects(&to);
        for from in [&monday, &tuesday] {
            let refused = copy((from, "a"), (&to, ""), chunks, &resume);
            assert!(matches!(refused, Err(TransferError::NotInterrupted { .. })), "{refused:?}");
            let refused = copy((from, "a"), (&to, ""), chunks, &options);
            assert!(matches!(refused, Err(TransferError::Exists { .. })), "{refused:?}");
        }
        assert_eq!(objects(&to), finished);
    }

    // The same place with another document.
    let to = killed(&monday, Some([7, 5]), 18, &options);
    let opened = Array::open(monday.clone(), &prefix("a")).expect("opens");
    opened.update_attributes(&[("title", Some("\"new\""))]).expect("updates");
    let refused = copy((&monday, "a"), (&to, ""), Some([7, 5]), &resume);
    assert!(matches!(refused, Err(TransferError::OtherCopy { .. })), "{refused:?}");
}

/// A copy that is killed after its marker was removed is finished, but may leave files.
#[cfg(unix)]
#[test]
fn what_a_finished_copy_left_goes_when_it_is_to_be_resumed() {
    let from: Shared = Arc::new(MemoryStore::new());
    array(&from, "a");
    let folder = tempfile::tempdir().expect("a folder");
    let to: Shared = Arc::new(LocalStore::open(folder.path()).expect("opens"));
    copy((&from, "a"), (&to, "b"), None, &CopyOptions::new()).expect("copies");
    let finished = objects(&to);
    let left = [".zarr-kit-tmp.1.2.3.4.0", ".zarr-kit-lock.zarr-kit-copy.json"];
    for name in left {
        std::fs::write(folder.path().join("b").join(name), b"half").expect("writes");
    }
    let resumed = copy((&from, "a"), (&to, "b"), None, &CopyOptions::new().resume(true));
    assert!(matches!(resumed, Err(TransferError::NotInterrupted { .. })), "{resumed:?}");
    for name in left {
        assert!(!folder.path().join("b").join(name).exists(), "{name}");
    }
    assert_eq!(objects(&to), finished);
}

#[test]
fn a_copy_of_a_group_that_dies_at_any_step_is_told_and_resumed() {
    let from: Shared = Arc::new(MemoryStore::new());
    group(&from, "");
    array(&from, "b");
    group(&from, "g");
    array(&from, "g/a");
    array(&from, "g/z");
    let options = CopyOptions::new().memory(1000);
    for chunks in [None, Some([7, 5])] {
        let undisturbed = Arc::new(FaultStore::new(MemoryStore::new()));
        let target: Shared = undisturbed.clone();
        copy((&from, ""), (&target, ""), chunks, &options).expect("copies");
        let expected = objects(undisturbed.inner());
        for step in 0..undisturbed.operations() {
            for fault in [Fault::DieBefore, Fault::DieAfter] {
                let at = format!("{chunks:?} {fault:?} {step}");
                let inner = MemoryStore::new();
                let dying: Shared = Arc::new(FaultStore::new(inner.clone()).at(step, fault));
                copy((&from, ""), (&dying, ""), chunks, &options).expect_err("dies");
                let found = objects(&inner);
                let store: Shared = Arc::new(inner.clone());
                let finished = found == expected;
                documents_are_of_whole_nodes(&found, &Objects::new(), &expected, &at);
                if found.contains_key(MARKER) {
                    let mut keys = Vec::new();
                    check(&store, &Prefix::root(), &CheckOptions::new(), &mut |found| {
                        if found.id() == "unfinished-copy" {
                            keys.extend(found.key().map(str::to_owned));
                        }
                    })
                    .expect("checks");
                    assert!(keys.iter().any(|key| key == MARKER), "{at}: {keys:?}");
                    // The array that was being written has one too, and so does its group.
                    assert!(keys.len() <= 3, "{at}: {keys:?}");
                    let refused = copy((&from, ""), (&store, ""), chunks, &options);
                    match refused {
                        Err(TransferError::Exists { .. }) if found.contains_key("zarr.json") => {}
                        Err(TransferError::Unfinished { .. })
                            if !found.contains_key("zarr.json") => {}
                        other => panic!("{at}: {other:?}"),
                    }
                }
                match copy((&from, ""), (&store, ""), chunks, &options.clone().resume(true)) {
                    Ok(_) => {}
                    Err(TransferError::NotInterrupted { .. }) => assert!(finished, "{at}"),
                    Err(error) => panic!("{at}: {error}"),
                }
                assert_eq!(objects(&inner), expected, "{at}");
            }
        }
    }
}

/// Programs that make groups ahead put the documents that the copy would put, or others.
#[test]
fn documents_of_groups_by_another_program_do_not_end_a_copy() {
    let from: Shared = Arc::new(MemoryStore::new());
    group(&from, "");
    array(&from, "b");
    group(&from, "g");
    array(&from, "g/a");
    let other = br#"{"zarr_format":3,"node_type":"group"}"#;
    let in_parts = |number| CopyOptions::new().memory(1000).part(Part::new(number, 2).expect("ok"));
    for chunks in [None, Some([7, 5])] {
        let options = CopyOptions::new().memory(1000);
        let undisturbed = Arc::new(FaultStore::new(MemoryStore::new()));
        let target: Shared = undisturbed.clone();
        copy((&from, ""), (&target, ""), chunks, &options).expect("copies");
        let expected = objects(undisturbed.inner());
        for name in ["zarr.json", "g/zarr.json"] {
            for document in [expected[name].as_slice(), other] {
                for step in 0..undisturbed.operations() {
                    let at = format!("{chunks:?} {name} {step}");
                    let inner = MemoryStore::new();
                    let dying: Shared =
                        Arc::new(FaultStore::new(inner.clone()).at(step, Fault::DieBefore));
                    copy((&from, ""), (&dying, ""), chunks, &options).expect_err("dies");
                    let found = objects(&inner);
                    if !found.contains_key(MARKER) || found.contains_key(name) {
                        continue;
                    }
                    let store: Shared = Arc::new(inner.clone());
                    let resume =
                        || copy((&from, ""), (&store, ""), chunks, &options.clone().resume(true));
                    store.put(&key(name), document).expect("puts");
                    if document == other {
                        let refused = resume();
                        let is_named = matches!(refused, Err(TransferError::OtherDocument { .. }));
                        assert!(is_named, "{at}: {refused:?}");
                        assert_eq!(objects(&inner)[name], other, "{at}");
                        store.delete(&key(name)).expect("moves away");
                    }
                    resume().unwrap_or_else(|error| panic!("{at}: {error}"));
                    assert_eq!(objects(&inner), expected, "{at}");
                }
                // Between two parts.
                let store: Shared = Arc::new(MemoryStore::new());
                let part = |number| copy((&from, ""), (&store, ""), chunks, &in_parts(number));
                part(1).expect("copies");
                store.put(&key(name), document).expect("puts");
                if name == "zarr.json" || document == other {
                    let refused = part(2);
                    let is_named = matches!(refused, Err(TransferError::OtherDocument { .. }));
                    assert!(is_named, "{name}: {refused:?}");
                    assert_eq!(objects(&*store)[name], document);
                    store.delete(&key(name)).expect("moves away");
                }
                part(2).expect("copies");
                assert_eq!(objects(&*store), expected, "{name} in parts");
            }
        }
    }
}

#[test]
fn a_group_is_not_resumed_into_other_chunks() {
    let from: Shared = Arc::new(MemoryStore::new());
    group(&from, "");
    array(&from, "a");
    array(&from, "b");
    let options = CopyOptions::new().memory(1000);
    let whole = Arc::new(FaultStore::new(MemoryStore::new()));
    let target: Shared = whole.clone();
    copy((&from, ""), (&target, ""), Some([7, 5]), &options).expect("copies");
    let inner = MemoryStore::new();
    let dying = FaultStore::new(inner.clone()).at(whole.operations() - 2, Fault::DieBefore);
    let dying: Shared = Arc::new(dying);
    copy((&from, ""), (&dying, ""), Some([7, 5]), &options).expect_err("dies");
    // The marker has a number of the run.
    let but_the_marker = || {
        let mut found = objects(&inner);
        found.remove(MARKER).expect("is there");
        found
    };
    let before = but_the_marker();
    let to: Shared = Arc::new(inner.clone());
    let refused = copy((&from, ""), (&to, ""), Some([5, 7]), &options.resume(true));
    assert!(matches!(refused, Err(TransferError::OtherCopy { .. })), "{refused:?}");
    assert_eq!(but_the_marker(), before);
}

/// A copy visits its source before it writes anything, and so does one that is resumed: another one
/// would have other arrays.
#[test]
fn a_copy_visits_its_source_before_it_writes() {
    let from: Shared = Arc::new(MemoryStore::new());
    group(&from, "");
    for name in ["a", "b", "c"] {
        array(&from, name);
    }
    let inner = MemoryStore::new();
    let visits = |to: Shared, options: &CopyOptions| {
        let mut visits = 0;
        let copied = copy_tree(
            Endpoint::new(&from, &Prefix::root()),
            Endpoint::new(&to, &Prefix::root()),
            &mut |_, metadata| {
                visits += 1;
                Ok(metadata.clone())
            },
            options,
            &mut |_, _| {},
        );
        (visits, copied.is_ok())
    };
    let dying = Arc::new(FaultStore::new(inner.clone()).at(12, Fault::DieBefore));
    let (before, copied) = visits(dying, &CopyOptions::new());
    assert!(before > 3 && !copied, "{before}");
    assert_eq!(visits(Arc::new(inner.clone()), &CopyOptions::new().resume(true)), (6, true));
    assert_eq!(visits(Arc::new(MemoryStore::new()), &CopyOptions::new()), (6, true));
    let source = objects(&*from);
    assert!(objects(&inner) == source);
}

/// What happens to the source `a` of a copy that was killed.
type Change = fn(&Shared);

const CHANGES: [(&str, Change); 4] = [
    ("replaced by as many bytes", |from| {
        let array = Array::open(from.clone(), &prefix("a")).expect("opens");
        array.write((0..1, 0..1), &[9, 9]).expect("writes");
    }),
    ("removed", |from| {
        let array = Array::open(from.clone(), &prefix("a")).expect("opens");
        from.delete(&array.layout().key(&[1, 1]).expect("a key")).expect("deletes");
    }),
    ("added", |from| from.put(&key("a/README.md"), b"new").expect("puts")),
    ("of a document", |from| {
        let array = Array::open(from.clone(), &prefix("a")).expect("opens");
        array.update_attributes(&[("title", Some("\"new\""))]).expect("updates");
    }),
];

/// A resumed copy would have objects of two states of its source, also where an array of it was
/// complete before.
#[test]
fn a_source_that_has_changed_is_not_copied_in_part() {
    let options = CopyOptions::new().memory(1000);
    let resume = options.clone().resume(true);
    let source = |folder: Option<&tempfile::TempDir>| {
        let from: Shared = match folder {
            Some(folder) => Arc::new(LocalStore::open(folder.path()).expect("opens")),
            None => Arc::new(MemoryStore::new()),
        };
        group(&from, "");
        array(&from, "a");
        array(&from, "b");
        from
    };
    for (what, change) in CHANGES {
        for is_local in [false, true] {
            for (place, chunks) in
                [("a", None), ("a", Some([7, 5])), ("", None), ("", Some([7, 5]))]
            {
                let at = format!("{what} {is_local} {place:?} {chunks:?}");
                let folder = folder_in_memory();
                let from = source(Some(&folder).filter(|_| is_local));
                let whole = Arc::new(FaultStore::new(MemoryStore::new()));
                let target: Shared = whole.clone();
                copy((&from, place), (&target, ""), chunks, &options).expect("copies");
                // Of the group, `a` is complete by then, and `b` is not.
                let inner = MemoryStore::new();
                let died = whole.operations() - 8;
                let dying: Shared =
                    Arc::new(FaultStore::new(inner.clone()).at(died, Fault::DieBefore));
                copy((&from, place), (&dying, ""), chunks, &options).expect_err("dies");
                let before = objects(&inner);
                assert_eq!(before.contains_key("a/zarr.json"), place.is_empty(), "{at}");
                change(&from);
                let to: Shared = Arc::new(inner.clone());
                let refused = copy((&from, place), (&to, ""), chunks, &resume);
                let is_document = what == "of a document" && place == "a";
                let is_told = match refused {
                    Err(TransferError::SourceChanged { .. }) => !is_document,
                    Err(TransferError::OtherCopy { .. }) => is_document,
                    _ => false,
                };
                assert!(is_told, "{at}: {refused:?}");
                assert_eq!(objects(&inner), before, "{at}");
                copy((&from, place), (&to, ""), chunks, &options.clone().overwrite(true))
                    .expect("copies again");
            }
        }
    }
}

/// The latest time would not tell of a file that was replaced by an older one.
#[test]
fn an_older_file_of_the_same_size_is_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let from: Shared = Arc::new(LocalStore::open(folder.path()).expect("opens"));
    array(&from, "a");
    let to = killed(&from, None, 12, &CopyOptions::new());
    let chunk = folder.path().join("a/c/0/0");
    let bytes = std::fs::read(&chunk).expect("reads");
    std::fs::write(&chunk, vec![7; bytes.len()]).expect("writes");
    let file = std::fs::File::options().write(true).open(&chunk).expect("opens");
    file.set_modified(std::time::UNIX_EPOCH).expect("sets the time");
    let refused = copy((&from, "a"), (&to, ""), None, &CopyOptions::new().resume(true));
    assert!(matches!(refused, Err(TransferError::SourceChanged { .. })), "{refused:?}");
}

/// Parts of one copy copy one state of the source.
#[test]
fn a_part_that_begins_after_a_change_is_refused() {
    let part = |number| CopyOptions::new().part(Part::new(number, 2).expect("a part"));
    for (place, chunks) in [("a", None), ("a", Some([7, 5])), ("", Some([7, 5]))] {
        let from: Shared = Arc::new(MemoryStore::new());
        group(&from, "");
        array(&from, "a");
        let to: Shared = Arc::new(MemoryStore::new());
        copy((&from, place), (&to, ""), chunks, &part(1)).expect("copies");
        let (_, change) = CHANGES[0];
        change(&from);
        let before = objects(&to);
        let refused = copy((&from, place), (&to, ""), chunks, &part(2));
        assert!(matches!(refused, Err(TransferError::SourceChanged { .. })), "{refused:?}");
        assert_eq!(objects(&to), before);
    }
}

/// The run that wrote the chunk may have failed its verification.
#[test]
fn a_verification_includes_what_an_interrupted_run_wrote() {
    let from: Shared = Arc::new(MemoryStore::new());
    array(&from, "a");
    let options = CopyOptions::new().memory(1000);
    for chunks in [None, Some([7, 5])] {
        let whole: Shared = Arc::new(MemoryStore::new());
        copy((&from, "a"), (&whole, ""), chunks, &options).expect("copies");
        let to = killed(&from, chunks, 18, &options);
        let stored = objects(&to);
        let (name, bytes) =
            stored.iter().find(|(name, _)| name.starts_with("c/")).expect("is there");
        to.put(&key(name), &vec![9; bytes.len()]).expect("puts");
        let options = options.clone().resume(true).verify(true);
        copy((&from, "a"), (&to, ""), chunks, &options).expect("resumes");
        let (found, expected) = (objects(&to), objects(&whole));
        assert!(found == expected, "{chunks:?} {name}");
    }
}
