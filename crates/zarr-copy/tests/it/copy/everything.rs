//! What a copy keeps beside nodes: objects that belong to none, nodes in folders without a document,
//! consolidated metadata.

use std::sync::Arc;

use zarr_array::store::{
    Fault, FaultStore, Key, LocalStore, MemoryStore, Prefix, Store, StoreExt as _,
};
use zarr_array::{Array, Group, Part, Selection};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, TransferError};
use zarr_store_tests::objects;

use super::elements;
use super::ends::{array, copy, copy_root, group, prefix};

type Shared = Arc<dyn Store>;

fn put(store: &Shared, key: &str, bytes: &[u8]) {
    store.put(&Key::new(key).expect("a key"), bytes).expect("puts");
}

/// Groups and arrays with consolidated metadata, and all that people put beside them.
fn source(store: &Shared) {
    group(store, "");
    array(store, "a");
    group(store, "g");
    array(store, "g/b");
    put(store, "README.md", b"# Weather");
    put(store, "OME/METADATA.ome.xml", b"<OME/>");
    put(store, "g/table.parquet/part.0", b"PAR1");
    put(store, "a/notes.txt", b"?");
    put(store, "old/.zarray", b"{}");
    array(store, "folder/deep/c");
    let open = |path: &str| Group::open(store.clone(), &prefix(path)).expect("opens");
    open("g").consolidate().expect("consolidates");
    open("").consolidate().expect("consolidates");
}

/// Findings about consolidated metadata.
fn stale(store: &Shared) -> Vec<String> {
    let mut stale = Vec::new();
    check(store, &Prefix::root(), &CheckOptions::new(), &mut |finding| {
        stale.extend((finding.id() == "stale-consolidated").then(|| finding.to_string()));
    })
    .expect("checks");
    stale
}

#[test]
fn a_plain_copy_is_the_source_byte_for_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let local: Shared = Arc::new(LocalStore::create(folder.path()).expect("a store"));
    for from in [Arc::new(MemoryStore::new()) as Shared, local] {
        source(&from);
        let to: Shared = Arc::new(MemoryStore::new());
        let options = CopyOptions::new().verify(true);
        let done = copy_root(&from, &to, None, &options).expect("copies");
        assert_eq!(objects(&*to), objects(&*from));
        assert_eq!((done.groups, done.arrays, done.others, done.left_out), (2, 3, 5, 0));
        // Once more, over it.
        copy_root(&from, &to, None, &options.overwrite(true)).expect("overwrites");
        assert_eq!(objects(&*to), objects(&*from));
    }
}

#[test]
fn consolidated_metadata_says_what_changed() {
    let from: Shared = Arc::new(MemoryStore::new());
    source(&from);
    let to: Shared = Arc::new(MemoryStore::new());
    let done = copy_root(&from, &to, Some([7, 5]), &CopyOptions::new()).expect("copies");
    assert_eq!((done.groups, done.arrays, done.others), (2, 3, 5));
    assert_eq!(stale(&to), Vec::<String>::new());
    let root = Group::open_consolidated(to.clone(), &Prefix::root()).expect("opens");
    for path in ["a", "g/b"] {
        let array = root.array(path).expect("known");
        assert_eq!(array.layout().chunk_shape(&[0, 0]).expect("a chunk"), vec![7, 5]);
        assert_eq!(array.read(Selection::whole(array.shape())).expect("reads"), elements());
    }
    let deep = Array::open(to.clone(), &prefix("folder/deep/c")).expect("opens");
    assert_eq!(deep.layout().chunk_shape(&[0, 0]).expect("a chunk"), vec![7, 5]);
    let found = objects(&*to);
    for other in ["README.md", "OME/METADATA.ome.xml", "a/notes.txt", "old/.zarray"] {
        assert_eq!(found[other], objects(&*from)[other], "{other}");
    }
}

#[test]
fn what_is_left_out_is_counted() {
    let from: Shared = Arc::new(MemoryStore::new());
    source(&from);
    for chunks in [None, Some([7, 5])] {
        let to: Shared = Arc::new(MemoryStore::new());
        let options = CopyOptions::new().nodes_only(true);
        let done = copy_root(&from, &to, chunks, &options).expect("copies");
        assert_eq!((done.arrays, done.others, done.left_out), (3, 0, 5));
        let found = objects(&*to);
        assert!(found.contains_key("folder/deep/c/zarr.json"));
        for other in ["README.md", "old/.zarray", "a/notes.txt"] {
            assert!(!found.contains_key(other), "{other}");
        }
    }
}

#[test]
fn an_overwrite_removes_no_object_of_somebody_else() {
    let from: Shared = Arc::new(MemoryStore::new());
    source(&from);
    for (key, also) in
        [("thesis.tex", false), ("g/x/y", false), ("a/z.txt", false), ("README.md", true)]
    {
        let to: Shared = Arc::new(MemoryStore::new());
        copy_root(&from, &to, None, &CopyOptions::new()).expect("copies");
        put(&to, key, b"theirs");
        let before = objects(&*to);
        let overwrite = CopyOptions::new().overwrite(true);
        match copy_root(&from, &to, None, &overwrite) {
            Ok(_) => assert!(also, "{key}"),
            Err(TransferError::Foreign { key: found, .. }) => {
                assert_eq!((found.as_str(), also), (key, false));
                assert_eq!(objects(&*to), before);
            }
            Err(error) => panic!("{error}"),
        }
        // Without others nothing takes its place.
        let refused = copy_root(&from, &to, None, &overwrite.nodes_only(true));
        assert!(matches!(refused, Err(TransferError::Foreign { .. })), "{key}: {refused:?}");
    }
}

#[test]
fn a_copy_of_everything_that_dies_anywhere_is_resumed() {
    let from: Shared = Arc::new(MemoryStore::new());
    source(&from);
    let options = CopyOptions::new().memory(1000);
    for chunks in [None, Some([7, 5])] {
        let counted = Arc::new(FaultStore::new(MemoryStore::new()));
        let shared: Shared = counted.clone();
        copy_root(&from, &shared, chunks, &options).expect("copies");
        let expected = objects(&*shared);
        for number in (0..counted.operations()).step_by(3) {
            for fault in [Fault::DieBefore, Fault::DieAfter] {
                let inner = MemoryStore::new();
                let dying: Shared = Arc::new(FaultStore::new(inner.clone()).at(number, fault));
                let died = copy_root(&from, &dying, chunks, &options);
                let inner: Shared = Arc::new(inner);
                if died.is_ok() {
                    assert_eq!(objects(&*inner), expected, "{number} {fault:?}");
                    continue;
                }
                match copy((&from, ""), (&inner, ""), chunks, &options.clone().resume(true)) {
                    Ok(_) => assert_eq!(objects(&*inner), expected, "{number} {fault:?}"),
                    Err(TransferError::NotInterrupted { .. }) => {
                        assert_eq!(objects(&*inner), expected, "{number} {fault:?}");
                    }
                    Err(error) => panic!("{number} {fault:?}: {error}"),
                }
            }
        }
    }
}

/// What no listing has is in no copy, but in the summary; of parts, in that of the first.
#[cfg(unix)]
#[test]
fn what_no_key_can_name_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let from: Shared = Arc::new(LocalStore::create(folder.path()).expect("a store"));
    source(&from);
    for name in ["back\\slash", "a/c\\0", "g/b/x\\y"] {
        std::fs::write(folder.path().join(name), b"lost").expect("writes");
    }
    std::os::unix::fs::symlink("nowhere", folder.path().join("a/gone")).expect("links");
    let expected = ["a/c\\0", "a/gone", "back\\slash", "g/b/x\\y"];
    let to = || Arc::new(MemoryStore::new()) as Shared;
    for chunks in [None, Some([7, 5])] {
        let done = copy_root(&from, &to(), chunks, &CopyOptions::new()).expect("copies");
        assert_eq!(done.without_key, expected);
        let quiet = CopyOptions::new().nodes_only(true);
        assert!(copy_root(&from, &to(), chunks, &quiet).expect("copies").without_key.is_empty());
        let target = to();
        for number in [2, 1] {
            let part = CopyOptions::new().part(Part::new(number, 2).expect("valid"));
            let done = copy_root(&from, &target, chunks, &part).expect("copies");
            assert_eq!(done.without_key.len(), if number == 1 { 4 } else { 0 });
        }
    }
    // Of an array, what is in its folder.
    let done = copy((&from, "a"), (&to(), ""), None, &CopyOptions::new()).expect("copies");
    assert_eq!(done.without_key, ["a/c\\0", "a/gone"]);
    // A check tells as much.
    let mut told = Vec::new();
    check(&from, &Prefix::root(), &CheckOptions::new(), &mut |finding| {
        let key = finding.key().map(ToString::to_string);
        told.extend(key.filter(|_| finding.id() == "foreign-file"));
    })
    .expect("checks");
    assert_eq!(told, expected);
}

/// As where a disk is not mounted: the copy would have fill values there.
#[cfg(unix)]
#[test]
fn a_link_to_nothing_in_place_of_chunks_is_refused() {
    for allowed in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let local = LocalStore::create(root).expect("a store").with_outside_links(allowed);
        let from: Shared = Arc::new(local);
        source(&from);
        for link in ["a/c/0/0", "a/c/0", "a/c"] {
            let link = root.join(link);
            assert!(link.exists(), "{link:?}");
            std::fs::rename(&link, root.join("away")).expect("moves");
            std::os::unix::fs::symlink("nowhere", &link).expect("links");
            for chunks in [None, Some([7, 5])] {
                let to = Arc::new(MemoryStore::new()) as Shared;
                let refused = copy_root(&from, &to, chunks, &CopyOptions::new());
                let refused = refused.expect_err("a link").to_string();
                assert!(refused.contains("leads to nothing"), "{link:?} {chunks:?}: {refused}");
            }
            std::fs::remove_file(&link).expect("removes");
            std::fs::rename(root.join("away"), &link).expect("moves");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_store_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("a.zarr");
    let from: Shared = Arc::new(LocalStore::create(&root).expect("a store"));
    source(&from);
    std::fs::create_dir(folder.path().join("elsewhere")).expect("makes");
    std::os::unix::fs::symlink("../../elsewhere", root.join("g/link")).expect("links");
    let to: Shared = Arc::new(MemoryStore::new());
    let refused = copy_root(&from, &to, None, &CopyOptions::new()).expect_err("a link");
    assert!(refused.to_string().contains("g/link"), "{refused}");
    assert!(objects(&*to).is_empty());
    let done = copy_root(&from, &to, None, &CopyOptions::new().nodes_only(true)).expect("copies");
    assert_eq!(done.left_out, 6);
}
