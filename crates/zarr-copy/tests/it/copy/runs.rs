//! Two runs of a copy into one place, the later one at each step of the earlier one: it continues the
//! copy or begins it again, and the earlier one stops.

use std::sync::Arc;

use zarr_array::Array;
use zarr_array::store::{MemoryStore, Prefix, Store};
use zarr_copy::{
    ContentDigest, CopyOptions, Endpoint, NewNode, TransferError, copy_array, copy_tree,
};
use zarr_metadata::{ArrayMetadata, NodeMetadata};
use zarr_store_tests::objects;

use super::ends::{array, copy_root, group, prefix};
use super::passes::{LITTLE_MEMORY, columns, direct, rows};
use super::{LITTLE, metadata, regular};

type Shared = Arc<dyn Store>;
type Copied<T> = Result<T, TransferError>;

fn is_stopped<T>(copied: &Copied<T>) -> bool {
    matches!(copied, Err(TransferError::Removed { .. }))
}

fn copy_columns(
    from: &Array,
    to: &Shared,
    options: &CopyOptions,
    progress: &mut dyn FnMut(),
) -> Copied<()> {
    let root = Prefix::root();
    let copied = copy_array(from, to.clone(), &root, columns(), options, &mut |_| progress());
    copied.map(drop)
}

/// How often a copy tells its progress.
fn steps(copy: impl FnOnce(&mut dyn FnMut()) -> Copied<()>) -> usize {
    let mut steps = 0;
    copy(&mut || steps += 1).expect("copies");
    steps
}

/// In both passes: the later run removes the intermediate that the earlier one reads.
#[test]
fn a_copy_that_another_run_takes_over_stops() {
    let (from, _) = rows();
    let options = CopyOptions::new().memory(LITTLE_MEMORY);
    let memory = || Arc::new(MemoryStore::new()) as Shared;
    let all = steps(|progress| copy_columns(&from, &memory(), &options, progress));
    let expected = direct();
    for later in [options.clone().resume(true), options.clone().overwrite(true)] {
        for step in (0..all).step_by(5).chain([all - 1]) {
            let (to, mut at) = (memory(), 0);
            let earlier = copy_columns(&from, &to, &options, &mut || {
                if at == step {
                    copy_columns(&from, &to, &later, &mut || {}).expect("copies");
                }
                at += 1;
            });
            assert!(is_stopped(&earlier), "{step} of {all}: {earlier:?}");
            assert_eq!(objects(&*to), expected, "{step} of {all}");
        }
    }
}

#[test]
fn a_copy_of_a_group_that_another_run_takes_over_stops() {
    let memory = || Arc::new(MemoryStore::new()) as Shared;
    let from = memory();
    group(&from, "");
    ["a", "b", "c"].into_iter().for_each(|path| array(&from, path));
    let copy = |to: &Shared,
                chunks: Option<[u64; 2]>,
                options: &CopyOptions,
                progress: &mut dyn FnMut()| {
        let root = Prefix::root();
        let ends = [&from, to].map(|store| Endpoint::new(store, &root));
        let [here, there] = ends;
        let change = &mut |_: &Prefix, old: &ArrayMetadata| {
            Ok(chunks.map_or_else(|| old.clone(), |chunks| metadata(&regular(chunks), LITTLE)))
        };
        copy_tree(here, there, change, options, &mut |_, _| progress()).map(drop)
    };
    let options = CopyOptions::new();
    for chunks in [None, Some([7, 5])] {
        let expected = memory();
        copy_root(&from, &expected, chunks, &options).expect("copies");
        let all = steps(|progress| copy(&memory(), chunks, &options, progress));
        for later in [options.clone().resume(true), options.clone().overwrite(true)] {
            for step in 0..all {
                let (to, mut at) = (memory(), 0);
                let earlier = copy(&to, chunks, &options, &mut || {
                    if at == step {
                        copy(&to, chunks, &later, &mut || {}).expect("copies");
                    }
                    at += 1;
                });
                assert!(is_stopped(&earlier), "{step} of {all}: {earlier:?}");
                assert!(objects(&*to) == objects(&*expected), "{step} of {all}");
            }
        }
    }
}

#[test]
fn a_new_node_that_another_run_takes_over_is_not_finished() {
    let store: Shared = Arc::new(MemoryStore::new());
    array(&store, "a");
    let (from, to) = (prefix("a"), prefix("b"));
    let [here, there] = [&from, &to].map(|prefix| Endpoint::new(&store, prefix));
    let document = NodeMetadata::Array(metadata(&regular([6, 4]), LITTLE));
    let begin = |options: &CopyOptions| {
        let content = ContentDigest::default();
        NewNode::begin(&[(here, "{}")], content, None, there, &document, options)
    };
    let earlier = begin(&CopyOptions::new()).expect("begins");
    let later = begin(&CopyOptions::new().resume(true)).expect("continues");
    assert!(is_stopped(&earlier.finish()));
    later.finish().expect("finishes");
    Array::open(store.clone(), &to).expect("opens");
}
