//! Groups in stores that answer many requests at once, each after a while.

use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use zarr_array::store::{
    Capabilities, Key, MemoryStore, ObjectMeta, Prefix, ReadRange, Store, StoreError, StoreExt as _,
};
use zarr_copy::{CopyOptions, Endpoint, copy_tree};
use zarr_store_tests::{hand_on, key, objects};

/// Answers reads of chunks only when this many are waiting, but not never.
#[derive(Debug)]
struct Far {
    inner: MemoryStore,
    in_flight: usize,
    awaited: usize,
    /// The current number of reads, and the maximum.
    asked: Mutex<(usize, usize)>,
    more: Condvar,
}

impl Store for Far {
    hand_on!(inner: head put_opts delete list list_dir lock);

    fn capabilities(&self) -> Capabilities {
        Capabilities::new().requests_in_flight(NonZeroUsize::new(self.in_flight).expect("some"))
    }

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        if key.as_str().contains("/c/") {
            let mut asked = self.asked.lock().expect("nobody panics");
            asked.0 += 1;
            asked.1 = asked.1.max(asked.0);
            self.more.notify_all();
            let alone = |asked: &mut (usize, usize)| asked.1 < self.awaited;
            let waited = self.more.wait_timeout_while(asked, Duration::from_secs(5), alone);
            waited.expect("nobody panics").0.0 -= 1;
        }
        self.inner.get(key, range, out)
    }
}

/// The most chunks that are read at once while a group of arrays of one chunk is copied.
fn most_at_once(in_flight: usize, awaited: usize, options: &CopyOptions) -> usize {
    let inner = MemoryStore::new();
    inner.put(&key("zarr.json"), br#"{"zarr_format": 3, "node_type": "group"}"#).expect("puts");
    let document = br#"{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": [{"name": "bytes"}]}"#;
    for at in 0..12 {
        inner.put(&key(&format!("{at}/zarr.json")), document).expect("puts");
        inner.put(&key(&format!("{at}/c/0")), &[at; 4]).expect("puts");
    }
    let (asked, more) = Default::default();
    let far = Arc::new(Far { inner, in_flight, awaited, asked, more });
    let (from, to): (Arc<dyn Store>, Arc<dyn Store>) = (far.clone(), Arc::new(MemoryStore::new()));
    let root = Prefix::root();
    let ends = (Endpoint::new(&from, &root), Endpoint::new(&to, &root));
    let same = &mut |_: &Prefix, metadata: &_| Ok(Clone::clone(metadata));
    let summary = copy_tree(ends.0, ends.1, same, options, &mut |_, _| {}).expect("copies");
    assert_eq!((summary.arrays, summary.groups, summary.bytes), (12, 1, 48));
    assert_eq!(objects(&*to), objects(&far.inner));
    far.asked.lock().expect("nobody panics").1
}

#[test]
fn arrays_of_few_chunks_are_copied_at_once() {
    assert_eq!(most_at_once(6, 6, &CopyOptions::new()), 6);
}

/// A chunk is as large as all memory.
#[test]
fn arrays_whose_objects_need_all_memory_are_copied_alone() {
    assert_eq!(most_at_once(6, 1, &CopyOptions::new().memory(4)), 1);
}
