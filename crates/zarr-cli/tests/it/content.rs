//! `stats` and `diff`.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{root, run, session, succeed, text};

/// Makes an array and writes elements, given as JSON.
fn make(folder: &Path, name: &str, options: &[&str], elements: &str) {
    succeed(folder, &[&["create", name], options].concat());
    fs::write(folder.join("elements.json"), elements).expect("writes");
    succeed(folder, &["write", name, "--from", "elements.json"]);
}

#[test]
fn statistics_of_real_data() {
    insta::assert_snapshot!(session(
        &root(),
        &[
            &["stats", "fixtures/seattle-weather.zarr/temp_max"],
            &["stats", "fixtures/seattle-weather.zarr/temp_max_12bit"],
            &["stats", "fixtures/seattle-weather.zarr/rain", "--json"],
            &["stats", "fixtures/seattle-weather.zarr/temp_max", "--region", "5"],
            &["stats", "fixtures/seattle-weather.zarr/temp_max", "--region", "5:5"],
            &["stats", "fixtures/seattle-weather.zarr"],
        ]
    ));
}

/// The same figures, one element after the other.
#[test]
fn statistics_are_those_of_a_plain_loop() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    // More than one block and more than one thread.
    let numbers: Vec<i64> =
        (0..700_000_i64).map(|n| (n * n * 7919 + 13) % 100_003 - 50_000).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    fs::write(at.join("numbers.raw"), bytes).expect("writes");
    succeed(at, &["create", "a", "--shape", "700000", "--dtype", "int64", "--chunks", "50000"]);
    succeed(at, &["write", "a", "--from", "numbers.raw"]);
    let json: Value = serde_json::from_str(&text(at, &["stats", "a", "--json"])).expect("JSON");
    assert_eq!(json["elements"], 700_000);
    assert_eq!(json["min"], *numbers.iter().min().expect("some"));
    assert_eq!(json["max"], *numbers.iter().max().expect("some"));
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<i64>() as f64 / count;
    let squares = numbers.iter().map(|n| (*n as f64 - mean).powi(2)).sum::<f64>();
    let close = |name: &str, expected: f64| {
        let found = json[name].as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-9 * expected.abs(), "{name}: {found}, {expected}");
    };
    close("mean", mean);
    close("std", (squares / count).sqrt());
    for row in json["histogram"].as_array().expect("rows") {
        let ends = row["from"].as_f64().expect("a number")..row["to"].as_f64().expect("a number");
        let within = numbers.iter().filter(|n| ends.contains(&(**n as f64))).count();
        assert_eq!(row["count"], within, "{row}");
    }
}

#[test]
fn elements_that_are_no_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let floats = ["--shape", "8", "--dtype", "float32", "--fill", "-1"];
    make(at, "floats", &floats, r#"[1, "NaN", "Infinity", -1, "-Infinity", 2.5, -1, "NaN"]"#);
    make(at, "nothing", &["--shape", "2", "--dtype", "float64"], r#"["NaN", "NaN"]"#);
    let attributes = r#"{"_FillValue": -999, "missing_value": [-998, 1.5, "x"], "scale_factor": 0.5,
        "add_offset": 10, "units": "K"}"#;
    let packed = ["--shape", "6", "--dtype", "int16", "--attributes", attributes];
    make(at, "packed", &packed, "[-999, 4, -998, 0, 8, 4]");
    let day = r#"{"name": "numpy.datetime64", "configuration": {"unit": "D", "scale_factor": 1}}"#;
    let times = ["--shape", "4", "--dtype", day];
    make(at, "times", &times, r#"["2012-01-01", "NaT", "2013-01-01", "2012-07-01"]"#);
    let most = ["--shape", "3", "--dtype", "uint64"];
    make(at, "most", &most, "[18446744073709551615, 18446744073709551614, 18446744073709551613]");
    make(at, "names", &["--shape", "1", "--dtype", "string"], r#"["a"]"#);
    make(at, "complex", &["--shape", "1", "--dtype", "complex64"], "[[1, 2]]");
    insta::assert_snapshot!(session(
        at,
        &[
            &["stats", "floats"],
            &["stats", "nothing"],
            &["stats", "packed"],
            &["stats", "packed", "--json"],
            &["stats", "times"],
            &["stats", "times", "--json"],
            &["stats", "most"],
            &["stats", "names"],
            &["stats", "complex"],
        ]
    ));
}

#[cfg(unix)]
#[test]
fn a_copy_is_the_same_until_an_element_changes() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let source = root().join("fixtures/seattle-weather.zarr");
    std::os::unix::fs::symlink(source.canonicalize().expect("a path"), at.join("w"))
        .expect("links");
    succeed(at, &["copy", "w", "same"]);
    succeed(at, &["copy", "w/daily", "other", "--chunks", "100,4"]);
    succeed(at, &["copy", "w/weather", "names"]);
    succeed(at, &["copy", "w", "changed"]);
    succeed(at, &["delete", "changed/wind", "--yes"]);
    succeed(at, &["create", "changed/wind", "--group"]);
    succeed(at, &["delete", "changed/rain", "--yes"]);
    succeed(at, &["attrs", "changed/daily", "--set", "units=\"\\u001b[31m\"", "--set", "new=1"]);
    fs::write(at.join("one.json"), "[[1, 2, 3, -400.5]]").expect("writes");
    succeed(at, &["write", "changed/daily", "--region", "700:701", "--from", "one.json"]);
    succeed(at, &["resize", "changed/time", "--shape", "1400"]);
    succeed(at, &["create", "changed/more", "--shape", "1", "--dtype", "int8"]);
    insta::assert_snapshot!(session(
        at,
        &[
            &["diff", "w", "same"],
            &["diff", "w/daily", "other"],
            &["diff", "w/daily", "other", "--json"],
            &["diff", "w/weather", "names"],
            &["diff", "w", "changed"],
            &["diff", "w", "changed", "--metadata-only"],
            &["diff", "w/daily", "changed/daily", "--json"],
            &["diff", "w/daily", "w/rain"],
            &["diff", "w/daily", "nowhere"],
        ]
    ));
}

#[test]
fn elements_are_compared_by_their_bits() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let floats = ["--shape", "2,2", "--dtype", "float32"];
    make(at, "a", &floats, r#"[[0.0, "NaN"], [1, 2]]"#);
    make(at, "b", &floats, r#"[[-0.0, "NaN"], [1, 5]]"#);
    make(at, "c", &floats, r#"[[0.0, "0x7fc00001"], [1, 2]]"#);
    make(at, "s", &["--shape", "2", "--dtype", "string"], r#"["a", "b\u001b"]"#);
    make(at, "t", &["--shape", "2", "--dtype", "string"], r#"["a", "c"]"#);
    insta::assert_snapshot!(session(
        at,
        &[&["diff", "a", "b"], &["diff", "a", "c"], &["diff", "a", "a"], &["diff", "s", "t"]]
    ));
}

/// What cannot be read is reported, and everything else is compared.
#[test]
fn what_cannot_be_read_is_not_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let floats = ["--shape", "2,2", "--dtype", "float32"];
    for root in ["one", "other"] {
        succeed(at, &["create", root, "--group"]);
        for name in ["corrupt", "unknown", "whole"] {
            make(at, &format!("{root}/{name}"), &floats, "[[1, 2], [3, 4]]");
        }
        let unknown = at.join(root).join("unknown/zarr.json");
        let document = fs::read_to_string(&unknown).expect("reads");
        fs::write(&unknown, document.replace("\"bytes\"", "\"example.rle\"")).expect("writes");
    }
    for root in ["old", "older"] {
        fs::create_dir_all(at.join(root).join("pickled")).expect("creates");
        fs::create_dir_all(at.join(root).join("whole")).expect("creates");
        fs::write(at.join(root).join(".zgroup"), r#"{"zarr_format": 2}"#).expect("writes");
        let document = |dtype: &str, filters: &str| {
            format!(
                r#"{{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "{dtype}",
                "order": "C", "compressor": null, "fill_value": null, "filters": {filters}}}"#
            )
        };
        let pickled = document("|O", r#"[{"id": "pickle", "protocol": 5}]"#);
        fs::write(at.join(root).join("pickled/.zarray"), pickled).expect("writes");
        fs::write(at.join(root).join("whole/.zarray"), document("|u1", "null")).expect("writes");
        let element = [u8::try_from(root.len()).expect("short")];
        fs::write(at.join(root).join("whole/0"), element).expect("writes");
    }
    fs::write(at.join("five.json"), "[[5]]").expect("writes");
    succeed(at, &["write", "other/whole", "--region", "0:1,0:1", "--from", "five.json"]);
    fs::write(at.join("other/corrupt/c/0/0"), "x").expect("writes");
    insta::assert_snapshot!(session(
        at,
        &[
            &["diff", "one", "other"],
            &["diff", "one", "other", "--json"],
            &["diff", "one", "one"],
            &["diff", "one/corrupt", "other/corrupt"],
            &["diff", "old", "older"],
            &["diff", "old/pickled", "older/pickled"],
        ]
    ));
}

/// By labels and by index, of arrays and of groups of which not all arrays have the axis.
#[cfg(unix)]
#[test]
fn a_region_limits_what_is_compared() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let source = root().join("fixtures/seattle-weather.zarr");
    std::os::unix::fs::symlink(source.canonicalize().expect("a path"), at.join("w"))
        .expect("links");
    succeed(at, &["copy", "w", "changed"]);
    fs::write(at.join("some.json"), "[[1, 2, 3, -400.5], [7, 7, 7, 7]]").expect("writes");
    succeed(at, &["write", "changed/daily", "--region", "700:702", "--from", "some.json"]);
    succeed(at, &["copy", "w", "short"]);
    succeed(at, &["delete", "short/time", "--yes"]);
    succeed(at, &["copy", "w/time", "short/time", "--chunks", "31"]);
    for array in ["short/time", "short/daily"] {
        succeed(at, &["rearrange", array, "--remove", "0:31"]);
    }
    insta::assert_snapshot!(session(
        at,
        &[
            &["diff", "w", "changed"],
            &["diff", "w", "changed", "--region", "time=2013-12-02"],
            &["diff", "w", "changed", "--region", "time=2013-12-02", "--json"],
            &["diff", "w", "changed", "--region", "time=2012"],
            &["diff", "w/daily", "changed/daily", "-r", "701,2:"],
            &["diff", "w/daily", "changed/daily", "-r", "701,9:"],
            &["diff", "w", "changed", "--region", "height=0"],
            &["diff", "w", "changed", "--region", "0:5"],
            &["diff", "w/daily", "short/daily"],
            &["diff", "short/daily", "changed/daily", "--json"],
            &["diff", "short", "changed", "--region", "time=2013-12"],
        ]
    ));
}

/// A region limits what is compared, also outside of nodes; what one folder hides is not said to be
/// missing.
#[test]
fn objects_outside_of_nodes_are_compared_where_all_are_seen() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let at = folder.path();
    for name in ["one.zarr", "other.zarr"] {
        succeed(at, &["create", name, "--group"]);
        let array = format!("{name}/a");
        succeed(at, &["create", &array, "--shape", "3", "--dtype", "int8", "--dims", "x"]);
        fs::write(at.join(name).join("table.bin"), name.replace("one", "eno")).expect("writes");
        fs::write(at.join(name).join("same.bin"), "same").expect("writes");
    }
    let text = |arguments: &[&str]| {
        let done = run(at, arguments);
        (done.status.code(), String::from_utf8(done.stdout).expect("UTF-8"))
    };
    let different = text(&["diff", "one.zarr", "other.zarr"]);
    assert_eq!(different, (Some(1), "table.bin: size: 8 bytes | 10 bytes\n".to_owned()));
    let region = text(&["diff", "one.zarr", "other.zarr", "--region", "x=0:2"]);
    assert_eq!(region, (Some(0), String::new()));
    fs::create_dir(at.join("one.zarr/b")).expect("makes a folder");
    fs::write(at.join("one.zarr/b/zarr-kit-copy.json"), "{}").expect("writes");
    let (status, said) = text(&["diff", "one.zarr", "other.zarr"]);
    assert!(!said.contains("same.bin") && said.contains("b"), "{said}");
    assert_ne!(status, Some(0));
}
