//! Answers without a length, and in an encoding.

use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

use zarr_store::{ReadRange, Store, StoreExt as _, StoreOptions, open_url};
use zarr_store_tests::executor::block_on;
use zarr_store_tests::key;
use zarr_store_tests::scripted::{Received, Reply, Scripted};

fn stores(server: &Scripted) -> [Arc<dyn Store>; 5] {
    let options = StoreOptions::new().retries(1, Duration::from_secs(20));
    let s3 = options.clone().setting("endpoint", &*server.endpoint);
    let signed = s3.clone().setting("access_key_id", "k").setting("secret_access_key", "s");
    let gcs = options.clone().setting("base_url", &*server.endpoint).setting("bearer_token", "t");
    let azure = options.clone().setting("endpoint", &*server.endpoint).setting("account_name", "a");
    [
        open_url("gs://bucket", &gcs.setting("allow_http", "true")).unwrap(),
        open_url("az://bucket", &azure.setting("skip_signature", "true")).unwrap(),
        open_url(&server.endpoint, &options).unwrap(),
        open_url("s3://bucket", &s3.setting("skip_signature", "true")).unwrap(),
        open_url("s3://bucket", &signed).unwrap(),
    ]
}

fn object(request: &Received) -> Option<&'static [u8]> {
    match request.target.rsplit('/').next()? {
        "a" => Some(b"0123456789"),
        "empty" => Some(b""),
        _ => None,
    }
}

/// As servers send what they make while they send it.
#[test]
fn answers_in_chunks_are_read() {
    for ranges in [true, false] {
        let server = Scripted::start(move |request| {
            let Some(bytes) = object(request) else { return Reply::new("404 Not Found", "") };
            let mut request = request.clone();
            let has_range = request.headers.contains_key("range");
            if has_range && ranges && bytes.is_empty() {
                return Reply::new("416 Range Not Satisfiable", "");
            }
            if !ranges {
                request.headers.remove("range");
            }
            let mut reply = Reply::object(bytes, &request);
            reply.chunked = true;
            reply
        });
        for (number, store) in stores(&server).into_iter().enumerate() {
            let what = format!("store {number}, ranges {ranges}");
            assert_eq!(store.read(&key("a")).unwrap().unwrap(), b"0123456789", "{what}");
            assert_eq!(store.read(&key("empty")).unwrap().unwrap(), b"", "{what}");
            assert_eq!(store.read(&key("none")).unwrap(), None, "{what}");
            assert_eq!(store.head(&key("a")).unwrap().unwrap().size, 10, "{what}");
            assert_eq!(store.head(&key("empty")).unwrap().unwrap().size, 0, "{what}");
            assert_eq!(store.head(&key("none")).unwrap(), None, "{what}");
            if ranges {
                let mut out = Vec::new();
                store.get(&key("a"), ReadRange::Ranges(&[2..5, 0..1]), &mut out).unwrap();
                assert_eq!(out, b"2340", "{what}");
            }
        }
    }
}

/// A range is one of the encoded bytes, and a chunk without a compressor takes any bytes.
#[test]
fn an_object_in_an_encoding_is_named() {
    // The beginning of any file of gzip.
    const ZIPPED: [u8; 8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0];
    const PLAIN: &[u8] = b" {\"zarr_format\":3}";
    for (bytes, encoding, document, chunk) in [
        (&ZIPPED[..], "gzip", false, false),
        (&ZIPPED[..], "aws-chunked, gzip", false, false),
        (b"\x28\xb5\x2f\xfd", "zstd", false, false),
        (&ZIPPED[..], "br", false, false),
        (&ZIPPED[..], "x-something-else", false, false),
        // What says so, and is plain.
        (PLAIN, "gzip", true, false),
        (PLAIN, "identity", true, true),
        (PLAIN, "aws-chunked", true, true),
        (PLAIN, "UTF-8", true, true),
        (PLAIN, "", true, true),
    ] {
        for has_ranges in [true, false] {
            let server = Scripted::start(move |request| {
                let mut request = request.clone();
                if !has_ranges {
                    request.headers.remove("range");
                }
                Reply::object(bytes, &request).header("Content-Encoding", encoding)
            });
            for (number, store) in stores(&server).into_iter().enumerate() {
                let get = |name, range| {
                    let mut out = Vec::new();
                    store.get(&key(name), range, &mut out).map(|found| (found.is_some(), out))
                };
                let waiting = |range| {
                    let store = store.asynchronous().unwrap();
                    let read = store.get(&key("g/c/0"), range, Vec::new());
                    block_on(read).map(|found| (found.is_some(), found.unwrap().bytes))
                };
                let part = 1..3;
                let last = bytes.len() - 2..bytes.len();
                for (found, expected, is_read) in [
                    (get("g/zarr.json", ReadRange::All), bytes, document),
                    (get("g/c/0", ReadRange::All), bytes, chunk),
                    (get("g/c/0", ReadRange::Ranges(from_ref(&part))), &bytes[1..3], chunk),
                    (get("g/c/0", ReadRange::Suffix(2)), &bytes[last], chunk),
                    (waiting(ReadRange::All), bytes, chunk),
                    (waiting(ReadRange::Ranges(from_ref(&part))), &bytes[1..3], chunk),
                ] {
                    let what = format!("store {number}, {encoding:?}, ranges {has_ranges}");
                    match found {
                        Ok(found) => assert!(is_read && found == (true, expected.into()), "{what}"),
                        Err(error) => {
                            let (error, named) =
                                (error.to_string(), format!("encoding {encoding:?}"));
                            assert!(!is_read && error.contains(&named), "{what}: {error}");
                        }
                    }
                }
            }
            // None was asked for.
            for request in server.received() {
                assert_eq!(request.headers["accept-encoding"], "identity", "{request:?}");
            }
        }
    }
}
