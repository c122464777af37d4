//! `bench`: what it counts, and not how long that takes.

use std::path::Path;

use serde_json::Value;

use crate::support::{file, root, run, session, succeed, text};

fn bench(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["bench", "--json", "--seconds", "1"], arguments].concat();
    serde_json::from_str(&text(folder, &arguments)).expect("JSON")
}

fn shares(json: &Value) -> Vec<(String, f64)> {
    let stages = json["stages"].as_array().expect("stages");
    let name = |stage: &Value| match stage["codec"].as_str() {
        Some(codec) => format!("{} {codec}", stage["stage"].as_str().expect("a text")),
        None => stage["stage"].as_str().expect("a text").to_owned(),
    };
    stages.iter().map(|stage| (name(stage), stage["share"].as_f64().expect("a number"))).collect()
}

/// Every stage has a share, and all of them together are the whole.
fn check_shares(json: &Value, expected: &[&str]) {
    let shares = shares(json);
    let names: Vec<&str> = shares.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, expected);
    assert!(shares.iter().all(|(_, share)| (0.0..=1.0).contains(share)), "{shares:?}");
    let sum: f64 = shares.iter().map(|(_, share)| share).sum();
    assert!((sum - 1.0).abs() < 1e-6, "{shares:?}");
}

#[test]
fn each_codec_has_its_share_and_all_chunks_are_counted() {
    let json = bench(&root(), &["fixtures/seattle-weather.zarr/temp_range_12bit"]);
    check_shares(&json, &["fetch", "decode zstd", "place"]);
    assert_eq!(json["chunks"], 48);
    assert_eq!(json["is_complete"], true);
    assert_eq!(json["shape"], serde_json::json!([1461, 2]));
    // As `info` says: 2,922 elements of two bytes, 48 chunks of 4.7 KiB.
    let first = &json["first"];
    assert_eq!(first["elements"], 2922);
    assert_eq!(first["element_bytes"], 2 * 2922);
    assert_eq!(first["chunks"], 48);
    assert_eq!(first["requests"], 48);
    assert_eq!(first["requests_not_stored"], 0);
    assert_eq!(first["rounds"], 1);
    let size = |entry: &Path| std::fs::metadata(entry).expect("a file").len();
    let chunks = root().join("fixtures/seattle-weather.zarr/temp_range_12bit/c");
    let files = std::fs::read_dir(chunks)
        .expect("a folder")
        .flat_map(|row| std::fs::read_dir(row.expect("a folder").path()).expect("a folder"));
    let stored: u64 = files.map(|entry| size(&entry.expect("a file").path())).sum();
    assert_eq!(first["stored_bytes"], stored);
    // Again, a whole number of times.
    let again = &json["again"];
    let rounds = again["rounds"].as_u64().expect("a number");
    assert!(rounds > 0);
    for name in ["elements", "element_bytes", "chunks", "requests", "stored_bytes"] {
        assert_eq!(again[name], rounds * first[name].as_u64().expect("a number"), "{name}");
    }
    let stages = json["stages"].as_array().expect("stages");
    let decode = &stages[1];
    assert_eq!(decode["path"], "$.codecs[3]");
    // Every chunk once per round: 12 bits per element, and a byte that says how many are padding.
    let rounds = decode["calls"].as_u64().expect("a number") / 48;
    assert_eq!(decode["calls"], rounds * 48);
    assert_eq!(decode["encoded_bytes"], rounds * stored);
    assert_eq!(decode["decoded_bytes"], rounds * (2922 * 3 / 2 + 48));
    assert_eq!(stages[2]["codecs"], serde_json::json!(["transpose", "reshape", "packbits"]));
    for rate in ["element_bytes_per_second", "stored_bytes_per_second", "chunks_per_second"] {
        assert!(first[rate].as_f64().expect("a number") > 0.0, "{rate}");
    }
}

#[test]
fn a_region_reads_the_chunks_that_it_touches() {
    let array = "fixtures/seattle-weather.zarr/temp_range_12bit";
    for (region, chunks, elements) in
        [("time=2012-02", 1, 29 * 2), ("30:32,0", 2, 2), ("[0,40,100],:", 3, 6)]
    {
        let json = bench(&root(), &[array, "-r", region]);
        assert_eq!(json["chunks"], chunks, "{region}");
        assert_eq!(json["first"]["chunks"], chunks, "{region}");
        assert_eq!(json["first"]["elements"], elements, "{region}");
        assert_eq!(json["first"]["requests"], chunks, "{region}");
    }
}

#[test]
fn shards_strings_archives_and_version_2_are_read_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let shards = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [10],
        "codecs": [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "crc32c"}], "index_location": "end"}}]"#;
    succeed(
        at,
        &[
            "create", "s", "--shape", "100", "--dtype", "uint8", "--chunks", "50", "--codecs",
            shards,
        ],
    );
    file(at, "e.raw", [7; 100]);
    succeed(at, &["write", "s", "--from", "e.raw"]);
    let json = bench(at, &["s"]);
    check_shares(&json, &["fetch", "decode gzip", "decode crc32c", "place"]);
    let stages = json["stages"].as_array().expect("stages");
    let (gzip, crc32c) = (&stages[1], &stages[2]);
    // Ten inner chunks and two indices of five.
    let rounds = gzip["calls"].as_u64().expect("a number") / 10;
    assert_eq!(gzip["decoded_bytes"], rounds * 100);
    assert_eq!(gzip["path"], "$.codecs[0].configuration.codecs[1]");
    assert_eq!(crc32c["decoded_bytes"], rounds * 2 * 5 * 16);
    assert_eq!(crc32c["path"], "$.codecs[0].configuration.index_codecs[1]");
    assert_eq!(stages[3]["codecs"], serde_json::json!(["sharding_indexed", "bytes"]));

    succeed(at, &["create", "t", "--shape", "3", "--dtype", "string"]);
    file(at, "t.json", r#"["a", "", "bcd"]"#);
    succeed(at, &["write", "t", "--from", "t.json"]);
    let json = bench(at, &["t"]);
    check_shares(&json, &["fetch", "decode zstd", "place"]);
    assert_eq!(json["first"]["element_bytes"], 4);

    succeed(at, &["copy", "s", "s.zip"]);
    let json = bench(at, &["s.zip", "--threads", "2"]);
    assert_eq!(json["threads"], 2);
    check_shares(&json, &["fetch", "decode gzip", "decode crc32c", "place"]);

    let document = r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|u1",
        "compressor": {"id": "zlib", "level": 1}, "fill_value": 0, "order": "C", "filters": null}"#;
    file(at, "v2/.zarray", document);
    let json = bench(at, &["v2"]);
    check_shares(&json, &["fetch", "decode numcodecs.zlib", "place"]);
    assert_eq!(json["first"]["requests_not_stored"], 2);
}

#[test]
fn what_cannot_be_divided_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["create", "none", "--shape", "0,3", "--dtype", "int16"]);
    succeed(at, &["create", "fill", "--shape", "40", "--dtype", "int16", "--chunks", "10"]);
    succeed(at, &["create", "one", "--shape", "", "--dtype", "int16"]);
    file(at, "one.json", "5");
    succeed(at, &["write", "one", "--from", "one.json"]);
    let conclusion = |arguments: &[&str]| {
        bench(at, arguments)["conclusion"].as_str().expect("a text").to_owned()
    };
    assert_eq!(conclusion(&["none"]), "there are no elements to read");
    assert!(!conclusion(&["one"]).is_empty());
    let fill = bench(at, &["fill"]);
    assert_eq!(
        fill["conclusion"],
        "no chunk of it is stored: all elements are the fill value, and nothing is decoded"
    );
    assert_eq!(fill["first"]["requests_not_stored"], 4);
    assert_eq!(bench(at, &["none"])["stages"], Value::Null);
    assert_eq!(bench(at, &["one"])["first"]["elements"], 1);
    // A virtual join of the array with itself.
    file(at, "part/zarr.json", std::fs::read(at.join("fill/zarr.json")).expect("reads"));
    succeed(at, &["join", "fill", "part", "--virtual", "-o", "both.zjoin", "--along", "0"]);
    let joined = bench(at, &["both.zjoin"]);
    assert_eq!((&joined["stages"], &joined["chunks"]), (&Value::Null, &8.into()));
    assert_eq!(joined["first"]["requests"], Value::Null);

    let large = ["--shape", "100000,100000", "--dtype", "float64", "--chunks", "50000,50000"];
    succeed(at, &[&["create", "large"][..], &large].concat());
    // Of each of its four chunks one element.
    assert_eq!(bench(at, &["large", "-r", "::50000,::50000"])["first"]["elements"], 4);
    file(at, "broken/zarr.json", std::fs::read(at.join("fill/zarr.json")).expect("reads"));
    file(at, "broken/c/1", "?");
    insta::assert_snapshot!(session(
        at,
        &[
            &["bench", "nowhere"],
            &["bench", "fill", "--threads", "0"],
            &["bench", "fill", "--seconds", "0"],
            &["bench", "fill", "--seconds", "1.5"],
            &["bench", "large"],
            &["bench", "fill", "-r", "50"],
            &["bench", "broken"],
            &["bench", "."],
        ]
    ));
}

#[test]
fn the_text_says_what_the_document_does() {
    let array = "fixtures/seattle-weather.zarr/temp_range_12bit";
    let shown = text(&root(), &["bench", array, "--seconds", "1"]);
    for part in [
        "read                2,922 elements of int16 (2 bytes), 5.7 KiB\n",
        "chunks              48 chunks\n",
        "by 48 requests\n",
        "first read ",
        "read again ",
        "  fetching ",
        "  decoding zstd ",
        "  placing elements ",
        "transpose, reshape, packbits",
        "of the time",
    ] {
        assert!(shown.contains(part), "{part:?} in\n{shown}");
    }
    let output = run(&root(), &["bench", "--help"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("--threads"));
}
