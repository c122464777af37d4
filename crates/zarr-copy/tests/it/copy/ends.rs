//! Copies whose source is their target, lies in it, or cannot be copied.

use std::sync::Arc;

use zarr_array::store::{
    Fault, FaultStore, LocalStore, MemoryStore, Prefix, Store, StoreExt as _, StoreOptions,
    open_url,
};
use zarr_array::{Array, Group, Selection};
use zarr_copy::{CopyOptions, CopySummary, Endpoint, MARKER, TransferError, copy_array, copy_tree};
use zarr_metadata::{ArrayMetadata, GroupMetadata};
use zarr_store_tests::hand_on;
use zarr_store_tests::objects;

use super::{LITTLE, SHAPE, elements, metadata, regular};

type Shared = Arc<dyn Store>;

pub(super) fn prefix(text: &str) -> Prefix {
    Prefix::new(text).expect("a prefix")
}

pub(super) fn array(store: &Shared, path: &str) {
    Array::create(store.clone(), &prefix(path), metadata(&regular([6, 4]), LITTLE))
        .and_then(|array| array.write(Selection::whole(&SHAPE), &elements()))
        .expect("writes");
}

pub(super) fn group(store: &Shared, path: &str) {
    Group::create(store.clone(), &prefix(path), GroupMetadata::new()).expect("creates");
}

/// Copies what is there, with other chunks for arrays if requested.
pub(super) fn copy(
    from: (&Shared, &str),
    to: (&Shared, &str),
    chunks: Option<[u64; 2]>,
    options: &CopyOptions,
) -> Result<CopySummary, TransferError> {
    copy_with(from, to, options, &|old| match chunks {
        None => old.clone(),
        Some(chunks) => metadata(&regular(chunks), LITTLE),
    })
}

/// Copies a store.
pub(super) fn copy_root(
    from: &Shared,
    to: &Shared,
    chunks: Option<[u64; 2]>,
    options: &CopyOptions,
) -> Result<CopySummary, TransferError> {
    copy((from, ""), (to, ""), chunks, options)
}

/// Copies what is there, with other metadata for arrays.
pub(super) fn copy_with(
    from: (&Shared, &str),
    to: (&Shared, &str),
    options: &CopyOptions,
    change: &dyn Fn(&ArrayMetadata) -> ArrayMetadata,
) -> Result<CopySummary, TransferError> {
    copy_tree(
        Endpoint::new(from.0, &prefix(from.1)),
        Endpoint::new(to.0, &prefix(to.1)),
        &mut |_, old| Ok(change(old)),
        options,
        &mut |_, _| {},
    )
}

/// Neither way of copying, and neither of replacing, changes anything.
fn refuses(store: &Shared, from: (&Shared, &str), to: (&Shared, &str)) {
    let before = objects(store);
    let options = CopyOptions::new();
    for options in [options.clone(), options.clone().overwrite(true), options.resume(true)] {
        let mut results =
            vec![copy(from, to, None, &options), copy(from, to, Some([3, 5]), &options)];
        if let Ok(array) = Array::open(from.0.clone(), &prefix(from.1)) {
            let other = metadata(&regular([3, 5]), LITTLE);
            let to = (to.0.clone(), &prefix(to.1));
            let result = copy_array(&array, to.0, to.1, other, &options, &mut |_| {});
            results.push(result.map(|(_, summary)| summary));
        }
        for result in results {
            let refused = matches!(result, Err(TransferError::Overlap { .. }));
            assert!(refused, "{from:?} to {to:?}: {result:?}");
            assert_eq!(objects(store), before);
        }
    }
}

#[test]
fn a_place_in_itself_is_refused_in_memory() {
    let memory = MemoryStore::new();
    let (one, two): (Shared, Shared) = (Arc::new(memory.clone()), Arc::new(memory));
    group(&one, "");
    group(&one, "g");
    array(&one, "g/a");
    array(&one, "ga");
    for (from, to) in [("g/a", "g/a"), ("g", "g"), ("g", "g/b"), ("g/a", "g"), ("", "x"), ("g", "")]
    {
        refuses(&one, (&one, from), (&two, to));
    }
    // A name that begins with another name is not a place within it.
    copy((&one, "g"), (&two, "gab"), None, &CopyOptions::new()).expect("copies");
    copy((&one, "ga"), (&two, "g/b"), None, &CopyOptions::new()).expect("copies");
}

#[test]
fn a_place_in_itself_is_refused_in_folders_however_they_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = |url: &str| open_url(url, &StoreOptions::new().create(true)).expect("opens");
    let at = |path: &str| folder.path().join(path).display().to_string();
    let whole = open(&at("s"));
    group(&whole, "");
    group(&whole, "g");
    array(&whole, "g/a");
    let roots = [
        (at("s/g/a"), at("s/g/a")),
        (format!("file://{}", at("s/g/a")), at("s/g/a")),
        (at("s/g/a"), format!("file:{}", at("s/g/../g/a/"))),
        (at("s/g"), format!("file://{}", at("s/g/a"))),
        (at("s/g/a"), at("s")),
        (at("s/g"), at("s/g/new")),
    ];
    for (from, to) in roots {
        refuses(&whole, (&open(&from), ""), (&open(&to), ""));
    }
    refuses(&whole, (&open(&at("s/g")), "a"), (&whole, "g/a"));
    refuses(&whole, (&open(&at("s/g")), ""), (&whole, "g/a/deep/er"));
}

#[cfg(unix)]
#[test]
fn links_lead_to_the_same_place_and_are_removed_alone() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().expect("a folder");
    let at = |path: &str| folder.path().join(path);
    let open = |path: &str| -> Shared { Arc::new(LocalStore::create(at(path)).expect("opens")) };
    let whole = open("s");
    group(&whole, "");
    group(&whole, "g");
    array(&whole, "g/a");
    array(&whole, "b");
    symlink(at("s/g"), at("alias")).expect("links");
    symlink("g/a", at("s/linked")).expect("links");
    refuses(&whole, (&open("alias"), ""), (&whole, "g"));
    refuses(&whole, (&open("alias"), "a"), (&open("s/g"), ""));
    refuses(&whole, (&whole, "linked"), (&whole, "g/a"));
    refuses(&whole, (&whole, "g"), (&whole, "linked"));
    // A source that contains the target through a link.
    symlink("../b", at("s/g/to-b")).expect("links");
    let (before, options) = (objects(&whole), CopyOptions::new().overwrite(true));
    let refused = copy((&whole, "g"), (&whole, "b"), None, &options);
    assert!(matches!(refused, Err(TransferError::Overlap { .. })), "{refused:?}");
    assert_eq!(objects(&whole), before);
    std::fs::remove_file(at("s/g/to-b")).expect("removes");

    // A target with a link to the source: the link is removed, the source stays.
    std::fs::remove_file(at("s/linked")).expect("removes");
    group(&whole, "old");
    group(&whole, "old/inner");
    symlink("../g", at("s/old/link")).expect("links");
    symlink("../../g/a", at("s/old/inner/link")).expect("links");
    let before = objects(&open("s/g"));
    copy((&whole, "g"), (&whole, "old"), None, &options).expect("copies");
    assert_eq!(objects(&open("s/g")), before);
    assert_eq!(objects(&open("s/old")), before);
}

#[test]
fn a_place_in_itself_is_refused_in_object_storage() {
    use object_store::memory::InMemory;
    use object_store::path::Path;
    use zarr_array::store::{ConditionalPut, RemoteStore};

    let backend = Arc::new(InMemory::new());
    let options = StoreOptions::new();
    let open = |base: &str| -> Shared {
        Arc::new(RemoteStore::new(
            backend.clone(),
            Path::from(base),
            ConditionalPut::Supported,
            &options,
        ))
    };
    let whole = open("");
    group(&whole, "");
    group(&whole, "g");
    array(&whole, "g/a");
    refuses(&whole, (&whole, "g/a"), (&open("g"), "a"));
    refuses(&whole, (&open("g"), ""), (&open("g/a"), ""));
    refuses(&whole, (&open("g/a"), ""), (&open("g"), ""));
    refuses(&whole, (&open("g/a"), ""), (&open("g/a/below"), ""));
    let other = Arc::new(InMemory::new());
    let other: Shared =
        Arc::new(RemoteStore::new(other, Path::default(), ConditionalPut::Supported, &options));
    copy((&whole, "g"), (&other, "g"), None, &CopyOptions::new()).expect("copies");
}

#[test]
fn buckets_are_told_by_name_and_endpoint() {
    let open = |url: &str, endpoint: Option<&str>| {
        let options = StoreOptions::new().setting("region", "us-east-1");
        let options = match endpoint {
            Some(endpoint) => options.setting("endpoint", endpoint),
            None => options,
        };
        let store = open_url(url, &options.setting("skip_signature", "true")).expect("opens");
        store.location(&prefix("a")).expect("is known")
    };
    let here = open("s3://bucket/x", None);
    assert_eq!(here, open("https://bucket.s3.us-east-1.amazonaws.com/x", None));
    assert!(here.overlaps(&open("s3://bucket/x/a/b", None)));
    assert!(!here.overlaps(&open("s3://bucket/xa", None)));
    assert!(!here.overlaps(&open("s3://other/x", None)));
    assert!(!here.overlaps(&open("s3://bucket/x", Some("https://minio.example"))));
    let [one, two] = ["https://minio.example:443/", "https://minio.example"]
        .map(|endpoint| open("s3://bucket/x", Some(endpoint)));
    assert_eq!(one, two);
    assert!(two.to_string().ends_with("/x/a"), "{two}");
    // A secret in an endpoint would be in errors and in the marker of a copy.
    let options = StoreOptions::new().setting("endpoint", "https://user:word@minio.example");
    let refused = open_url("s3://bucket/x", &options).expect_err("has a password").to_string();
    assert!(refused.contains("endpoint") && !refused.contains("word@"), "{refused}");
}

/// A store that does not know its location.
#[derive(Debug)]
struct Nameless(MemoryStore);

impl Store for Nameless {
    hand_on!(0: get put_opts delete list list_dir lock);
}

#[test]
fn stores_that_do_not_know_where_they_are_are_told_by_what_they_hold() {
    let memory = MemoryStore::new();
    let (one, two): (Shared, Shared) =
        (Arc::new(Nameless(memory.clone())), Arc::new(Nameless(memory)));
    group(&one, "");
    group(&one, "g");
    array(&one, "g/a");
    refuses(&one, (&one, "g"), (&one, "g/a"));
    refuses(&one, (&one, "g/a"), (&one, ""));
    // Through other handles: the marker appears at the source, and is removed again.
    let overwrite = CopyOptions::new().overwrite(true);
    let before = objects(&one);
    for path in ["g", "g/a"] {
        let refused = copy((&one, path), (&two, path), None, &overwrite);
        assert!(matches!(refused, Err(TransferError::Overlap { .. })), "{refused:?}");
        assert_eq!(objects(&one), before);
    }
    let other: Shared = Arc::new(Nameless(MemoryStore::new()));
    copy((&one, "g"), (&other, "g"), None, &overwrite).expect("copies");
}

#[test]
fn a_copy_that_has_no_document_yet_is_no_source_nor_left_out() {
    let from: Shared = Arc::new(MemoryStore::new());
    group(&from, "");
    group(&from, "g");
    array(&from, "g/a");
    from.put(&prefix("g/new").key(MARKER).expect("a key"), b"of whatever copy").expect("puts");
    for source in ["", "g", "g/new"] {
        let to: Shared = Arc::new(MemoryStore::new());
        match copy((&from, source), (&to, ""), None, &CopyOptions::new()) {
            Err(TransferError::UnfinishedSource { path }) => assert_eq!(path, "g/new"),
            other => panic!("{source:?}: {other:?}"),
        }
        assert!(objects(&to).is_empty());
    }
}

#[test]
fn what_is_not_finished_is_no_source() {
    for marked in ["", "g", "g/a"] {
        let from: Shared = Arc::new(MemoryStore::new());
        group(&from, "");
        group(&from, "g");
        array(&from, "g/a");
        array(&from, "z");
        from.put(&prefix(marked).key(MARKER).expect("a key"), b"of whatever copy").expect("puts");
        // Found before an overwrite removes anything.
        let to: Shared = Arc::new(MemoryStore::new());
        group(&to, "");
        array(&to, "old");
        let before = objects(&to);
        for source in ["", "g", "g/a"] {
            // An array without a marker of its own is whole, whatever the state of the tree.
            let whole = source == "g/a" && marked != "g/a";
            for chunks in [None, Some([3, 5])] {
                let overwrite = CopyOptions::new().overwrite(true);
                let result = copy((&from, source), (&to, ""), chunks, &overwrite);
                if whole {
                    result.expect("copies");
                    let again: Shared = Arc::new(MemoryStore::new());
                    copy((&from, source), (&again, ""), chunks, &overwrite).expect("copies");
                    assert_eq!(objects(&to), objects(&again));
                    assert!(!objects(&to).contains_key(MARKER));
                    continue;
                }
                let refused = matches!(result, Err(TransferError::UnfinishedSource { .. }));
                assert!(refused, "{marked:?} {source:?}: {result:?}");
                assert_eq!(objects(&to), before);
            }
        }
    }
}

/// Otherwise nothing would tell what the chunks are that it has left.
#[test]
fn an_unfinished_copy_stays_marked_if_another_source_cannot_be_read() {
    let overwrite = CopyOptions::new().overwrite(true);
    for step in 0.. {
        let from: Shared = Arc::new(MemoryStore::new());
        array(&from, "a");
        let to: Shared = Arc::new(MemoryStore::new());
        let dying: Shared = Arc::new(FaultStore::new(to.clone()).at(14, Fault::DieBefore));
        copy((&from, "a"), (&dying, "b"), None, &CopyOptions::new()).expect_err("ends");
        assert!(objects(&to).len() > 1);
        let faulty: Shared = Arc::new(FaultStore::new(from).at(step, Fault::DieBefore));
        let copied = copy((&faulty, "a"), (&to, "b"), None, &overwrite);
        if copied.is_ok() {
            assert!(step > 8);
            return;
        }
        let marker = prefix("b").key(MARKER).expect("a key");
        assert!(to.read(&marker).expect("reads").is_some(), "step {step}");
    }
}
