//! What killed writers leave, and who removes it.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use zarr_store::{LocalStore, Prefix, Store, StoreExt as _};
use zarr_store_tests::key;

use super::local::leftovers;

pub(super) fn clean(store: &LocalStore) -> Vec<String> {
    let mut removed = Vec::new();
    store.clean(&Prefix::root(), &mut |name| removed.push(name.to_owned())).unwrap();
    removed.sort();
    removed
}

#[test]
fn what_the_dead_left_goes_and_what_the_living_hold_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    store.put(&key("a/0"), b"x").unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["a/.zarr-kit-tmp.1.2.3.4.0", "a/.zarr-kit-tmp.1.2.3.0", "a/.zarr-kit-lock.1"] {
        fs::write(at(name), b"half").unwrap();
    }
    // Not ours, or no file.
    fs::write(at("a/back\\slash"), b"x").unwrap();
    fs::write(at("a/.zarr-kit-else"), b"x").unwrap();
    fs::create_dir(at("a/.zarr-kit-tmp.folder")).unwrap();
    std::os::unix::fs::symlink("0", at("a/.zarr-kit-tmp.link")).unwrap();
    // A living writer, and a living holder of a lock.
    fs::write(at("a/.zarr-kit-tmp.alive"), b"half").unwrap();
    let alive = fs::File::open(at("a/.zarr-kit-tmp.alive")).unwrap();
    alive.lock().unwrap();
    let guard = store.lock(&key("a/0")).unwrap();
    let others = [".zarr-kit-else", ".zarr-kit-tmp.folder", ".zarr-kit-tmp.link", "back\\slash"];

    let removed = clean(&store);
    let expected = ["a/.zarr-kit-lock.1", "a/.zarr-kit-tmp.1.2.3.0", "a/.zarr-kit-tmp.1.2.3.4.0"];
    assert_eq!(removed, expected);
    let in_use: Vec<_> = leftovers(&store).into_iter().filter(|found| found.in_use).collect();
    assert_eq!(in_use.len(), 2, "{in_use:?}");
    drop((alive, guard));
    assert_eq!(clean(&store), ["a/.zarr-kit-tmp.alive"]);
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let mut left = others.to_vec();
    left.push("0");
    left.sort_unstable();
    assert_eq!(names(&at("a")), left);
    assert_eq!(store.read(&key("a/0")).unwrap().unwrap(), b"x");
}

/// Whoever finds the lock of a dead holder looks for what else that left, and never takes what
/// may be somebody's who cannot be seen from here.
#[cfg(target_os = "linux")]
#[test]
fn a_lock_left_by_the_dead_is_what_makes_the_next_writer_look() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    store.put(&key("a/0"), b"x").unwrap();
    let at = |name: &str| folder.path().join("a").join(name);
    let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap();
    let hash = boot.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let ours = format!(".zarr-kit-tmp.{hash:x}.1.2.3.0");
    let elsewhere = format!(".zarr-kit-tmp.{:x}.1.2.3.0", hash ^ 1);
    let alive = format!(".zarr-kit-tmp.{hash:x}.1.2.4.0");
    for name in [&ours, &elsewhere, &alive] {
        fs::write(at(name), b"half").unwrap();
    }
    let held = fs::File::open(at(&alive)).unwrap();
    held.lock().unwrap();
    // No sign of a dead writer.
    drop(store.lock(&key("a/0")).unwrap());
    assert!(at(&ours).exists());
    // One; and the lock of another object with it.
    fs::write(at(".zarr-kit-lock.0"), b"").unwrap();
    fs::write(at(".zarr-kit-lock.1"), b"").unwrap();
    drop(store.lock(&key("a/0")).unwrap());
    assert!(!at(&ours).exists() && !at(".zarr-kit-lock.0").exists());
    assert!(!at(".zarr-kit-lock.1").exists());
    assert!(at(&elsewhere).exists() && at(&alive).exists());
    drop(held);
}

/// Puts of the test below.
const PUTS: usize = 250;

/// Ends the other thread of the test below, also where an assertion fails.
struct End<'a>(&'a AtomicUsize);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(PUTS, Ordering::Relaxed);
    }
}

/// A temporary file that is taken for a leftover costs its writer another attempt, and no more.
#[test]
fn a_writer_whose_temporary_file_goes_writes_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    // One file of each put goes, as one that sees no locks of the other would take it.
    let (begun, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while begun.load(Ordering::Relaxed) < PUTS {
                let number = begun.load(Ordering::Relaxed);
                if taken.load(Ordering::Relaxed) < number
                    && let Some(leftover) = leftovers(&store).pop()
                    && fs::remove_file(leftover.path).is_ok()
                {
                    taken.store(number, Ordering::Relaxed);
                }
                thread::yield_now();
            }
        });
        let _end = End(&begun);
        for state in 1..PUTS {
            begun.store(state, Ordering::Relaxed);
            let bytes = vec![state as u8; 100_000];
            store.put(&key("0"), &bytes).unwrap();
            assert_eq!(store.read(&key("0")).unwrap().unwrap(), bytes);
        }
    });
    assert_eq!(leftovers(&store), []);
}
