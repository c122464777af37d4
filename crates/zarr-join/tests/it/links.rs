//! Hard links: chunks that are moved take no space.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarr_array::store::{LocalStore, Prefix, Store};
use zarr_array::{Array, Selection};
use zarr_join::{Arrangement, Join, JoinOptions, Member};
use zarr_metadata::{ArrayBuilder, DataType};

/// An array with two chunks, of which the last may be padded.
fn member(folder: &Path, name: &str, length: u64) -> Member {
    let store = LocalStore::create(folder.join(name)).expect("creates");
    let metadata = ArrayBuilder::new([length], DataType::Uint8).chunk_shape([5]).build();
    let array = Array::create(Arc::new(store), &Prefix::root(), metadata.expect("valid"));
    let array = array.expect("creates");
    let values: Vec<u8> = (1..).take(usize::try_from(length).expect("small")).collect();
    array.write(Selection::whole(&[length]), &values).expect("writes");
    Member::new(name, array)
}

/// Every file below a folder, with its inode and its number of names.
fn files(folder: &Path) -> Vec<(PathBuf, u64, u64)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("lists") {
            let path = entry.expect("lists").path();
            let meta = fs::metadata(&path).expect("is there");
            match meta.is_dir() {
                true => folders.push(path),
                false => found.push((path, meta.ino(), meta.nlink())),
            }
        }
    }
    found.sort();
    found
}

fn inode(path: PathBuf) -> u64 {
    fs::metadata(path).expect("is there").ino()
}

#[test]
fn linked_chunks_are_the_members_files_and_nothing_else_is_written() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let at = |path: &str| folder.path().join(path);
    let members = vec![member(folder.path(), "a", 10), member(folder.path(), "b", 10)];
    let plan = Join::new(members, Arrangement::Along(0)).plan().expect("fits");
    let store: Arc<dyn Store> = Arc::new(LocalStore::create(at("to")).expect("creates"));
    let options = JoinOptions::new().link(true);
    let (array, summary) = plan.execute(&store, &Prefix::root(), &options, &|_| {}).expect("joins");
    assert_eq!((summary.linked, summary.copied_bytes, summary.written), (4, 0, 0));
    for (from, to) in [("a/c/0", 0), ("a/c/1", 1), ("b/c/0", 2), ("b/c/1", 3)] {
        assert_eq!(inode(at(from)), inode(at("to").join(format!("c/{to}"))));
    }
    // The document is the only file of the target's own.
    let own = files(&at("to")).into_iter().filter(|(_, _, names)| *names == 1);
    let own: Vec<PathBuf> = own.map(|(path, ..)| path).collect();
    assert_eq!(own, [at("to/zarr.json")]);

    // A write replaces the file, so the member keeps its values.
    array.write(0..1, &[99]).expect("writes");
    assert_eq!(
        fs::read(at("a/c/0")).expect("reads")[..],
        fs::read(at("b/c/0")).expect("reads")[..]
    );
    assert_eq!(array.read(0..2).expect("reads"), [99, 2]);
}

#[test]
fn a_padded_chunk_is_written_and_the_last_of_all_is_not_padded_there() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let members = vec![member(folder.path(), "a", 7), member(folder.path(), "b", 8)];
    let plan = Join::new(members, Arrangement::Along(0)).plan().expect("fits");
    assert_eq!((plan.moved_chunks(), plan.written_chunks()), (3, 1));
    let store: Arc<dyn Store> =
        Arc::new(LocalStore::create(folder.path().join("to")).expect("creates"));
    let options = JoinOptions::new().link(true);
    let (array, summary) = plan.execute(&store, &Prefix::root(), &options, &|_| {}).expect("joins");
    assert_eq!((summary.linked, summary.written), (3, 1));
    let grid = array.grid().axes()[0].runs().map(|run| (run.edge, run.count));
    assert!(grid.eq([(5, 1), (2, 1), (5, 2)]));
    assert_eq!(
        array.read(Selection::whole(&[15])).expect("reads"),
        [1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 8]
    );
}

#[test]
fn without_linking_the_files_are_not_shared() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let members = vec![member(folder.path(), "a", 10), member(folder.path(), "b", 10)];
    let plan = Join::new(members, Arrangement::Along(0)).plan().expect("fits");
    let store: Arc<dyn Store> =
        Arc::new(LocalStore::create(folder.path().join("to")).expect("creates"));
    let (_, summary) =
        plan.execute(&store, &Prefix::root(), &JoinOptions::new(), &|_| {}).expect("joins");
    assert_eq!(summary.reflinked + summary.copied, 4);
    assert!(files(folder.path()).iter().all(|(_, _, names)| *names == 1));
}
