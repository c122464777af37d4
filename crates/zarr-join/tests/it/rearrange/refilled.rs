//! Groups that are appended to after chunks that are not full, ended at every operation.

use std::sync::Arc;

use zarr_array::Group;
use zarr_array::store::{Fault, FaultStore, MemoryStore, Store};
use zarr_join::rearrange::Span;
use zarr_metadata::{ChunkGrid, GroupMetadata};

use super::groups::{at, named, open, run, settle};
use super::{BYTES, SLASH, document, filled, found, objects, regular, rows};

#[test]
fn appends_after_chunks_that_are_not_full_end_old_or_new() {
    let build = |first: u8, length: u64| {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        for path in ["", "g"] {
            Group::create(store.clone(), &at(path), GroupMetadata::new()).expect("new");
        }
        let time = named(&document(&[length], &regular(&[2]), SLASH, BYTES), "[\"time\"]");
        filled(store.clone(), &at("g/time"), &time, first);
        let temp = document(&[2, length], &regular(&[1, 2]), SLASH, BYTES);
        filled(store.clone(), &at("g/temp"), &named(&temp, "[\"x\", \"time\"]"), first + 10);
        store
    };
    let other = Group::open(build(100, 2), &at("g")).expect("opens");
    let spans = [Span::Kept(0..3), Span::Inserted(other)];
    let (old, whole) = (objects(&*build(0, 3)), build(0, 3));
    let counted = Arc::new(FaultStore::new(whole.clone()));
    run(&(counted.clone() as Arc<dyn Store>), &spans).expect("appends");
    let new = objects(&*whole);
    for (path, axis) in [("g/time", 0), ("g/temp", 1)] {
        let all = |store: &Arc<dyn Store>| rows(&open(store, path).expect("opens"), axis);
        assert_eq!(all(&whole), [all(&build(0, 3)), all(&build(100, 2))].concat());
        let grid = open(&whole, path).expect("opens").metadata().chunk_grid().clone();
        assert!(matches!(grid, ChunkGrid::Regular { .. }), "{path} {grid:?}");
    }
    let (mut undone, mut done) = (0, 0);
    for number in 0..counted.operations() {
        let store = build(0, 3);
        let dying: Arc<dyn Store> =
            Arc::new(FaultStore::new(store.clone()).at(number, Fault::DieAfter));
        let result = run(&dying, &spans);
        settle(&store).expect("settles");
        let now = objects(&*store);
        assert!(now == new || (result.is_err() && now == old), "operation {number}");
        assert_eq!(found(&store), Vec::<&str>::new(), "operation {number}");
        undone += u32::from(now == old);
        done += u32::from(now == new);
    }
    assert!(undone > 20 && done > 20, "{undone} {done}");
}
