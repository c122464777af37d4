//! HTTP servers that know fewer methods than WebDAV has, or answer them in other ways.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use zarr_store::{
    Links, Prefix, ReadRange, Store, StoreError, StoreExt as _, StoreOptions, conformance, open_url,
};
use zarr_store_tests::{key, keys_below};

/// What the server does otherwise than WebDAV asks. Every server takes `Depth: infinity` for 1.
#[derive(Clone, Copy, Default)]
struct Manner {
    /// The status of every HEAD.
    head: Option<&'static str>,
    /// The status of every PROPFIND.
    propfind: Option<&'static str>,
    /// What the names of listings begin with.
    listed_in: &'static str,
    no_ranges: bool,
    no_versions: bool,
    /// The length of the text of a refusal, which is not UTF-8.
    said: usize,
}

/// The objects by their paths, each with its version.
type Objects = BTreeMap<String, (usize, Vec<u8>)>;

/// When objects were modified.
const TIME: &str = "Fri, 20 Nov 2026 21:00:00 GMT";

/// Versions of objects.
static PUTS: AtomicUsize = AtomicUsize::new(0);

/// A server with the folder `/data`, opened there.
fn open(manner: Manner) -> Arc<dyn Store> {
    open_at(manner, "data")
}

fn open_at(manner: Manner, folder: &str) -> Arc<dyn Store> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/{folder}", listener.local_addr().unwrap());
    let objects = Arc::new(Mutex::new(Objects::new()));
    // Ends with the test's process.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let objects = Arc::clone(&objects);
            thread::spawn(move || answer(&stream.unwrap(), manner, &objects));
        }
    });
    open_url(&url, &StoreOptions::new().retries(1, Duration::from_secs(20))).unwrap()
}

/// Answers one request and closes the connection.
fn answer(mut stream: &TcpStream, manner: Manner, objects: &Mutex<Objects>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut lines = reader.by_ref().lines().map_while(Result::ok);
    let first = lines.next()?;
    let headers: BTreeMap<String, String> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_ascii_lowercase(), value.to_owned()))
        })
        .collect();
    let mut body = vec![0; headers.get("content-length").map_or(0, |len| len.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    let mut words = first.split(' ');
    let (method, path) = (words.next()?, words.next()?.trim_end_matches('/'));
    let mut objects = objects.lock().unwrap();
    let refuse = |status| (status, String::new(), vec![0xe9; manner.said]);
    let (status, more, body) = match (method, manner.head, manner.propfind) {
        ("HEAD", Some(status), _) | ("PROPFIND", _, Some(status)) => refuse(status),
        ("PROPFIND", ..) => match listed(&objects, path, &headers["depth"], manner.listed_in) {
            Some(xml) => ("207 Multi-Status", String::new(), xml.into_bytes()),
            None => refuse("404 Not Found"),
        },
        ("PUT", ..) => {
            let version = PUTS.fetch_add(1, Ordering::SeqCst);
            objects.insert(path.to_owned(), (version, body));
            ("201 Created", String::new(), Vec::new())
        }
        ("DELETE", ..) => match objects.remove(path) {
            Some(_) => ("204 No Content", String::new(), Vec::new()),
            None => refuse("404 Not Found"),
        },
        ("GET" | "HEAD", ..) => match objects.get(path) {
            Some((version, bytes)) => {
                let version = match manner.no_versions {
                    true => String::new(),
                    false => format!("ETag: \"{version}\"\r\nLast-Modified: {TIME}\r\n"),
                };
                let range = headers.get("range").filter(|_| !manner.no_ranges);
                match range.map(|range| part(range, bytes.len())) {
                    Some((from, to)) if from < to => {
                        let len = bytes.len();
                        let range = format!("Content-Range: bytes {from}-{}/{len}\r\n", to - 1);
                        ("206 Partial Content", version + &range, bytes[from..to].to_vec())
                    }
                    Some(_) => refuse("416 Range Not Satisfiable"),
                    None => ("200 OK", version, bytes.clone()),
                }
            }
            None => refuse("404 Not Found"),
        },
        _ => refuse("405 Method Not Allowed"),
    };
    drop(objects);
    let len = body.len();
    let body = if method == "HEAD" { Vec::new() } else { body };
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {len}\r\nConnection: close\r\n{more}\r\n");
    // The client may have gone.
    let _gone = stream.write_all(&[head.as_bytes(), &body].concat());
    Some(())
}

/// The bytes that a range means.
fn part(range: &str, len: usize) -> (usize, usize) {
    let (from, to) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
    match (from.parse::<usize>(), to.parse::<usize>()) {
        (Ok(from), Ok(to)) => (from, (to + 1).min(len)),
        (Ok(from), Err(_)) => (from, len),
        (Err(_), suffix) => (len.saturating_sub(suffix.unwrap()), len),
    }
}

/// The answer to PROPFIND; `None` if there is neither a folder nor an object.
fn listed(objects: &Objects, path: &str, depth: &str, listed_in: &str) -> Option<String> {
    let start = format!("{path}/");
    // Objects with their sizes, and folders.
    let mut entries = BTreeSet::new();
    if let Some((_, bytes)) = objects.get(path) {
        entries.insert((path.to_owned(), Some(bytes.len())));
    }
    for (name, (_, bytes)) in objects {
        let Some(below) = name.strip_prefix(&start) else { continue };
        entries.insert((path.to_owned(), None));
        if depth != "0" {
            entries.insert(match below.split_once('/') {
                Some((folder, _)) => (format!("{start}{folder}"), None),
                None => (name.clone(), Some(bytes.len())),
            });
        }
    }
    if ["", "/data"].contains(&path) {
        entries.insert((path.to_owned(), None));
    }
    let response = |(name, size): &(String, Option<usize>)| {
        let kind = match size {
            Some(size) => {
                format!("<D:getcontentlength>{size}</D:getcontentlength><D:resourcetype/>")
            }
            None => "<D:resourcetype><D:collection/></D:resourcetype>".to_owned(),
        };
        let end = if size.is_none() { "/" } else { "" };
        format!(
            "<D:response><D:href>{listed_in}{name}{end}</D:href><D:propstat><D:prop>{kind}\
             <D:getlastmodified>{TIME}</D:getlastmodified></D:prop>\
             <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
        )
    };
    let responses: String = entries.iter().map(response).collect();
    let of_dav = r#"<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">"#;
    (!entries.is_empty()).then(|| format!("{of_dav}{responses}</D:multistatus>"))
}

/// An object that is not found reads as fill values.
#[test]
fn without_head_an_object_is_looked_up_by_a_get() {
    for head in ["405 Method Not Allowed", "501 Not Implemented"] {
        for no_ranges in [false, true] {
            let store = open(Manner { head: Some(head), no_ranges, ..Manner::default() });
            for (name, bytes) in [("a", &b"12345"[..]), ("empty", b"")] {
                store.put(&key(name), bytes).unwrap();
                let looked_up = store.head(&key(name)).unwrap();
                assert_eq!(looked_up.as_ref().unwrap().size, bytes.len() as u64, "{head} {name}");
                let read = store.get(&key(name), ReadRange::All, &mut Vec::new()).unwrap();
                assert_eq!(looked_up, read);
            }
            assert_eq!(store.head(&key("b")).unwrap(), None);
        }
    }
}

#[test]
fn a_server_that_does_not_list_is_not_empty() {
    for status in ["404 Not Found", "405 Method Not Allowed", "403 Forbidden", "200 OK"] {
        let store = open(Manner { propfind: Some(status), ..Manner::default() });
        store.put(&key("g/zarr.json"), b"{}").unwrap();
        for below in ["", "g"] {
            let below = Prefix::new(below).unwrap();
            let failures = [
                store.list(&below, Links::Follow).next().unwrap().map(drop),
                store.list_dir(&below).next().unwrap().map(drop),
                store.delete_prefix(&below),
            ];
            for failure in failures {
                assert!(failure.unwrap_err().cannot_list(), "{status}");
            }
        }
        assert_eq!(store.read(&key("g/zarr.json")).unwrap().unwrap(), b"{}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_empty() {
    for folder in ["data/new", "data/new/deep", "new"] {
        let store = open_at(Manner::default(), folder);
        assert!(keys_below(&*store, "").is_empty());
        assert!(keys_below(&*store, "a/b").is_empty());
        store.delete_prefix(&Prefix::root()).unwrap();
    }
}

#[test]
fn a_server_that_lists_one_folder_at_a_time_is_a_store() {
    conformance::all(&open(Manner::default()));
}

/// As behind a proxy that shows the server's folder under another path.
#[test]
fn names_in_another_folder_are_an_error() {
    let store = open(Manner { listed_in: "/inner", ..Manner::default() });
    store.put(&key("g/zarr.json"), b"{}").unwrap();
    let error = store.list_dir(&Prefix::root()).next().unwrap().unwrap_err();
    assert!(error.cannot_list());
    let error = error.to_string();
    assert!(error.contains(r#"lists "inner/data" in the folder "data""#), "{error}");
    store.list(&Prefix::root(), Links::Follow).next().unwrap().unwrap_err();
}

/// Two versions of one size would be taken for one.
#[test]
fn without_tag_and_time_no_version_is_known() {
    let store = open(Manner { no_versions: true, ..Manner::default() });
    store.put(&key("a"), b"1").unwrap();
    let meta = store.head(&key("a")).unwrap().unwrap();
    assert_eq!((meta.size, meta.version, meta.modified), (1, None, None));
}

#[test]
fn long_refusals_are_shortened() {
    let said = 2 << 20;
    let store = open(Manner { said, propfind: Some("400 Bad Request"), ..Manner::default() });
    assert_eq!(store.read(&key("a")).unwrap(), None);
    let error = store.list_dir(&Prefix::root()).next().unwrap().unwrap_err();
    assert!(matches!(error, StoreError::Remote { .. }));
    let text = error.to_string();
    assert!(text.contains("400 Bad Request") && text.chars().count() < 500, "{}", text.len());
}
