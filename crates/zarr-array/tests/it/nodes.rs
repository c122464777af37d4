//! Zarr v3 core: where the objects of nodes are, and what is no node. The comments name the rows of
//! `docs/conformance.md`.

use std::sync::Arc;

use zarr_array::store::{
    KeyError, Links, LocalStore, MemoryStore, Prefix, Store, StoreError, StoreExt as _,
    UpdatePolicy,
};
use zarr_array::{Array, ArrayError, Group, open_node, update_attributes};
use zarr_metadata::{
    ArrayBuilder, ArrayMetadata, ChunkKeyEncoding, DataType, GroupMetadata, KeyTemplate, Separator,
};

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

fn array(shape: [u64; 2]) -> ArrayMetadata {
    ArrayBuilder::new(shape, DataType::Uint8).chunk_shape([2, 2]).build().expect("valid")
}

fn keys(store: &Arc<dyn Store>) -> Vec<String> {
    let keys = store.list(&Prefix::root(), Links::Follow);
    let mut keys: Vec<_> = keys.map(|key| key.expect("lists").to_string()).collect();
    keys.sort();
    keys
}

/// CO-2, CO-3: the keys in the tables of "Stored representation".
#[test]
fn documents_and_chunks_have_the_keys_of_core() {
    for (path, document, chunk) in
        [("", "zarr.json", "c/1/0"), ("foo/baz", "foo/baz/zarr.json", "foo/baz/c/1/0")]
    {
        let store = store();
        let prefix = Prefix::new(path).expect("a prefix");
        let array = Array::create(store.clone(), &prefix, array([4, 4])).expect("creates");
        array.write((2..4, 0..2), &[1_u8; 4]).expect("writes");
        assert_eq!(keys(&store), [chunk, document]);
    }
    let (store, prefix) = (store(), Prefix::new("foo/bar").expect("a prefix"));
    Group::create(store.clone(), &prefix, GroupMetadata::new()).expect("creates");
    assert_eq!(keys(&store), ["foo/bar/zarr.json"]);
    // The folder above is no group: its document is missing.
    let parent = Prefix::new("foo").expect("a prefix");
    let opened = open_node(&store, &parent).map(drop);
    assert!(matches!(opened, Err(ArrayError::NotFound { .. })), "{opened:?}");
}

/// CO-4.
#[test]
fn names_that_core_forbids_are_refused() {
    for path in ["...", "a/....", "__a", "a/__b/c", "__zarr", "zarr.json", "a/zarr.json"] {
        let prefix = Prefix::new(path).expect("a prefix");
        let group = Group::create(store(), &prefix, GroupMetadata::new()).map(drop);
        assert!(matches!(group, Err(ArrayError::NodeName { .. })), "{path}: {group:?}");
        let array = Array::create(store(), &prefix, array([4, 4])).map(drop);
        assert!(matches!(array, Err(ArrayError::NodeName { .. })), "{path}: {array:?}");
    }
    // Core allows these, but they are names of documents beside which a node cannot be.
    for path in
        [".zarray", "a/.zgroup/b", ".zattrs", "zarr-kit-copy.json", "zarr-kit-rearrange.json"]
    {
        let prefix = Prefix::new(path).expect("a prefix");
        let group = Group::create(store(), &prefix, GroupMetadata::new()).map(drop);
        assert!(matches!(group, Err(ArrayError::NodeName { .. })), "{path}: {group:?}");
    }
    for path in ["/", "a//b", "a/", "/a"] {
        assert!(matches!(Prefix::new(path), Err(KeyError::EmptySegment { .. })), "{path}");
    }
    for path in [".", "..", "a/..", "./a"] {
        assert!(matches!(Prefix::new(path), Err(KeyError::DotSegment { .. })), "{path}");
    }
    for path in ["_a", "a__", "..a", "zarr.json.old", "Zarr.json", ".a"] {
        let prefix = Prefix::new(path).expect("a prefix");
        Group::create(store(), &prefix, GroupMetadata::new()).expect(path);
    }
}

/// CO-25: the document of an array with a codec that is not known can be shown, its elements not.
#[test]
fn elements_behind_an_unknown_codec_are_refused() {
    let document = array([4, 4]).json().replace("\"bytes\"", "\"unheard.of\"");
    assert!(document.contains("unheard.of"));
    let store = store();
    let key = Prefix::root().key("zarr.json").expect("a key");
    store.put(&key, document.as_bytes()).expect("puts");
    let read = Array::open(store.clone(), &Prefix::root())
        .and_then(|array| array.read_as::<u8>((0..4, 0..4)));
    let Err(ArrayError::Chain { cause, .. }) = read else { panic!("{read:?}") };
    assert!(cause.is_unknown_codec(), "{cause}");
}

/// SD-42: of an array with a grid or keys that are not known, attributes can be changed. Its elements
/// are refused.
#[test]
fn sd_42_elements_in_unknown_chunks_are_refused() {
    let known = array([4, 4]).json().to_owned();
    for (member, from) in [("chunk_grid", "regular"), ("chunk_key_encoding", "default")] {
        let document = known.replace(&format!("\"{from}\""), "\"unheard.of\"");
        let store = store();
        let key = Prefix::root().key("zarr.json").expect("a key");
        store.put(&key, document.as_bytes()).expect("puts");
        let refused = Array::open(store.clone(), &Prefix::root()).map(drop);
        let Err(error @ ArrayError::Unknown { .. }) = refused else { panic!("{refused:?}") };
        let message = format!(
            "zarr.json: $.{member}: unheard.of is not known here, so elements cannot be read or written"
        );
        assert_eq!(error.to_string(), message);
        let changes = [("units", Some("\"K\""))];
        update_attributes(&store, &Prefix::root(), UpdatePolicy::default(), &changes)
            .expect(member);
        let stored = store.read(&key).expect("reads").expect("a document");
        let stored = String::from_utf8(stored).expect("text");
        let added = ",\n  \"attributes\": {\"units\": \"K\"}";
        assert_eq!(stored.replace(added, ""), document, "{member}");
        assert!(stored.contains(added), "{stored}");
    }
}

/// Arrays with keys by a template or with a suffix are written, listed and deleted as others.
#[test]
fn chunks_have_keys_by_their_template() {
    let template = |format| {
        let template = KeyTemplate::new(format, Some("_")).expect("a template");
        ChunkKeyEncoding::Template(Box::new(template))
    };
    let suffix =
        ChunkKeyEncoding::DefaultSuffix { separator: Separator::Slash, suffix: ".tif".into() };
    // An encoding of the program's own.
    ChunkKeyEncoding::add("test.slices", |_| Ok(KeyTemplate::new("s/{1}-{0}", None)?))
        .expect("is new");
    let added = ChunkKeyEncoding::from_json(br#"{"name": "test.slices"}"#).expect("is known");
    for (encoding, keys_of_chunks) in [
        (added, ["s/0-1", "s/1-1"]),
        (template("t{1:02}/{0}.raw"), ["t00/1.raw", "t01/1.raw"]),
        (template("{*}"), ["1_0", "1_1"]),
        (suffix, ["c/1/0.tif", "c/1/1.tif"]),
    ] {
        let store = store();
        let metadata = array([4, 4]).with_chunk_key_encoding(&encoding).expect("fits");
        let array = Array::create(store.clone(), &Prefix::new("a").expect("a prefix"), metadata);
        let array = array.expect("creates");
        let values: Vec<u8> = (1..9).collect();
        array.write_as((2..4, 0..4), &values).expect("writes");
        let mut expected: Vec<String> = keys_of_chunks.map(|key| format!("a/{key}")).to_vec();
        expected.push("a/zarr.json".to_owned());
        assert_eq!(keys(&store), expected);
        let again = Array::open(store.clone(), array.prefix()).expect("opens");
        assert_eq!(again.read_as::<u8>((2..4, 0..4)).expect("reads"), values);
        let stored = again.stored_chunks().collect::<Result<Vec<_>, _>>().expect("lists");
        let mut indices: Vec<_> = stored.into_iter().map(|chunk| chunk.index).collect();
        indices.sort();
        assert_eq!(indices, [[1, 0], [1, 1]]);
        let removed = zarr_array::delete_node(&store, array.prefix());
        removed.expect("deletes");
        assert_eq!(keys(&store), Vec::<String>::new());
    }
}

/// Readers do not look for nodes in arrays: also not through a store that begins in the array.
#[test]
fn nodes_in_arrays_are_refused_below_and_above_the_root_of_a_store() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let open = |path: &str| -> Arc<dyn Store> {
        Arc::new(LocalStore::create(folder.path().join(path)).expect("a folder"))
    };
    Array::create(open("group/array"), &Prefix::root(), array([4, 4])).expect("creates");
    let old = folder.path().join("old/array");
    std::fs::create_dir_all(&old).expect("makes a folder");
    let document = r#"{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|u1",
        "compressor": null, "fill_value": 0, "order": "C", "filters": null}"#;
    std::fs::write(old.join(".zarray"), document).expect("writes");
    for (root, path) in [
        ("", "group/array/x"),
        ("", "group/array/x/y"),
        ("group", "array/x"),
        ("group/array", "x"),
        ("group/array/x", ""),
        ("group/array/x", "y"),
        ("group/array/c/0", ""),
    ] {
        let prefix = Prefix::new(path).expect("a prefix");
        let created = Array::create(open(root), &prefix, array([4, 4])).map(drop);
        assert!(matches!(created, Err(ArrayError::NotGroup { .. })), "{root} {path}: {created:?}");
        let created = Group::create(open(root), &prefix, GroupMetadata::new()).map(drop);
        assert!(matches!(created, Err(ArrayError::NotGroup { .. })), "{root} {path}: {created:?}");
    }
    for (root, path) in [("old", "array/x"), ("old/array", "x"), ("old/array/x", "")] {
        let prefix = Prefix::new(path).expect("a prefix");
        let created = Array::create(open(root), &prefix, array([4, 4])).map(drop);
        assert!(matches!(created, Err(ArrayError::Version2 { .. })), "{root} {path}: {created:?}");
    }
    // Beside it, and in groups that are not there.
    for (root, path) in [("group/other", ""), ("group", "more/x"), ("elsewhere/a", "b")] {
        let prefix = Prefix::new(path).expect("a prefix");
        Array::create(open(root), &prefix, array([4, 4])).expect(root);
    }
}

/// In a module of its own: layers and stores have methods of the same names.
mod unanswered {
    use std::sync::Arc;

    use zarr_array::store::{AsyncStore, Layer, Operation, Store, StoreError};

    /// A store in which no object's size is told, as while its server does not answer.
    #[derive(Debug)]
    pub(super) struct Unanswered(pub(super) Arc<dyn Store>);

    impl Layer for Unanswered {
        type Inner = dyn Store;

        fn inner(&self) -> &Self::Inner {
            &*self.0
        }

        fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
            None
        }

        fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
            None
        }

        fn pass<T>(
            &self,
            operation: Operation,
            name: &str,
            work: impl FnOnce() -> Result<T, StoreError>,
        ) -> Result<T, StoreError> {
            match operation == Operation::Head && name.ends_with("notes.txt") {
                true => Err(StoreError::io(operation, name, std::io::ErrorKind::TimedOut.into())),
                false => work(),
            }
        }
    }
}

/// What is not known to be a link, and so to lead to a node, is another program's.
#[test]
fn a_file_whose_look_up_fails_is_not_deleted_with_a_node() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let local = LocalStore::open(folder.path()).expect("opens");
    for (inner, has_links) in [(store(), false), (Arc::new(local), true)] {
        let store: Arc<dyn Store> = Arc::new(unanswered::Unanswered(inner));
        let prefix = Prefix::new("g").expect("a prefix");
        Group::create(store.clone(), &prefix, GroupMetadata::new()).expect("creates");
        let notes = prefix.key("notes.txt").expect("a key");
        store.put(&notes, b"of another program").expect("puts");
        let refused = zarr_array::delete_node(&store, &prefix);
        let is_refused = match has_links {
            true => matches!(refused, Err(ArrayError::Store(StoreError::Io { .. }))),
            // Without links there is nothing to look up.
            false => matches!(refused, Err(ArrayError::OtherObjects { .. })),
        };
        assert!(is_refused, "{refused:?}");
        assert_eq!(keys(&store), ["g/notes.txt", "g/zarr.json"]);
    }
}

/// A path is a `Prefix` or text, in each of the ways to open and create; `{:?}` of an error, which
/// `main` and `unwrap` print, is its one line.
#[test]
fn nodes_are_opened_by_text_and_wrong_paths_are_named() {
    let store = store();
    let name = String::from("g/a");
    Group::create(store.clone(), "", GroupMetadata::new()).expect("creates");
    Group::create(store.clone(), "g", GroupMetadata::new()).expect("creates");
    Array::create(store.clone(), &name, array([4, 4])).expect("creates");
    let prefix = Prefix::new("g/a").expect("a prefix");
    for opened in [
        Array::open(store.clone(), "g/a"),
        Array::open(store.clone(), &name),
        Array::open(store.clone(), &prefix),
    ] {
        assert_eq!(opened.expect("opens").shape(), [4, 4]);
    }
    assert_eq!(Group::open(store.clone(), "").expect("opens").children().expect("lists"), ["g"]);
    let long = "a/".repeat(600) + "a";
    for path in ["/g/a", "g/a/", "g//a", "../g", "g/../g", "./g", "g\\a", "g\0a", "/", &long] {
        let refused = [
            Array::open(store.clone(), path).map(drop),
            Array::create(store.clone(), path, array([4, 4])).map(drop),
            Group::open(store.clone(), path).map(drop),
            Group::open_consolidated(store.clone(), path).map(drop),
            Group::create(store.clone(), path, GroupMetadata::new()).map(drop),
        ];
        for refused in refused {
            let error = refused.expect_err(path);
            assert!(matches!(error, ArrayError::Path(_)), "{error}");
            assert_eq!(format!("{error:?}"), error.to_string());
            assert!(!error.to_string().contains(['\0', '\n']), "{error}");
        }
    }
    assert_eq!(keys(&store), ["g/a/zarr.json", "g/zarr.json", "zarr.json"]);
    let error = Array::open(store, "/g/a").expect_err("a slash in front");
    assert_eq!(
        format!("{error:?}"),
        "store key \"/g/a\" begins with a slash: leave out the leading slash"
    );
}
