//! What documents of other people lead to: which servers are asked, and what these are told.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::thread;

use zarr_store_tests::scripted::{Received, Reply, Scripted};

use crate::support::command;

const ARRAY: &str = r#"{"zarr_format":3,"node_type":"array","shape":[8],"data_type":"uint8","chunk_grid":{"name":"regular","configuration":{"chunk_shape":[8]}},"chunk_key_encoding":{"name":"default"},"fill_value":0,"codecs":[{"name":"bytes"}]}"#;

/// Would be noticed in any request and any text.
const SECRET: &str = "c2VjcmV0WDQ3";

/// Each credential that the environment can have.
const SECRETS: [(&str, &str); 15] = [
    ("AWS_ACCESS_KEY_ID", SECRET),
    ("AWS_SECRET_ACCESS_KEY", SECRET),
    ("AWS_SESSION_TOKEN", SECRET),
    ("AWS_SSE_CUSTOMER_KEY_BASE64", SECRET),
    ("AWS_SERVER_SIDE_ENCRYPTION", "sse-c"),
    ("AWS_REQUEST_PAYER", "true"),
    ("AWS_USER_AGENT", SECRET),
    ("GOOGLE_BEARER_TOKEN", SECRET),
    ("GOOGLE_USER_AGENT", SECRET),
    ("AZURE_STORAGE_ACCOUNT_KEY", SECRET),
    ("AZURE_STORAGE_ENCRYPTION_KEY", SECRET),
    ("AZURE_STORAGE_TOKEN", SECRET),
    ("AZURE_USER_AGENT", SECRET),
    ("AWS_REGION", "us-east-1"),
    ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
];

/// A server of one object, wherever it is looked for.
fn server() -> Scripted {
    Scripted::start(|request| match request.method.as_str() {
        "GET" | "HEAD" => Reply::object(b"INTERNAL", request),
        _ => Reply::new("403 Forbidden", ""),
    })
}

/// Runs with these secrets, and with the server as the endpoint of every service and as the proxy of
/// all others.
fn run(folder: &Path, server: &str, arguments: &[&str]) -> Output {
    let arguments = [&["--timeout", "2"][..], arguments].concat();
    let mut command = command(folder, &arguments);
    for (name, _) in std::env::vars() {
        if ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command.envs(SECRETS);
    for name in ["AWS_ENDPOINT", "GOOGLE_BASE_URL", "AZURE_STORAGE_ENDPOINT"] {
        command.env(name, server);
    }
    for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"] {
        command.env(name, server);
    }
    // Also for places on this machine.
    command.env("NO_PROXY", "").env("no_proxy", "");
    command.output().expect("runs")
}

fn refer(folder: &Path, target: &str) {
    let json = serde_json::json!({
        "version": 1, "refs": {"zarr.json": ARRAY, "c/0": [target, 0, 8]},
    });
    fs::write(folder.join("refs.json"), json.to_string()).expect("writes");
}

fn has_credentials(request: &Received) -> bool {
    let signed = ["authorization", "x-amz-security-token", "x-amz-request-payer", "cookie"];
    signed.iter().any(|name| request.headers.contains_key(*name))
        || request.headers.keys().any(|name| name.contains("encryption"))
        || request.headers.values().any(|value| value.contains(SECRET))
        || request.target.contains(SECRET)
}

/// All spellings by which a client recognises its service.
const TARGETS: [&str; 24] = [
    "s3://b/x",
    "S3://b/x",
    "s3a://b/x",
    "https://b.s3.amazonaws.com/x",
    "HTTPS://b.s3.amazonaws.com/x",
    "https://b.s3.eu-west-1.amazonaws.com/x",
    "https://s3.eu-west-1.amazonaws.com/b/x",
    "https://s3.dualstack.eu-west-1.amazonaws.com/b/x",
    "https://b.s3.dualstack.eu-west-1.amazonaws.com/x",
    "https://account.r2.cloudflarestorage.com/b/x",
    "https://account.eu.r2.cloudflarestorage.com/b/x",
    "http://b.s3.amazonaws.com/x",
    "gs://b/x",
    "gcs://b/x",
    "https://storage.googleapis.com/b/x",
    "az://b/x",
    "adl://b/x",
    "azure://b/x",
    "abfs://b/x",
    "abfss://b@account.dfs.core.windows.net/x",
    "https://account.blob.core.windows.net/b/x",
    "https://account.dfs.core.windows.net/b/x",
    "https://onelake.dfs.fabric.microsoft.com/b/x",
    "http://127.0.0.1:1/x",
];

/// Spellings that a parser of URLs may take for one of these, for a path, or for nothing.
const ODD: [&str; 28] = [
    "https:b.s3.amazonaws.com/x",
    "https:/b.s3.amazonaws.com/x",
    "https:\\\\b.s3.amazonaws.com\\x",
    "https:///b.s3.amazonaws.com/x",
    "https://b\u{3002}s3.amazonaws.com/x",
    "https://b%2es3.amazonaws.com/x",
    "https://b.s3.amazonaws.com./x",
    "https://b.s3.amazonaws.com:443/x",
    "HTTPS://B.S3.AMAZONAWS.COM/x",
    "http://B.S3.AMAZONAWS.COM:80/x",
    "https://s3.eu-west-1.amazonaws.com/b/../c/x",
    "//b.s3.amazonaws.com/x",
    " https://b.s3.amazonaws.com/x",
    "ht\ttps://b.s3.amazonaws.com/x",
    "s3:b/x",
    "s3:/b/x",
    "s3:///b/x",
    "s3://B/x",
    "s3://b:443/x",
    "s3://me@b/x",
    "s3://[::1]/x",
    "s3+https://b/x",
    "gcs:///b/x",
    "GS://b/x",
    "ABFSS://b@account.dfs.core.windows.net/x",
    "abfss://b@account.blob.fabric.microsoft.com/x",
    "https://w.z28.dfs.fabric.microsoft.com/b/x",
    "https://w.z28.onelake.fabric.microsoft.com/b/x",
];

/// A reference, a member of a virtual join, and a redirect to each spelling.
#[test]
fn no_spelling_takes_credentials_along() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let server = Scripted::start(|request| {
        // The chunk of the array at `/to/NUMBER` is at this spelling.
        let number = request.target.split_once("/to/").and_then(|(_, rest)| {
            let (number, key) = rest.split_once('/')?;
            number.parse::<usize>().ok().filter(|_| key == "c/0")
        });
        let to = number.and_then(|number| TARGETS.iter().chain(&ODD).nth(number));
        match to {
            Some(to) => Reply::new("302 Found", "").header("Location", *to),
            None if request.method == "CONNECT" => Reply::new("403 Forbidden", ""),
            None if request.target.contains("list-type=2") => {
                let body = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
                Reply::new("200 OK", body)
            }
            None if request.target.ends_with("zarr.json") => {
                let array = ARRAY.replace("\"shape\"", "\"dimension_names\":[\"x\"],\"shape\"");
                Reply::object(array.as_bytes(), request)
            }
            None => Reply::object(b"INTERNAL", request),
        }
    });
    let join = ["join", "s3://b/x", "s3://b/y", "--along", "x", "--virtual", "-o", "j.zjoin"];
    let output =
        run(folder.path(), &server.endpoint, &[&join[..], &["--outside-members"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let joined = fs::read_to_string(folder.path().join("j.zjoin")).expect("reads");
    assert!(joined.contains("\"s3://b/x\""), "{joined}");
    let made = server.received().len();
    let all: Vec<&str> = TARGETS.iter().chain(&ODD).copied().collect();
    let read = |number: usize, target: &str| {
        let folder = tempfile::tempdir().expect("makes a folder");
        refer(folder.path(), target);
        let member = serde_json::to_string(target).expect("writes");
        fs::write(folder.path().join("m.zjoin"), joined.replace("\"s3://b/x\"", &member))
            .expect("writes");
        let redirected = format!("{}/to/{number}", server.endpoint);
        for place in ["refs.json", "m.zjoin", &redirected] {
            let read = ["read", place, "--outside-members"];
            let output = run(folder.path(), &server.endpoint, &read);
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(!text.contains("panicked") && !text.contains(SECRET), "{target}: {text}");
        }
    };
    // Tunnels that are refused are asked for until the time is over.
    thread::scope(|scope| {
        for first in 0..8 {
            let (all, read) = (&all, &read);
            scope.spawn(move || {
                for (number, target) in all.iter().enumerate().skip(first).step_by(8) {
                    read(number, target);
                }
            });
        }
    });
    let received = server.received();
    let asked =
        |sign: &str| received[made..].iter().filter(|one| one.target.contains(sign)).count();
    // By each kind of document, and by redirects to plain http. Odd spellings are mostly refused.
    assert!(received.len() - made > 3 * TARGETS.len() && asked("/b/x") > 20);
    assert!(asked("/to/") >= all.len() && asked("http://b.s3.amazonaws.com/x") >= 3);
    for request in &received[made..] {
        assert!(!has_credentials(request), "{request:?}");
    }
}

/// Some services have the bucket in the path, which only a client with credentials must know.
#[test]
fn buckets_in_paths_are_found_with_credentials() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let server = server();
    for target in [
        "https://s3.eu-west-1.amazonaws.com/b/x",
        "https://S3.eu-west-1.amazonaws.com:443/b/x",
        "https://s3.eu-west-1.amazonaws.com/a.zip/b/x",
        "https://b.s3.eu-west-1.amazonaws.com/b/x",
        // A bucket by the host, whose name begins as that of the service.
        "https://s3data.s3.eu-west-1.amazonaws.com/b/x",
    ] {
        refer(folder.path(), target);
        let before = server.received().len();
        let read = ["read", "-f", "raw", "refs.json", "--targets", target];
        let output = run(folder.path(), &server.endpoint, &read);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.stdout, b"INTERNAL", "{target}: {text}");
        let received = server.received();
        assert!(received.len() > before);
        for request in &received[before..] {
            let path = request.target.trim_start_matches("http://");
            assert!(path.ends_with("/b/x") && !path.contains("//"), "{target}: {request:?}");
            assert!(has_credentials(request), "{target}: {request:?}");
        }
    }
}

#[test]
fn references_never_take_credentials_along() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let server = server();
    for target in TARGETS {
        refer(folder.path(), target);
        let before = server.received().len();
        let output = run(folder.path(), &server.endpoint, &["read", "-f", "raw", "refs.json"]);
        let received = server.received();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!text.contains("panicked") && !text.contains(SECRET), "{target}: {text}");
        // By https, the proxy is asked for a tunnel, which is not there.
        assert!(received.len() > before, "{target}: {text}");
        for request in &received[before..] {
            assert!(!has_credentials(request), "{target}: {request:?}");
        }
        let is_object_store = !target.to_ascii_lowercase().starts_with("http");
        assert_eq!(
            output.status.success(),
            is_object_store || target.starts_with("http:"),
            "{text}"
        );
    }
}

#[test]
fn named_targets_and_the_bucket_of_the_document_take_credentials() {
    let folder = tempfile::tempdir().expect("makes a folder");
    refer(folder.path(), "s3://b/x");
    let refs = fs::read(folder.path().join("refs.json")).expect("reads");
    let server =
        Scripted::start(move |request| match request.method == "GET" || request.method == "HEAD" {
            true if request.target.contains("refs.json") => Reply::object(&refs, request),
            true => Reply::object(b"INTERNAL", request),
            false => Reply::new("403 Forbidden", ""),
        });
    for (arguments, signed) in [
        (&["read", "-f", "raw", "refs.json", "--targets", "s3://b"][..], true),
        (&["read", "-f", "raw", "refs.json", "--targets", "s3://b/x"], true),
        (&["read", "-f", "raw", "refs.json", "--targets", "s3://c"], false),
        (&["read", "-f", "raw", "s3://b/in/refs.json"], true),
        (&["read", "-f", "raw", "s3://c/in/refs.json"], false),
        (&["read", "-f", "raw", "refs.json", "--only-targets", "--targets", "s3://b/"], true),
    ] {
        let before = server.received().len();
        let output = run(folder.path(), &server.endpoint, arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.stdout, b"INTERNAL", "{arguments:?}: {text}");
        for request in &server.received()[before..] {
            if request.target.ends_with("/b/x") {
                assert_eq!(has_credentials(request), signed, "{arguments:?}: {request:?}");
            }
        }
    }
}

#[test]
fn members_of_virtual_joins_take_no_credentials_along() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let array = ARRAY.replace("\"shape\"", "\"dimension_names\":[\"x\"],\"shape\"");
    let server = Scripted::start(move |request| {
        let names = ["/b/x/", "/b/y/"];
        let names = names.into_iter().find_map(|name| request.target.split_once(name));
        match names {
            _ if request.target.contains("list-type=2") => {
                let body = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
                Reply::new("200 OK", body)
            }
            Some((_, "zarr.json")) => Reply::object(array.as_bytes(), request),
            Some((_, "c/0")) => Reply::object(b"INTERNAL", request),
            _ => Reply::new("404 Not Found", "<Error><Code>NoSuchKey</Code></Error>"),
        }
    });
    let made = ["join", "s3://b/x", "s3://b/y", "--along", "x", "--virtual", "-o", "j.zjoin"];
    let made = [&made[..], &["--outside-members"]].concat();
    let output = run(folder.path(), &server.endpoint, &made);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The user has named them, which the server shows.
    assert!(server.received().iter().all(has_credentials));
    for (more, signed) in [(&[] as &[&str], false), (&["--targets", "s3://b"], true)] {
        let before = server.received().len();
        let read = [&["read", "-f", "raw", "j.zjoin", "--outside-members"][..], more].concat();
        let output = run(folder.path(), &server.endpoint, &read);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.stdout, b"INTERNALINTERNAL", "{more:?}: {text}");
        let received = server.received();
        assert!(received.len() > before);
        for request in &received[before..] {
            assert_eq!(has_credentials(request), signed, "{more:?}: {request:?}");
        }
    }
}

#[test]
fn only_named_targets_may_be_the_ones_that_are_asked() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let server = server();
    fs::write(folder.path().join("x"), b"INTERNAL").expect("writes");
    for target in TARGETS.iter().copied().chain(["x", "./x"]) {
        refer(folder.path(), target);
        let read = ["read", "-f", "raw", "refs.json", "--only-targets", "--targets", "s3://other"];
        let output = run(folder.path(), &server.endpoint, &read);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{target}: {text}");
        assert!(text.contains("only the named targets are allowed"), "{target}: {text}");
    }
    assert!(server.received().is_empty());
    let here = folder.path().display().to_string();
    let read = ["read", "-f", "raw", "refs.json", "--only-targets", "--targets", &here];
    assert_eq!(run(folder.path(), &server.endpoint, &read).stdout, b"INTERNAL");
}

#[test]
fn refusals_without_credentials_say_so() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let server = Scripted::start(|_| {
        Reply::new("403 Forbidden", "<Error><Code>AccessDenied</Code></Error>")
    });
    refer(folder.path(), "s3://b/x");
    let output = run(folder.path(), &server.endpoint, &["read", "-f", "raw", "refs.json"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("without credentials, since a document leads to it"), "{text}");
    assert!(text.contains("--targets") && !text.contains("set AWS_ACCESS_KEY_ID"), "{text}");
}

#[test]
fn signatures_in_references_are_refused_and_not_shown() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let server = server();
    for target in [
        format!("http://127.0.0.1:1/x?X-Amz-Signature={SECRET}"),
        format!("https://b.s3.amazonaws.com/x?sig={SECRET}&y=1"),
        format!("https://account.blob.core.windows.net/c/x?sv=1&sig={SECRET}"),
        format!("s3://b/x?{SECRET}"),
        format!("http://me:{SECRET}@127.0.0.1:1/x"),
        format!("http://127.0.0.1:1/x?sig={SECRET}#{SECRET}"),
    ] {
        refer(folder.path(), &target);
        for arguments in [
            &["read", "refs.json"][..],
            &["info", "refs.json"],
            &["check", "refs.json", "--data"],
            &["copy", "refs.json", "out", "--overwrite"],
        ] {
            let output = run(folder.path(), &server.endpoint, arguments);
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            assert!(!text.contains(SECRET), "{arguments:?} {target}: {text}");
            if arguments[0] == "read" {
                let expected = if target.contains('@') { "password" } else { "query" };
                assert!(text.contains(expected), "{target}: {text}");
            }
        }
    }
    assert!(server.received().is_empty());
}

/// Mistakes in the environment are named, and repaired where there is only one meaning.
#[test]
fn settings_with_common_mistakes_are_named() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let server = server();
    let endpoint = server.endpoint.as_str();
    let with_feed = format!(" {endpoint}\n");
    let host = endpoint.trim_start_matches("http://").to_owned();
    let keys = [("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", SECRET)];
    let good = [
        vec![("AWS_ENDPOINT", endpoint)],
        vec![("AWS_ENDPOINT_URL", endpoint)],
        vec![("AWS_ENDPOINT_URL_S3", endpoint)],
        vec![("AWS_ENDPOINT", with_feed.as_str())],
        vec![("AWS_ENDPOINT", endpoint), ("AWS_ACCESS_KEY_ID", "key\n")],
        vec![("AWS_ENDPOINT", endpoint), ("AWS_SECRET_ACCESS_KEY", "secret\r\n")],
        vec![("AWS_ENDPOINT", endpoint), ("AWS_SESSION_TOKEN", "token\n")],
        vec![("AWS_ENDPOINT", endpoint), ("AWS_REGION", "eu-central-1\n")],
        vec![("AWS_ENDPOINT", endpoint), ("AWS_SESSION_TOKEN", "")],
        vec![("AWS_ENDPOINT", endpoint), ("AWS_REGION", " ")],
        vec![("AWS_ENDPOINT", ""), ("AWS_ENDPOINT_URL", endpoint)],
        vec![("AWS_ENDPOINT", endpoint), ("AWS_CONNECT_TIMEOUT", "")],
    ];
    let bad = [
        vec![("AWS_ENDPOINT", host.as_str())],
        vec![("AWS_ENDPOINT_URL", "localhost:9000")],
        vec![("AWS_ENDPOINT", "minio")],
        vec![("AWS_ENDPOINT", "http://")],
        vec![("AWS_ENDPOINT", "http://h h/")],
        vec![("AWS_SESSION_TOKEN", "a\nb")],
        vec![("AWS_ACCESS_KEY_ID", "schl\u{fc}ssel")],
        vec![("AWS_REGION", "eu central")],
        vec![("AWS_ALLOW_HTTP", "maybe")],
        vec![("AWS_CONNECT_TIMEOUT", "30")],
        vec![("AWS_PROXY_URL", "proxy:8080")],
        vec![("AWS_ALLOW_HTTP", "false"), ("AWS_ENDPOINT", endpoint)],
    ];
    let run = |variables: &[(&str, &str)]| {
        let mut command = command(folder.path(), &["--timeout", "2", "info", "s3://b/x"]);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
            command.env_remove(name);
        }
        let output = command.envs(keys).envs(variables.iter().copied()).output().expect("runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!text.contains("panicked") && !text.contains(SECRET), "{variables:?}: {text}");
        text
    };
    for variables in good {
        let before = server.received().len();
        let text = run(&variables);
        assert!(server.received().len() > before, "{variables:?}: {text}");
    }
    for variables in bad {
        let before = server.received().len();
        let text = run(&variables);
        let (name, _) = variables[0];
        assert!(
            text.contains(&format!("the setting {name} "))
                || text.contains(&format!("setting {name} does")),
            "{variables:?}: {text}"
        );
        assert_eq!(server.received().len(), before, "{variables:?}: {text}");
    }
}
