//! Servers that send requests elsewhere.

use std::sync::Arc;
use std::time::Duration;

use zarr_store::{
    Links, Prefix, ReadRange, Store, StoreError, StoreExt as _, StoreOptions, open_url,
};
use zarr_store_tests::key;
use zarr_store_tests::scripted::{Reply, Scripted};

const STATUSES: [&str; 5] = [
    "301 Moved Permanently",
    "302 Found",
    "303 See Other",
    "307 Temporary Redirect",
    "308 Permanent Redirect",
];

/// Another host, which has every object, and takes every put.
fn other() -> Scripted {
    Scripted::start_at("127.0.0.2", |request| match request.method.as_str() {
        "GET" | "HEAD" => Reply::object(b"{\"zarr_format\":3}", request),
        _ => Reply::new("200 OK", "").header("ETag", "\"1\""),
    })
}

/// A server that sends all requests to another.
fn sending(status: &'static str, to: &Scripted) -> Scripted {
    let to = to.endpoint.clone();
    Scripted::start(move |request| {
        Reply::new(status, "").header("Location", format!("{to}{}", request.target))
    })
}

fn options() -> StoreOptions {
    StoreOptions::new().retries(1, Duration::from_secs(20))
}

/// The results of all kinds of requests.
fn requests(store: &dyn Store) -> Vec<(&'static str, Result<(), StoreError>)> {
    let root = Prefix::root();
    let version = zarr_store::Version::from_tag("\"1\"\n7");
    let conditional = store.capabilities().conditional_put;
    let mut all = vec![
        ("get", store.read(&key("a")).map(drop)),
        ("range", store.get(&key("a"), ReadRange::Suffix(3), &mut Vec::new()).map(drop)),
        ("head", store.head(&key("a")).map(drop)),
        ("list", store.list(&root, Links::Follow).next().map_or(Ok(()), |key| key.map(drop))),
        ("put", store.put(&key("a"), b"x")),
        ("delete", store.delete(&key("a"))),
    ];
    if conditional {
        all.push(("create", store.put_if(&key("a"), b"x", None).map(drop)));
        all.push(("replace", store.put_if(&key("a"), b"x", Some(&version)).map(drop)));
    }
    all
}

#[test]
fn object_stores_follow_none() {
    for status in STATUSES {
        for (url, settings) in [
            (
                "s3://bucket/x",
                &[
                    ("endpoint", ""),
                    ("access_key_id", "k"),
                    ("secret_access_key", "s"),
                    ("token", "t"),
                ][..],
            ),
            ("gs://bucket/x", &[("base_url", ""), ("bearer_token", "t")]),
            (
                "az://bucket/x",
                &[("endpoint", ""), ("account_name", "a"), ("account_key", "c2VjcmV0")],
            ),
        ] {
            let other = other();
            let server = sending(status, &other);
            let mut options = options();
            for (name, value) in settings {
                let value = if value.is_empty() { server.endpoint.as_str() } else { value };
                options = options.setting(*name, value);
            }
            let store = open_url(url, &options).unwrap();
            for (what, result) in requests(&*store) {
                let error = result.expect_err(what).to_string();
                let expected = format!("redirects to \"127.0.0.2\" (status {})", &status[..3]);
                assert!(error.contains(&expected), "{url} {what}: {error}");
                assert_eq!(error.contains("AWS_REGION"), url.starts_with("s3"), "{error}");
            }
            assert!(other.received().is_empty(), "{url} {status}: {:?}", other.received());
            // Nor is the same request sent again.
            let puts = server.received().iter().filter(|request| request.method == "PUT").count();
            assert!(puts <= 3, "{puts}");
        }
    }
}

#[test]
fn the_region_of_a_bucket_is_named() {
    let server = Scripted::start(|_| {
        Reply::new("301 Moved Permanently", "<Error><Code>PermanentRedirect</Code></Error>")
            .header("x-amz-bucket-region", "eu-central-1")
    });
    let options =
        options().setting("endpoint", &*server.endpoint).setting("skip_signature", "true");
    let store = open_url("s3://bucket/x", &options).unwrap();
    for (what, result) in requests(&*store) {
        let error = result.expect_err(what).to_string();
        assert!(error.contains("is in the region \"eu-central-1\""), "{what}: {error}");
    }
}

#[test]
fn reads_of_plain_http_are_followed_and_nothing_else() {
    for status in STATUSES {
        let other = other();
        let server = sending(status, &other);
        let options = options().setting("user_agent", "SECRET of the caller");
        let store = open_url(&format!("{}/x", server.endpoint), &options).unwrap();
        for (what, result) in requests(&*store) {
            match what {
                "get" | "range" | "head" => {
                    result.unwrap_or_else(|error| panic!("{what}: {error}"));
                }
                "list" => assert!(result.expect_err("lists nothing").cannot_list()),
                _ => {
                    let error = result.expect_err(what).to_string();
                    assert!(
                        error.contains("which is not followed: only those of reads are"),
                        "{error}"
                    );
                }
            }
        }
        assert_eq!(store.read(&key("a")).unwrap().unwrap(), b"{\"zarr_format\":3}");
        for request in other.received() {
            assert!(["GET", "HEAD", "PROPFIND"].contains(&request.method.as_str()), "{request:?}");
            assert!(!request.headers.values().any(|value| value.contains("SECRET")), "{request:?}");
        }
        let ranges =
            other.received().iter().filter(|one| one.headers.contains_key("range")).count();
        assert!(ranges > 0);
        // Here they are told who asks.
        assert!(server.received().iter().all(|one| one.headers["user-agent"].contains("SECRET")));
    }
}

#[test]
fn redirects_end() {
    // To itself, to nowhere, and to what is not of the web.
    for (location, expected) in [
        (Some("/x/again"), "more than 10 times"),
        (Some("file:///etc/passwd"), "does not name a place"),
        (Some("http://"), "does not name a place"),
        (None, "does not name a place"),
    ] {
        let server = Scripted::start(move |_| {
            let reply = Reply::new("302 Found", "");
            match location {
                Some(location) => reply.header("Location", location),
                None => reply,
            }
        });
        let store = open_url(&format!("{}/x", server.endpoint), &options()).unwrap();
        let error = store.read(&key("a")).unwrap_err().to_string();
        assert!(error.contains(expected), "{location:?}: {error}");
        assert!(server.received().len() <= 22, "{}", server.received().len());
    }
}

/// What a server says of users goes to none, and a signature is not shown.
#[test]
fn places_of_redirects_are_not_shown() {
    let server = Scripted::start(|_| {
        Reply::new("302 Found", "").header("Location", "http://me:SECRET@127.0.0.1:1/x?sig=SECRET")
    });
    let store = open_url(&format!("{}/x", server.endpoint), &options()).unwrap();
    let error = store.read(&key("a")).unwrap_err().to_string();
    assert!(!error.contains("SECRET"), "{error}");
}

#[test]
fn with_only_targets_redirects_stay_on_the_server() {
    let other = other();
    let server = sending("302 Found", &other);
    let only = options().target(&*server.endpoint).only_targets(true);
    let options = only.following("refs.json", &format!("{}/x", server.endpoint)).unwrap();
    let store: Arc<dyn Store> = open_url(&format!("{}/x", server.endpoint), &options).unwrap();
    let error = store.read(&key("a")).unwrap_err().to_string();
    assert!(error.contains("another server, and only named targets are allowed"), "{error}");
    assert!(other.received().is_empty());
}

/// A put counts if the answer is one to a put.
#[test]
fn a_put_that_is_not_answered_as_such_is_an_error() {
    for status in
        ["202 Accepted", "203 Non-Authoritative", "206 Partial Content", "207 Multi-Status"]
    {
        let server = Scripted::start(move |_| Reply::new(status, "").header("ETag", "\"1\""));
        let s3 = options().setting("endpoint", &*server.endpoint).setting("skip_signature", "true");
        let stores = [
            open_url("s3://bucket/x", &s3).unwrap(),
            open_url(&format!("{}/x", server.endpoint), &options()).unwrap(),
        ];
        for store in stores {
            let error = store.put(&key("a"), b"x").unwrap_err().to_string();
            assert!(error.contains("answers a put with the status"), "{error}");
        }
    }
    for status in ["200 OK", "201 Created", "204 No Content"] {
        let server = Scripted::start(move |_| Reply::new(status, "").header("ETag", "\"1\""));
        let store = open_url(&format!("{}/x", server.endpoint), &options()).unwrap();
        store.put(&key("a"), b"x").unwrap();
    }
}
