//! Any bytes as a zip archive: opening, listing and reading fail or succeed, a whole object is the
//! same by ranges, and memory stays within the limit of the process.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use zarr_array::store::{
    DirEntry, Key, Links, MemoryStore, Prefix, ReadRange, Store, StoreExt as _,
};
use zarr_zip::ZipStore;

/// The longest object to read.
const LONGEST: u64 = 1 << 20;

fuzz_target!(|input: &[u8]| {
    let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let key = Key::new("data.zip").expect("a key");
    memory.put(&key, input).expect("memory");
    let Ok(store) = ZipStore::within(memory, key) else { return };
    for entry in store.list_dir(&Prefix::root()).take(64) {
        if let Ok(DirEntry::Prefix(prefix)) = entry {
            let _ = store.list_dir(&prefix).take(64).count();
        }
    }
    let keys = store.list(&Prefix::root(), Links::Follow).take(64);
    let keys: Vec<Key> = keys.filter_map(Result::ok).collect();
    for key in keys {
        let size = store.head(&key).expect("listed").expect("listed").size;
        if size > LONGEST {
            continue;
        }
        let Ok(whole) = store.read(&key) else { continue };
        let whole = whole.expect("listed");
        assert_eq!(whole.len() as u64, size);
        let (middle, mut parts) = (size / 2, Vec::new());
        let ranges = [0..middle, middle..size];
        let read = store.get(&key, ReadRange::Ranges(&ranges), &mut parts);
        assert!(read.expect("what reads whole").is_some());
        assert_eq!(parts, whole);
    }
});
