//! Tests against an S3-compatible server, run by `cargo xtask s3-test`.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;
use std::{env, thread};

use zarr_store::{
    DirEntry, Links, Prefix, PutFrom, PutOutcome, Sharing, Store, StoreError, StoreExt as _,
    StoreOptions, Version, conformance, open_url, place_below,
};
use zarr_store_tests::executor::block_on;
use zarr_store_tests::{key, keys_below, prefix};

use super::{object, processes};

/// A place of its own for each test, on the server that the environment names.
fn url(test: &str) -> String {
    let bucket = env::var("ZARR_KIT_S3_URL").expect("run by cargo xtask s3-test");
    format!("{bucket}/{test}-{}", std::process::id())
}

/// How often each of the concurrent writers writes.
fn rounds() -> u16 {
    env::var("ZARR_KIT_ROUNDS").map_or(100, |rounds| rounds.parse().unwrap())
}

fn open(test: &str) -> Arc<dyn Store> {
    open_url(&url(test), &StoreOptions::new()).unwrap()
}

/// What all else relies on: of several conditional puts that expect the same version, one wins.
#[test]
#[ignore = "needs cargo xtask s3-test"]
fn conditional_puts_of_the_server_are_atomic() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 100;
    let store = open("atomic");
    let a = key("a");
    let barrier = Barrier::new(THREADS);
    let wins = AtomicUsize::new(0);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, a, barrier, wins) = (&store, &a, &barrier, &wins);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    // The first round creates, the others update.
                    let version = store.head(a).unwrap().and_then(|meta| meta.version);
                    assert_eq!(version.is_none(), round == 0);
                    barrier.wait();
                    let bytes = format!("{thread} in round {round}");
                    if store.put_if(a, bytes.as_bytes(), version.as_ref()).unwrap()
                        == PutOutcome::Written
                    {
                        wins.fetch_add(1, Ordering::SeqCst);
                    }
                    barrier.wait();
                    assert_eq!(wins.load(Ordering::SeqCst), round + 1, "wins after round {round}");
                    barrier.wait();
                }
            });
        }
    });
}

#[test]
#[ignore = "needs cargo xtask s3-test"]
fn the_server_is_a_store_like_any_other() {
    let store = open("conformance");
    assert!(store.capabilities().conditional_put);
    conformance::all(&store);
}

#[test]
#[ignore = "needs cargo xtask s3-test"]
fn the_asynchronous_face_works_too() {
    let store = open_url(&url("async"), &StoreOptions::new()).unwrap();
    block_on(object::asynchronous(&store));
}

/// Names that URLs and the headers of copies hold percent-encoded.
#[test]
#[ignore = "needs cargo xtask s3-test"]
fn names_and_copies_are_those_asked_for() {
    let store = open("names");
    let names =
        ["a b", "a%20b", "100%", "what?", "no#1", "1+1=2&x", "é 雨", "it's (1)", "a:b@c;~$"];
    for name in names {
        let (one, other) = (key(&format!("in/{name}")), key(&format!("copies/{name}")));
        store.put(&one, name.as_bytes()).unwrap();
        let meta = store.head(&one).unwrap().unwrap();
        let done = store.put_from(&other, &*store, &one, &meta, Sharing::Never).unwrap();
        assert_eq!(done, PutFrom::Copied, "{name}");
        assert_eq!(store.read(&other).unwrap().unwrap(), name.as_bytes());
        // By its URL.
        let place = place_below(&url("names"), &format!("copies/{name}"));
        let parent = open_url(place.rsplit_once('/').unwrap().0, &StoreOptions::new()).unwrap();
        assert_eq!(parent.read(&key(name)).unwrap().unwrap(), name.as_bytes());
        let below = open_url(&place, &StoreOptions::new()).unwrap();
        assert_eq!(below.location(&Prefix::root()), store.location(&prefix(other.as_str())));
    }
    assert_eq!(keys_below(&*store, "copies"), names.map(|name| format!("copies/{name}")).into());
    let mut changed = store.head(&key("in/a b")).unwrap().unwrap();
    changed.version = Some(Version::from_tag("\"other\"\n"));
    let (one, other) = (key("in/a b"), key("copies/changed"));
    let done = store.put_from(&other, &*store, &one, &changed, Sharing::Never).unwrap();
    assert_eq!(done, PutFrom::Changed);
    assert_eq!(store.read(&other).unwrap(), None);
    store.delete_prefix(&Prefix::root()).unwrap();
    assert!(keys_below(&*store, "").is_empty());
}

#[test]
#[ignore = "needs cargo xtask s3-test"]
fn no_update_is_lost_between_threads_and_processes() {
    processes::count_in_threads_and_processes(&url("count"), rounds().into());
}

#[test]
#[ignore = "needs cargo xtask s3-test"]
fn listings_go_on_past_a_page() {
    const DIRECT: usize = 1100;
    const BELOW: usize = 1200;
    let store = open("pages");
    let below = |n: usize| key(&format!("a/f{n}/0"));
    let direct = |n: usize| key(&format!("a/{n}"));
    thread::scope(|scope| {
        for thread in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for n in (0..BELOW).skip(thread).step_by(8) {
                    store.put(&below(n), b"x").unwrap();
                    if n < DIRECT {
                        store.put(&direct(n), b"x").unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(keys_below(&*store, "a").len(), DIRECT + BELOW);
    let mut entries = BTreeSet::new();
    for entry in store.list_dir(&prefix("a")) {
        assert!(entries.insert(entry.unwrap()));
    }
    let expected: BTreeSet<DirEntry> = (0..BELOW)
        .map(|n| DirEntry::Prefix(below(n).parent()))
        .chain((0..DIRECT).map(|n| DirEntry::Object(direct(n))))
        .collect();
    assert!(entries == expected, "{} entries", entries.len());
    store.delete_prefix(&Prefix::root()).unwrap();
    assert!(keys_below(&*store, "").is_empty());
}

#[test]
#[ignore = "needs cargo xtask s3-test"]
fn wrong_settings_are_clean_errors() {
    let a = key("a");
    let soon = |options: StoreOptions| options.retries(0, Duration::from_secs(5));
    let denied = soon(StoreOptions::new()).setting("secret_access_key", "wrong");
    let store = open_url(&url("denied"), &denied).unwrap();
    let error = store.read(&a).unwrap_err();
    assert!(matches!(error, StoreError::Remote { .. }), "{error}");
    assert!(!format!("{error} {error:?} {store:?} {denied:?}").contains("wrong"));
    store.put(&a, b"x").unwrap_err();
    store.list(&Prefix::root(), Links::Follow).next().unwrap().unwrap_err();

    let missing = open_url("s3://no-such-bucket/x", &soon(StoreOptions::new())).unwrap();
    missing.put(&a, b"x").unwrap_err();

    let nobody = soon(StoreOptions::new()).setting("endpoint", "http://127.0.0.1:9");
    let store = open_url(&url("nobody"), &nobody).unwrap();
    assert!(matches!(store.read(&a), Err(StoreError::Remote { .. })));

    // Conditional puts can be switched off for servers that do not have them.
    let off = StoreOptions::new().setting("conditional_put", "disabled");
    assert!(!open_url(&url("off"), &off).unwrap().capabilities().conditional_put);
}
