//! Parts of copies, checks and statistics, as a scheduler starts them.

use std::fs;

use crate::copy::files;
use crate::support::{file, run_with, session, stdout, succeed};

#[test]
fn of_a_copy_a_check_and_statistics() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a", "--shape", "1000", "--dtype", "int32", "--chunks", "100"];
    succeed(folder, &create);
    let elements: Vec<u8> = (0..1000_i32).flat_map(|n| (n * n % 777).to_le_bytes()).collect();
    assert!(run_with(folder, &["write", "a", "--from", "-"], &elements).status.success());
    succeed(folder, &["copy", "a", "whole", "--chunks", "70"]);
    let said = session(
        folder,
        &[
            &["copy", "a", "b", "--chunks", "70", "--part", "2/3"],
            &["copy", "a", "b", "--chunks", "70", "--part", "2/3"],
            &["info", "b"],
            &["copy", "a", "b", "--chunks", "70", "--part", "3/4"],
            &["copy", "a", "b", "--chunks", "80", "--part", "3/3"],
            &["copy", "a", "b", "--chunks", "70", "--resume"],
            &["copy", "a", "b", "--chunks", "70", "--part", "3/3", "--overwrite"],
            &["copy", "a", "b", "--chunks", "70", "--part", "0/3"],
            &["copy", "a", "c.zip", "--part", "1/3"],
            &["copy", "a", "b", "--chunks", "70", "--part", "3/3", "--json"],
            &["check", "b"],
            &["copy", "a", "b", "--chunks", "70", "--part", "1/3"],
            &["copy", "a", "b", "--chunks", "70", "--part", "3/3"],
            &["copy", "a", "b", "--chunks", "80", "--part", "3/3"],
            &["check", "b", "--data", "--part", "1/2"],
            &["check", "b", "--data", "--part", "2/2"],
            &["check", "b", "--part", "2/2"],
        ],
    );
    let here = folder.canonicalize().expect("is there").display().to_string();
    insta::assert_snapshot!("parts", said.replace(&here, ""));
    assert!(files(&folder.join("b")) == files(&folder.join("whole")));

    // Sums of floats depend on their order, in the last digits.
    let counted = |arguments: &[&str]| {
        let text = stdout(folder, arguments);
        let mut all: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        for name in ["mean", "std"] {
            let rounded = all[name].as_f64().map(|number| format!("{number:.9e}"));
            all[name] = rounded.into();
        }
        all
    };
    let whole = counted(&["stats", "a", "--json"]);
    let mut combine = vec!["stats", "a", "--json", "--combine"];
    let names = ["1.json", "2.json", "3.json"];
    for (part, name) in ["1/3", "2/3", "3/3"].iter().zip(names) {
        let one = stdout(folder, &["stats", "a", "--part", part, "--json"]);
        fs::write(folder.join(name), one).expect("writes");
        combine.push(name);
    }
    assert_eq!(counted(&combine), whole);
    file(folder, "hostile.json", r#"{"partial": {"part": "1/1", "data_type": "int32"}}"#);
    file(folder, "deep.json", "[".repeat(100_000));
    succeed(folder, &["create", "other", "--shape", "5", "--dtype", "int32"]);
    succeed(folder, &["create", "floats", "--shape", "5", "--dtype", "float32"]);
    insta::assert_snapshot!(
        "parts_combined",
        session(
            folder,
            &[
                &["stats", "a", "--combine", "3.json", "1.json", "2.json"],
                &["stats", "a", "--combine", "1.json", "2.json"],
                &["stats", "a", "--combine", "1.json", "1.json"],
                &["stats", "a", "--combine", "hostile.json"],
                &["stats", "a", "--combine", "deep.json"],
                &["stats", "a", "--combine", "missing.json"],
                &["stats", "other", "--combine", "3.json", "1.json", "2.json"],
                &["stats", "floats", "--combine", "3.json", "1.json", "2.json"],
                &["stats", "a", "--part", "1/3", "--region", "0:5"],
            ],
        )
    );
}
