//! Any bytes as a reference file: opening, listing and reading fail or succeed, and nothing outside
//! the folder of the file is read.

#![no_main]

use std::fs;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use zarr_array::store::{Key, Links, Prefix, Store, StoreExt as _, StoreOptions};
use zarr_references::ReferenceStore;

/// What a file beside the folder has, which no object may contain.
const SECRET: &[u8] = b"the secret of another folder";

/// A folder with a target, and a secret beside it.
static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("home")).expect("a folder");
    fs::write(folder.path().join("secret"), SECRET).expect("a file");
    fs::write(folder.path().join("home/data.bin"), [7; 100]).expect("a file");
    folder
});

fuzz_target!(|input: &[u8]| {
    let home = FOLDER.path().join("home");
    let file = home.join("refs.json");
    // Only targets of this machine: no request leaves it. The fuzzer sees with what the objects are
    // compared, and writes that into its inputs.
    let has = |text: &[u8]| input.windows(text.len()).any(|part| part == text);
    if has(b"://") || has(SECRET) {
        return;
    }
    fs::write(&file, input).expect("a file");
    let Ok(store) = ReferenceStore::open(&file, &StoreOptions::new()) else { return };
    let keys = store.list(&Prefix::root(), Links::Follow).take(64);
    let keys: Vec<Key> = keys.filter_map(Result::ok).collect();
    for key in keys {
        match store.read(&key) {
            Ok(Some(bytes)) => {
                assert!(bytes.windows(SECRET.len()).all(|part| part != SECRET));
            }
            Ok(None) => panic!("{key} is listed"),
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }
});
