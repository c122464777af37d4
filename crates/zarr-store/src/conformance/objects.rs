//! The requirements for every store, tested on each.

use std::collections::BTreeSet;
use std::io::IoSlice;
use std::ops::Range;
use std::slice::from_ref;
use std::sync::Arc;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use zarr_store::{
    Change, DirEntry, Durability, GetInto, Key, Links, LocalStore, LockScope, MemoryStore,
    ObjectMeta, Prefix, PutOutcome, ReadRange, Store, StoreError, StoreExt as _, UpdatePolicy,
    remove, replace, update,
};
use zarr_store_tests::{key, keys_below, prefix};

fn entries_of(store: &dyn Store, below: &str) -> BTreeSet<DirEntry> {
    let mut entries = BTreeSet::new();
    for entry in store.list_dir(&prefix(below)) {
        let entry = entry.unwrap();
        assert!(entries.insert(entry.clone()), "{entry:?} was listed twice");
    }
    entries
}

/// A pattern in which every byte encodes its position.
fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

pub(crate) fn whole_objects(store: &dyn Store) {
    let a = key("whole/c/0/0");
    let mut out = vec![9; 3];
    assert_eq!(store.read(&a).unwrap(), None);
    assert!(!store.read_into(&a, &mut out).unwrap());
    assert!(out.is_empty());
    assert_eq!(store.get(&a, ReadRange::All, &mut out).unwrap(), None);
    assert_eq!(store.head(&a).unwrap(), None);
    assert_eq!(store.size(&a).unwrap(), None);
    store.delete(&a).unwrap();

    // Longer, shorter, empty and longer again, into one buffer.
    for len in [5, 70_000, 3, 0, 12] {
        let bytes = pattern(len);
        store.put(&a, &bytes).unwrap();
        assert_eq!(store.read(&a).unwrap().as_ref(), Some(&bytes));
        assert!(store.read_into(&a, &mut out).unwrap());
        assert_eq!(out, bytes);
        assert_eq!(store.size(&a).unwrap(), Some(len as u64));
        let meta = store.get(&a, ReadRange::All, &mut out).unwrap().unwrap();
        assert_eq!(meta.size, len as u64);
        assert_eq!(store.head(&a).unwrap().unwrap(), meta);
    }
    // To its place, or not at all: a store need not be able to.
    let bytes = store.read(&a).unwrap().unwrap();
    let mut place = pattern(bytes.len() + 5);
    match store.get_into(&a, &mut place[2..][..bytes.len()]).unwrap() {
        GetInto::Read(meta) => {
            assert_eq!(place[2..][..bytes.len()], bytes);
            assert_eq!(meta, store.head(&a).unwrap().unwrap());
        }
        GetInto::Unsupported => {}
        GetInto::Missing => panic!("it is there"),
    }
    let around = pattern(place.len());
    assert_eq!((place[..2].to_vec(), &place[14..]), (around[..2].to_vec(), &around[14..]));
    for length in [0, bytes.len() - 1, bytes.len() + 1] {
        let other = store.get_into(&a, &mut vec![0; length]).unwrap();
        assert_eq!(other, GetInto::Unsupported, "{length} bytes");
    }
    for missing in ["whole/c/0", "whole/c/0/0/x", "whole/none"] {
        let found = store.get_into(&key(missing), &mut [0; 12]).unwrap();
        assert!(!matches!(found, GetInto::Read(_)), "{missing}");
    }
    // A folder of the file system is not an object.
    assert_eq!(store.read(&key("whole/c/0")).unwrap(), None);
    assert_eq!(store.size(&key("whole/c")).unwrap(), None);
    // Nor is anything below an object.
    assert_eq!(store.read(&key("whole/c/0/0/x")).unwrap(), None);
    assert_eq!(store.size(&key("whole/c/0/0/x")).unwrap(), None);
    store.delete(&key("whole/c")).unwrap();
    store.delete(&key("whole/c/0/0/x")).unwrap();
    assert_eq!(store.size(&a).unwrap(), Some(12));

    store.delete(&a).unwrap();
    assert_eq!(store.read(&a).unwrap(), None);
}

/// Objects in pieces, empty ones and more than a system call takes among them.
pub(crate) fn pieces(store: &dyn Store) {
    let a = key("pieces/c/0");
    for (len, piece) in [(0, 1), (7, 7), (7, 2), (10_000, 3), (70_000, 4096)] {
        let bytes = pattern(len);
        let mut pieces: Vec<_> = bytes.chunks(piece).map(IoSlice::new).collect();
        pieces.insert(pieces.len() / 2, IoSlice::new(&[]));
        pieces.insert(0, IoSlice::new(&[]));
        pieces.push(IoSlice::new(&[]));
        store.put_vectored(&a, &pieces).unwrap();
        assert_eq!(store.read(&a).unwrap().as_ref(), Some(&bytes));
    }
    store.delete(&a).unwrap();
}

pub(crate) fn versions_differ(store: &dyn Store) {
    let a = key("versions");
    let mut seen = Vec::new();
    for round in 0..20 {
        // The same bytes and the same size: still another version for a conditional writer, but
        // an ETag may be a hash of the contents.
        let bytes = pattern(10 + round);
        store.put(&a, &bytes).unwrap();
        let version = store.head(&a).unwrap().unwrap().version.unwrap();
        assert!(!seen.contains(&version), "round {round}");
        seen.push(version);
    }
    store.delete(&a).unwrap();
}

pub(crate) fn ranges(store: &dyn Store) {
    let a = key("ranges/shard");
    let mut out = vec![7; 100];
    for range in [ReadRange::Ranges(&[]), ReadRange::Suffix(1), ReadRange::Suffix(0)] {
        assert_eq!(store.get(&a, range, &mut out).unwrap(), None);
        assert!(out.is_empty());
    }

    let bytes = pattern(1000);
    store.put(&a, &bytes).unwrap();
    let meta = store.head(&a).unwrap();

    // Overlapping, out of order, empty, whole, at both ends.
    let asked = [900..1000, 0..1, 10..10, 1000..1000, 950..970, 0..1000];
    let mut expected = Vec::new();
    for range in &asked {
        expected.extend_from_slice(&bytes[range.start as usize..range.end as usize]);
    }
    assert_eq!(store.get(&a, ReadRange::Ranges(&asked), &mut out).unwrap(), meta);
    assert_eq!(out, expected);
    for range in &asked {
        assert_eq!(store.get(&a, ReadRange::Ranges(from_ref(range)), &mut out).unwrap(), meta);
        assert_eq!(out, bytes[range.start as usize..range.end as usize]);
    }
    assert_eq!(store.get(&a, ReadRange::Ranges(&[]), &mut out).unwrap(), meta);
    assert!(out.is_empty());
    for len in [16, 0, 1000] {
        assert_eq!(store.get(&a, ReadRange::Suffix(len), &mut out).unwrap(), meta);
        assert_eq!(out, bytes[1000 - len as usize..]);
    }
    assert_eq!(store.get(&a, ReadRange::All, &mut out).unwrap(), meta);
    assert_eq!(out, bytes);

    let backwards = Range { start: 20, end: 10 };
    for beyond in [0..1001, 1000..1001, 1001..1001, 5000..5010, u64::MAX - 1..u64::MAX, backwards] {
        for ranges in [vec![1..2, beyond.clone()], vec![beyond.clone()]] {
            match store.get(&a, ReadRange::Ranges(&ranges), &mut out).unwrap_err() {
                StoreError::Range { key, range, size } => {
                    assert_eq!((key.as_str(), range, size), ("ranges/shard", beyond.clone(), 1000));
                }
                error => panic!("{error}"),
            }
        }
    }
    for beyond in [1001, u64::MAX] {
        match store.get(&a, ReadRange::Suffix(beyond), &mut out).unwrap_err() {
            StoreError::Suffix { key, len, size } => {
                assert_eq!((key.as_str(), len, size), ("ranges/shard", beyond, 1000));
            }
            error => panic!("{error}"),
        }
    }
    store.delete(&a).unwrap();
}

pub(crate) fn listing(store: &dyn Store) {
    assert!(keys_below(store, "list").is_empty());
    assert!(entries_of(store, "list").is_empty());
    let keys = [
        "list/zarr.json",
        "list/a/zarr.json",
        "list/a/c/0/0",
        "list/a/c/0/1",
        "list/a/c/10/0",
        "list/a-b/zarr.json",
        "list/a0/zarr.json",
        "list/a.b",
        "list/é/x",
        "listing/other",
    ];
    for text in keys {
        store.put(&key(text), b"x").unwrap();
    }
    let below = |start: &str| -> BTreeSet<String> {
        keys.iter().filter(|key| key.starts_with(start)).map(|&key| key.to_owned()).collect()
    };
    assert_eq!(keys_below(store, "list"), below("list/"));
    assert_eq!(keys_below(store, "list/a"), below("list/a/"));
    assert_eq!(keys_below(store, "list/a/c"), below("list/a/c/"));
    assert_eq!(keys_below(store, "list/a/c/0/0"), BTreeSet::new());
    assert_eq!(keys_below(store, ""), keys.iter().map(|&key| key.to_owned()).collect());
    if let Some(listed) = store.list_described(&prefix("list")) {
        let described: Vec<_> = listed.map(Result::unwrap).collect();
        let names = described.iter().map(|(key, _)| key.to_string()).collect::<BTreeSet<_>>();
        assert_eq!(names, below("list/"));
        let again = store.list_described(&prefix("list")).unwrap().map(Result::unwrap);
        let sorted = |mut listed: Vec<(Key, ObjectMeta)>| {
            listed.sort_by_key(|(key, _)| key.to_string());
            listed
        };
        assert_eq!(sorted(again.collect()), sorted(described.clone()));
        for (key, mut meta) in described {
            let head = store.head(&key).unwrap().expect("it is there");
            let tag =
                |meta: &ObjectMeta| meta.version.as_ref().is_some_and(|it| it.tag().is_some());
            // Some servers leave ETags out of listings, and say the times there more exactly.
            if tag(&head) && !tag(&meta) {
                let second = |time: Option<SystemTime>| {
                    time.map(|time| time.duration_since(UNIX_EPOCH).unwrap().as_secs())
                };
                assert_eq!(second(meta.modified), second(head.modified), "{key}");
                (meta.version, meta.modified) = (head.version.clone(), head.modified);
            }
            assert_eq!(head, meta, "{key}");
        }
    }

    let object = |text| DirEntry::Object(key(text));
    let folder = |text| DirEntry::Prefix(prefix(text));
    assert_eq!(
        entries_of(store, "list"),
        BTreeSet::from([
            object("list/zarr.json"),
            folder("list/a"),
            folder("list/a-b"),
            folder("list/a0"),
            object("list/a.b"),
            folder("list/é"),
        ])
    );
    assert_eq!(
        entries_of(store, "list/a/c"),
        BTreeSet::from([folder("list/a/c/0"), folder("list/a/c/10")])
    );
    assert_eq!(entries_of(store, ""), BTreeSet::from([folder("list"), folder("listing")]));

    // A listing may be left, the store may be used meanwhile, and there is nothing after the end.
    let mut seen = 0;
    for key in store.list(&prefix("list"), Links::Follow).take(3) {
        seen += 1;
        assert_eq!(store.size(&key.unwrap()).unwrap(), Some(1));
    }
    assert_eq!(seen, 3);
    assert!(store.list_dir(&prefix("list")).next().unwrap().is_ok());
    let mut whole = store.list(&prefix("list"), Links::AsObjects);
    assert_eq!(whole.by_ref().count(), keys.len() - 1);
    assert!(whole.next().is_none() && whole.next().is_none());
    let mut level = store.list_dir(&prefix("list"));
    assert_eq!(level.by_ref().count(), 6);
    assert!(level.next().is_none() && level.next().is_none());

    store.delete_prefix(&prefix("list/a")).unwrap();
    assert_eq!(keys_below(store, "list/a"), BTreeSet::new());
    assert_eq!(keys_below(store, "").len(), keys.len() - 4);
    store.delete_prefix(&prefix("list/a")).unwrap();
    store.delete_prefix(&Prefix::root()).unwrap();
    assert!(keys_below(store, "").is_empty());
    assert!(entries_of(store, "").is_empty());
}

pub(crate) fn conditional_puts(store: &dyn Store) {
    let a = key("conditional");
    if !store.capabilities().conditional_put {
        assert!(matches!(store.put_if(&a, b"x", None), Err(StoreError::Unsupported { .. })));
        return;
    }
    let version = || store.head(&a).unwrap().unwrap().version.unwrap();
    assert_eq!(store.put_if(&a, b"1", None).unwrap(), PutOutcome::Written);
    assert_eq!(store.put_if(&a, b"2", None).unwrap(), PutOutcome::Changed);
    assert_eq!(store.read(&a).unwrap().unwrap(), b"1");
    let first = version();
    assert_eq!(store.put_if(&a, b"3", Some(&first)).unwrap(), PutOutcome::Written);
    assert_eq!(store.put_if(&a, b"4", Some(&first)).unwrap(), PutOutcome::Changed);
    assert_eq!(store.read(&a).unwrap().unwrap(), b"3");
    let third = version();
    store.put(&a, b"5").unwrap();
    assert_eq!(store.put_if(&a, b"6", Some(&third)).unwrap(), PutOutcome::Changed);
    let fifth = version();
    store.delete(&a).unwrap();
    assert_eq!(store.put_if(&a, b"7", Some(&fifth)).unwrap(), PutOutcome::Changed);
    assert_eq!(store.read(&a).unwrap(), None);
}

pub(crate) fn updates(store: &dyn Store) {
    let a = key("updates/c/0");
    let mut buffer = vec![1; 10];
    let mut step = |change: Change, bytes: &[u8], expected: Option<&[u8]>| {
        let mut deletable = true;
        update(store, &a, UpdatePolicy::default(), &mut buffer, |current, buffer| {
            assert_eq!(current.exists.then_some(buffer.as_slice()), expected);
            assert!(current.exists || buffer.is_empty());
            deletable = current.can_delete;
            buffer.clear();
            buffer.extend_from_slice(bytes);
            Ok::<_, StoreError>(change)
        })
        .map(|()| deletable)
    };
    step(Change::Keep, b"no", None).unwrap();
    step(Change::Put, b"one", None).unwrap();
    step(Change::Keep, b"no", Some(b"one")).unwrap();
    let deletable = step(Change::Put, b"two", Some(b"one")).unwrap();
    let deleted = step(Change::Delete, b"", Some(b"two"));
    if deletable {
        deleted.unwrap();
        assert_eq!(store.read(&a).unwrap(), None);
    } else {
        assert!(matches!(deleted, Err(StoreError::Unsupported { .. })));
        assert_eq!(store.read(&a).unwrap().unwrap(), b"two");
    }
    // An error in the middle changes nothing, and releases the lock.
    replace(store, &a, b"three").unwrap();
    for _ in 0..2 {
        let failed = update(store, &a, UpdatePolicy::default(), &mut buffer, |_, buffer| {
            buffer.push(1);
            Err(StoreError::NoExclusion { key: "made up".to_owned() })
        });
        assert!(failed.unwrap_err().to_string().contains("made up"));
        assert_eq!(store.read(&a).unwrap().unwrap(), b"three");
    }
    remove(store, &a).unwrap();
    assert_eq!(store.read(&a).unwrap(), None);
}

/// Threads count in shared objects; no count may be lost.
pub(crate) fn concurrent_updates(store: &Arc<dyn Store>) {
    const THREADS: usize = 8;
    const ROUNDS: usize = 25;
    let keys = [key("count/0"), key("count/1")];
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let keys = &keys;
            scope.spawn(move || {
                let mut buffer = Vec::new();
                for round in 0..ROUNDS {
                    let key = &keys[(thread + round) % keys.len()];
                    update(&**store, key, UpdatePolicy::default(), &mut buffer, |_, bytes| {
                        bytes.resize(8 * THREADS, 0);
                        let own = &mut bytes[8 * thread..8 * thread + 8];
                        let count = u64::from_le_bytes(own.try_into().unwrap());
                        own.copy_from_slice(&(count + 1).to_le_bytes());
                        Ok::<_, StoreError>(Change::Put)
                    })
                    .unwrap();
                }
            });
        }
    });
    let mut total = [0; THREADS];
    for key in &keys {
        for (total, own) in total.iter_mut().zip(store.read(key).unwrap().unwrap().chunks_exact(8))
        {
            *total += u64::from_le_bytes(own.try_into().unwrap());
        }
        store.delete(key).unwrap();
    }
    assert_eq!(total, [ROUNDS as u64; THREADS]);
}

pub(crate) fn all(store: &Arc<dyn Store>) {
    whole_objects(&**store);
    pieces(&**store);
    versions_differ(&**store);
    ranges(&**store);
    conditional_puts(&**store);
    updates(&**store);
    concurrent_updates(store);
    store.delete_prefix(&Prefix::root()).unwrap();
    listing(&**store);
}

#[test]
fn memory() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    all(&store);
    assert_eq!(store.lock(&key("a")).unwrap().scope(), LockScope::AllProcesses);
}

/// A million keys are listed a thousand at a time, and one level of them without the rest.
#[test]
fn a_million_keys() {
    let store = MemoryStore::new();
    for n in 0..1_000_000_u32 {
        store.put(&key(&format!("a/c/{}/{}", n / 1000, n % 1000)), b"").unwrap();
    }
    let keys = store.list(&prefix("a"), Links::Follow);
    assert_eq!(keys.inspect(|key| assert!(key.is_ok())).count(), 1_000_000);
    assert_eq!(entries_of(&store, "a/c").len(), 1000);
}

#[test]
fn local() {
    let folder = tempfile::tempdir().unwrap();
    for durability in [Durability::ProcessEnd, Durability::PowerFailure] {
        let store: Arc<dyn Store> =
            Arc::new(LocalStore::open(folder.path()).unwrap().with_durability(durability));
        all(&store);
        // Nothing is left behind: no lock file, no temporary file, no folder.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(store.lock(&key("a")).unwrap().scope(), LockScope::AllProcesses);
    }
}

/// A session of an archive does all that other stores do.
#[test]
fn zip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let zip = zarr_zip::ZipStore::create(&path).unwrap();
    let session = zip.session().unwrap().unwrap();
    all(session.store());
    session.commit().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(keys_below(&zip, "").len(), 0);
}

#[test]
fn pointers_to_stores() {
    let store = MemoryStore::new();
    whole_objects(&&store);
    pieces(&&store);
    listing(&Box::new(store.clone()));
    ranges(&(Box::new(store.clone()) as Box<dyn Store>));
    let shared: Arc<dyn Store> = Arc::new(Arc::new(store));
    all(&shared);
}
