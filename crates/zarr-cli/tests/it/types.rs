//! Times, strings, bytes and records, as zarr-python wrote them: in words, as text and in files.

use std::fs;

use serde_json::Value;

use crate::support::{run, session, stdout, succeed, text};
use crate::writers::unpack;

#[test]
fn in_words() {
    let folder = tempfile::tempdir().expect("makes a folder");
    unpack("zarr-python", folder.path());
    let commands: &[&[&str]] = &[
        &["info", "datetime64-s-little-plain"],
        &["read", "datetime64-s-little-plain", "-r", ":2,:4"],
        &["read", "datetime64-10us-big-shard", "-r", "0,:3", "-f", "csv"],
        &["read", "datetime64-10us-big-shard", "-r", "0,:3", "-f", "lines"],
        &["info", "datetime64-10us-big-shard"],
        &["info", "timedelta64-7D-little-plain"],
        &["read", "timedelta64-7D-little-plain", "-r", ":2,:3"],
        &["info", "utf32-4-big-shard"],
        &["read", "utf32-4-big-shard", "-r", ":2,:3"],
        &["read", "utf32-4-big-shard", "-r", ":2,:3", "-f", "csv"],
        &["info", "null-terminated-5-little-plain"],
        &["read", "null-terminated-5-little-plain", "-r", ":2,:3"],
        &["read", "raw-bytes-3-little-plain", "-r", "0,:3"],
        &["info", "struct-nested-big-shard-transpose"],
        &["read", "struct-nested-big-shard-transpose", "-r", "0,:2"],
        &["read", "struct-nested-big-shard-transpose", "-r", "0,1", "-f", "lines"],
        &["info", "structured-plain"],
        &["check", "structured-plain", "--data"],
        &["info", "unknown-type"],
        &["check", "unknown-type", "--data"],
        &["read", "unknown-type"],
        &["info", "zero-chunks-2d"],
        &["check", "zero-chunks-2d"],
        &["read", "zero-chunks-2d"],
    ];
    insta::assert_snapshot!(session(folder.path(), commands));
}

/// The first case of each type that has a configuration.
const TYPES: [&str; 15] = [
    "datetime64-s",
    "datetime64-ns",
    "datetime64-10us",
    "datetime64-D",
    "datetime64-generic",
    "timedelta64-ms",
    "timedelta64-7D",
    "utf32-4",
    "utf32-1",
    "null-terminated-5",
    "raw-bytes-3",
    "struct-point",
    "struct-sample",
    "struct-bytes",
    "struct-nested",
];

#[test]
fn every_type_goes_through_files_and_copies() {
    let folder = zarr_store_tests::folder_in_memory();
    let folder = folder.path();
    unpack("zarr-python", folder);
    for name in TYPES {
        let source = format!("{name}-big-shard-transpose");
        let expected = fs::read(folder.join(format!("{source}.raw"))).expect("expected elements");
        let info: Value =
            serde_json::from_slice(&stdout(folder, &["info", &source, "--json"])).expect("JSON");
        let (data_type, fill) = (info["data_type"].to_string(), info["fill_value"].to_string());
        for format in ["npy", "jsonl", "json"] {
            let (new, file) = (format!("{name}-{format}"), format!("{name}.{format}"));
            let elements = match format {
                "npy" => stdout(folder, &["read", &source, "-f", "npy"]),
                _ => stdout(folder, &["read", &source, "-f", "lines"]),
            };
            let elements = match format {
                "json" => {
                    let lines = String::from_utf8(elements).expect("UTF-8");
                    let lines: Vec<&str> = lines.lines().collect();
                    let rows: Vec<String> =
                        lines.chunks(7).map(|row| format!("[{}]", row.join(", "))).collect();
                    format!("[{}]", rows.join(",\n")).into_bytes()
                }
                _ => elements,
            };
            fs::write(folder.join(&file), elements).expect("writes");
            let create = ["create", &new, "--shape", "5,7", "--chunks", "2,4", "--dtype"];
            succeed(folder, &[&create[..], &[&data_type, "--fill", &fill]].concat());
            succeed(folder, &["write", &new, "--from", &file]);
            let found = stdout(folder, &["read", &new, "-f", "raw"]);
            assert_eq!(found, expected, "{name} {format}");
        }
        // Encoded again in the other byte order, and checked.
        let copied = format!("{name}-copied");
        let codecs = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "bytes", "configuration": {"endian": "big"}}, {"name": "crc32c"}]"#;
        succeed(folder, &["copy", &source, &copied, "--chunks", "3,7", "--codecs", codecs]);
        assert_eq!(stdout(folder, &["read", &copied, "-f", "raw"]), expected, "{name}");
        let check = run(folder, &["check", &copied, "--data", "--json"]);
        let check: Value = serde_json::from_slice(&check.stdout).expect("JSON");
        assert_eq!((&check["errors"], &check["warnings"]), (&0.into(), &0.into()), "{name}");
    }
}

#[test]
fn numpy_files_of_big_endian_records_are_swapped_field_by_field() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let record = r#"{"name": "struct", "configuration": {"fields": [
        {"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "uint8"},
        {"name": "c", "data_type": "float64"}]}}"#;
    succeed(folder, &["create", "x", "--shape", "2", "--dtype", record]);
    let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    npy.extend(b"{'descr': [('a', '>i2'), ('b', '|u1'), ('c', '>f8')], 'fortran_order': False, ");
    npy.extend(b"'shape': (2,), }");
    npy.resize(127, b' ');
    npy.push(b'\n');
    for (a, b, c) in [(-2_i16, 7_u8, 0.1_f64), (300, 0, -1.5)] {
        npy.extend(a.to_be_bytes());
        npy.push(b);
        npy.extend(c.to_be_bytes());
    }
    fs::write(folder.join("x.npy"), npy).expect("writes");
    succeed(folder, &["write", "x", "--from", "x.npy"]);
    assert_eq!(text(folder, &["read", "x"]), "[  (-2, 7, 0.1) (300, 0, -1.5)]\n");
}

#[test]
fn types_are_given_as_json_or_by_numpys_names() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let time = r#"{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}"#;
    let commands: &[&[&str]] = &[
        &["create", "time", "--shape", "2", "--dtype", time],
        &["info", "time"],
        &["read", "time"],
        &["create", "m", "--shape", "2", "--dtype", "<M8[10us]"],
        &["create", "u", "--shape", "2", "--dtype", "U4"],
        &["create", "s", "--shape", "2", "--dtype", "|S5"],
        &["create", "x", "--shape", "2", "--dtype", "M8[sec]"],
        &["create", "x", "--shape", "2", "--dtype", "U"],
        &["create", "x", "--shape", "2", "--dtype", "numpy.datetime64"],
        &["create", "x", "--shape", "2", "--dtype", "{\"name\": \"struct\"}"],
        &["create", "x", "--shape", "2", "--dtype", time, "--fill", "today"],
        &["create", "x", "--shape", "2", "--dtype", time, "--fill", "NaT"],
    ];
    insta::assert_snapshot!(session(folder.path(), commands));
}
