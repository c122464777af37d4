//! Sources that change while they are copied: a copy is of one state, or it ends with an error that
//! names what changed.

use std::fmt;
use std::sync::Arc;

use zarr_array::store::{
    AsyncStore, Key, Layer, Links, Listing, LocalStore, MemoryStore, ObjectMeta, Operation, Prefix,
    Store, StoreError, StoreExt as _,
};
use zarr_array::{Array, Part, Selection};
use zarr_copy::{CopyOptions, CopySummary, TransferError, copy_array};
use zarr_store_tests::{Changing, Objects, folder_in_memory, key, objects, sampled};

use super::ends::{array, copy, group, prefix};
use super::{LITTLE, SHAPE, documents_are_of_whole_nodes, metadata, regular};

type Shared = Arc<dyn Store>;

/// What happens to the array `a`, and one of the keys that it concerns.
type Change = (&'static str, fn(&Shared), &'static str);

const CHANGES: [Change; 7] = [
    ("all chunks are replaced by as many bytes", replace_all, "a/c/"),
    ("one chunk is replaced", |from| from.put(&key("a/c/1/1"), &[7; 48]).expect("puts"), "a/c/1/1"),
    (
        "chunks are removed",
        |from| {
            (**from).delete(&key("a/c/1/1")).expect("deletes");
            (**from).delete(&key("a/c/2/0")).expect("deletes");
        },
        "a/c/",
    ),
    ("a chunk is added", |from| from.put(&key("a/c/0/0"), &[7; 48]).expect("puts"), "a/c/0/0"),
    ("an object is added", |from| from.put(&key("a/notes/1"), b"new").expect("puts"), "a/notes/1"),
    (
        "the attributes change",
        |from| {
            let array = Array::open(from.clone(), &prefix("a")).expect("opens");
            array.update_attributes(&[("title", Some("\"new\""))]).expect("updates");
        },
        "a/zarr.json",
    ),
    (
        "the array is shortened, and its chunks are discarded",
        |from| {
            let array = Array::open(from.clone(), &prefix("a")).expect("opens");
            array.resize([6, 12]).expect("resizes");
        },
        "a/",
    ),
];

fn replace_all(from: &Shared) {
    let array = Array::open(from.clone(), &prefix("a")).expect("opens");
    array.write(Selection::whole(&SHAPE), &[9; 480]).expect("writes");
}

/// A group with two arrays. The chunk `a/c/0/0` is not stored: it has only the fill value.
fn source() -> Shared {
    let from: Shared = Arc::new(MemoryStore::new());
    group(&from, "");
    array(&from, "a");
    array(&from, "b");
    from.put(&key("a/README.md"), b"old").expect("puts");
    (*from).delete(&key("a/c/0/0")).expect("deletes");
    from
}

/// The copy of a source that does not change; `None` if it cannot be copied so.
fn still(from: &Shared, place: &str, chunks: Option<[u64; 2]>) -> Option<Objects> {
    let to: Shared = Arc::new(MemoryStore::new());
    copy((from, place), (&to, ""), chunks, &CopyOptions::new()).ok()?;
    Some(objects(&*to))
}

/// At operations of each kind of copy. The result is the copy of the old state or of the new
/// one, or there is no node, and whoever goes on gets no mixture either.
#[test]
fn a_copy_has_one_state_of_a_source_that_changes() {
    let mut told = 0;
    for (what, change, changed) in CHANGES {
        for (place, chunks) in [("a", None), ("a", Some([7, 5])), ("", None), ("", Some([7, 5]))] {
            // With other chunks, an array of another shape is another request.
            let is_resize = what.starts_with("the array is shortened");
            if is_resize && chunks.is_some() {
                continue;
            }
            let after = source();
            change(&after);
            let states = [still(&source(), place, chunks), still(&after, place, chunks)];
            for parts in [false, true] {
                for number in (1..).step_by(sampled(5)) {
                    let from = source();
                    let to: Shared = Arc::new(MemoryStore::new());
                    let changing = Arc::new(Changing::at(&from, number, change));
                    let options = CopyOptions::new().memory(1000);
                    let first = match parts {
                        true => options.clone().part(Part::new(1, 2).expect("a part")),
                        false => options.clone(),
                    };
                    let shared: Shared = changing.clone();
                    let mut done = copy((&shared, place), (&to, ""), chunks, &first);
                    if parts && done.is_ok() {
                        let second = options.clone().part(Part::new(2, 2).expect("a part"));
                        done = copy((&shared, place), (&to, ""), chunks, &second);
                    }
                    let at = format!("{what}, {place:?} {chunks:?} {parts} at {number}");
                    if !changing.has_changed() {
                        done.unwrap_or_else(|error| panic!("{at}: {error}"));
                        break;
                    }
                    let found = objects(&*to);
                    match done {
                        Ok(_) => assert!(states.contains(&Some(found)), "{at}: a mixture"),
                        Err(TransferError::ChangedMeanwhile { keys, count }) => {
                            told += 1;
                            assert!(count >= 1 && !keys.is_empty(), "{at}");
                            let is_named = keys.iter().any(|key| key.starts_with(changed));
                            assert!(is_named, "{at}: {keys:?}");
                            assert!(!found.contains_key("zarr.json"), "{at}");
                            if let [Some(old), Some(new)] = &states {
                                documents_are_of_whole_nodes(&found, old, new, &at);
                            }
                            let resume = match parts {
                                true => first.clone(),
                                false => options.clone().resume(true),
                            };
                            if copy((&from, place), (&to, ""), chunks, &resume).is_ok() && !parts {
                                assert_eq!(Some(objects(&*to)), states[1], "{at}: resumed");
                            }
                            let over = options.clone().overwrite(true);
                            copy((&from, place), (&to, ""), chunks, &over).expect("copies again");
                            assert_eq!(Some(objects(&*to)), states[1], "{at}: again");
                        }
                        // A part that begins after the change is refused.
                        Err(
                            TransferError::SourceChanged { .. } | TransferError::OtherCopy { .. },
                        ) if parts => {
                            assert!(!found.contains_key("zarr.json"), "{at}");
                        }
                        Err(error) => panic!("{at}: {error}"),
                    }
                }
            }
        }
    }
    assert!(told > 50, "{told}");
}

/// An array that was opened before the change.
#[test]
fn an_array_that_was_opened_before_has_one_state() {
    for (what, change, _) in CHANGES {
        for lists in [true, false] {
            for number in 1.. {
                let from = source();
                let changing = Changing::at(&from, number, change).listing(lists, true);
                let changing = Arc::new(changing);
                let opened = Array::open(from.clone(), &prefix("a")).expect("opens");
                let old = opened.read(Selection::whole(&SHAPE)).expect("reads");
                let opened = opened.with_store(changing.clone());
                let to: Shared = Arc::new(MemoryStore::new());
                let done = copy_opened(&opened, &to);
                let at = format!("{what}, lists: {lists}, at {number}");
                if !changing.has_changed() {
                    done.unwrap_or_else(|error| panic!("{at}: {error}"));
                    break;
                }
                match done {
                    Err(TransferError::ChangedMeanwhile { keys, .. }) => {
                        assert!(!keys.is_empty(), "{at}");
                        assert!(to.read(&key("zarr.json")).expect("reads").is_none(), "{at}");
                    }
                    Ok(_) => {
                        let found = Array::open(to, &Prefix::root()).expect("opens");
                        let found = found.read(Selection::whole(&SHAPE)).expect("reads");
                        let new = Array::open(from, &prefix("a")).expect("opens");
                        let is_new = new.shape() == SHAPE
                            && new.read(Selection::whole(&SHAPE)).expect("reads") == found;
                        assert!(found == old || is_new, "{at}: a mixture");
                    }
                    Err(error) => panic!("{at}: {error}"),
                }
            }
        }
    }
}

fn copy_opened(from: &Array, to: &Shared) -> Result<CopySummary, TransferError> {
    let target = metadata(&regular([7, 5]), LITTLE);
    let options = CopyOptions::new().memory(1000);
    let root = Prefix::root();
    copy_array(from, to.clone(), &root, target, &options, &mut |_| {}).map(|(_, summary)| summary)
}

/// A chunk is replaced and put back, so that the listings before and after tell the same names,
/// sizes and times: what was read meanwhile is of another state.
#[test]
fn a_file_that_was_replaced_for_a_while_is_told() {
    let folder = folder_in_memory();
    let from: Shared = Arc::new(LocalStore::open(folder.path()).expect("opens"));
    array(&from, "a");
    let (path, aside) = (folder.path().join("a/c/2/2"), folder.path().join("aside"));
    let length = std::fs::read(&path).expect("reads").len();
    let time = std::fs::metadata(&path).and_then(|meta| meta.modified()).expect("a time");
    let replace = move |is_before: bool| {
        if is_before {
            std::fs::rename(&path, &aside).expect("moves");
            std::fs::write(&path, vec![7; length]).expect("writes");
            let file = std::fs::File::options().write(true).open(&path).expect("opens");
            file.set_modified(time).expect("sets the time");
        } else {
            std::fs::rename(&aside, &path).expect("moves back");
        }
    };
    let to: Shared = Arc::new(MemoryStore::new());
    let shared: Shared = Arc::new(Replaced { inner: from.clone(), replace: Box::new(replace) });
    for chunks in [None, Some([7, 5])] {
        let options = CopyOptions::new().overwrite(true);
        let error = copy((&shared, "a"), (&to, ""), chunks, &options).expect_err("changes");
        let TransferError::ChangedMeanwhile { keys, .. } = &error else { panic!("{error}") };
        assert_eq!(keys, &["a/c/2/2"]);
        assert_eq!(
            error.to_string(),
            "source: changed while it was copied: a/c/2/2; start again when nothing changes it"
        );
    }
}

/// One chunk has other bytes of the same length and time while it is read.
struct Replaced {
    inner: Shared,
    /// Replaces the chunk, or puts the first one back.
    replace: Box<dyn Fn(bool) + Send + Sync>,
}

impl fmt::Debug for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Replaced")
    }
}

impl Layer for Replaced {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn pass<T>(
        &self,
        operation: Operation,
        name: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let is_read = operation == Operation::Get && name == "a/c/2/2";
        if is_read {
            (self.replace)(true);
        }
        let done = work();
        if is_read {
            (self.replace)(false);
        }
        done
    }

    fn around(&self, _: Shared) -> Option<Shared> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }
}

/// A server whose listings have no versions, as some have: times and sizes are compared.
#[test]
fn listings_without_versions_are_no_change() {
    let from: Shared = Arc::new(Unversioned(source()));
    let to: Shared = Arc::new(MemoryStore::new());
    copy((&from, ""), (&to, ""), Some([7, 5]), &CopyOptions::new()).expect("copies");
}

#[derive(Debug)]
struct Unversioned(Shared);

impl Layer for Unversioned {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.0
    }

    fn list_described(&self, prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        let described = |key: Result<Key, StoreError>| {
            let key = key?;
            let meta = (*self.0).head(&key)?.expect("is there");
            Ok((key, ObjectMeta { version: None, ..meta }))
        };
        Some(Box::new((*self.0).list(prefix, Links::Follow).map(described)))
    }

    fn around(&self, _: Shared) -> Option<Shared> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }
}
