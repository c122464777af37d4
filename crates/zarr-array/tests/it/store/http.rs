//! A plain HTTP server with common faults: no ranges, truncated answers, occasional failures.

use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use zarr_array::store::{Prefix, StoreOptions, open_url};
use zarr_array::{ArrayError, Group};

/// A file server that cannot list, as most cannot.
fn serve_files(files: &'static [(&'static str, String)]) -> String {
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
                _ => ("405 Method Not Allowed", ""),
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
    let url = serve_files(files.leak());
    let options = StoreOptions::new().retries(0, Duration::from_secs(5));
    let store = open_url(&url, &options).unwrap();
    let group = Group::open(store.clone(), &Prefix::root()).unwrap();
    assert_eq!(group.children().unwrap(), ["a", "b"]);
    // Without consolidated metadata nothing is known: that is an error and not an empty group.
    let plain = group.group("a").unwrap();
    assert!(matches!(plain.children(), Err(ArrayError::Store(_))));
}
