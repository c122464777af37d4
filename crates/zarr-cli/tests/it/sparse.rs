//! Reports of arrays that have far more chunks than objects.

use std::path::Path;

use serde_json::Value;

use crate::support::{file, run, session, succeed, text};

/// Makes an array, and writes one element at each of these places.
fn make(folder: &Path, name: &str, options: &[&str], elements: &[(&str, i64)]) {
    succeed(folder, &[&["create", name], options].concat());
    for (region, element) in elements {
        file(folder, "element.json", format!("[[{element}]]"));
        succeed(folder, &["write", name, "--region", region, "--from", "element.json"]);
    }
}

/// A million times a million chunks: a report that asked for each would not end.
#[test]
fn reports_of_a_trillion_chunks_take_time_for_those_that_are_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let create = |fill| {
        let shape = ["--shape", "4000000,1000000000", "--chunks", "4,1000"];
        [&shape[..], &["--dtype", "float64", "--fill", fill]].concat()
    };
    let stored = [("5:6,2001:2002", 5), ("9:10,9:10", -7), ("3999999:,999999999:", 40)];
    make(at, "a", &create("0"), &stored);
    make(at, "b", &create("0"), &[stored[0], ("9:10,9:10", 3), stored[2]]);
    make(at, "nan", &create("\"NaN\""), &stored);
    make(at, "filled", &create("1"), &[("0:1,0:1", 0)]);
    // More elements than a count holds.
    let shape = "1000000000000,1000000000000";
    let most = ["--shape", shape, "--chunks", "1000000,1000000", "--dtype", "uint8"];
    make(at, "beyond", &most, &[]);
    insta::assert_snapshot!(session(
        at,
        &[
            &["stats", "a"],
            &["stats", "a", "--json"],
            &["stats", "a", "--region", "-1:9:-5,9::2"],
            &["stats", "nan"],
            &["diff", "a", "a"],
            &["diff", "a", "b"],
            &["diff", "a", "filled"],
            &["diff", "nan", "a"],
            &["stats", "beyond"],
            &["diff", "beyond", "beyond"],
        ]
    ));
}

/// Chunks all over a trillion are hardly ever stored: advice is of those that are.
#[test]
fn advice_is_of_stored_chunks() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let shape = ["--shape", "4000000,1000000000", "--chunks", "4,1000", "--dtype", "int16"];
    make(at, "a", &shape, &[("5:6,2001:2002", 5), ("9:10,9:10", -7), ("3999999:,999999999:", 40)]);
    let sampled = |region: &str| {
        let json = text(at, &["advise", "a", "--region", region, "--json"]);
        let json: Value = serde_json::from_str(&json).expect("JSON");
        json["sample"]["chunks"].clone()
    };
    assert_eq!((sampled(":,:"), sampled("8:,:")), (3.into(), 2.into()));
}

/// The reports of an array that stores few chunks are those of the same elements in one chunk.
#[test]
fn reports_do_not_depend_on_what_is_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let one =
        [("0:1,0:1", 3), ("0:1,1:2", -5), ("50:51,77:78", 9), ("99:,99:", 9), ("98:99,1:2", 2)];
    let other = [("0:1,0:1", 3), ("50:51,76:77", 8), ("50:51,77:78", 1), ("99:,0:1", 2)];
    for (name, chunks) in [("sparse", "2,3"), ("dense", "100,100")] {
        let options =
            |fill| ["--shape", "100,100", "--chunks", chunks, "--dtype", "int16", "--fill", fill];
        make(at, &format!("{name}-one"), &options("7"), &one);
        make(at, &format!("{name}-other"), &options("7"), &other);
        make(at, &format!("{name}-filled"), &options("-8"), &other);
    }
    for array in ["one", "filled"] {
        for region in [":,:", "3:,:", "::3,::-7", "50,:", "0:2,0:3", "::-1,1::2", "1:,[0,77,99,5]"]
        {
            let stats = |of: &str| -> Value {
                let array = format!("{of}-{array}");
                let json = text(at, &["stats", &array, "--region", region, "--json"]);
                serde_json::from_str(&json).expect("JSON")
            };
            let (mut sparse, mut dense) = (stats("sparse"), stats("dense"));
            for name in ["mean", "std"] {
                // Sums in another order.
                let (a, b) = (sparse[name].as_f64(), dense[name].as_f64());
                let (a, b) = (a.expect("a number"), b.expect("a number"));
                assert!((a - b).abs() <= 1e-12 * b.abs(), "{array} {region} {name}: {a} {b}");
            }
            for json in [&mut sparse, &mut dense] {
                let members = json.as_object_mut().expect("an object");
                members.retain(|name, _| !["array", "mean", "std"].contains(&name.as_str()));
            }
            assert_eq!(sparse, dense, "{array} {region}");
        }
    }
    let diff = |of: &str, other: &str| {
        let [one, other] = [format!("{of}-one"), format!("{of}-{other}")];
        let output = run(at, &["diff", &one, &other, "--json"]);
        let text = String::from_utf8(output.stdout).expect("UTF-8").replace(&format!("{of}-"), "");
        let mut document: Value = serde_json::from_str(&text).expect("JSON");
        // Boxes around the differences depend on the order of reading.
        for difference in document["differences"].as_array_mut().expect("a list") {
            difference.as_object_mut().expect("an object").remove("regions");
        }
        document
    };
    for other in ["one", "other", "filled"] {
        assert_eq!(diff("sparse", other), diff("dense", other), "{other}");
    }
}
