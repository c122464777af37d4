//! A plain HTTP server with common faults: no ranges, truncated answers, occasional failures.

use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use zarr_array::store::{Links, MemoryStore, Prefix, Store, StoreOptions, open_url};
use zarr_array::{ArrayError, Group, UnlistedStore};
use zarr_check::{CheckOptions, check};
use zarr_copy::{CopyOptions, Endpoint, copy_tree};

/// The answers of servers that cannot list.
const REFUSALS: [&str; 2] = ["405 Method Not Allowed", "501 Not Implemented"];

/// A file server that cannot list, as most cannot.
fn serve_files(files: &'static [(&'static str, String)], refusal: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(&stream).lines();
            let Some(Ok(first)) = lines.next() else { continue };
            let _headers: Vec<_> =
                lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let mut words = first.split(' ');
            let (method, path) = (words.next().unwrap(), words.next().unwrap());
            let found = files.iter().find(|(name, _)| *name == path);
            let (status, body) = match (method, found) {
                ("GET" | "HEAD", Some((_, body))) => ("200 OK", body.as_str()),
                ("GET" | "HEAD", None) => ("404 Not Found", ""),
                _ => (refusal, ""),
            };
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nETag: \"v\"\r\n\
                 Last-Modified: Fri, 20 Nov 2026 21:00:00 GMT\r\nConnection: close\r\n\r\n{}",
                body.len(),
                if method == "HEAD" { "" } else { body }
            );
        }
    });
    url
}

/// If nothing can be listed, consolidated metadata gives the names to look for, and missing nodes
/// are left out.
#[test]
fn sd_44_members_are_known_without_listing() {
    let group = r#"{"zarr_format": 3, "node_type": "group"}"#;
    let root = format!(
        r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {{
        "kind": "inline", "metadata": {{"a": {group}, "b": {group}, "gone": {group}}}}}}}"#
    );
    let files = vec![
        ("/zarr.json", root),
        ("/a/zarr.json", group.to_owned()),
        ("/b/zarr.json", group.to_owned()),
    ];
    let files = &*files.leak();
    for refusal in REFUSALS {
        let url = serve_files(files, refusal);
        let options = StoreOptions::new().retries(0, Duration::from_secs(5));
        let store = open_url(&url, &options).unwrap();
        let group = Group::open(store.clone(), &Prefix::root()).unwrap();
        assert_eq!(group.children().unwrap(), ["a", "b"], "{refusal}");
        // Without consolidated metadata nothing is known: that is an error and not an empty group.
        let plain = group.group("a").unwrap();
        assert!(matches!(plain.children(), Err(ArrayError::Store(_))), "{refusal}");
    }
}

/// An array of six bytes in chunks of two, of which the middle one is not stored.
const ARRAY: &str = r#"{"zarr_format": 3, "node_type": "array", "shape": [6],
    "data_type": "uint8", "fill_value": 7, "codecs": [{"name": "bytes"}],
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": {"name": "default"}}"#;

fn served(consolidated: bool, refusal: &'static str) -> Arc<dyn Store> {
    let group = r#"{"zarr_format": 3, "node_type": "group"}"#;
    let root = match consolidated {
        true => format!(
            r#"{{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {{
            "kind": "inline", "must_understand": false,
            "metadata": {{"g": {group}, "g/a": {ARRAY}}}}}}}"#
        ),
        false => group.to_owned(),
    };
    let files = vec![
        ("/zarr.json", root),
        ("/g/zarr.json", group.to_owned()),
        ("/g/a/zarr.json", ARRAY.to_owned()),
        ("/g/a/c/0", "ab".to_owned()),
        ("/g/a/c/2", "ef".to_owned()),
    ];
    let url = serve_files(files.leak(), refusal);
    let options = StoreOptions::new().retries(0, Duration::from_secs(5));
    open_url(&url, &options).unwrap()
}

/// Nodes come from the consolidated metadata, and chunks are looked up, so that everything works that
/// lists.
#[test]
fn what_a_server_does_not_list_is_known_from_metadata() {
    REFUSALS.into_iter().for_each(known_from_metadata);
}

fn known_from_metadata(refusal: &'static str) {
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    let store = UnlistedStore::new(served(true, refusal), move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let store: Arc<dyn Store> = Arc::new(store);
    let keys = |below: &str| {
        let prefix = Prefix::new(below).unwrap();
        let keys = store.list(&prefix, Links::Follow).map(|key| key.unwrap().to_string());
        let mut keys: Vec<_> = keys.collect();
        keys.sort();
        keys
    };
    let all = ["g/a/c/0", "g/a/c/2", "g/a/zarr.json", "g/zarr.json", "zarr.json"];
    assert_eq!(keys(""), all);
    assert_eq!(keys("g"), all[..4]);
    assert_eq!(keys("g/a/c"), all[..2]);
    assert!(keys("other").is_empty() && keys("g/b").is_empty());
    let group = Group::open(store.clone(), &Prefix::root()).unwrap();
    assert_eq!(group.children().unwrap(), ["g"]);
    assert_eq!(group.group("g").unwrap().children().unwrap(), ["a"]);
    let array = group.array("g/a").unwrap();
    assert_eq!(array.stored_chunks().count(), 2);

    let mut findings = Vec::new();
    let options = CheckOptions::new().data(true);
    let summary = check(&store, &Prefix::root(), &options, &mut |finding| findings.push(finding));
    let summary = summary.unwrap();
    assert_eq!((summary.groups, summary.arrays, summary.chunks), (2, 1, 2), "{findings:?}");
    assert!(findings.is_empty(), "{findings:?}");

    let copy: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let root = Prefix::root();
    copy_tree(
        Endpoint::new(&store, &root),
        Endpoint::new(&copy, &root),
        &mut |_, metadata| Ok(metadata.clone()),
        &CopyOptions::new(),
        &mut |_, _| {},
    )
    .unwrap();
    let copied: Vec<_> =
        copy.list(&root, Links::Follow).map(|key| key.unwrap().to_string()).collect();
    assert_eq!(copied.len(), all.len());
    let array = Group::open(copy, &root).unwrap().array("g/a").unwrap();
    assert_eq!(array.read((0..6,)).unwrap(), b"ab\x07\x07ef");
    assert_eq!(told.load(Ordering::SeqCst), 1);
    // What is deleted must be known with certainty.
    assert!(store.list(&root, Links::AsObjects).next().unwrap().is_err());
}

#[test]
fn without_consolidated_metadata_it_is_said_what_is_missing() {
    let store: Arc<dyn Store> =
        Arc::new(UnlistedStore::new(served(false, REFUSALS[0]), || panic!("told")));
    let group = Group::open(store.clone(), &Prefix::root()).unwrap();
    let error = group.children().unwrap_err().to_string();
    assert!(error.contains("no consolidated metadata"), "{error}");
    assert!(store.list(&Prefix::root(), Links::Follow).next().unwrap().is_err());
    // An array needs none.
    assert_eq!(group.array("g/a").unwrap().read((4..6,)).unwrap(), b"ef");
}

/// An array of version 2, of six elements in chunks of two.
fn zarray(dtype: &str) -> String {
    format!(
        r#"{{"zarr_format": 2, "shape": [6], "chunks": [2], "dtype": "{dtype}", "order": "C",
        "compressor": null, "filters": null, "fill_value": null}}"#
    )
}

/// In version 2 the names are in `.zmetadata`. An array of large elements is found by its own
/// documents, which consolidated metadata leaves to it.
#[test]
fn version_2_is_known_from_its_consolidated_metadata() {
    let (bytes, large) = (zarray("|u1"), zarray("|S2000"));
    let group = r#"{"zarr_format": 2}"#;
    let zmetadata = format!(
        r#"{{"zarr_consolidated_format": 1, "metadata": {{".zgroup": {group}, "g/.zgroup": {group},
        "g/.zattrs": {{"of": "g"}}, "g/a/.zarray": {bytes}, "g/a/.zattrs": {{"of": "a"}},
        "large/.zarray": {large}}}}}"#
    );
    let files = vec![
        ("/.zmetadata", zmetadata),
        ("/.zgroup", group.to_owned()),
        ("/g/.zgroup", group.to_owned()),
        ("/g/.zattrs", r#"{"of": "g"}"#.to_owned()),
        ("/g/a/.zarray", bytes),
        ("/g/a/.zattrs", r#"{"of": "a"}"#.to_owned()),
        ("/g/a/0", "ab".to_owned()),
        ("/g/a/2", "ef".to_owned()),
        ("/large/.zarray", large),
        ("/large/1", "x".repeat(4000)),
    ];
    let url = serve_files(files.leak(), REFUSALS[0]);
    let options = StoreOptions::new().retries(0, Duration::from_secs(5));
    let store = UnlistedStore::new(open_url(&url, &options).unwrap(), || {});
    let (store, root): (Arc<dyn Store>, _) = (Arc::new(store), Prefix::root());
    let keys = store.list(&root, Links::Follow).map(|key| key.unwrap().to_string());
    let mut keys: Vec<_> = keys.collect();
    keys.sort();
    let known = [
        ".zgroup",
        ".zmetadata",
        "g/.zattrs",
        "g/.zgroup",
        "g/a/.zarray",
        "g/a/.zattrs",
        "g/a/0",
        "g/a/2",
        "large/.zarray",
        "large/1",
    ];
    assert_eq!(keys, known);
    let group = Group::open(store.clone(), &root).unwrap();
    assert_eq!(group.children().unwrap(), ["g", "large"]);
    let array = group.array("g/a").unwrap();
    assert_eq!(array.metadata().attribute("of"), Some(r#""a""#));
    assert_eq!(array.stored_chunks().count(), 2);

    let mut findings = Vec::new();
    let options = CheckOptions::new().data(true);
    let summary = check(&store, &root, &options, &mut |finding| findings.push(finding)).unwrap();
    assert_eq!((summary.groups, summary.arrays, summary.chunks), (2, 2, 3), "{findings:?}");

    let copy: Arc<dyn Store> = Arc::new(MemoryStore::new());
    copy_tree(
        Endpoint::new(&store, &root),
        Endpoint::new(&copy, &root),
        &mut |_, metadata| Ok(metadata.clone()),
        &CopyOptions::new(),
        &mut |_, _| {},
    )
    .unwrap();
    let group = Group::open(copy, &root).unwrap();
    assert_eq!(group.array("g/a").unwrap().read((0..6,)).unwrap(), b"ab\0\0ef");
    let large = group.array("large").unwrap().read((2..3,)).unwrap();
    assert_eq!(large, "x".repeat(2000).into_bytes());
}
