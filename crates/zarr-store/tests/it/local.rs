use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, thread};

use zarr_store::{
    Change, DirEntry, Durability, Leftover, LeftoverKind, Links, LocalStore, LockScope, Prefix,
    ReadRange, Store, StoreError, StoreExt as _, UpdatePolicy, update,
};
use zarr_store_tests::small_disk::SmallDisk;
use zarr_store_tests::{SetAtEnd, child, key, keys_below, prefix, without_key};

use super::leftovers::clean;
use super::processes::{self, WRITTEN, is_whole, written_key};

pub(super) fn leftovers(store: &LocalStore) -> Vec<Leftover> {
    let mut all = store.leftovers(&Prefix::root()).collect::<Result<Vec<_>, _>>().unwrap();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

#[test]
fn a_store_is_an_existing_folder() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let error = LocalStore::open(&missing).unwrap_err().to_string();
    assert!(error.starts_with("cannot open") && error.contains("missing"), "{error}");
    let file = folder.path().join("file");
    fs::write(&file, b"x").unwrap();
    LocalStore::open(&file).unwrap_err();
    LocalStore::create(&file).unwrap_err();
    let store = LocalStore::create(missing.join("deeper")).unwrap();
    assert!(store.root().is_absolute());
}

#[test]
fn own_names_are_reserved_and_not_listed() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    for name in [".zarr-kit-tmp.1", "a/.zarr-kit-lock.x", ".zarr-kit-x/y"] {
        let error = store.put(&key(name), b"x").unwrap_err();
        assert!(matches!(error, StoreError::Reserved { .. }), "{error}");
        store.read(&key(name)).unwrap_err();
        store.lock(&key(name)).unwrap_err();
    }
    let mut keys = store.list(&prefix(".zarr-kit-x"), Links::Follow);
    insta::assert_snapshot!(keys.next().unwrap().unwrap_err(), @r#"cannot use ".zarr-kit-x": the name ".zarr-kit-x" is reserved"#);

    store.put(&key("a/0"), b"x").unwrap();
    fs::write(folder.path().join("a/.zarr-kit-tmp.1.2.3.0"), b"half").unwrap();
    fs::write(folder.path().join("a/.zarr-kit-lock.0"), b"").unwrap();
    fs::write(folder.path().join("a/back\\slash"), b"x").unwrap();
    assert_eq!(keys_below(&store, "").len(), 1);
    let entries = store.list_dir(&prefix("a")).collect::<Result<Vec<_>, _>>().unwrap();
    assert_eq!(entries, [DirEntry::Object(key("a/0"))]);
    assert_eq!(without_key(&store, ""), ["a/back\\slash"]);
    assert_eq!(without_key(&store, "a"), ["a/back\\slash"]);
    let kinds: Vec<_> = leftovers(&store).iter().map(|found| (found.kind, found.in_use)).collect();
    let expected = [
        (LeftoverKind::Lock, false),
        (LeftoverKind::Temporary, false),
        (LeftoverKind::Foreign, false),
    ];
    assert_eq!(kinds, expected);
    // A lock file left by the dead is taken over, and removed.
    drop(store.lock(&key("a/0")).unwrap());
    assert_eq!(leftovers(&store).len(), 2);
    // One that somebody removes while it is held, and others make again, is the lock of the others.
    let held = store.lock(&key("a/0")).unwrap();
    let lock = folder.path().join("a/.zarr-kit-lock.0");
    fs::remove_file(&lock).unwrap();
    fs::write(&lock, b"").unwrap();
    drop(held);
    assert!(lock.exists());
    fs::remove_file(&lock).unwrap();
    // The lock of the living is in use.
    let guard = store.lock(&key("a/0")).unwrap();
    assert!(leftovers(&store)[0].in_use);
    drop(guard);
    // A deleted prefix keeps the files that are not its objects, but those of dead writers.
    store.delete_prefix(&prefix("a")).unwrap();
    let kinds: Vec<_> = leftovers(&store).iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [LeftoverKind::Foreign]);
}

#[test]
fn names_too_long_for_the_file_system_are_clean_errors() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    let longest = key(&"x".repeat(255));
    store.put(&longest, b"1").unwrap();
    drop(store.lock(&longest).unwrap());
    assert_eq!(store.read(&longest).unwrap().unwrap(), b"1");
    let too_long = key(&"x".repeat(256));
    assert!(matches!(store.put(&too_long, b"1"), Err(StoreError::Io { .. })));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Where there is a file, no folder can be made, and the other way round.
#[test]
fn a_put_that_cannot_be_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    store.put(&key("a/b"), b"1").unwrap();
    assert!(matches!(store.put(&key("a"), b"2"), Err(StoreError::Io { .. })));
    assert!(matches!(store.put(&key("a/b/c"), b"3"), Err(StoreError::Io { .. })));
    assert_eq!(leftovers(&store), []);
    assert_eq!(keys_below(&store, "").len(), 1);
    assert_eq!(store.read(&key("a/b")).unwrap().unwrap(), b"1");
}

/// Readers see whole chunks while writers replace them and others remove folders.
#[test]
fn readers_never_see_a_part() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let _stop = SetAtEnd(&stop);
        for writer in 0..2_u8 {
            let (store, stop) = (&store, &stop);
            scope.spawn(move || {
                for state in (0..=250_u8).cycle() {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let state = state.wrapping_add(writer * 100) % 251;
                    let bytes = vec![state; 50_000 + 1000 * usize::from(state)];
                    store.put(&written_key(0), &bytes).unwrap();
                    if state % 16 == 0 {
                        store.delete_prefix(&prefix("killed")).unwrap();
                    }
                }
            });
        }
        let mut out = Vec::new();
        let mut tail = Vec::new();
        let mut met = 0;
        while met < 500 {
            if store.read_into(&written_key(0), &mut out).unwrap() {
                assert!(is_whole(&out), "{} bytes", out.len());
                met += 1;
            }
            for range in [ReadRange::Ranges(&[0..1, 39_999..40_000]), ReadRange::Suffix(40_000)] {
                if store.get(&written_key(0), range, &mut tail).unwrap().is_some() {
                    assert!(tail.iter().all(|byte| *byte == tail[0]));
                }
            }
        }
    });
    assert_eq!(leftovers(&store), []);
}

/// Writers and holders of locks make folders that others remove at the same time.
#[test]
fn folders_may_go_while_they_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    let deep = key("a/b/c/d/e");
    thread::scope(|scope| {
        for worker in 0..4_u8 {
            let (store, deep) = (&store, &deep);
            scope.spawn(move || {
                for _ in 0..3000 {
                    match worker {
                        0 => drop(store.lock(deep).unwrap()),
                        1 => store.put(deep, b"1").unwrap(),
                        _ => store.delete_prefix(&prefix("a")).unwrap(),
                    }
                }
            });
        }
    });
}

/// A writer killed at any moment leaves every chunk whole, old or new, and nothing else but what is
/// named; another writer goes on as if nothing had been.
#[test]
fn killed_writers_leave_whole_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let store = LocalStore::open(root).unwrap();
    let mut seed = 1_u64;
    let mut left_over = 0;
    for round in 0..80 {
        let (mut child, mut output) = processes::start(&format!("write {root}"));
        child::wait_for(&mut output, "writing");
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        thread::sleep(Duration::from_micros((seed >> 33) % 8000));
        child.kill().unwrap();
        child.wait().unwrap();
        for n in 0..WRITTEN {
            if let Some(bytes) = store.read(&written_key(n)).unwrap() {
                assert!(is_whole(&bytes), "round {round}, chunk {n}: {} bytes", bytes.len());
            }
        }
        for leftover in leftovers(&store) {
            assert_ne!(leftover.kind, LeftoverKind::Foreign);
            assert!(!leftover.in_use, "{leftover:?}");
            left_over += 1;
        }
        // Whatever lock the dead one held is free.
        let mut buffer = Vec::new();
        for n in 0..WRITTEN {
            update(&store, &written_key(n), UpdatePolicy::default(), &mut buffer, |_, buffer| {
                *buffer = vec![0; 50_000];
                Ok::<_, StoreError>(Change::Put)
            })
            .unwrap();
        }
        assert_eq!(keys_below(&store, "").len(), WRITTEN);
        // Those writers have also removed what the dead one left where it held a lock.
        let stays = leftovers(&store);
        for leftover in &stays {
            let locked = ["killed/c/1/", "killed/c/3/"].map(|folder| store.root().join(folder));
            let swept = locked.iter().any(|folder| leftover.path.starts_with(folder));
            assert!(!swept || cfg!(not(target_os = "linux")), "{leftover:?}");
        }
        // Everything else when asked.
        assert_eq!(clean(&store).len(), stays.len());
        assert_eq!(leftovers(&store), []);
    }
    println!("{left_over} leftovers in 80 kills");
}

#[test]
fn a_lock_keeps_out_other_processes_until_its_holder_ends() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    // A store with another root, but the same file.
    let below = LocalStore::create(folder.path().join("a")).unwrap();
    for kill in [false, true] {
        let (mut child, mut output) = processes::start(&format!("lock {root}"));
        child::wait_for(&mut output, "locked");
        let waiting = {
            let below = below.clone();
            thread::spawn(move || below.lock(&key("b")).unwrap().scope())
        };
        // Another key's lock is free.
        drop(below.lock(&key("c")).unwrap());
        thread::sleep(Duration::from_millis(30));
        assert!(!waiting.is_finished());
        if kill {
            child.kill().unwrap();
        } else {
            child.stdin.take().unwrap().write_all(b"\n").unwrap();
        }
        assert_eq!(waiting.join().unwrap(), LockScope::AllProcesses);
        child.wait().unwrap();
        assert_eq!(leftovers(&below), []);
    }
}

#[test]
fn a_full_disk_damages_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_disk) = SmallDisk::mount(folder.path(), "size=1m") else { return };
    for durability in [Durability::ProcessEnd, Durability::PowerFailure] {
        let store = LocalStore::open(folder.path()).unwrap().with_durability(durability);
        let name = |n: usize| key(&format!("c/{n}"));
        let mut written = 0;
        let error = loop {
            match store.put(&name(written), &vec![written as u8; 100_000]) {
                Ok(()) => written += 1,
                Err(error) => break error,
            }
        };
        assert!(written >= 5);
        let StoreError::Io { cause, .. } = &error else { panic!("{error}") };
        assert_eq!(cause.kind(), std::io::ErrorKind::StorageFull, "{error}");
        assert!(error.to_string().contains(&format!("c/{written}")), "{error}");

        // Old chunks cannot be replaced either, and stay as they were.
        store.put(&name(0), &[7; 120_000]).unwrap_err();
        let mut buffer = Vec::new();
        update(&store, &name(1), UpdatePolicy::default(), &mut buffer, |_, bytes| {
            bytes.resize(150_000, 9);
            Ok::<_, StoreError>(Change::Put)
        })
        .unwrap_err();
        for n in 0..written {
            assert_eq!(store.read(&name(n)).unwrap().unwrap(), vec![n as u8; 100_000]);
        }
        assert_eq!(store.read(&name(written)).unwrap(), None);
        assert_eq!(leftovers(&store), []);

        // Space freed, work goes on.
        store.delete(&name(0)).unwrap();
        store.delete(&name(2)).unwrap();
        store.put(&name(1), &[3; 100_000]).unwrap();
        assert_eq!(store.read(&name(1)).unwrap().unwrap(), [3; 100_000]);
        store.delete_prefix(&Prefix::root()).unwrap();
    }
}

#[test]
fn a_read_only_disk_is_a_clean_error() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_disk) = SmallDisk::mount(folder.path(), "size=1m") else { return };
    let store = LocalStore::open(folder.path()).unwrap();
    store.put(&key("c/0"), b"old").unwrap();
    let remount = Command::new("mount").args(["-o", "remount,ro"]).arg(folder.path()).status();
    assert!(remount.unwrap().success());
    refuses_changes(&store, std::io::ErrorKind::ReadOnlyFilesystem);
}

/// Every change fails with errors of `kind`; what is there can be read.
fn refuses_changes(store: &LocalStore, kind: std::io::ErrorKind) {
    let kind_of = |result: Result<(), StoreError>| match result {
        Err(StoreError::Io { cause, .. }) => cause.kind(),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind_of(store.put(&key("c/0"), b"new")), kind);
    assert_eq!(kind_of(store.put(&key("c/1"), b"new")), kind);
    assert_eq!(kind_of(store.put(&key("d/1"), b"new")), kind);
    assert_eq!(kind_of(store.delete(&key("c/0"))), kind);
    assert_eq!(kind_of(store.lock(&key("c/0")).map(drop)), kind);
    assert_eq!(store.read(&key("c/0")).unwrap().unwrap(), b"old");
    assert_eq!(keys_below(store, "").len(), 1);
    assert_eq!(leftovers(store), []);
}

/// A folder without permission to write, as a user who is bound by permissions.
#[test]
fn missing_permission_is_a_clean_error() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = LocalStore::create(&root).unwrap();
    store.put(&key("c/0"), b"old").unwrap();
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    set(folder.path(), 0o755).unwrap();
    set(&root.join("c"), 0o555).unwrap();
    set(&root, 0o555).unwrap();
    if fs::write(root.join("probe"), b"").is_err() {
        denied(root.to_str().unwrap());
    } else {
        // The superuser is bound by none: somebody else tries, with a copy of this program that
        // everybody can reach.
        use std::os::unix::process::CommandExt;
        fs::remove_file(root.join("probe")).unwrap();
        let program = folder.path().join("it");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        set(&program, 0o755).unwrap();
        let mut command = Command::new(&program);
        command.uid(65534).gid(65534).current_dir("/");
        let job = format!("denied {}", root.display());
        let (mut child, mut output) = processes::start_as(&mut command, &job);
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        assert!(child.wait().unwrap().success(), "{text}");
    }
    set(&root, 0o755).unwrap();
    set(&root.join("c"), 0o755).unwrap();
}

pub(crate) fn denied(root: &str) {
    refuses_changes(&LocalStore::open(root).unwrap(), std::io::ErrorKind::PermissionDenied);
}

/// Who may not read an object's old bytes may not read its new ones.
#[test]
fn objects_keep_their_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    for mode in [0o600, 0o640, 0o664, 0o666, 0o444] {
        store.put(&key("a"), b"old").unwrap();
        let path = folder.path().join("a");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        store.put(&key("a"), b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{mode:o}");
    }
}
