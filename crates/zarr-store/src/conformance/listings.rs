//! Listings, and deletions below a prefix.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use super::operations::{found, key, prefix, put, some};
use crate::{DirEntry, Key, Links, ObjectMeta, Prefix, Store, StoreExt as _};

const KEYS: [&str; 9] = [
    "list/zarr.json",
    "list/a/zarr.json",
    "list/a/c/0/0",
    "list/a/c/0/1",
    "list/a/c/10/0",
    "list/a-b/zarr.json",
    "list/a0/zarr.json",
    "list/é/x",
    "listing/other",
];

/// The keys below a prefix.
pub(super) fn keys_below(store: &dyn Store, below: &Prefix) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for key in store.list(below, Links::Follow) {
        let key = found(format_args!("list of {below:?}"), key);
        assert!(keys.insert(key.to_string()), "{key} is listed twice");
    }
    keys
}

fn entries_of(store: &dyn Store, below: &str) -> BTreeSet<DirEntry> {
    let mut entries = BTreeSet::new();
    for entry in store.list_dir(&prefix(below)) {
        let entry = found(format_args!("list_dir of {below:?}"), entry);
        assert!(entries.insert(entry.clone()), "{entry:?} is listed twice");
    }
    entries
}

/// Tests listing all keys below a prefix, listing one level, both while objects are read, and
/// removing all keys of a prefix. The store must be empty, and is empty afterwards.
///
/// # Panics
/// If other keys are listed, or some twice.
pub fn listings(store: &dyn Store) {
    let list = prefix("list");
    let root = Prefix::root();
    assert_eq!(keys_below(store, &root), BTreeSet::new(), "the store is not empty");
    assert_eq!(entries_of(store, "list"), BTreeSet::new(), "list_dir where there is nothing");
    for text in KEYS {
        put(store, &key(text), b"x");
    }
    for below in ["", "list", "list/a", "list/a/c", "list/a/c/0/0"] {
        let start = if below.is_empty() { String::new() } else { format!("{below}/") };
        let expected: BTreeSet<String> =
            KEYS.iter().filter(|key| key.starts_with(&start)).map(|&key| key.to_owned()).collect();
        assert_eq!(keys_below(store, &prefix(below)), expected, "list of {below:?}");
    }
    described(store, &list);
    let object = |text| DirEntry::Object(key(text));
    let folder = |text| DirEntry::Prefix(prefix(text));
    let levels = [
        ("", vec![folder("list"), folder("listing")]),
        (
            "list",
            vec![
                object("list/zarr.json"),
                folder("list/a"),
                folder("list/a-b"),
                folder("list/a0"),
                folder("list/é"),
            ],
        ),
        ("list/a/c", vec![folder("list/a/c/0"), folder("list/a/c/10")]),
    ];
    for (below, expected) in levels {
        let expected = BTreeSet::from_iter(expected);
        assert_eq!(entries_of(store, below), expected, "list_dir of {below:?}");
    }

    // A listing may be dropped early, the store may be used meanwhile, and no item comes after the
    // end.
    for key in store.list(&list, Links::Follow).take(3) {
        let size = store.size(&found("list", key));
        assert_eq!(found("head while keys are listed", size), Some(1));
    }
    some("list_dir", store.list_dir(&list).next().and_then(Result::ok));
    let mut whole = store.list(&list, Links::AsObjects);
    assert_eq!(whole.by_ref().count(), KEYS.len() - 1, "keys with links as objects");
    assert!(whole.next().is_none(), "a listing goes on after its end");
    let mut level = store.list_dir(&list);
    assert_eq!(level.by_ref().count(), 5);
    assert!(level.next().is_none(), "a listing of one level goes on after its end");
    drop((whole, level));

    for _ in 0..2 {
        found("delete_prefix of list/a", store.delete_prefix(&prefix("list/a")));
        assert_eq!(
            keys_below(store, &root).len(),
            KEYS.len() - 4,
            "keys that are not below list/a"
        );
    }
    found("delete_prefix of the root", store.delete_prefix(&root));
    assert_eq!(keys_below(store, &root), BTreeSet::new(), "all was deleted");
    assert_eq!(entries_of(store, ""), BTreeSet::new(), "all was deleted");
}

/// Listings that describe objects, if the store has them, agree with `head`.
fn described(store: &dyn Store, list: &Prefix) {
    let listed = || {
        let listed = store.list_described(list)?;
        let mut listed: Vec<(Key, ObjectMeta)> =
            listed.map(|item| found("list_described", item)).collect();
        listed.sort_by(|(a, _), (b, _)| a.cmp(b));
        Some(listed)
    };
    let Some(all) = listed() else { return };
    assert!(all.iter().map(|(key, _)| key.to_string()).eq(keys_below(store, list)));
    assert_eq!(listed(), Some(all.clone()), "list_described tells something else the second time");
    for (key, mut meta) in all {
        let head = some(format_args!("head of {key}"), found("head", store.head(&key)));
        let tag = |meta: &ObjectMeta| meta.version.as_ref().is_some_and(|it| it.tag().is_some());
        // Some servers have no ETags in listings, and more exact times.
        if tag(&head) && !tag(&meta) {
            let second = |time: Option<SystemTime>| {
                time.and_then(|time| Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs()))
            };
            assert_eq!(second(meta.modified), second(head.modified), "{key} in list_described");
            (meta.version, meta.modified) = (head.version.clone(), head.modified);
        }
        assert_eq!(head, meta, "{key} in list_described");
    }
}
