//! A plain HTTP server with common faults: no ranges, truncated answers, occasional failures.

use std::error::Error as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::slice::from_ref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use zarr_store::{ReadRange, Store, StoreError, StoreExt as _, StoreOptions, open_url};
use zarr_store_tests::key;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Ranges, ETags, everything.
    Good,
    /// Sends the whole object whatever the requested range.
    NoRanges,
    /// Announces the whole object and always ends in the middle.
    BreaksOff,
    /// Fails the first two requests, then works.
    FailsAtFirst,
    /// A different version at every request.
    Unsteady,
    /// Fails whenever the end of an object is requested.
    FailsAtEnds,
}

/// A server of one object at `/data/a`, and how many requests it had.
struct Server {
    url: String,
    requests: Arc<AtomicUsize>,
}

const BODY_LEN: usize = 100_000;

fn body() -> Vec<u8> {
    (0..BODY_LEN).map(|at| (at % 241) as u8).collect()
}

impl Server {
    fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/data", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requests);
        // Ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let count = Arc::clone(&count);
                thread::spawn(move || answer(&stream.unwrap(), manner, &count));
            }
        });
        Self { url, requests }
    }

    fn open(&self) -> Arc<dyn Store> {
        let options = StoreOptions::new().retries(3, Duration::from_secs(20));
        open_url(&self.url, &options).unwrap()
    }
}

/// Answers one request and closes the connection.
fn answer(mut stream: &TcpStream, manner: Manner, count: &AtomicUsize) {
    let mut lines = BufReader::new(stream).lines();
    let Some(Ok(first)) = lines.next() else { return };
    let headers: Vec<String> =
        lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let number = count.fetch_add(1, Ordering::SeqCst);
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let mut send = |head: String, body: &[u8]| {
        let _ = write!(stream, "HTTP/1.1 {head}\r\nConnection: close\r\n\r\n");
        if method != "HEAD" {
            let _ = stream.write_all(body);
        }
    };
    if manner == Manner::FailsAtFirst && number < 2 {
        return send("503 Busy\r\nContent-Length: 0".to_owned(), b"");
    }
    if path != "/data/a" {
        return send("404 Not Found\r\nContent-Length: 0".to_owned(), b"");
    }
    let body = body();
    let version = if manner == Manner::Unsteady { number } else { 0 };
    let common = format!(
        "ETag: \"v{version}\"\r\nLast-Modified: Fri, 20 Nov 2026 21:00:00 GMT\r\nAccept-Ranges: bytes"
    );
    let range = headers.iter().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let value = value.strip_prefix("bytes=")?;
        name.eq_ignore_ascii_case("range").then(|| value.split_once('-'))?
    });
    match range {
        Some(("", _)) if manner == Manner::FailsAtEnds => {
            send("500 Broken\r\nContent-Length: 0".to_owned(), b"");
        }
        Some((from, to)) if manner != Manner::NoRanges => {
            let (from, to) = match (from.parse::<usize>(), to.parse::<usize>()) {
                (Ok(from), Ok(to)) => (from, (to + 1).min(BODY_LEN)),
                (Ok(from), Err(_)) => (from, BODY_LEN),
                (Err(_), Ok(len)) => (BODY_LEN.saturating_sub(len), BODY_LEN),
                _ => panic!("{headers:?}"),
            };
            let Some(part) = body.get(from..to).filter(|part| !part.is_empty()) else {
                return send(
                    format!("416 Range\r\nContent-Range: bytes */{BODY_LEN}\r\nContent-Length: 0"),
                    b"",
                );
            };
            let head = format!(
                "206 Partial Content\r\nContent-Range: bytes {from}-{}/{BODY_LEN}\r\nContent-Length: {}\r\n{common}",
                to - 1,
                part.len()
            );
            send(head, if manner == Manner::BreaksOff { &part[..part.len() / 2] } else { part });
        }
        _ => {
            let head = format!("200 OK\r\nContent-Length: {BODY_LEN}\r\n{common}");
            send(head, if manner == Manner::BreaksOff { &body[..BODY_LEN / 2] } else { &body });
        }
    }
}

const RANGES: [Range<u64>; 3] = [10..30, BODY_LEN as u64 - 7..BODY_LEN as u64, 90_000..90_100];

fn expected() -> Vec<u8> {
    let body = body();
    [&body[10..30], &body[BODY_LEN - 7..], &body[90_000..90_100]].concat()
}

#[test]
fn http_servers_of_many_manners() {
    let mut out = Vec::new();
    for manner in [Manner::Good, Manner::NoRanges, Manner::FailsAtFirst] {
        let store = Server::start(manner).open();
        assert!(!store.capabilities().conditional_put);
        assert_eq!(store.read(&key("a")).unwrap().unwrap(), body());
        assert_eq!(store.size(&key("a")).unwrap(), Some(BODY_LEN as u64));
        assert_eq!(store.read(&key("b")).unwrap(), None);
        assert_eq!(store.size(&key("b")).unwrap(), None);
        assert_eq!(store.get(&key("b"), ReadRange::Ranges(&RANGES), &mut out).unwrap(), None);
        store.get(&key("a"), ReadRange::Ranges(&RANGES), &mut out).unwrap().unwrap();
        assert_eq!(out, expected());
        for range in &RANGES {
            let range = ReadRange::Ranges(from_ref(range));
            store.get(&key("a"), range, &mut out).unwrap().unwrap();
        }
        assert_eq!(out, body()[90_000..90_100]);
        assert_eq!(store.get(&key("b"), ReadRange::Suffix(7), &mut out).unwrap(), None);
        store.get(&key("a"), ReadRange::Suffix(7), &mut out).unwrap().unwrap();
        assert_eq!(out, body()[BODY_LEN - 7..]);
        let end = BODY_LEN as u64;
        for beyond in [end..end + 1, end - 1..end + 1] {
            let range = ReadRange::Ranges(from_ref(&beyond));
            let error = store.get(&key("a"), range, &mut out).unwrap_err();
            let StoreError::Range { size, .. } = error else { panic!("{error}") };
            assert_eq!(size, end);
        }
        let error = store.get(&key("a"), ReadRange::Suffix(end + 1), &mut out).unwrap_err();
        let StoreError::Suffix { size, .. } = error else { panic!("{error}") };
        assert_eq!(size, end);
    }
}

/// An index at the end of an object takes one request, neighbours take one together.
#[test]
fn few_requests_do() {
    let server = Server::start(Manner::Good);
    let store = server.open();
    let mut out = Vec::new();
    let mut requests = |range: ReadRange<'_>| {
        let before = server.requests.load(Ordering::SeqCst);
        store.get(&key("a"), range, &mut out).unwrap().unwrap();
        server.requests.load(Ordering::SeqCst) - before
    };
    assert_eq!(requests(ReadRange::Suffix(100)), 1);
    let apart = |n: u64| n * 5000..n * 5000 + 100;
    assert_eq!(requests(ReadRange::Ranges(&(0..10).map(apart).collect::<Vec<_>>())), 1);
    assert_eq!(requests(ReadRange::Ranges(&[apart(0), apart(15)])), 2);
}

#[test]
fn truncated_answers_are_errors_and_not_data() {
    let store = Server::start(Manner::BreaksOff).open();
    let mut out = Vec::new();
    let error = store.read(&key("a")).unwrap_err();
    assert!(error.to_string().starts_with(r#"cannot read "a": "#), "{error}");
    store.get(&key("a"), ReadRange::Ranges(&RANGES), &mut out).unwrap_err();
    store.get(&key("a"), ReadRange::Ranges(&RANGES[1..2]), &mut out).unwrap_err();
    store.get(&key("a"), ReadRange::Suffix(7), &mut out).unwrap_err();
}

/// What explains a failure is a request too: it must not wait for the one that failed.
#[test]
fn a_failure_is_explained_with_one_request_at_a_time() {
    let server = Server::start(Manner::FailsAtEnds);
    let options = StoreOptions::new().requests_in_flight(1).retries(0, Duration::from_secs(5));
    let store = open_url(&server.url, &options).unwrap();
    let mut out = Vec::new();
    let mut end = |len| store.get(&key("a"), ReadRange::Suffix(len), &mut out).unwrap_err();
    assert!(matches!(end(10), StoreError::Remote { .. }));
    let StoreError::Suffix { size, .. } = end(BODY_LEN as u64 + 1) else { panic!("another error") };
    assert_eq!(size, BODY_LEN as u64);
}

#[test]
fn parts_of_two_versions_are_never_put_together() {
    let store = Server::start(Manner::Unsteady).open();
    let mut out = Vec::new();
    let error = store.get(&key("a"), ReadRange::Ranges(&RANGES), &mut out).unwrap_err();
    insta::assert_snapshot!(error, @r#"cannot read "a": other writers replaced it in each of 10 attempts"#);
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/data", listener.local_addr().unwrap());
    let held = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&held);
    thread::spawn(move || {
        for stream in listener.incoming() {
            keep.lock().unwrap().push(stream);
        }
    });
    let options =
        StoreOptions::new().setting("timeout", "200 ms").retries(1, Duration::from_secs(2));
    let store = open_url(&url, &options).unwrap();
    assert!(matches!(store.read(&key("a")), Err(StoreError::Remote { .. })));
}

/// The client library's own text ends before the reason.
#[test]
fn a_server_that_is_not_there_is_refused_with_the_reason() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/data", listener.local_addr().unwrap());
    drop(listener);
    let options = StoreOptions::new().retries(0, Duration::from_secs(5));
    let error = open_url(&url, &options).unwrap().read(&key("a")).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("cannot read \"a\": ") && text.contains("refused"), "{text}");
    // Reports, which join the texts of all levels, say it once too.
    assert!(error.source().is_none());
}

#[test]
fn urls_and_options_that_are_not_understood() {
    let open = |url: &str, options: &StoreOptions| open_url(url, options).unwrap_err().to_string();
    let none = StoreOptions::new();
    let messages = [
        open("", &none),
        open("memory:x", &none),
        open("file://host/x", &none),
        open("http://host/x?token=secret", &none),
        open("http://host/x", &none.clone().setting("colour", "secret")),
        open("http://", &none),
        open("http://host/a\tb", &none),
        open("http://host/ab ", &none),
        // A misspelled setting would do nothing.
        open("memory:", &none.clone().setting("colour", "secret")),
        open("data.zarr", &none.clone().setting("AWS_REGOIN", "secret")),
    ];
    assert!(open_url("memory:", &none.clone().setting("timeout", "30 s")).is_ok());
    // The rest of it says what this build has.
    let unknown = open("gopher://host/x", &none);
    assert!(unknown.contains("has no client for gopher: but for file:, memory:,"), "{unknown}");
    assert!(!messages.concat().contains("secret"));
    insta::assert_snapshot!(messages.join("\n"));
}
