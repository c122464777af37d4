//! `create`: the documents that it writes, and what it refuses.

use std::fs;

use crate::support::{file, run, session, succeed};

#[test]
fn documents() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let cases: &[&[&str]] = &[
        &["--shape", "90", "--dtype", "int16", "--chunks", "31|28|31"],
        &[
            "--shape",
            "1461,4",
            "--dtype",
            "float32",
            "--dims",
            "time,variable",
            "--chunks",
            "variable=4,time=31x40|300",
            "--fill",
            "NaN",
        ],
        &["--shape", "10000,5000", "--dtype", "bool", "--codecs", r#"[{"name": "packbits"}]"#],
        &["--shape", "", "--dtype", "complex64", "--fill", "[0.5, -1]"],
        &["--shape", "3", "--dtype", "float16", "--fill", "0x7e01", "--dims", ""],
        &["--shape", "8", "--dtype", "r24", "--attributes", r#"{"b": 1.0, "a": [2]}"#],
        &["--shape", "7,3", "--dtype", "uint4", "--chunks", "[[[2, 3], 1], 3]", "--fill", "15"],
    ];
    let mut documents = Vec::new();
    for (at, arguments) in cases.iter().enumerate() {
        let name = format!("a{at}");
        succeed(folder.path(), &[&["create", &name], *arguments].concat());
        let document = fs::read_to_string(folder.path().join(name).join("zarr.json"));
        documents.push(format!("{}\n{}", arguments.join(" "), document.expect("written")));
    }
    insta::assert_snapshot!(documents.join("\n\n"));
}

#[test]
fn from_a_document() {
    let folder = tempfile::tempdir().expect("makes a folder");
    succeed(folder.path(), &["create", "a", "--shape", "5", "--dtype", "int8", "--fill", "-7"]);
    let original = fs::read(folder.path().join("a/zarr.json")).expect("written");
    succeed(folder.path(), &["create", "b", "--metadata", "a/zarr.json"]);
    assert_eq!(fs::read(folder.path().join("b/zarr.json")).expect("written"), original);
}

#[test]
fn fill_values_of_times_are_dates_or_counts() {
    let folder = tempfile::tempdir().expect("makes a folder");
    for (name, unit, fill, count) in [
        ("days", "M8[D]", "2020-02-29", 18_321),
        ("quoted", "M8[D]", "\"1969-12-31\"", -1),
        ("seconds", "M8[s]", "1970-01-02T00:00:01", 86_401),
        ("years", "M8[Y]", "2012", 42),
        ("count_of_years", "M8[Y]", "50", 50),
        ("months", "M8[M]", "2012", 2012),
    ] {
        succeed(folder.path(), &["create", name, "--shape", "3", "--dtype", unit, "--fill", fill]);
        let document = fs::read(folder.path().join(name).join("zarr.json")).expect("written");
        let document: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
        assert_eq!(document["fill_value"], count, "{name}");
    }
    for fill in ["2020-02-30", "2020-02-29T00", "yesterday"] {
        let arguments = ["create", "no", "--shape", "3", "--dtype", "M8[D]", "--fill", fill];
        assert!(!run(folder.path(), &arguments).status.success(), "{fill}");
    }
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().expect("makes a folder");
    file(folder.path(), "group/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    let again = ["create", "group", "--shape", "5", "--dtype", "int8"];
    insta::assert_snapshot!(session(
        folder.path(),
        &[
            &["create", "a", "--shape", "5", "--dtype", "int8"],
            &["create", "a", "--shape", "6", "--dtype", "int8"],
            &["create", "b", "--shape", "6,2", "--dtype", "int8", "--chunks", "4|4,2", "--json"],
            &again,
        ],
    ));
    assert!(!run(folder.path(), &again).status.success());
}

#[test]
fn mistakes_leave_nothing_behind() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let create = |extra: &[&'static str]| [&["create", "x"], extra].concat();
    let commands = [
        create(&[]),
        create(&["--shape", "5"]),
        create(&["--shape", "5,-1", "--dtype", "int8"]),
        create(&["--shape", "5", "--dtype", "int9"]),
        create(&["--shape", "5", "--dtype", "int8", "--fill", "200"]),
        create(&["--shape", "5", "--dtype", "float32", "--fill", "NaM"]),
        create(&["--shape", "5", "--dtype", "int8", "--dims", "x,y"]),
        create(&["--shape", "5", "--dtype", "int8", "--chunks", "2|2"]),
        create(&["--shape", "5", "--dtype", "int8", "--dims", "time", "--chunks", "tmie=2"]),
        create(&["--shape", "5", "--dtype", "int8", "--chunks", "0"]),
        create(&["--shape", "5", "--dtype", "int8", "--codecs", "[{\"name\": \"zstd\"}]"]),
        create(&["--shape", "5", "--dtype", "int8", "--codecs", "[{\"name\": \"byts\"}]"]),
        create(&["--shape", "5", "--dtype", "int8", "--codecs", "byts"]),
        create(&["--shape", "5", "--dtype", "int16", "--codecs", "[{\"name\": \"bytes\"}]"]),
        create(&[
            "--shape",
            "5",
            "--dtype",
            "int16",
            "--fill",
            "5000",
            "--codecs",
            "[{\"name\": \"packbits\", \"configuration\": {\"last_bit\": 11}}]",
        ]),
        create(&[
            "--shape",
            "59",
            "--dtype",
            "int16",
            "--chunks",
            "31|28",
            "--codecs",
            "[{\"name\": \"reshape\", \"configuration\": {\"shape\": [31]}}, \
                {\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]",
        ]),
        create(&["--shape", "5", "--dtype", "int8", "--attributes", "[1]"]),
        create(&["--metadata", "missing.json"]),
        create(&["--metadata", "missing.json", "--shape", "5"]),
    ];
    let commands: Vec<&[&str]> = commands.iter().map(Vec::as_slice).collect();
    insta::assert_snapshot!(session(folder.path(), &commands));
    assert!(!folder.path().join("x").exists());
}

#[test]
fn codecs_in_the_short_form_and_presets() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let at = folder.path();
    let shape = ["--shape", "4,6", "--chunks", "2,6", "--dims", "time,x"];
    let create = |name, rest: &[&str]| {
        succeed(at, &[&["create", name], &shape[..], rest].concat());
        let json = fs::read_to_string(at.join(name).join("zarr.json")).expect("a document");
        let document: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        document["codecs"].to_string()
    };
    let long = r#"[{"name": "packbits"}, {"name": "zstd", "configuration":
        {"level": 3, "checksum": true}}]"#;
    let mask = create("mask", &["--dtype", "bool", "--codecs", "packbits,zstd"]);
    assert_eq!(mask, create("long", &["--dtype", "bool", "--codecs", long]));
    assert_eq!(
        create("plain", &["--dtype", "float32", "--codecs", "zstd"]),
        create("default", &["--dtype", "float32"])
    );
    let names = create("names", &["--dtype", "string", "--codecs", "zstd:9"]);
    assert!(names.starts_with(r#"[{"name":"vlen-utf8"}"#), "{names}");
    insta::assert_snapshot!(session(
        at,
        &[
            &["create", "x", "--shape", "4", "--dtype", "int8", "--codecs", "zstd:x"],
            &["create", "x", "--shape", "4", "--dtype", "int8", "--preset", "fast"],
            &["create", "x", "--shape", "4", "--dtype", "float32", "--codecs", "packbits:40"],
            &[
                "create", "x", "--shape", "4", "--dtype", "int8", "--preset", "size", "--codecs",
                "zstd"
            ],
            &["create", "x", "--shape", "4", "--dtype", "int8", "--preset", "size"],
            &["create", "x", "--like", "plain", "--dtype", "int8", "--preset", "size"],
        ]
    ));
    assert!(!at.join("x").exists());
}

#[test]
fn like_another() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let first = [
        "create",
        "a",
        "--shape",
        "90,4",
        "--dtype",
        "int16",
        "--chunks",
        "31|28|31,4",
        "--fill",
        "-1",
        "--dims",
        "time,x",
        "--codecs",
        "packbits:12",
        "--attributes",
        r#"{"units": "K"}"#,
    ];
    succeed(folder, &first);
    let document =
        |name: &str| fs::read_to_string(folder.join(name).join("zarr.json")).expect(name);
    succeed(folder, &["create", "b", "--like", "a"]);
    assert_eq!(document("b"), document("a"));
    succeed(folder, &["create", "c", "--like", "a", "--shape", "80,4", "--codecs", "zstd:3"]);
    let json: serde_json::Value = serde_json::from_str(&document("c")).expect("JSON");
    assert_eq!((&json["shape"], &json["fill_value"]), (&serde_json::json!([80, 4]), &(-1).into()));
    assert_eq!(json["attributes"], serde_json::json!({"units": "K"}));
    assert_eq!(json["codecs"][1]["name"], "zstd");
    // Another type has neither the codecs nor the fill value.
    succeed(folder, &["create", "d", "--like", "a", "--dtype", "float32"]);
    let json: serde_json::Value = serde_json::from_str(&document("d")).expect("JSON");
    assert_eq!((&json["codecs"][0]["name"], &json["fill_value"]), (&"bytes".into(), &0.0.into()));
    // numpy's own file: elements of 4 bytes, big-endian, 3 by 5.
    let header = |descr: &str| {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3, 5), }}");
        let length = u16::try_from(text.len()).expect("short").to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes()].concat()
    };
    file(folder, "f4.npy", header("'>f4'"));
    file(folder, "record.npy", header("[('a', '<i4')]"));
    file(folder, "odd.npy", header("'|O'"));
    file(folder, "no.npy", "no");
    insta::assert_snapshot!(session(
        folder,
        &[
            &["create", "e", "--like", "f4.npy"],
            &["create", "f", "--like", "f4.npy", "--dtype", "int8", "--shape", "7"],
            &["create", "g", "--like", "record.npy"],
            &["create", "g", "--like", "odd.npy"],
            &["create", "g", "--like", "odd.npy", "--dtype", "int8"],
            &["create", "h", "--like", "no.npy"],
            &["create", "h", "--like", "missing"],
            &["create", "h", "--like", "a", "--shape", "100,4"],
            &["create", "h", "--like", "a", "--metadata", "a/zarr.json"],
        ],
    ));
}

#[test]
fn an_array_is_replaced_and_a_group_is_not() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g.zarr", "--group"]);
    for name in ["a", "g.zarr/a"] {
        succeed(folder, &["create", name, "--shape", "4", "--dtype", "int8"]);
        file(folder, "values.json", "[1, 2, 3, 4]");
        succeed(folder, &["write", name, "--from", "values.json"]);
        assert!(folder.join(name).join("c/0").exists());
        // What is refused removes nothing.
        let wrong =
            ["create", name, "--shape", "5", "--dtype", "int8", "--chunks", "0", "--overwrite"];
        assert!(!run(folder, &wrong).status.success() && folder.join(name).join("c/0").exists());
        succeed(folder, &["create", name, "--shape", "5", "--dtype", "int8", "--overwrite"]);
        assert!(!folder.join(name).join("c/0").exists());
    }
    succeed(folder, &["create", "new", "--shape", "5", "--dtype", "int8", "--overwrite"]);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["create", "g.zarr", "--shape", "5", "--dtype", "int8", "--overwrite"],
            &["create", "g.zarr", "--group", "--overwrite"],
            &["tree", "g.zarr"],
        ],
    ));
}

/// What is typed big-endian is stored big-endian, or refused.
#[test]
fn the_byte_order_of_a_type_is_that_of_its_bytes() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let at = folder.path();
    let stored = |name: &str, dtype: &str, more: &[&str], values: &str| -> Vec<u8> {
        let create = ["create", name, "--shape", "2", "--dtype", dtype];
        succeed(at, &[&create[..], more].concat());
        file(at, "values.json", values);
        succeed(at, &["write", name, "--from", "values.json"]);
        let check = run(at, &["read", name, "-f", "json"]);
        let read: serde_json::Value = serde_json::from_slice(&check.stdout).expect("JSON");
        assert_eq!(read, serde_json::from_str::<serde_json::Value>(values).expect("JSON"));
        fs::read(at.join(name).join("c/0")).expect("a chunk")
    };
    let plain = ["--codecs", "bytes"];
    let big = [0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0];
    assert_eq!(stored("a", ">f4", &plain, "[1.5, -2.0]"), big);
    assert_eq!(stored("b", "f4", &["--codecs", "bytes:big"], "[1.5, -2.0]"), big);
    assert_eq!(stored("c", "<f4", &plain, "[1.5, -2.0]"), [0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0]);
    assert_eq!(stored("d", ">u2", &["--codecs", "crc32c"], "[1, 515]")[..4], [0, 1, 2, 3]);
    assert_eq!(stored("e", ">i1", &plain, "[1, -1]"), [1, 255]);
    assert_eq!(stored("f", "<u2", &["--codecs", "packbits:12"], "[1, 515]"), [1, 48, 32]);
    assert_eq!(
        zstd::decode_all(&stored("g", ">u2", &[], "[1, 515]")[..]).expect("zstd"),
        [0, 1, 2, 3]
    );
    let inner = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs":
        [{"name": "bytes", "configuration": {"endian": "big"}}], "index_codecs":
        [{"name": "bytes", "configuration": {"endian": "little"}}]}}]"#;
    let shard = stored("h", ">u2", &["--codecs", inner], "[1, 515]");
    assert_eq!((&shard[..4], shard.len()), (&[0, 1, 2, 3][..], 4 + 16));
    // Like an array of the same type in the other order.
    succeed(at, &["create", "i", "--like", "g", "--dtype", "<u2"]);
    let codecs = |name: &str| {
        let text = fs::read_to_string(at.join(name).join("zarr.json")).expect("written");
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        json["codecs"][0]["configuration"]["endian"].as_str().map(str::to_owned)
    };
    assert_eq!(codecs("i").as_deref(), Some("little"));
    succeed(at, &["create", "j", "--like", "g"]);
    assert_eq!(codecs("j").as_deref(), Some("big"));
    let create =
        |dtype, codecs| ["create", "x", "--shape", "2", "--dtype", dtype, "--codecs", codecs];
    insta::assert_snapshot!(session(
        at,
        &[
            &create(">f4", "bytes:little"),
            &create("<f4", "bytes:big"),
            &create(">u2", "packbits:12,zstd"),
            &create(">u2", &inner.replace("big", "little")),
            &["create", "x", "--shape", "2", "--dtype", ">u2", "--codecs", "packbits,zstd"],
        ]
    ));
    assert!(!at.join("x").exists());
}

/// What another program lacks is said, and refused or avoided where that is asked for.
#[test]
fn who_else_reads_it() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let months = ["--shape", "6", "--chunks", "1|2|3", "--dims", "t"];
    let create = |name: &str, data_type: &str, rest: &[&str]| {
        succeed(folder, &[&["create", name, "--dtype", data_type], &months[..], rest].concat());
        file(folder, "in.raw", vec![1; if data_type == "int16" { 12 } else { 6 }]);
        succeed(folder, &["write", name, "--from", "in.raw"]);
    };
    create("a", "int16", &[]);
    create("m", "bool", &["--codecs", "packbits"]);
    create("i", "int4", &[]);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["create", "p", "--dtype", "int16", "--shape", "6", "--chunks", "1|2|3", "--portable"],
            &["create", "p", "--dtype", "int16", "--shape", "6", "--chunks", "3", "--portable"],
            &["create", "q", "--dtype", "bool", "--shape", "6", "--codecs", "packbits,zstd"],
            &["copy", "a", "b", "--portable", "--verify"],
            &["copy", "m", "n", "--portable", "--verify"],
            &["copy", "m", "o"],
            &["copy", "i", "j", "--portable"],
            &["info", "n"],
            &["diff", "m", "n"],
            &["check", "m"],
            &["join", "a", "b", "--along", "t", "-o", "c", "--portable"],
            &[
                "join",
                "a",
                "b",
                "--along",
                "t",
                "-o",
                "c",
                "--portable",
                "--chunks",
                "3",
                "--dry-run"
            ],
            &["join", "a", "b", "--along", "t", "-o", "c", "--portable", "--chunks", "3"],
            &["join", "a", "b", "--along", "t", "-o", "d"],
        ],
    ));
    assert!(!folder.join("j").exists());
}
