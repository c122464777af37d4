//! Answers without a length, and in an encoding.

use std::sync::Arc;
use std::time::Duration;

use zarr_store::{ReadRange, Store, StoreExt as _, StoreOptions, open_url};
use zarr_store_tests::key;
use zarr_store_tests::scripted::{Received, Reply, Scripted};

fn stores(server: &Scripted) -> [Arc<dyn Store>; 3] {
    let options = StoreOptions::new().retries(1, Duration::from_secs(20));
    let s3 = options.clone().setting("endpoint", &*server.endpoint);
    let signed = s3.clone().setting("access_key_id", "k").setting("secret_access_key", "s");
    [
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

#[test]
fn a_document_in_an_encoding_is_named() {
    // The beginning of any file of gzip.
    const ZIPPED: [u8; 8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0];
    for (bytes, encoding, expected) in [
        (&ZIPPED[..], "gzip", false),
        (b"\x28\xb5\x2f\xfd", "zstd", false),
        // What says so, and is plain.
        (b" {\"zarr_format\":3}", "gzip", true),
        (b"{}", "identity", true),
    ] {
        let server = Scripted::start(move |request| {
            Reply::object(bytes, request).header("Content-Encoding", encoding)
        });
        for store in stores(&server) {
            let read = store.read(&key("g/zarr.json"));
            match read {
                Ok(read) => assert!(expected && read.unwrap() == bytes),
                Err(error) => {
                    let error = error.to_string();
                    assert!(!expected && error.contains(&format!("in the encoding {encoding:?}")));
                }
            }
            // Of chunks, the codecs tell.
            assert_eq!(store.read(&key("g/c/0")).unwrap().unwrap(), bytes);
        }
    }
}
