//! Files of references: what they lead to, and what they may not lead to.

use std::fs;
use std::path::{Path, PathBuf};
use std::slice::from_ref;

use zarr_store::{
    DirEntry, Prefix, ReadRange, ReferenceStore, Store, StoreError, StoreExt as _, StoreOptions,
    archive_of, local_path, open_url,
};
use zarr_store_tests::{key, keys_below};

/// A folder with a target of 100 bytes, in which each byte is its position.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    fs::create_dir_all(home.join("data")).unwrap();
    let bytes: Vec<u8> = (0..100).collect();
    fs::write(home.join("data/x.bin"), &bytes).unwrap();
    fs::write(folder.path().join("secret"), b"secret").unwrap();
    (folder, home)
}

fn open(home: &Path, refs: &str, options: &StoreOptions) -> ReferenceStore {
    let path = home.join("refs.json");
    fs::write(&path, refs).unwrap();
    ReferenceStore::open(path, options).unwrap()
}

#[test]
fn parts_of_files_are_objects() {
    let (_folder, home) = folder();
    let absolute = home.join("data/x.bin").display().to_string();
    let refs = format!(
        r#"{{"a/zarr.json": {{"k": 1}}, "a/c/0": ["data/x.bin", 10, 20], "a/c/1": ["./data/x.bin"],
        "a/c/2": "base64:AAEC", "a/c/3": ["{absolute}", 99, 1], "a/c/4": ["file://{absolute}", 0, 0],
        "b/../c": "left out"}}"#
    );
    let store = open(&home, &refs, &StoreOptions::new());
    let read = |name: &str| store.read(&key(name)).unwrap();
    assert_eq!(read("a/zarr.json").as_deref(), Some(&br#"{"k": 1}"#[..]));
    assert_eq!(read("a/c/0"), Some((10..30).collect()));
    assert_eq!(read("a/c/1"), Some((0..100).collect()));
    assert_eq!(read("a/c/2"), Some(vec![0, 1, 2]));
    assert_eq!(read("a/c/3"), Some(vec![99]));
    assert_eq!(read("a/c/4"), Some(vec![]));
    assert_eq!(read("a/c/5"), None);
    let mut out = Vec::new();
    let meta = store.get(&key("a/c/0"), ReadRange::Ranges(&[5..7, 0..1]), &mut out).unwrap();
    assert_eq!(out, [15, 16, 10]);
    assert_eq!(meta.unwrap().size, 20);
    store.get(&key("a/c/0"), ReadRange::Suffix(2), &mut out).unwrap();
    assert_eq!(out, [28, 29]);
    // Past the end of the part, although the file goes on.
    let beyond = store.get(&key("a/c/0"), ReadRange::Ranges(from_ref(&(19..21))), &mut out);
    assert!(matches!(beyond, Err(StoreError::Range { size: 20, .. })));
    let beyond = store.get(&key("a/c/0"), ReadRange::Suffix(21), &mut out);
    assert!(matches!(beyond, Err(StoreError::Suffix { size: 20, .. })));
    assert_eq!(keys_below(&store, "a").len(), 6);
    let top: Vec<_> = store.list_dir(&Prefix::root()).map(Result::unwrap).collect();
    assert_eq!(top, [DirEntry::Prefix(Prefix::new("a").unwrap())]);
    let refused =
        [store.put(&key("a/c/0"), b"").unwrap_err(), store.delete(&key("a/c/0")).unwrap_err()];
    assert!(refused.iter().all(|error| error.to_string().contains("read only")), "{refused:?}");
}

/// A target that is not the one that the references were made for is an error that names it, and
/// never a missing object, which would read as the fill value.
#[test]
fn targets_that_changed_are_named() {
    let (_folder, home) = folder();
    let refs = r#"{"long": ["data/x.bin", 90, 11], "gone": ["data/y.bin", 0, 1],
        "whole": ["data/y.bin"], "a": ["data/x.bin", 0, 10]}"#;
    let store = open(&home, refs, &StoreOptions::new());
    let message = |name: &str| store.read(&key(name)).unwrap_err().to_string();
    let mut messages = vec![message("long"), message("gone"), message("whole")];
    assert_eq!(store.read(&key("a")).unwrap(), Some((0..10).collect()));
    fs::write(home.join("data/x.bin"), [7; 50]).unwrap();
    messages.push(message("a"));
    fs::remove_file(home.join("data/x.bin")).unwrap();
    messages.push(message("a"));
    insta::assert_snapshot!(messages.join("\n"));
}

/// A reference file that came from somebody else cannot read what is outside of its folder.
#[test]
fn references_out_of_the_folder_are_refused() {
    let (folder, home) = folder();
    let secret = fs::canonicalize(folder.path().join("secret")).unwrap();
    let mut targets = vec![
        "../secret".to_owned(),
        "data/../../secret".to_owned(),
        secret.display().to_string(),
        format!("file://{}", secret.display()),
        "/etc/passwd".to_owned(),
    ];
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink(&secret, home.join("link")).unwrap();
        targets.push("link".to_owned());
    }
    let listed: Vec<String> =
        targets.iter().enumerate().map(|(n, url)| format!(r#""k{n}": ["{url}"]"#)).collect();
    let refs = format!("{{{}}}", listed.join(","));
    let store = open(&home, &refs, &StoreOptions::new());
    for (n, url) in targets.iter().enumerate() {
        let error = store.read(&key(&format!("k{n}"))).unwrap_err();
        let is_refused = matches!(
            error,
            StoreError::Container { .. } | StoreError::OutsideRoot { .. } | StoreError::Key(_)
        );
        assert!(is_refused, "{url}: {error:?}");
    }
    // Unless it is allowed.
    let allowed = StoreOptions::new().target(folder.path().display().to_string());
    let store = open(&home, &refs, &allowed);
    for (n, url) in targets.iter().enumerate().take(4) {
        let read = store.read(&key(&format!("k{n}"))).unwrap();
        assert_eq!(read.as_deref(), Some(&b"secret"[..]), "{url}");
    }
    assert!(store.read(&key("k4")).is_err());
}

#[test]
fn paths_lead_into_reference_files() {
    let (_folder, home) = folder();
    open(&home, r#"{"g/a/0": ["data/x.bin", 1, 2]}"#, &StoreOptions::new());
    let path = home.join("refs.json").display().to_string();
    let store = open_url(&format!("{path}/g"), &StoreOptions::new()).unwrap();
    assert_eq!(store.read(&key("a/0")).unwrap(), Some(vec![1, 2]));
    assert_eq!(archive_of(&format!("{path}/g")), Some(path.as_str()));
    assert_eq!(local_path(&path), None);
    // A document of Zarr, and a folder.
    fs::write(home.join("zarr.json"), "{}").unwrap();
    fs::create_dir(home.join("folder.json")).unwrap();
    for other in ["zarr.json", "folder.json", "missing.json"] {
        assert_eq!(archive_of(home.join(other).to_str().unwrap()), None, "{other}");
    }
    fs::write(home.join("broken.json"), "{").unwrap();
    let error = open_url(home.join("broken.json").to_str().unwrap(), &StoreOptions::new());
    assert!(error.unwrap_err().to_string().contains("not a JSON object of references"));
}
