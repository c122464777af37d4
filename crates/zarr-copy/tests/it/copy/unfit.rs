//! Arrays of a group that cannot change as the others do.

use std::sync::Arc;

use zarr_array::store::{MemoryStore, Prefix, Store, StoreExt as _};
use zarr_array::{Array, Group, Selection};
use zarr_copy::{CopyOptions, CopySummary, Endpoint, TransferError, copy_tree, source_arrays};
use zarr_metadata::{ArrayBuilder, ArrayMetadata, Codec, DataType, GroupMetadata};

use super::{LITTLE, SHAPE, elements, metadata, objects, regular};

fn prefix(name: &str) -> Prefix {
    Prefix::new(name).expect("a prefix")
}

/// `a` has numbers, `b` a type that nobody knows, `g/s` strings.
fn source() -> Arc<dyn Store> {
    let from: Arc<dyn Store> = Arc::new(MemoryStore::new());
    for group in ["", "g"] {
        Group::create(from.clone(), &prefix(group), GroupMetadata::new()).expect("creates");
    }
    Array::create(from.clone(), &prefix("a"), metadata(&regular([6, 4]), LITTLE))
        .and_then(|array| array.write(Selection::whole(&SHAPE), &elements()))
        .expect("writes");
    let unknown = metadata(&regular([6, 4]), LITTLE).json().replace("int16", "somebody.type");
    from.put(&prefix("b").key("zarr.json").expect("a key"), unknown.as_bytes()).expect("puts");
    from.put(&prefix("b").key("c/0/0").expect("a key"), b"theirs").expect("puts");
    let strings = ArrayBuilder::new([3], DataType::String).build().expect("valid");
    Array::create(from.clone(), &prefix("g/s"), strings)
        .and_then(|array| array.write_as(0..2, &["x", "é"]))
        .expect("writes");
    from
}

fn copy(from: &Arc<dyn Store>, codecs: &[Codec], options: &CopyOptions) -> Copied {
    let (to, root): (Arc<dyn Store>, _) = (Arc::new(MemoryStore::new()), Prefix::root());
    let result = copy_tree(
        Endpoint::new(from, &root),
        Endpoint::new(&to, &root),
        &mut |_, metadata| Ok(metadata.with_codecs(codecs)?),
        options,
        &mut |_, _| {},
    );
    Copied { to, kept: result.map(|summary| (summary.arrays, summary.kept)) }
}

struct Copied {
    to: Arc<dyn Store>,
    kept: Result<(u64, Vec<zarr_copy::UnfitArray>), TransferError>,
}

#[test]
fn arrays_that_cannot_change_are_copied_as_they_are() {
    let from = source();
    let gzip = [Codec::bytes(), Codec::gzip(1)];
    // Unless that is asked for, the first such array is an error.
    let refused = copy(&from, &gzip, &CopyOptions::new());
    assert!(matches!(refused.kept, Err(TransferError::NotDecodable { .. })), "{:?}", refused.kept);
    assert!(objects(&*refused.to).is_empty());

    let copied = copy(&from, &gzip, &CopyOptions::new().keep_unfit(true).verify(true));
    let (arrays, kept) = copied.kept.expect("copies");
    let paths: Vec<&str> = kept.iter().map(|array| array.path.as_str()).collect();
    assert_eq!((arrays, paths), (3, vec!["b", "g/s"]));
    assert!(kept[0].reason.contains("somebody.type"), "{}", kept[0].reason);
    assert!(kept[1].reason.contains("vlen-utf8"), "{}", kept[1].reason);
    let (old, new) = (objects(&*from), objects(&*copied.to));
    assert!(old.keys().eq(new.keys()));
    for (key, bytes) in &old {
        assert_eq!(&new[key] == bytes, !key.starts_with("a/"), "{key}");
    }
    let array = Array::open(copied.to, &prefix("a")).expect("opens");
    assert_eq!(array.metadata().codecs(), gzip);
    assert_eq!(array.read(Selection::whole(&SHAPE)).expect("reads"), elements());
}

#[test]
fn a_change_that_no_array_takes_is_an_error() {
    let from = source();
    let copied = copy(&from, &[Codec::VlenBytes], &CopyOptions::new().keep_unfit(true));
    assert!(matches!(copied.kept, Err(TransferError::Change { .. })), "{:?}", copied.kept);
    assert!(objects(&*copied.to).is_empty());
    // Of a single array it always is.
    let (to, root): (Arc<dyn Store>, _) = (Arc::new(MemoryStore::new()), Prefix::root());
    let refused = copy_tree(
        Endpoint::new(&from, &prefix("g/s")),
        Endpoint::new(&to, &root),
        &mut |_, metadata| Ok(metadata.with_codecs(&[Codec::bytes()])?),
        &CopyOptions::new().keep_unfit(true),
        &mut |_, _| {},
    );
    assert!(matches!(refused, Err(TransferError::Change { .. })), "{refused:?}");
}

/// No codec is needed where objects stay as they are.
#[test]
fn chunks_that_no_memory_holds_are_copied_as_they_are() {
    let root = Prefix::root();
    let (from, to): (Arc<dyn Store>, Arc<dyn Store>) =
        (Arc::new(MemoryStore::new()), Arc::new(MemoryStore::new()));
    let builder = ArrayBuilder::new([4], DataType::Uint8).chunk_shape([u64::MAX]);
    Array::create(from.clone(), &root, builder.build().expect("valid")).expect("creates");
    from.put(&root.key("c/0").expect("a key"), b"damaged").expect("puts");
    let ends = [&from, &to].map(|store| Endpoint::new(store, &root));
    let mut same = |_: &Prefix, metadata: &ArrayMetadata| Ok(metadata.clone());
    copy_tree(ends[0], ends[1], &mut same, &CopyOptions::new(), &mut |_, _| {}).expect("copies");
    assert_eq!(objects(&*from), objects(&*to));
}

#[test]
fn arrays_are_visited_as_a_copy_would() {
    let from = source();
    let root = Prefix::root();
    let arrays = source_arrays(Endpoint::new(&from, &root));
    let seen = arrays.map(|array| array.map(|(prefix, of)| format!("{prefix} {}", of.data_type())));
    let seen: Vec<String> = seen.collect::<Result<_, _>>().expect("visits");
    assert_eq!(seen, ["a int16", "b somebody.type", "g/s string"]);
}

/// A group of version 2 with numbers in `a`, and pickled objects in `b`.
pub(super) fn pickled() -> Arc<dyn Store> {
    let from: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let zarray = |dtype: &str, filters: &str| {
        format!(
            r#"{{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "{dtype}", "order": "C",
            "compressor": null, "filters": {filters}, "fill_value": 0}}"#
        )
    };
    let (a, b) = (zarray("|u1", "null"), zarray("|O", r#"[{"id": "pickle"}]"#));
    let metadata = format!(
        r#"{{"zarr_consolidated_format": 1, "metadata": {{".zgroup": {{"zarr_format": 2}},
        "a/.zarray": {a}, "b/.zarray": {b}}}}}"#
    );
    for (key, bytes) in [
        (".zgroup", r#"{"zarr_format": 2}"#),
        (".zmetadata", &metadata),
        ("a/.zarray", &a),
        ("a/0", "xy"),
        ("b/.zarray", &b),
        ("b/0", "a pickle"),
    ] {
        from.put(&zarr_array::store::Key::new(key).expect("a key"), bytes.as_bytes())
            .expect("puts");
    }
    from
}

/// A copy without a change.
fn plain(
    from: &Arc<dyn Store>,
    options: &CopyOptions,
) -> (Result<CopySummary, TransferError>, Arc<dyn Store>) {
    let (to, root): (Arc<dyn Store>, _) = (Arc::new(MemoryStore::new()), Prefix::root());
    let (source, target) = (Endpoint::new(from, &root), Endpoint::new(&to, &root));
    let same = &mut |_: &Prefix, metadata: &ArrayMetadata| Ok(metadata.clone());
    (copy_tree(source, target, same, options, &mut |_, _| {}), to)
}

#[test]
fn what_version_3_cannot_express_is_named_and_left_out() {
    let (from, root) = (pickled(), Prefix::root());
    // Unless that is asked for, such an array is an error, and nothing is written.
    let (refused, to) = plain(&from, &CopyOptions::new());
    let refused = refused.expect_err("pickled").to_string();
    assert!(refused.starts_with("source: b/.zarray: $.filters[0].id: "), "{refused}");
    assert!(objects(&*to).is_empty());

    let (summary, to) = plain(&from, &CopyOptions::new().keep_unfit(true).verify(true));
    let summary = summary.expect("copies the rest");
    assert_eq!((summary.arrays, summary.groups), (1, 1));
    let [missing] = &summary.untranslated[..] else { panic!("{:?}", summary.untranslated) };
    assert_eq!(missing.path, "b");
    assert!(missing.reason.contains("pickle"), "{}", missing.reason);
    assert_eq!(objects(&*to).keys().collect::<Vec<_>>(), ["a/c/0", "a/zarr.json", "zarr.json"]);
    let group = Group::open(to, &root).expect("opens");
    let consolidated = group.metadata().consolidated_metadata().expect("is made anew");
    assert_eq!(consolidated.paths().collect::<Vec<_>>(), ["a"]);
    assert_eq!(group.array("a").and_then(|a| a.read((0..2,))).expect("reads"), b"xy");
    // Rules for arrays of the rest can be checked.
    let arrays = source_arrays(Endpoint::new(&from, &root));
    let arrays = arrays.map(|array| array.map(|(prefix, _)| prefix.as_str().to_owned()));
    let arrays: Vec<String> = arrays.collect::<Result<_, _>>().expect("visits");
    assert_eq!(arrays, ["a"]);
}

/// As in a store of zarrita, in which the fill value of booleans is 0.
#[test]
fn nodes_whose_document_is_not_valid_are_copied_as_they_are() {
    let from = source();
    let wrong = metadata(&regular([6, 4]), LITTLE).json().replace("int16", "bool");
    let key = |text: &str| zarr_array::store::Key::new(text).expect("a key");
    from.put(&key("g/wrong/zarr.json"), wrong.as_bytes()).expect("puts");
    from.put(&key("g/wrong/c/0/0"), b"their chunk").expect("puts");
    let (refused, to) = plain(&from, &CopyOptions::new());
    let refused = refused.expect_err("a wrong document").to_string();
    assert!(refused.starts_with("source: g/wrong/zarr.json: $.fill_value: "), "{refused}");
    assert!(objects(&*to).is_empty());
    let (summary, to) = plain(&from, &CopyOptions::new().keep_unfit(true).verify(true));
    let summary = summary.expect("copies all");
    assert_eq!(summary.kept.iter().map(|kept| &*kept.path).collect::<Vec<_>>(), ["g/wrong"]);
    assert_eq!(objects(&*to), objects(&*from));
}
