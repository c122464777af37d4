//! Symbolic links in local stores.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use zarr_store::{
    DirEntry, FaultStore, Links, LocalStore, Prefix, ReadRange, Store as _, StoreError,
    StoreExt as _, StoreOptions, open_url,
};
use zarr_store_tests::{SetAtEnd, key, keys_below, prefix, without_key};

use crate::required::Required;

/// Two folders: a store, and a place outside it with a secret.
fn store_and_outside() -> (tempfile::TempDir, LocalStore, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside");
    fs::create_dir_all(outside.join("c")).unwrap();
    fs::write(outside.join("secret"), b"secret").unwrap();
    fs::write(outside.join("c/0"), b"secret").unwrap();
    let store = LocalStore::create(folder.path().join("store")).unwrap();
    (folder, store, outside)
}

fn assert_outside<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    match result {
        Err(StoreError::OutsideRoot { link, .. }) => assert!(link.is_symlink()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn links_never_lead_outside() {
    let (_folder, store, outside) = store_and_outside();
    let root = store.root().to_owned();
    fs::create_dir_all(root.join("a/b")).unwrap();
    symlink(&outside, root.join("absolute")).unwrap();
    symlink("../outside", root.join("relative")).unwrap();
    symlink("../../../outside", root.join("a/b/deep")).unwrap();
    symlink("a/b/deep", root.join("chain")).unwrap();
    symlink("../outside/secret", root.join("file")).unwrap();
    symlink("/", root.join("slash")).unwrap();

    let mut out = Vec::new();
    for name in ["absolute", "relative", "a/b/deep", "chain"] {
        let secret = key(&format!("{name}/secret"));
        assert_outside(store.read(&secret));
        assert_outside(store.get(&secret, ReadRange::Suffix(1), &mut out));
        assert_outside(store.get_into(&secret, &mut [0; 6]));
        assert_outside(store.head(&secret));
        assert_outside(store.put(&secret, b"changed"));
        assert_outside(store.put(&key(&format!("{name}/new/x")), b"made"));
        assert_outside(store.delete(&secret));
        assert_outside(store.lock(&secret));
        assert_outside(store.list(&prefix(name), Links::Follow).next().unwrap());
        assert_outside(store.list_dir(&prefix(name)).next().unwrap());
        assert_outside(store.delete_prefix(&prefix(&format!("{name}/c"))));
    }
    assert_outside(store.read(&key("file")));
    assert_outside(store.size(&key("file")));
    assert_outside(store.read(&key("slash/etc/passwd")));

    // Listing goes around them, but does not hide them.
    store.put(&key("a/chunk"), b"x").unwrap();
    let listed = keys_below(&store, "");
    let all = ["a/b/deep", "a/chunk", "absolute", "chain", "file", "relative", "slash"];
    assert_eq!(listed, all.into_iter().map(str::to_owned).collect());

    // A write and a delete of a link's own name are of the link, not of what it leads to.
    store.put(&key("file"), b"own").unwrap();
    assert_eq!(store.read(&key("file")).unwrap().unwrap(), b"own");
    store.delete(&key("absolute")).unwrap();
    store.delete_prefix(&prefix("relative")).unwrap();
    assert!(!root.join("absolute").is_symlink() && !root.join("relative").is_symlink());
    store.delete_prefix(&Prefix::root()).unwrap();
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    assert_eq!(fs::read(outside.join("secret")).unwrap(), b"secret");
    assert_eq!(fs::read(outside.join("c/0")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 2);
}

/// A folder of objects that another process exchanges for a link to other objects, again and again: a
/// read gives what is in the store, or an error.
#[cfg(target_os = "linux")]
#[test]
fn reads_never_follow_a_link_that_is_exchanged_meanwhile() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::sync::atomic::{AtomicBool, Ordering};

    let (folder, store, outside) = store_and_outside();
    store.put(&key("c/0"), b"inside").unwrap();
    let (objects, link) = (store.root().join("c"), folder.path().join("link"));
    // Links within the store are followed meanwhile, too.
    symlink("c", store.root().join("within")).unwrap();
    symlink(outside.join("c"), &link).unwrap();
    let is_over = AtomicBool::new(false);
    let (mut inside, mut refused, mut others) = (0, 0, Vec::new());
    std::thread::scope(|scope| {
        let _is_over = SetAtEnd(&is_over);
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                renameat_with(CWD, &objects, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for name in ["c/0", "within/0"].iter().cycle().take(20_000) {
            match store.read(&key(name)) {
                Ok(Some(read)) if read == b"inside" => inside += 1,
                Ok(read) => others.push((*name, read)),
                Err(_) => refused += 1,
            }
        }
    });
    assert!(others.is_empty(), "{} of 20000: {:?}", others.len(), others.first());
    assert!(inside > 0 && refused > 0, "{inside} {refused}");
}

fn assert_dangling<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    match result {
        Err(StoreError::DanglingLink { link, .. }) => assert!(link.is_symlink()),
        other => panic!("{other:?}"),
    }
}

/// As where a disk is not mounted: an object behind such a link is not missing, and a write must not
/// take the place of its folder. The link itself can be replaced and deleted.
#[test]
fn links_that_lead_nowhere_are_no_missing_objects() {
    for allowed in [false, true] {
        let (_folder, store, outside) = store_and_outside();
        let store = store.with_outside_links(allowed);
        let root = store.root().to_owned();
        fs::create_dir_all(root.join("a")).unwrap();
        symlink("../gone", root.join("a/c")).unwrap();
        symlink("c/0", root.join("a/chain")).unwrap();
        fs::write(root.join("file"), b"x").unwrap();
        symlink("../file/0", root.join("a/below-file")).unwrap();
        symlink(outside.join("gone"), root.join("disk")).unwrap();
        let mut out = Vec::new();
        for name in ["a/c", "a/c/0", "a/c/0/1", "a/chain", "a/below-file", "disk/0/1"] {
            let object = key(name);
            assert_dangling(store.read(&object));
            assert_dangling(store.get(&object, ReadRange::Suffix(1), &mut out));
            assert_dangling(store.get_into(&object, &mut [0; 6]));
            assert_dangling(store.head(&object));
            assert_dangling(store.list(&prefix(name), Links::Follow).next().unwrap());
            assert_dangling(store.list_dir(&prefix(name)).next().unwrap());
        }
        for name in ["a/c/0", "a/c/0/1", "disk/0/1"] {
            assert_dangling(store.put(&key(name), b"x"));
            assert_dangling(store.lock(&key(name)));
            assert_dangling(store.delete(&key(name)));
            assert_dangling(store.delete_prefix(&prefix(name)));
        }
        let error = store.put(&key("a/c/0"), b"x").unwrap_err().to_string();
        let said = "cannot use \"a/c/0\": the symbolic link \"";
        assert!(error.starts_with(said) && error.contains("/store/a/c\" leads to"), "{error}");
        let listed: Vec<_> = keys_below(&store, "").into_iter().collect();
        assert_eq!(listed, ["a/below-file", "a/c", "a/chain", "disk", "file"]);
        // What is missing without such a link is missing.
        assert_eq!(store.read(&key("a/d/0")).unwrap(), None);
        assert_eq!(store.read(&key("file/0")).unwrap(), None);
        assert_eq!(store.list(&prefix("a/d"), Links::Follow).count(), 0);
        store.delete(&key("a/d/0")).unwrap();
        // The link's own name.
        assert_eq!(without_key(&store, "a"), ["a/below-file", "a/c", "a/chain"]);
        store.put(&key("a/chain"), b"own").unwrap();
        assert_eq!(store.read(&key("a/chain")).unwrap().unwrap(), b"own");
        store.delete(&key("a/c")).unwrap();
        assert_eq!(store.read(&key("a/c/0")).unwrap(), None);
        store.delete_prefix(&prefix("disk")).unwrap();
        store.delete_prefix(&Prefix::root()).unwrap();
        assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    }
}

#[test]
fn links_within_are_followed_and_outside_ones_if_allowed() {
    let (_folder, store, outside) = store_and_outside();
    let root = store.root().to_owned();
    store.put(&key("real/c/0"), b"chunk").unwrap();
    symlink("real", root.join("alias")).unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    assert_eq!(store.read(&key("alias/c/0")).unwrap().unwrap(), b"chunk");
    assert_dangling(store.read(&key("dangling")));
    assert_dangling(store.read(&key("dangling/x")));
    store.put(&key("alias/c/1"), b"new").unwrap();
    assert_eq!(store.read(&key("real/c/1")).unwrap().unwrap(), b"new");
    assert_eq!(keys_below(&store, "alias").len(), 2);
    assert_eq!(keys_below(&store, "").len(), 5);
    // One file, one lock, by whatever name.
    let guard = store.lock(&key("alias/c/0")).unwrap();
    assert!(is_lock_held(&store, "real/c/0"));
    drop(guard);
    assert!(!is_lock_held(&store, "real/c/0"));

    symlink(&outside, root.join("out")).unwrap();
    assert_outside(store.read(&key("out/c/0")));
    let trusting = LocalStore::open(&root).unwrap().with_outside_links(true);
    assert_eq!(trusting.read(&key("out/c/0")).unwrap().unwrap(), b"secret");
    assert_eq!(keys_below(&trusting, "out").len(), 2);
    for allowed in [false, true] {
        let options = StoreOptions::new().outside_links(allowed);
        let opened = open_url(root.to_str().unwrap(), &options).unwrap();
        assert_eq!(opened.read(&key("out/c/0")).is_ok(), allowed);
    }
    trusting.delete_prefix(&Prefix::root()).unwrap();
    assert!(outside.join("c/0").exists());
}

/// A link in the place of a lock file is an error: it would make files elsewhere, and never be the
/// file that was locked.
#[test]
fn links_are_no_lock_files() {
    let (_folder, store, outside) = store_and_outside();
    let root = store.root().to_owned();
    store.put(&key("c/0"), b"chunk").unwrap();
    let lock = root.join("c/.zarr-kit-lock.0");
    for target in [outside.join("made"), outside.join("secret"), root.join("c/0"), root.clone()] {
        symlink(&target, &lock).unwrap();
        let error = store.lock(&key("c/0")).unwrap_err();
        insta::allow_duplicates! {
            insta::assert_snapshot!(error, @r#"cannot lock "c/0": there is a symbolic link in the place of its lock file"#);
        }
        assert!(lock.is_symlink());
        fs::remove_file(&lock).unwrap();
    }
    assert!(!outside.join("made").exists());
    drop(store.lock(&key("c/0")).unwrap());
    // Neither is a pipe waited for.
    let made = std::process::Command::new("mkfifo").arg(&lock).status();
    assert!(made.unwrap().success());
    let leftovers = store.leftovers(&Prefix::root()).collect::<Result<Vec<_>, _>>().unwrap();
    assert!(leftovers.len() == 1 && !leftovers[0].in_use, "{leftovers:?}");
}

/// What is no object: links that lead nowhere, pipes, and names that no key can have, also in a
/// linked folder. Pointers and other wrappers tell of it too.
#[test]
fn what_is_no_object_is_told() {
    let (_folder, store, outside) = store_and_outside();
    let root = store.root().to_owned();
    store.put(&key("a/0"), b"chunk").unwrap();
    symlink("nowhere", root.join("a/gone")).unwrap();
    fs::create_dir_all(root.join("back\\slash/deep")).unwrap();
    fs::write(root.join("back\\slash/deep/0"), b"x").unwrap();
    let made = std::process::Command::new("mkfifo").arg(root.join("a/pipe")).status();
    assert!(made.unwrap().success());
    fs::write(root.join("a/x\\y"), b"x").unwrap();
    symlink("a", root.join("link")).unwrap();
    fs::write(root.join("a/.zarr-kit-tmp.1.2.3.0"), b"half").unwrap();
    let expected =
        ["a/gone", "a/pipe", "a/x\\y", "back\\slash", "link/gone", "link/pipe", "link/x\\y"];
    assert_eq!(without_key(&store, ""), expected);
    assert_eq!(without_key(&store, "link"), ["link/gone", "link/pipe", "link/x\\y"]);
    assert_eq!(without_key(&&store, ""), expected);
    assert_eq!(without_key(&FaultStore::new(store.clone()), ""), expected);
    assert!(without_key(&Required(store.clone()), "").is_empty());
    // A link out of the store is an object, of which reading says what it is.
    symlink(&outside, root.join("outside")).unwrap();
    assert_eq!(without_key(&store, ""), expected);
    assert!(keys_below(&store, "").contains("outside"));
}

fn is_lock_held(store: &LocalStore, name: &str) -> bool {
    let path = store.root().join(name);
    let file_name = path.file_name().unwrap().to_str().unwrap();
    let lock = path.with_file_name(format!(".zarr-kit-lock.{file_name}"));
    fs::File::open(lock).is_ok_and(|file| file.try_lock().is_err())
}

/// Links that go round, and many that lead to each other: listing ends, and soon.
#[test]
fn circles_of_links_are_listed_in_finite_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    for n in 0..30 {
        store.put(&key(&format!("f{n}/x")), b"x").unwrap();
        for m in 0..30 {
            symlink(format!("../f{m}"), folder.path().join(format!("f{n}/to{m}"))).unwrap();
        }
    }
    symlink(".", folder.path().join("self")).unwrap();
    symlink("loop", folder.path().join("loop")).unwrap();
    let seen = store.list(&Prefix::root(), Links::Follow).map(Result::unwrap).count();
    // Each folder by itself, and once by each of the links in folders met directly or by `self`.
    assert!(seen < 200_000, "{seen}");
    // A caller that lists folder by folder comes to the same end.
    let (mut folders, mut objects) = (vec![Prefix::root()], 0);
    while let Some(folder) = folders.pop() {
        for entry in store.list_dir(&folder).map(Result::unwrap) {
            match entry {
                DirEntry::Prefix(folder) => folders.push(folder),
                DirEntry::Object(_) => objects += 1,
            }
        }
        assert!(objects <= seen, "more than {seen} objects");
    }
    assert_eq!(objects, seen);
    assert!(matches!(store.read(&key("loop")), Err(StoreError::Io { .. })));
}

/// A pipe with an object's name is no object, and reading it does not wait for its other end.
#[test]
fn pipes_are_no_objects() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::open(folder.path()).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status();
    assert!(made.unwrap().success());
    symlink("pipe", folder.path().join("alias")).unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    for name in ["pipe", "alias", "folder"] {
        assert_eq!(store.read(&key(name)).unwrap(), None);
        assert_eq!(store.size(&key(name)).unwrap(), None);
    }
    assert!(keys_below(&store, "").is_empty());
}

/// A store stays at its path: a root that is removed and made anew is read where it is written.
#[test]
fn a_root_made_anew_is_the_same_store() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = LocalStore::create(&root).unwrap();
    store.put(&key("a/0"), b"old").unwrap();
    fs::rename(&root, folder.path().join("away")).unwrap();
    assert_eq!(store.read(&key("a/0")).unwrap(), None);
    fs::create_dir(&root).unwrap();
    store.put(&key("a/0"), b"new").unwrap();
    assert_eq!(store.read(&key("a/0")).unwrap().unwrap(), b"new");
    // Its folder replaced by a link that leads outside.
    fs::remove_dir_all(root.join("a")).unwrap();
    symlink("../away/a", root.join("a")).unwrap();
    assert_outside(store.read(&key("a/0")));
}

/// A wrapper that hands on what it must, and nothing else, deletes no more than the store itself.
#[test]
fn deletion_through_a_wrapper_does_not_follow_links() {
    let folder = tempfile::tempdir().unwrap();
    let store = Required(LocalStore::open(folder.path()).unwrap());
    for name in ["kept/0", "gone/0"] {
        store.put(&key(name), b"x").unwrap();
    }
    std::os::unix::fs::symlink("../kept", folder.path().join("gone/link")).unwrap();
    assert_eq!(store.read(&key("gone/link/0")).unwrap().unwrap(), b"x");
    store.delete_prefix(&prefix("gone")).unwrap();
    assert_eq!(store.read(&key("gone/0")).unwrap(), None);
    assert!(folder.path().join("gone/link").symlink_metadata().is_err(), "the link is gone");
    assert_eq!(store.read(&key("kept/0")).unwrap().unwrap(), b"x");
    // What is not forwarded is done by what is.
    assert_eq!(store.head(&key("kept/0")).unwrap(), store.0.head(&key("kept/0")).unwrap());
    assert_eq!(store.head(&key("gone/0")).unwrap(), None);
    assert!(!store.capabilities().conditional_put);
}
