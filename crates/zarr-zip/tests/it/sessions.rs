//! Sessions of zip archives: what they add, and who waits for whom.

#[cfg(unix)]
mod processes;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use zarr_store::{
    Change, Durability, Fault, FaultStore, Links, MemoryStore, Prefix, PutMode, PutOutcome,
    ReadRange, Session, Store, StoreError, StoreExt as _, UpdatePolicy, conformance, update,
};
use zarr_store_tests::required::Required;
use zarr_store_tests::{key, keys_below, objects};
use zarr_zip::ZipStore;

use crate::zip::{Entry, archive, temporary, within};

/// A session of the archive at `path`.
pub(crate) fn session(path: &Path) -> Session {
    ZipStore::create(path).unwrap().session().unwrap().unwrap()
}

/// Puts these objects, of one byte each, in one session.
fn add(path: &Path, keys: &[&str]) {
    let session = session(path);
    for name in keys {
        session.store().put(&key(name), b"1").unwrap();
    }
    session.commit().unwrap();
}

/// All keys, after a check that Python's rules of archives are kept: each entry can be read.
fn keys(path: &Path) -> Vec<String> {
    let store = ZipStore::open(path).unwrap();
    let keys = keys_below(&store, "");
    for name in &keys {
        store.read(&key(name)).unwrap().unwrap();
    }
    keys.into_iter().collect()
}

/// The names in the folder of an archive.
fn beside(folder: &tempfile::TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    // Elsewhere than on Unix lock files stay.
    names.retain(|name| cfg!(unix) || !name.starts_with(".zarr-kit-lock."));
    names.sort();
    names
}

/// A session does all that other stores do.
#[test]
fn a_session_is_a_store_like_any_other() {
    let (folder, path) = temporary();
    let zip = ZipStore::create(&path).unwrap();
    let session = zip.session().unwrap().unwrap();
    conformance::all(session.store());
    session.commit().unwrap();
    assert_eq!(beside(&folder).len(), 1);
    conformance::sessions(&(Arc::new(zip.clone()) as Arc<dyn Store>));
    assert_eq!(objects(&zip), [("sessions/c/0".to_owned(), b"2".to_vec())].into());
}

#[test]
fn a_session_takes_effect_when_it_is_committed() {
    let (folder, path) = temporary();
    for durability in [Durability::ProcessEnd, Durability::PowerFailure] {
        let _none = fs::remove_file(&path);
        let shared = ZipStore::create(&path).unwrap();
        // Another handle of the same archive does not keep it from being durable.
        let zip = shared.clone().with_durability(durability);
        zip.session().unwrap().unwrap().commit().unwrap();
        assert!(!path.exists());
        let session = zip.session().unwrap().unwrap();
        let store = Arc::clone(session.store());
        store.put(&key("a/c/0"), b"0123456789").unwrap();
        store.put(&key("a/c/0"), b"9876543210").unwrap();
        store.put(&key("gone"), b"x").unwrap();
        store.delete(&key("gone")).unwrap();
        assert!(!path.exists());
        assert!(ZipStore::open(&path).is_err());
        // The session itself sees what it has written, and nobody else does.
        let mut out = Vec::new();
        store.get(&key("a/c/0"), ReadRange::Ranges(&[8..10, 0..1]), &mut out).unwrap();
        assert_eq!(out, b"109");
        assert_eq!(zip.read(&key("a/c/0")).unwrap(), None);
        assert!(keys_below(&zip, "").is_empty());
        store.put(&key("zarr.json"), b"{}").unwrap();
        assert_eq!(keys_below(&*store, "").len(), 2);
        session.commit().unwrap();
        assert_eq!(beside(&folder), ["x.zip"]);
        // What was open sees the commit; the session's store reads on, and writes no more.
        for store in [&*store, &shared, &zip, &ZipStore::open(&path).unwrap()] {
            let store: &dyn Store = store;
            assert_eq!(
                keys_below(store, "").into_iter().collect::<Vec<_>>(),
                ["a/c/0", "zarr.json"]
            );
            assert_eq!(store.read(&key("a/c/0")).unwrap().as_deref(), Some(&b"9876543210"[..]));
        }
        let ended = store.put(&key("late"), b"").unwrap_err();
        assert!(ended.to_string().contains("the session has ended"), "{ended}");
    }
}

/// Without sessions, a store around an archive is slower, and loses nothing.
#[test]
fn a_wrapper_of_what_is_required_loses_nothing() {
    let (folder, path) = temporary();
    let store = Required(ZipStore::create(&path).unwrap());
    store.put(&key("a/c/0"), b"0123456789").unwrap();
    store.put(&key("a/c/1"), b"1").unwrap();
    assert!(store.session().unwrap().is_none());
    assert_eq!(keys(&path), ["a/c/0", "a/c/1"]);
    assert_eq!(beside(&folder), ["x.zip"]);
}

#[test]
fn objects_are_added_and_neither_replaced_nor_removed() {
    let (folder, path) = temporary();
    let store = ZipStore::create(&path).unwrap();
    store.put(&key("a"), b"old").unwrap();
    let session = ZipStore::open(&path).unwrap().session().unwrap().unwrap();
    let store = session.store();
    let messages = [
        store.put(&key("a"), b"new").unwrap_err(),
        store.delete(&key("a")).unwrap_err(),
        store.delete_prefix(&Prefix::root()).unwrap_err(),
        ZipStore::open(&path).unwrap().delete(&key("a")).unwrap_err(),
        within(&fs::read(&path).unwrap()).unwrap().put(&key("b"), b"").unwrap_err(),
    ];
    insta::assert_snapshot!(messages.map(|error| error.to_string()).join("\n"));
    assert_eq!(store.put_if(&key("a"), b"new", None).unwrap(), PutOutcome::Changed);
    assert_eq!(store.put_if(&key("b"), b"1", None).unwrap(), PutOutcome::Written);
    let version = store.head(&key("b")).unwrap().unwrap().version.unwrap();
    assert_eq!(store.put_if(&key("b"), b"2", Some(&version)).unwrap(), PutOutcome::Written);
    assert_eq!(store.put_if(&key("b"), b"3", Some(&version)).unwrap(), PutOutcome::Changed);
    assert_eq!(store.put_opts(&key("b"), &[], PutMode::Create).unwrap(), PutOutcome::Changed);
    store.put(&key("a/b"), b"below an object").unwrap();
    store.delete(&key("missing")).unwrap();
    session.commit().unwrap();
    let store = ZipStore::open(&path).unwrap();
    assert_eq!(keys(&path), ["a", "a/b", "b"]);
    assert_eq!(store.read(&key("a")).unwrap().as_deref(), Some(&b"old"[..]));
    assert_eq!(store.read(&key("b")).unwrap().as_deref(), Some(&b"2"[..]));
    assert_eq!(beside(&folder), ["x.zip"]);
}

/// A session that is dropped ends at once, though its store is in use: nothing of it is added, nothing
/// is left, and the next session need not wait.
#[test]
fn what_is_not_committed_is_dropped() {
    let (folder, path) = temporary();
    let dropped = session(&path);
    let store = Arc::clone(dropped.store());
    store.put(&key("a"), b"1").unwrap();
    drop(dropped);
    assert!(beside(&folder).is_empty());
    assert_eq!(store.read(&key("a")).unwrap(), None);
    store.put(&key("a"), b"1").unwrap_err();
    add(&path, &["b"]);
    assert_eq!(keys(&path), ["b"]);
    assert_eq!(keys_below(&*store, "").len(), 1);
}

/// Two sessions that put different bytes in the same place: a reader that keeps what it read by its
/// version must not take those of the first for those of the second.
#[test]
fn objects_of_different_sessions_have_different_versions() {
    let (_folder, path) = temporary();
    add(&path, &["old"]);
    let versions = [b"1", b"2"].map(|bytes| {
        let session = session(&path);
        session.store().put(&key("a"), bytes).unwrap();
        let version = session.store().head(&key("a")).unwrap().unwrap().version;
        version.expect("a version")
    });
    assert_ne!(versions[0], versions[1]);
}

/// A reader may keep what it read while the version is the same: it is told of a replaced archive, in
/// a session too.
#[test]
fn a_version_is_of_the_archive_as_it_is_now() {
    let (_folder, path) = temporary();
    add(&path, &["a"]);
    let old = fs::read(&path).unwrap();
    let remote = Arc::new(MemoryStore::new());
    remote.put(&key("x.zip"), &old).unwrap();
    let within = ZipStore::within(remote.clone(), key("x.zip")).unwrap();
    let zip = ZipStore::open(&path).unwrap();
    let session = zip.session().unwrap().unwrap();
    session.store().put(&key("b"), b"2").unwrap();
    let stores: [&dyn Store; 3] = [&zip, &within, &**session.store()];
    for store in stores {
        assert!(store.head(&key("a")).unwrap().is_some());
    }
    for store in [&zip, &within] {
        let described: Vec<_> = store.list_described(&Prefix::root()).unwrap().collect();
        let [Ok((found, meta))] = &described[..] else { panic!("{described:?}") };
        assert_eq!((found.as_str(), Some(meta)), ("a", store.head(found).unwrap().as_ref()));
    }
    let other = archive(&[Entry::stored("a", b"other")]);
    fs::write(&path, &other).unwrap();
    remote.put(&key("x.zip"), &other).unwrap();
    for store in stores {
        store.head(&key("a")).unwrap_err();
        store.read(&key("a")).unwrap_err();
    }
    // What the session added is still what it was.
    assert!(session.store().head(&key("b")).unwrap().is_some());
    fs::remove_file(&path).unwrap();
    Store::delete(&*remote, &key("x.zip")).unwrap();
    for store in stores {
        store.head(&key("a")).unwrap_err();
    }
}

/// An operation that fails anywhere, before or after it took effect, adds nothing.
#[test]
fn a_session_that_fails_anywhere_adds_nothing() {
    let (folder, path) = temporary();
    add(&path, &["old"]);
    let old = fs::read(&path).unwrap();
    for fault in [Fault::DieBefore, Fault::DieAfter] {
        for at in 0..4 {
            let work = || {
                let session = session(&path);
                let store = FaultStore::new(Arc::clone(session.store())).at(at, fault);
                for name in ["a", "b", "c", "d"] {
                    store.put(&key(name), b"1")?;
                }
                session.commit()
            };
            assert!(matches!(work(), Err(StoreError::Io { .. })), "{fault:?} at {at}");
            assert_eq!(fs::read(&path).unwrap(), old);
            assert_eq!(beside(&folder), ["x.zip"]);
        }
    }
}

/// Sessions take turns, and none loses what another one has added: threads with one handle and with
/// one each, while others read.
#[test]
fn threads_take_turns() {
    let (folder, path) = temporary();
    add(&path, &["old"]);
    let shared = ZipStore::create(&path).unwrap();
    let (readers, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let other = ZipStore::open(&path).unwrap();
                while !done.load(Ordering::Relaxed) {
                    for store in [&shared, &other] {
                        assert_eq!(store.read(&key("old")).unwrap().as_deref(), Some(&b"1"[..]));
                        for name in keys_below(store, "") {
                            assert!(store.read(&key(&name)).unwrap().is_some(), "{name}");
                        }
                    }
                    readers.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let (shared, path) = (&shared, &path);
        let writers: Vec<_> = (0..8)
            .map(|n| {
                scope.spawn(move || {
                    let zip =
                        if n % 2 == 0 { shared.clone() } else { ZipStore::open(path).unwrap() };
                    for round in 0..10 {
                        let session = zip.session().unwrap().unwrap();
                        for part in ["x", "y"] {
                            session
                                .store()
                                .put(&key(&format!("{n}/{round}/{part}")), b"1")
                                .unwrap();
                        }
                        session.commit().unwrap();
                        // What it has written is there for all at once.
                        assert!(zip.head(&key(&format!("{n}/{round}/y"))).unwrap().is_some());
                        assert!(shared.read(&key(&format!("{n}/{round}/x"))).unwrap().is_some());
                    }
                })
            })
            .collect();
        let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        // Else the readers go on after a panic.
        done.store(true, Ordering::Relaxed);
        for writer in ended {
            writer.unwrap();
        }
    });
    assert!(readers.into_inner() > 0);
    assert_eq!(keys(&path).len(), 1 + 8 * 10 * 2);
    assert_eq!(beside(&folder), ["x.zip"]);
}

/// The threads of one session exclude each other where they update one object.
#[test]
fn threads_share_a_session() {
    let (_folder, path) = temporary();
    let session = session(&path);
    let store = session.store();
    thread::scope(|scope| {
        for n in 0..8_usize {
            scope.spawn(move || {
                for _ in 0..20 {
                    let add = |_, bytes: &mut Vec<u8>| {
                        bytes.resize(8, 0);
                        bytes[n] += 1;
                        Ok::<_, StoreError>(Change::Put)
                    };
                    update(store, &key("shared"), UpdatePolicy::default(), &mut Vec::new(), add)
                        .unwrap();
                }
            });
        }
    });
    session.commit().unwrap();
    let read = ZipStore::open(&path).unwrap().read(&key("shared")).unwrap();
    assert_eq!(read.as_deref(), Some(&[20; 8][..]));
}

/// A thread that waited for itself would wait for ever.
#[test]
fn a_second_session_of_a_thread_is_an_error() {
    let (_folder, path) = temporary();
    let first = session(&path);
    let (zip, inner) = (ZipStore::create(&path).unwrap(), Arc::clone(first.store()));
    let errors = [
        zip.session().unwrap_err(),
        zip.put(&key("a"), b"").unwrap_err(),
        zip.clean(&Prefix::root(), &mut |_| ()).unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("this thread has a session of the archive"), "{error}");
    }
    // Within it, there is none to begin.
    let nested = Session::begin(&inner).unwrap();
    nested.store().put(&key("a"), b"1").unwrap();
    nested.commit().unwrap();
    assert!(!path.exists());
    first.commit().unwrap();
    assert_eq!(keys(&path), ["a"]);
    add(&path, &["b"]);
}

/// Programs that do not take turns: a session compares with the archive that it began with, and not
/// with the one at its end.
#[test]
fn an_archive_that_others_replace_is_not_overwritten() {
    let (folder, path) = temporary();
    add(&path, &["a"]);
    let other = archive(&[Entry::stored("a", b"1"), Entry::stored("other", b"2")]);
    let (reader, session) = (ZipStore::open(&path).unwrap(), session(&path));
    session.store().put(&key("b"), b"2").unwrap();
    fs::write(folder.path().join("new"), &other).unwrap();
    fs::rename(folder.path().join("new"), &path).unwrap();
    // Handles that have seen the other one, as that of the session may, change nothing about it.
    assert!(ZipStore::open(&path).unwrap().head(&key("other")).unwrap().is_some());
    let error = session.commit().unwrap_err();
    assert!(error.to_string().contains("another writer replaced the archive"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), other);
    assert_eq!(beside(&folder), ["x.zip"]);
    // It begins as the first one did, so that it may be a later one; the next one does not.
    assert!(matches!(reader.read(&key("other")), Ok(Some(_))));
    fs::write(&path, archive(&[Entry::stored("c", b"3")])).unwrap();
    for error in [
        reader.read(&key("a")).unwrap_err(),
        reader.head(&key("c")).unwrap_err(),
        reader.session().unwrap_err(),
        reader.list(&Prefix::root(), Links::Follow).next().unwrap().unwrap_err(),
    ] {
        assert!(error.to_string().contains("another archive took its place"), "{error}");
    }
    fs::remove_file(&path).unwrap();
    let error = reader.read(&key("a")).unwrap_err();
    assert!(error.to_string().contains("removed"), "{error}");
}

/// zarr-python writes a document again when its attributes change: the last one stays the object.
#[test]
fn adding_keeps_the_last_of_entries_with_one_name() {
    let (_folder, path) = temporary();
    fs::write(&path, archive(&[Entry::stored("a", b"first"), Entry::stored("a", b"last")]))
        .unwrap();
    let reader = ZipStore::open(&path).unwrap();
    add(&path, &["b"]);
    for store in [&reader, &ZipStore::open(&path).unwrap()] {
        assert_eq!(store.read(&key("a")).unwrap().as_deref(), Some(&b"last"[..]));
        assert!(store.read(&key("b")).unwrap().is_some());
    }
}

/// What a killed writer leaves is beside the archive, which is as it was.
#[test]
fn what_a_killed_writer_leaves_is_removed_when_asked() {
    let (folder, path) = temporary();
    add(&path, &["a"]);
    // The names of dead writers of this archive and of another one.
    let dead = folder.path().join(".zarr-kit-tmp.1.2.3.4.x.zip");
    let other = folder.path().join(".zarr-kit-tmp.1.2.3.4.ax.zip");
    fs::write(&other, b"half").unwrap();
    let session = session(&path);
    session.store().put(&key("b"), b"2").unwrap();
    let clean = |store: &dyn Store| {
        fs::write(&dead, b"half").unwrap();
        let mut removed = Vec::new();
        store.clean(&Prefix::root(), &mut |name| removed.push(name.to_owned())).unwrap();
        assert_eq!(removed, [".zarr-kit-tmp.1.2.3.4.x.zip"]);
    };
    clean(&**session.store());
    // With the lock, which `beside` leaves out elsewhere than on Unix.
    assert_eq!(beside(&folder).len(), 3 + usize::from(cfg!(unix)));
    session.commit().unwrap();
    assert_eq!(keys(&path), ["a", "b"]);
    clean(&ZipStore::open(&path).unwrap());
    assert_eq!(beside(&folder), [".zarr-kit-tmp.1.2.3.4.ax.zip", "x.zip"]);
}
