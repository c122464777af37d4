//! Arrays on servers, and servers that do not answer or refuse.

use std::net::TcpListener;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::Value;
use zarr_store_tests::server::Server;

use crate::support::{command, root, run};

const ARRAY: &str = "fixtures/seattle-weather.zarr/temp_range_12bit";

/// Would be noticed in any text.
const SECRET: &str = "zQ7secretX4";

/// Runs with `s3://` on a server, and with these variables.
pub(crate) fn on(endpoint: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = command(&root(), arguments);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
        command.env_remove(name);
    }
    command.env("AWS_ENDPOINT_URL", endpoint).env("AWS_ALLOW_HTTP", "true");
    command.env("AWS_REGION", "us-east-1").envs(variables.iter().copied());
    command.output().expect("runs")
}

pub(crate) const KEYS: [(&str, &str); 2] =
    [("AWS_ACCESS_KEY_ID", "somebody"), ("AWS_SECRET_ACCESS_KEY", SECRET)];

/// The requests that `--explain` counts are those that the server has had.
#[test]
fn explanations_count_the_requests_to_servers() {
    let server = Server::start();
    let copied = on(&server.endpoint, &["copy", ARRAY, "s3://bucket/x"], &KEYS);
    assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
    let stored: u64 = (0..48).map(|month| server.size(&format!("x/c/{month}/0"))).sum();
    let plain = format!("{}/x", server.endpoint);
    for place in ["s3://bucket/x", &plain] {
        let before = server.count("GET", "x/c/");
        let arguments = ["read", place, "-f", "raw", "-o", "/dev/null", "--explain"];
        let output = on(&server.endpoint, &arguments, &KEYS);
        assert_eq!(server.count("GET", "x/c/") - before, 48, "{place}");
        let text = String::from_utf8_lossy(&output.stderr);
        let kibibytes = (stored * 10 + 512) / 1024;
        let fetched =
            format!("fetched {}.{} KiB by 48 requests in ", kibibytes / 10, kibibytes % 10);
        assert!(text.contains(&fetched), "{fetched} in {text}");
    }
}

/// Members in a bucket, by a pattern, from a list, and as a virtual join there.
#[test]
fn members_in_a_bucket_are_joined_by_copies_of_the_server() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let server = Server::start();
    let zarr_kit = |arguments: &[&str]| {
        let output = on(&server.endpoint, arguments, &KEYS);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        (output.status.code(), text)
    };
    let range = |from: u32, to: u32| format!("{from}:{to}");
    let source = "fixtures/seattle-weather.zarr/temp_max";
    let mut members = Vec::new();
    for (name, from, to) in [("a", 0, 31), ("b", 31, 60), ("c", 60, 91)] {
        let member = format!("s3://bucket/in/{name}.zarr");
        let npy = folder.path().join(format!("{name}.npy"));
        let npy = npy.to_str().expect("UTF-8");
        let length = (to - from).to_string();
        for arguments in [
            &["create", &member, "--shape", &length, "--dtype", "float32", "--dims", "time"][..],
            &["read", source, "--region", &range(from, to), "-o", npy],
            &["write", &member, "--from", npy],
        ] {
            let (status, text) = zarr_kit(arguments);
            assert_eq!(status, Some(0), "{text}");
        }
        members.push(member);
    }
    let list = folder.path().join("members.txt");
    std::fs::write(&list, members.join("\n")).expect("writes");
    let list = format!("@{}", list.display());
    let expected = zarr_kit(&["read", source, "-r", "0:91", "-f", "lines"]);
    for (target, given) in [("pattern", "s3://bucket/in/*.zarr"), ("list", &list)] {
        let target = format!("s3://bucket/{target}.zarr");
        let before = server.count("GET", "/c/0");
        let (status, text) = zarr_kit(&["join", given, "--along", "time", "-o", &target]);
        assert_eq!(status, Some(0), "{text}");
        assert!(text.contains("joined 3 arrays") && text.contains("3 chunks copied"), "{text}");
        assert_eq!(server.count("GET", "/c/0"), before, "no chunk came here");
        assert_eq!(zarr_kit(&["read", &target, "-f", "lines"]), expected);
        let place = target.replace(".zarr", ".zjoin");
        let (status, text) =
            zarr_kit(&["join", given, "--along", "time", "--virtual", "-o", &place]);
        assert_eq!(status, Some(0), "{text}");
        assert_eq!(zarr_kit(&["read", &place, "-f", "lines"]), expected);
        for at in [0, 1, 2] {
            assert!(server.size(&format!("{}/c/{at}", target.replace("s3://bucket/", ""))) > 0);
        }
    }
    for (given, reason) in [
        ("s3://bucket/in/*.none", "nothing matches this pattern"),
        ("s3://bucket/*/a.zarr", "in a URL, only the last name may be a pattern"),
        ("s3://*", "in a URL, only the last name may be a pattern"),
    ] {
        let (status, text) =
            zarr_kit(&["join", given, "--along", "time", "-o", "s3://bucket/not.zarr"]);
        assert_eq!(status, Some(2), "{text}");
        assert!(text.contains(reason) && text.lines().count() == 1, "{text}");
    }
    assert_eq!(server.size("not.zarr/zarr.json"), 0);
}

/// A name that is not written in a URL as it is, and one that its URL would be taken for if it were
/// decoded twice, or not at all.
const ODD: [(&str, &str); 6] = [
    ("a b", "a%20b"),
    ("a%20b", "a%2520b"),
    ("100%", "100%25"),
    ("what?", "what%3F"),
    ("no#1+2", "no%231+2"),
    ("é*", "é%2A"),
];

/// Without conditional writes, another writer's elements in the same chunk could be lost.
#[test]
fn part_of_a_chunk_is_written_by_a_sole_writer_where_writes_have_no_conditions() {
    let server = Server::start();
    let variables = [KEYS[0], KEYS[1], ("AWS_CONDITIONAL_PUT", "disabled")];
    let zarr_kit = |arguments: &[&str]| on(&server.endpoint, arguments, &variables);
    let place = "s3://bucket/a";
    let created = zarr_kit(&["create", place, "--shape", "4", "--dtype", "string"]);
    assert!(created.status.success(), "{created:?}");
    let folder = tempfile::tempdir().expect("makes a folder");
    let file = folder.path().join("in.json");
    std::fs::write(&file, r#"["a", "b"]"#).expect("writes");
    let write = ["write", place, "--region", "1:3", "--from", file.to_str().expect("UTF-8")];
    let refused = zarr_kit(&write);
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        message.contains("commands with --sole-writer allow it while nobody else writes"),
        "{message}"
    );
    let written = zarr_kit(&[&write[..], &["--sole-writer"]].concat());
    assert!(written.status.success(), "{written:?}");
    let read = zarr_kit(&["read", place, "--format", "lines"]);
    assert_eq!(read.stdout, b"\"\"\n\"a\"\n\"b\"\n\"\"\n");
}

/// Arrays of a group in a bucket, each found by its URL and never another: also by what looks for the
/// group around it.
#[test]
fn names_in_urls_are_percent_encoded() {
    let server = Server::start();
    let zarr_kit = |arguments: &[&str]| {
        let output = on(&server.endpoint, arguments, &KEYS);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {text}");
        text
    };
    let group = "s3://bucket/my%20data/g.zarr";
    let size = |name: &str| server.size(&format!("my data/g.zarr/{name}/zarr.json"));
    zarr_kit(&["create", group, "--group"]);
    for (length, (name, encoded)) in (1..).zip(ODD) {
        let place = format!("{group}/{encoded}");
        let length = length.to_string();
        let shape = ["--shape", &length, "--dtype", "int8", "--dims", name, "--codecs", "packbits"];
        zarr_kit(&[&["create", &place][..], &shape].concat());
        assert!(size(name) > 0, "{name}");
    }
    zarr_kit(&["consolidate", group]);
    for (length, (name, encoded)) in (1..).zip(ODD) {
        let place = format!("{group}/{encoded}");
        let found: Value =
            serde_json::from_str(&zarr_kit(&["info", &place, "--json"])).expect("JSON");
        assert_eq!(found["shape"], serde_json::json!([length]), "{name}");
        zarr_kit(&["attrs", &place, "--set", "n=1"]);
        // The consolidated metadata were changed with it.
        let text = zarr_kit(&["check", group]);
        assert!(text.contains("6 arrays") && text.contains(" 0 errors, 0 warnings"), "{text}");
        // Documents that the check has read say it, without another request.
        assert!(text.contains("read by zarrs (not all of packbits); not zarr-python"), "{text}");
        assert!(zarr_kit(&["check", &place]).contains("1 array, "));
    }
    for (name, encoded) in ODD {
        zarr_kit(&["delete", &format!("{group}/{encoded}"), "--yes"]);
        assert_eq!(size(name), 0, "{name}");
        let text = zarr_kit(&["check", group]);
        assert!(text.contains(" 0 errors, 0 warnings"), "{text}");
    }
}

/// Patterns find names in a bucket, and give their URLs; documents of virtual joins hold names.
#[test]
fn patterns_and_documents_have_names_that_urls_encode() {
    let server = Server::start();
    let zarr_kit = |arguments: &[&str]| {
        let output = on(&server.endpoint, arguments, &KEYS);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {text}");
        text
    };
    let mut members = ODD;
    members.sort_unstable_by_key(|(_, encoded)| format!("{encoded}.zarr"));
    for (value, (_, encoded)) in (1..).zip(members) {
        let place = format!("s3://bucket/in%25/{encoded}.zarr");
        let fill = i32::to_string(&value);
        let shape = ["--shape", "1", "--dtype", "int8", "--dims", "time", "--fill", &fill];
        zarr_kit(&[&["create", &place][..], &shape].concat());
    }
    let read = |place: &str| zarr_kit(&["read", place, "-f", "lines"]);
    for (pattern, values) in [
        ("s3://bucket/in%25/*.zarr", "1\n2\n3\n4\n5\n6\n"),
        ("s3://bucket/in%25/a%2520*", "3\n"),
        ("s3://bucket/in%25/*%2A.zarr", "6\n"),
        ("s3://bucket/in%25/*%3f.zarr", "5\n"),
    ] {
        let place = "s3://bucket/in%25/my%20join.zjoin";
        zarr_kit(&["join", pattern, "--along", "time", "--virtual", "-o", place]);
        assert_eq!(read(place), values, "{pattern}");
        assert!(server.size("in%/my join.zjoin") > 0);
        // From another folder.
        let away = "s3://bucket/a%20way/x.zjoin";
        zarr_kit(&["join", pattern, "--along", "time", "--virtual", "-o", away]);
        assert_eq!(zarr_kit(&["read", away, "-f", "lines", "--outside-members"]), values);
        let copied = "s3://bucket/copied%3F.zarr";
        zarr_kit(&["join", pattern, "--along", "time", "-o", copied]);
        assert_eq!(read(copied), values, "{pattern}");
        server.remove(&["in%/my join.zjoin", "a way/x.zjoin"]);
        zarr_kit(&["delete", copied, "--yes"]);
    }
}

/// What cannot be reached or read is said in one line with what to do, without secrets.
#[test]
fn servers_that_refuse_are_named_with_what_to_do() {
    let server = Server::start();
    let said = |endpoint: &str, place: &str, variables: &[(&str, &str)]| {
        let output = on(endpoint, &["info", place, "--timeout", "1"], variables);
        let text = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(output.stdout.is_empty() && !text.contains(SECRET), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        text.replace(&server.endpoint, "http://SERVER")
    };
    // Nothing listens here.
    let nobody = "http://127.0.0.1:1";
    let texts = [
        said(&server.endpoint, "s3://bucket/nothing", &KEYS),
        said(&server.endpoint, "s3://missing/x", &KEYS),
        said(&server.endpoint, "s3://private/x", &KEYS),
        said(&server.endpoint, &format!("{}/private/x", server.endpoint), &[]),
        said(nobody, "s3://bucket/x", &KEYS),
        said(nobody, "http://127.0.0.1:1/x", &[]),
    ];
    insta::assert_snapshot!(texts.concat());
}

/// A server that accepts and never answers: reported after 5 s, and given up after the given
/// time.
#[test]
fn a_silent_server_is_waited_for_aloud_and_not_for_ever() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let host = listener.local_addr().expect("bound").to_string();
    // The system accepts by itself.
    let url = format!("http://{host}/data.zarr");
    let begun = Instant::now();
    let output = run(&root(), &["info", &url, "--timeout", "6"]);
    let took = begun.elapsed();
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let waiting = format!(
        "waiting: {host} has not answered for 5 s, asked to read \"zarr.json\"; tried again for up \
         to 6 s (--timeout)\n"
    );
    assert!(stderr.starts_with(&waiting), "{stderr}");
    assert_eq!(stderr.matches("waiting").count(), 1, "{stderr}");
    assert!(took > Duration::from_secs(5) && took < Duration::from_secs(40), "{took:?}");
}

#[test]
fn a_timeout_is_a_number_of_seconds() {
    for wrong in ["0", "-1", "soon", "4294967296"] {
        let output = run(&root(), &["info", "x", &format!("--timeout={wrong}")]);
        let stderr = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("--timeout"), "{stderr}");
    }
}
