//! Objects beside the chunks whose names are those of chunks in a copy with other keys.

use std::sync::Arc;

use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Part, Selection};
use zarr_copy::{CopyOptions, CopySummary, TransferError};
use zarr_metadata::{ArrayMetadata, ChunkKeyEncoding, Codec, Separator};
use zarr_store_tests::objects;

use super::ends::copy_with;
use super::{LITTLE, SHAPE, elements, metadata, regular};

type Shared = Arc<dyn Store>;

const SLASH: ChunkKeyEncoding = ChunkKeyEncoding::Default { separator: Separator::Slash };
const DOT: ChunkKeyEncoding = ChunkKeyEncoding::Default { separator: Separator::Dot };
const V2: ChunkKeyEncoding = ChunkKeyEncoding::V2 { separator: Separator::Dot };

/// An array with these keys, and an object beside its chunks.
fn source(keys: &ChunkKeyEncoding, other: &str) -> Shared {
    let store: Shared = Arc::new(MemoryStore::new());
    let metadata = metadata(&regular([6, 4]), LITTLE).with_chunk_key_encoding(keys);
    Array::create(store.clone(), &Prefix::root(), metadata.expect("valid"))
        .and_then(|array| array.write(Selection::whole(&SHAPE), &elements()))
        .expect("writes");
    store.put(&Key::new(other).expect("a key"), b"somebody's").expect("puts");
    store
}

fn copy(
    from: &Shared,
    to: &Shared,
    keys: &ChunkKeyEncoding,
    codecs: Option<&[Codec]>,
    options: &CopyOptions,
) -> Result<CopySummary, TransferError> {
    copy_with((from, ""), (to, ""), options, &|old| {
        let changed = old.with_chunk_key_encoding(keys).expect("is valid");
        match codecs {
            Some(codecs) => changed.with_codecs(codecs).expect("fit"),
            None => changed,
        }
    })
}

#[test]
fn an_object_with_the_key_of_a_chunk_in_the_copy_is_neither_lost_nor_read() {
    // A chunk that is stored, one of only the fill value, and one past the array's end.
    for (from_keys, to_keys, others) in [
        (SLASH, DOT, ["c.1.1", "c.0.0", "c.99.0"]),
        (DOT, SLASH, ["c/1/1", "c/0/0", "c/99/0"]),
        (SLASH, V2, ["1.1", "0.0", "99.0"]),
    ] {
        for other in others {
            let from = source(&from_keys, other);
            let before = objects(&*from);
            for codecs in [None, Some(&[Codec::bytes(), Codec::gzip(1)][..])] {
                let part = |number| CopyOptions::new().part(Part::new(number, 2).expect("a part"));
                for options in [CopyOptions::new(), part(1), part(2)] {
                    let what = format!("{from_keys:?} {to_keys:?} {other} {options:?}");
                    let to: Shared = Arc::new(MemoryStore::new());
                    let refused = copy(&from, &to, &to_keys, codecs, &options).expect_err(&what);
                    assert_eq!(
                        refused.to_string(),
                        format!(
                            "source: {other} is no chunk, but would have the key of a chunk in the \
                             copy, where keys differ: rename it, or keep the encoding"
                        ),
                        "{what}"
                    );
                    let left = objects(&*to);
                    assert!(left.keys().all(|key| key.starts_with("zarr-kit-")), "{left:?}");
                }
                // With the same keys it is an object like others.
                let to: Shared = Arc::new(MemoryStore::new());
                copy(&from, &to, &from_keys, codecs, &CopyOptions::new()).expect("copies");
                assert_eq!(objects(&*to)[other], b"somebody's");
            }
            assert_eq!(objects(&*from), before);
        }
    }
}

#[test]
fn other_objects_go_with_chunks_that_get_other_keys() {
    for other in ["c.1", "c.1.1.1", "c.x", "notes.txt"] {
        let from = source(&SLASH, other);
        let to: Shared = Arc::new(MemoryStore::new());
        copy(&from, &to, &DOT, None, &CopyOptions::new()).expect("copies");
        let (old, new) = (objects(&*from), objects(&*to));
        assert_eq!(new[other], b"somebody's");
        assert_eq!((new.len(), &new["c.1.1"]), (old.len(), &old["c/1/1"]), "{other}");
        let array = Array::open(to, &Prefix::root()).expect("opens");
        assert_eq!(array.read(Selection::whole(&SHAPE)).expect("reads"), elements());
    }
}

#[test]
fn an_overwrite_that_is_refused_for_a_key_leaves_the_old_array() {
    let from = source(&SLASH, "c.1.1");
    let to = source(&SLASH, "c.x");
    to.delete(&Key::new("c.x").expect("a key")).expect("deletes");
    let before = objects(&*to);
    let refused = copy(&from, &to, &DOT, None, &CopyOptions::new().overwrite(true));
    assert!(matches!(refused, Err(TransferError::ChunkKey { .. })), "{refused:?}");
    assert!(objects(&*to) == before);
}

/// SD-42: an array whose chunks are not known is copied object by object, and not otherwise.
#[test]
fn arrays_in_unknown_chunks_are_copied_object_by_object() {
    for name in ["regular", "default"] {
        let from: Shared = Arc::new(MemoryStore::new());
        let document = metadata(&regular([6, 4]), LITTLE).json().replace(name, "unheard.of");
        let put = |key: &str, bytes: &[u8]| from.put(&Key::new(key).expect("a key"), bytes);
        put("zarr.json", document.as_bytes()).expect("puts");
        put("c/0/0", b"a chunk").expect("puts");
        put("elsewhere/7", b"another").expect("puts");
        let to: Shared = Arc::new(MemoryStore::new());
        copy_with((&from, ""), (&to, ""), &CopyOptions::new(), &ArrayMetadata::clone)
            .expect("copies");
        assert_eq!(objects(&*to), objects(&*from));
        let to: Shared = Arc::new(MemoryStore::new());
        let gzip = [Codec::bytes(), Codec::gzip(1)];
        let refused = copy_with((&from, ""), (&to, ""), &CopyOptions::new(), &|old| {
            old.with_codecs(&gzip).expect("fit")
        });
        let refused = refused.expect_err("elements are not known").to_string();
        assert!(refused.contains("unheard.of is not known here"), "{refused}");
        assert!(objects(&*to).is_empty());
    }
}
