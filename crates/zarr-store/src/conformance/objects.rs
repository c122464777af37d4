//! Objects that are put, read and deleted whole.

use std::io::IoSlice;

use super::operations::{delete, found, key, pattern, put, read, some};
use crate::{GetInto, Key, ReadRange, Store, StoreExt as _};

/// Tests putting, replacing, reading and deleting objects of several lengths. A missing key, and a
/// prefix of other keys, is no object.
///
/// # Panics
/// If the store behaves differently.
pub fn whole_objects(store: &dyn Store) {
    let a = key("whole/c/0/0");
    let mut out = vec![9; 3];
    let meta = found("get of a missing object", store.get(&a, ReadRange::All, &mut out));
    assert_eq!(meta, None, "get of a missing object");
    assert!(out.is_empty(), "get of a missing object leaves {out:?} in the buffer");
    assert_eq!(found("head", store.head(&a)), None, "head of a missing object");
    delete(store, &a);

    // Longer, shorter, empty and longer again, into one buffer.
    for len in [5, 70_000, 3, 0, 12] {
        let bytes = pattern(len);
        put(store, &a, &bytes);
        assert!(
            read(store, &a).as_ref() == Some(&bytes),
            "{len} bytes are not read as they were put"
        );
        let meta = found("get", store.get(&a, ReadRange::All, &mut out));
        let meta = some("get of an object that was put", meta);
        assert!(out == bytes, "{len} bytes are not read as they were put");
        assert_eq!(usize::try_from(meta.size), Ok(len), "the size that get tells");
        assert_eq!(found("head", store.head(&a)), Some(meta), "head and get tell the same");
    }
    to_their_place(store, &a);
    // A folder of a file system is not an object, nor is anything below an object.
    for none in ["whole/c/0", "whole/c", "whole/c/0/0/x"] {
        assert_eq!(read(store, &key(none)), None, "get of {none}, which was not put");
        assert_eq!(found("head", store.head(&key(none))), None, "head of {none}");
    }
    delete(store, &key("whole/c"));
    delete(store, &key("whole/c/0/0/x"));
    assert_eq!(found("head", store.size(&a)), Some(12), "deleting other keys keeps {a}");
    delete(store, &a);
    assert_eq!(read(store, &a), None, "an object that was deleted");
}

/// Reads into memory, if the store can; it need not.
fn to_their_place(store: &dyn Store, a: &Key) {
    let bytes = some("get", read(store, a));
    let mut place = vec![255; bytes.len()];
    match found("get_into", store.get_into(a, &mut place)) {
        GetInto::Read(meta) => {
            assert_eq!(place, bytes, "get_into");
            assert_eq!(found("head", store.head(a)), Some(meta), "head and get_into tell the same");
        }
        GetInto::Unsupported => {}
        GetInto::Missing => panic!("get_into does not find {a}"),
    }
    for length in [0, 11, 13] {
        let other = found("get_into", store.get_into(a, &mut vec![0; length]));
        let why = "get_into of 12 bytes into a place of other length";
        assert_eq!(other, GetInto::Unsupported, "{why}, {length}");
    }
    for missing in ["whole/c/0", "whole/c/0/0/x", "whole/none"] {
        let into = found("get_into", store.get_into(&key(missing), &mut [0; 12]));
        assert!(!matches!(into, GetInto::Read(_)), "get_into reads {missing}, which was not put");
    }
}

/// Tests putting objects in pieces, including empty pieces and more pieces than one system call
/// takes.
///
/// # Panics
/// If other bytes are read.
pub fn pieces(store: &dyn Store) {
    let a = key("pieces/c/0");
    for (len, piece) in [(0, 1), (7, 7), (7, 2), (10_000, 3), (70_000, 4096)] {
        let bytes = pattern(len);
        let mut pieces: Vec<_> = bytes.chunks(piece).map(IoSlice::new).collect();
        pieces.insert(pieces.len() / 2, IoSlice::new(&[]));
        pieces.insert(0, IoSlice::new(&[]));
        pieces.push(IoSlice::new(&[]));
        let what = format!("{len} bytes in pieces of {piece}");
        found(format_args!("put of {what}"), store.put_vectored(&a, &pieces));
        assert!(read(store, &a).as_ref() == Some(&bytes), "{what} are not read as they were put");
    }
    delete(store, &a);
}

/// Tests that each put makes another version, if the store has versions.
///
/// # Panics
/// If two have the same.
pub fn versions(store: &dyn Store) {
    let a = key("versions");
    let mut seen = Vec::new();
    for round in 0..20 {
        // Of other length each time, since an ETag may be a hash of the contents.
        put(store, &a, &pattern(10 + round));
        let meta = some("head", found("head", store.head(&a)));
        let Some(version) = meta.version else {
            let conditional = store.capabilities().conditional_put;
            assert!(!conditional, "a store with conditional puts tells no version");
            continue;
        };
        assert!(!seen.contains(&version), "put number {round} has the version of an earlier one");
        seen.push(version);
    }
    delete(store, &a);
}
