//! `locate` and `plan`.

use crate::support::{file, not_supported, root, session, succeed, text};

#[test]
fn where_elements_are() {
    const RANGE: &str = "fixtures/seattle-weather.zarr/temp_range_12bit";
    const TENTHS: &str = "fixtures/seattle-weather.zarr/temp_max_12bit";
    const RAIN: &str = "fixtures/seattle-weather.zarr/rain";
    insta::assert_snapshot!(session(
        &root(),
        &[
            &["locate", RANGE, "31,1"],
            &["locate", RANGE, "-1,0", "--json"],
            &["locate", TENTHS, "59"],
            &["locate", RAIN, "225"],
            &["locate", RANGE, "31"],
            &["locate", RANGE, "1461,0"],
            &["locate", RANGE, "x"],
        ],
    ));
}

#[test]
fn what_a_read_touches() {
    const DAILY: &str = "fixtures/seattle-weather.zarr/daily";
    const RAIN: &str = "fixtures/seattle-weather.zarr/rain";
    insta::assert_snapshot!(session(
        &root(),
        &[
            &["plan", DAILY, "--region", "28:64,1:3"],
            &["plan", DAILY, "--region", "28:34", "--json"],
            &["plan", RAIN, "--region", "200:260"],
            &["plan", RAIN, "--region", "5:5"],
            &["plan", DAILY, "--region", "[64, 28, 29, 1, 2, 3, 4, 5],::-1"],
            &["plan", DAILY, "--region", "[64, 28, 29],1", "--json"],
        ],
    ));
}

#[test]
fn inner_chunks_of_shards() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let codecs = |inner: &str, after: &str| {
        format!(
            r#"[{{"name": "transpose", "configuration": {{"order": [1, 0]}}}},
            {{"name": "sharding_indexed", "configuration": {{"chunk_shape": [3, 2],
            "codecs": {inner}, "index_codecs": [{{"name": "bytes", "configuration":
            {{"endian": "little"}}}}, {{"name": "crc32c"}}]}}}}{after}]"#
        )
    };
    let bytes = r#"[{"name": "bytes"}]"#;
    let packed = r#"[{"name": "packbits", "configuration": {"last_bit": 5}}]"#;
    let nested = codecs(bytes, "").replace("[3, 2]", "[1, 2]").replace("[1, 0]", "[0, 1]");
    let checked = nested.replace(r#"}}]"#, r#"}}, {"name": "crc32c"}]"#);
    let zipped =
        nested.replace(r#"}}]"#, r#"}}, {"name": "gzip", "configuration": {"level": 1}}]"#);
    let compressed = r#", {"name": "gzip", "configuration": {"level": 1}}"#;
    for (name, chain) in [
        ("plain", codecs(bytes, "")),
        ("packed", codecs(packed, "")),
        ("nested", codecs(&nested, "")),
        ("checked", codecs(&checked, r#", {"name": "crc32c"}"#)),
        ("zipped", codecs(&zipped, "")),
        ("compressed", codecs(bytes, compressed)),
    ] {
        let shape = ["create", name, "--shape", "12,6", "--dtype", "uint8", "--chunks", "4,6"];
        succeed(folder, &[&shape[..], &["--codecs", &chain]].concat());
        // The second shard has only its second half of rows; the third is missing.
        file(folder, "rows", (0..36).collect::<Vec<u8>>());
        succeed(folder, &["write", name, "--region", ":6", "--from", "rows"]);
    }
    // In a larger shard, the other inner chunks cost more than the request of the index.
    let wide = codecs(bytes, "").replace("[3, 2]", "[1024]").replace("[1, 0]", "[0]");
    let shape = ["create", "wide", "--shape", "8192", "--dtype", "uint8", "--chunks", "8192"];
    succeed(folder, &[&shape[..], &["--codecs", &wide]].concat());
    file(folder, "rows", [1; 5120]);
    succeed(folder, &["write", "wide", "--region", ":5120", "--from", "rows"]);
    // The element is stored there.
    for name in ["plain", "nested", "checked"] {
        let found: serde_json::Value =
            serde_json::from_str(&text(folder, &["locate", name, "1,4", "--json"])).expect("JSON");
        let at = found["byte_in_object"].as_u64().and_then(|at| usize::try_from(at).ok());
        let chunk = std::fs::read(folder.join(name).join("c/0/0")).expect("stored");
        assert_eq!(chunk[at.expect("a byte")], 10, "{name}");
    }
    insta::assert_snapshot!(session(
        folder,
        &[
            &["locate", "plain", "1,4"],
            &["locate", "plain", "6,0"],
            &["locate", "plain", "6,0", "--json"],
            &["locate", "plain", "8,0"],
            &["locate", "packed", "1,4"],
            &["locate", "packed", "1,4", "--json"],
            &["locate", "nested", "1,4"],
            &["locate", "nested", "1,4", "--json"],
            &["locate", "nested", "6,0"],
            &["locate", "nested", "8,0"],
            &["locate", "checked", "1,4"],
            &["locate", "zipped", "1,4"],
            &["locate", "compressed", "1,4"],
            &["locate", "compressed", "1,4", "--json"],
            &["plan", "plain"],
            &["plan", "plain", "--region", "1:6,4"],
            &["plan", "plain", "--region", "7"],
            &["plan", "plain", "--region", "::-5,::4", "--json"],
            &["plan", "wide", "--region", "2000:2100"],
            &["plan", "wide", "--region", "7000"],
            &["plan", "wide", "--region", "::5000", "--json"],
            &["plan", "compressed", "--region", "1,4"],
            &["check", "nested", "--data"],
        ],
    ));
}

#[test]
fn bytes_that_a_read_takes() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let plain = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
    let shape = ["create", "a", "--shape", "200,200,40", "--dtype", "float32"];
    succeed(folder, &[&shape[..], &["--chunks", "100,200,40", "--codecs", plain]].concat());
    file(folder, "ones", 1_f32.to_le_bytes().repeat(200 * 200 * 40));
    succeed(folder, &["write", "a", "--from", "ones"]);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["plan", "a", "--region", "99:101,3"],
            &["plan", "a", "--region", "0:9:2,0,0"],
            &["plan", "a", "--region", ":4,0,0", "--json"],
            &["plan", "a", "--region", ":100"],
        ],
    ));
}

/// Chunks and keys need neither the data type nor the codecs.
#[test]
fn arrays_that_are_not_read() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    not_supported(folder);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["locate", "codec", "5,3"],
            &["locate", "codec", "5,3", "--json"],
            &["locate", "type", "0,0"],
            &["locate", "codec", "6,0"],
            &["plan", "codec", "--region", "3:,1:"],
            &["plan", "codec", "--region", "3:,1:", "--json"],
            &["plan", "type"],
            &["read", "type"],
        ],
    ));
}

#[test]
fn totals_cover_the_chunks_that_are_not_listed() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let plain = ["--dtype", "uint8", "--chunks", "2", "--codecs", "bytes"];
    succeed(folder, &[&["create", "a", "--shape", "200"], &plain[..]].concat());
    file(folder, "ones", [1; 140]);
    succeed(folder, &["write", "a", "--region", ":140", "--from", "ones"]);
    let said = text(folder, &["plan", "a"]);
    assert!(said.ends_with("reads 140 B in 70 requests, of 140 B stored\n"), "{said}");
    assert!(said.contains("... and 50 more chunks"), "{said}");
    let plan: serde_json::Value =
        serde_json::from_str(&text(folder, &["plan", "a", "--json"])).expect("one document");
    assert_eq!(plan["chunks"].as_array().map(Vec::len), Some(100));
    assert_eq!([&plan["read_bytes"], &plan["requests"]], [140, 70]);
    let none = text(folder, &["plan", "a", "--region", "5:5", "--json"]);
    let none: serde_json::Value = serde_json::from_str(&none).expect("one document");
    assert_eq!((&none["chunks"], &none["elements"]), (&serde_json::json!([]), &0.into()));
    // More than are added up without being asked.
    succeed(folder, &[&["create", "b", "--shape", "1000000"], &plain[..]].concat());
    file(folder, "one", [1]);
    succeed(folder, &["write", "b", "--region", "0", "--from", "one"]);
    let said = text(folder, &["plan", "b"]);
    assert!(said.contains("for the first 20,000 chunks; --json adds up all"), "{said}");
}
