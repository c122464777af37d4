//! `rearrange`, and `check --repair` of one that was interrupted.

use std::path::Path;

use crate::support::{file, run_with, session, stdout, succeed, text};

fn array(folder: &Path, name: &str, shape: &str, chunks: &str, values: &[u8]) {
    let codecs = ["--codecs", r#"[{"name": "bytes"}]"#];
    let create =
        ["create", name, "--shape", shape, "--dtype", "uint8", "--chunks", chunks, "--dims", "day"];
    succeed(folder, &[&create[..], &codecs].concat());
    let written = run_with(folder, &["write", name, "--format", "raw", "--from", "-"], values);
    assert!(written.status.success());
}

#[test]
fn chunks_are_removed_reordered_and_inserted() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    array(folder, "a", "9", "2|3|4", &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    array(folder, "b", "2", "2", &[50, 51]);
    array(folder, "r", "6", "2", &[1, 2, 3, 4, 5, 6]);
    let other = ["create", "f", "--shape", "2", "--dtype", "float32", "--dims", "day"];
    succeed(folder, &other);
    let read = |name: &'static str| ["read", name, "-f", "json"];
    insta::assert_snapshot!(session(
        folder,
        &[
            &["rearrange", "a", "--remove", "0:2", "--dry-run", "--json"],
            &["rearrange", "a", "--axis", "day", "--remove", "2:5", "--dry-run"],
            &["rearrange", "a", "--axis", "day", "--remove", "2:5"],
            &read("a"),
            &["rearrange", "a", "--order", "-4:,:2"],
            &read("a"),
            &["rearrange", "a", "--insert", "b", "--at", "4", "--json"],
            &read("a"),
            &["check", "a", "--data"],
            // A regular grid, and what it becomes.
            &["rearrange", "r", "--order", "4:,:2"],
            &["rearrange", "r", "--insert", "a", "--at", "2"],
            &read("r"),
            // What cannot be.
            &["rearrange", "a", "--remove", "0:1"],
            &["rearrange", "a", "--remove", "0:8"],
            &["rearrange", "a", "--remove", "3"],
            &["rearrange", "a", "--order", "0:8:2"],
            &["rearrange", "a", "--order", "0:4,0:4"],
            &["rearrange", "a", "--axis", "x", "--remove", "0:4"],
            &["rearrange", "a", "--insert", "f", "--at", "0"],
            &["rearrange", "a", "--insert", "b", "--at", "9"],
            &["rearrange", "a", "--insert", "b", "--at", "one"],
            &["rearrange", "a", "--insert", "b"],
            &["rearrange", "a"],
            &["rearrange", "a", "--remove", "0:4", "--order", "0:4"],
        ],
    ));
}

/// What an interrupted rearrangement puts beside the chunks of an array.
const MARKER: &str = r#"{"unfinished_rearrangement": {
  "version": 1,
  "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
  "step": "leaving"
}}
"#;

#[test]
fn what_an_interrupted_rearrangement_left_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    for group in ["g", "group"] {
        succeed(folder, &["create", group, "--group"]);
    }
    for name in ["new", "g/old", "old"] {
        array(folder, name, "4", "2", &[1, 2, 3, 4]);
    }
    for name in ["g/old", "old"] {
        file(folder, &format!("{name}/zarr-kit-rearrange.json"), MARKER);
    }
    insta::assert_snapshot!(session(
        folder,
        &[
            &["copy", "new", "old", "--overwrite"],
            &["copy", "group", "g", "--overwrite"],
            &["check", "old", "--repair"],
            &["copy", "new", "old", "--overwrite"],
        ],
    ));
}

/// The two kinds of what a killed process leaves, made by hand.
#[test]
fn check_repairs_what_was_interrupted() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g", "--group"]);
    for name in ["g/old", "g/new"] {
        array(folder, name, "6", "2", &[1, 2, 3, 4, 5, 6]);
    }
    succeed(folder, &["consolidate", "g"]);
    file(folder, "g/old/zarr-kit-rearrange.json", MARKER);
    file(folder, "g/old/c.0", [9, 9]);
    // The new array has the other keys; what is left of the old one is its first chunk.
    let document = std::fs::read_to_string(folder.join("g/new/zarr.json")).expect("is there");
    let encoding =
        r#""chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}"#;
    let renamed = document.replace(r#""separator": "/""#, r#""separator": ".""#);
    assert_ne!(renamed, document, "{encoding} in {document}");
    file(folder, "g/new/zarr.json", renamed);
    file(folder, "g/new/zarr-kit-rearrange.json", MARKER);
    for (chunk, values) in [(0, [3, 4]), (1, [5, 6]), (2, [1, 2])] {
        file(folder, &format!("g/new/c.{chunk}"), values);
    }
    insta::assert_snapshot!(session(
        folder,
        &[
            &["check", "g", "--data"],
            &["rearrange", "g/old", "--remove", "0:2"],
            &["copy", "g/old", "copy"],
            &["read", "g/new", "-f", "json"],
            &["check", "g", "--data", "--repair"],
            &["read", "g/old", "-f", "json"],
            &["read", "g/new", "-f", "json"],
        ],
    ));
    assert!(folder.join("g/new/c/2").is_file() && !folder.join("g/new/c.2").exists());
    assert!(!folder.join("g/old/c.0").exists());
    // Damaged, or not ours: nothing is removed.
    file(folder, "g/new/zarr-kit-rearrange.json", "?");
    let found = session(folder, &[&["check", "g"], &["check", "g", "--repair"]]);
    assert!(found.contains("the marker is not understood"), "{found}");
    assert!(found.contains("not repaired") && !found.contains("exit status 2"), "{found}");
}

#[test]
fn the_arrays_of_a_group_are_rearranged_together() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    for (group, days, chunks) in [("g", "9", "2|3|4"), ("h", "2", "2")] {
        succeed(folder, &["create", group, "--group"]);
        let values: Vec<u8> = (1..=9).map(|n| if group == "g" { n } else { 50 + n }).collect();
        let values = &values[..days.parse().expect("a number")];
        array(folder, &format!("{group}/day"), days, chunks, values);
        array(folder, &format!("{group}/rain"), days, days, values);
    }
    array(folder, "g/even", "9", "1", &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    array(folder, "h/even", "2", "1", &[51, 52]);
    succeed(folder, &["consolidate", "g"]);
    let read = |name: &'static str| ["read", name, "-f", "json"];
    let session = session(
        folder,
        &[
            &["rearrange", "g", "--axis", "day", "--remove", "2:5"],
            &["rearrange", "g", "--axis", "height", "--remove", "2:5"],
            &["rearrange", "g", "--remove", "2:5"],
            &["delete", "g/rain", "--yes"],
            &["rearrange", "g", "--axis", "day", "--insert", "h", "--at", "9"],
            &["delete", "h/rain", "--yes"],
            &["rearrange", "g", "--axis", "day", "--order", "5:,:2", "--dry-run"],
            &["rearrange", "g", "--axis", "day", "--order", "5:,:2", "--dry-run", "--json"],
            &read("g/day"),
            &["rearrange", "g", "--axis", "day", "--order", "5:,:2"],
            &read("g/day"),
            &["rearrange", "g", "--axis", "day", "--insert", "h", "--at", "4", "--json"],
            &read("g/day"),
            &read("g/even"),
            &["check", "g", "--data"],
        ],
    );
    insta::assert_snapshot!(session);
    let group = std::fs::read_to_string(folder.join("g/zarr.json")).expect("is there");
    let group: serde_json::Value = serde_json::from_str(&group).expect("JSON");
    assert_eq!(group["consolidated_metadata"]["metadata"]["day"]["shape"][0], 8);
}

/// Rows under other latitudes would have wrong coordinates in silence.
#[test]
fn a_group_with_other_elements_beside_the_dimension_is_not_inserted() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (group, lat, more) in [("a", [1, 2, 3], ""), ("b", [3, 2, 1], ""), ("c", [1, 2, 3], "c/x")]
    {
        succeed(at, &["create", group, "--group"]);
        array(at, &format!("{group}/v"), "2", "2", &[0, 1]);
        array(at, &format!("{group}/lat"), "3", "3", &lat);
        succeed(at, &["attrs", &format!("{group}/lat"), "--set", "units=\"degrees\""]);
        file(at, &format!("{group}/lat/zarr.json"), with_dimension(at, group, "lat"));
        if !more.is_empty() {
            array(at, more, "1", "1", &[7]);
            file(at, "c/x/zarr.json", with_dimension(at, group, "x"));
        }
    }
    insta::assert_snapshot!(session(
        at,
        &[
            &["append", "a", "b", "--axis", "day"],
            &["rearrange", "a", "--axis", "day", "--insert", "b", "--at", "end"],
            &["append", "a", "c", "--axis", "day"],
            &["append", "c", "a", "--axis", "day"],
            &["delete", "c/x", "--yes"],
            &["append", "a", "c", "--axis", "day"],
            &["read", "a/v"],
        ]
    ));
}

/// The document of an array whose dimension has the array's name.
fn with_dimension(at: &Path, group: &str, name: &str) -> String {
    let document = std::fs::read_to_string(at.join(format!("{group}/{name}/zarr.json")));
    document.expect("reads").replace(r#"["day"]"#, &format!(r#"["{name}"]"#))
}

/// What a killed process leaves in a group, made by hand.
#[test]
fn a_group_without_coordinates_is_rearranged_by_indices() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for group in ["u", "v"] {
        succeed(at, &["create", group, "--group"]);
        for name in ["a", "b"] {
            array(at, &format!("{group}/{name}"), "8", "2", &[0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }
    succeed(at, &["rearrange", "u", "--axis", "day", "--remove", "2:4"]);
    succeed(at, &["rearrange", "u", "--axis", "day", "--insert", "v", "--at", "2"]);
    succeed(at, &["append", "u", "v", "--axis", "day"]);
    let expected = [0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7];
    for name in ["u/a", "u/b"] {
        assert_eq!(stdout(at, &["read", name, "-f", "raw"]), expected);
    }
    let labels = ["rearrange", "u", "--axis", "day", "--remove", "spring"];
    insta::assert_snapshot!(session(
        at,
        &[&labels[..], &["rearrange", "u", "--axis", "day", "--insert", "v", "--at", "spring"]]
    ));
}

#[test]
fn check_repairs_the_rearrangement_of_a_group() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g", "--group"]);
    for name in ["g/old", "g/new"] {
        array(folder, name, "6", "2", &[1, 2, 3, 4, 5, 6]);
    }
    let of_group = |step: &str| {
        format!(
            "{{\"unfinished_rearrangement_of_arrays\": {{\n  \"version\": 1,\n  \"step\": \
             \"{step}\"\n}}}}\n"
        )
    };
    let encoding = |separator: char| {
        format!(r#"{{"name": "default", "configuration": {{"separator": "{separator}"}}}}"#)
    };
    // Chunk 2 comes first, and chunk 0 is dropped.
    let document = std::fs::read_to_string(folder.join("g/old/zarr.json")).expect("is there");
    let document = document.replace(r#""separator": "/""#, r#""separator": ".""#);
    let document = document.replace("6", "4");
    let marker = format!(
        "{{\"unfinished_rearrangement\": {{\n  \"version\": 1,\n  \"chunk_key_encoding\": {},\n  \
         \"step\": \"leaving\",\n  \"group\": \"..\",\n  \"axis\": 0,\n  \"length\": 6,\n  \"spans\": \
         \"4:6,2:4\",\n  \"document\": {document}\n}}}}\n",
        encoding('/')
    );
    for name in ["old", "new"] {
        file(folder, &format!("g/{name}/zarr-kit-rearrange.json"), &marker);
    }
    file(folder, "g/new/zarr.json", &document);
    for (chunk, values) in [(0, [5, 6]), (1, [3, 4])] {
        file(folder, &format!("g/new/c.{chunk}"), values);
        file(folder, &format!("g/old/c.{chunk}"), [9, 9]);
    }
    file(folder, "g/zarr-kit-rearrange.json", of_group("switching"));
    insta::assert_snapshot!(session(
        folder,
        &[
            &["check", "g", "--data"],
            &["rearrange", "g", "--axis", "day", "--remove", "0:2"],
            &["copy", "g", "copy"],
            &["check", "g/old", "--repair", "--data"],
            &["check", "g", "--repair", "--data", "--json"],
            &["read", "g/old", "-f", "json"],
            &["read", "g/new", "-f", "json"],
        ],
    ));
    assert!(!folder.join("g/zarr-kit-rearrange.json").exists());
    assert!(folder.join("g/old/c/1").is_file() && !folder.join("g/old/c/2").exists());
    // Damaged, or not ours: nothing is removed.
    for (group, array) in [("?", None), (&*of_group("leaving"), Some("?"))] {
        file(folder, "g/zarr-kit-rearrange.json", group);
        if let Some(array) = array {
            file(folder, "g/old/zarr-kit-rearrange.json", array);
        }
        let found = session(folder, &[&["check", "g"], &["check", "g", "--repair"]]);
        assert!(found.contains("the marker is not understood"), "{found}");
        assert!(found.contains("not repaired") && !found.contains("exit status 2"), "{found}");
    }
}

#[test]
fn consolidated_metadata_follows_and_archives_are_refused_whole() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g", "--group"]);
    array(folder, "g/a", "6", "2", &[1, 2, 3, 4, 5, 6]);
    succeed(folder, &["consolidate", "g"]);
    succeed(folder, &["rearrange", "g/a", "--remove", "0:2"]);
    let group = std::fs::read_to_string(folder.join("g/zarr.json")).expect("is there");
    let group: serde_json::Value = serde_json::from_str(&group).expect("JSON");
    let listed = &group["consolidated_metadata"]["metadata"]["a"];
    assert_eq!(listed["shape"][0], 4);
    assert_eq!(listed["chunk_key_encoding"]["configuration"]["separator"], "/");
    succeed(folder, &["check", "g", "--data"]);

    succeed(folder, &["copy", "g/a", "a.zip"]);
    let before = text(folder, &["read", "a.zip", "-f", "json"]);
    let refused = session(folder, &[&["rearrange", "a.zip", "--remove", "0:2"]]);
    assert!(refused.contains("exit status 2"), "{refused}");
    assert_eq!(text(folder, &["read", "a.zip", "-f", "json"]), before);
    succeed(folder, &["check", "a.zip", "--data"]);
}

#[test]
fn members_of_virtual_joins_are_removed_reordered_and_inserted() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    array(folder, "a.zarr", "2", "2", &[1, 2]);
    array(folder, "b.zarr", "3", "2", &[3, 4, 5]);
    array(folder, "c.zarr", "4", "4", &[6, 7, 8, 9]);
    for (group, member) in [("g", "a.zarr"), ("h", "b.zarr"), ("i", "c.zarr")] {
        succeed(folder, &["create", group, "--group"]);
        succeed(folder, &["copy", member, &format!("{group}/day")]);
        succeed(folder, &["copy", member, &format!("{group}/rain")]);
    }
    succeed(folder, &["create", "f", "--shape", "2", "--dtype", "float32", "--dims", "day"]);
    succeed(folder, &["create", "e", "--group"]);
    let read = |name: &'static str| ["read", name, "-f", "json"];
    insta::assert_snapshot!(session(
        folder,
        &[
            &["join", "a.zarr", "b.zarr", "c.zarr", "--along", "day", "--virtual", "-o", "j.zjoin"],
            &["rearrange", "j.zjoin", "--axis", "day", "--remove", ":2", "--dry-run", "--json"],
            &read("j.zjoin"),
            &["rearrange", "j.zjoin", "--axis", "day", "--remove", ":2"],
            &read("j.zjoin"),
            &["rearrange", "j.zjoin", "--order", "3:,:3"],
            &read("j.zjoin"),
            &["rearrange", "j.zjoin", "--insert", "a.zarr", "--at", "4"],
            &read("j.zjoin"),
            &["check", "j.zjoin", "--data"],
            // A group: all arrays with the dimension, in one step.
            &["join", "g", "h", "i", "--along", "day", "--virtual", "-o", "k.zjoin"],
            &["rearrange", "k.zjoin", "--axis", "day", "--order", "5:,:2"],
            &read("k.zjoin/day"),
            &read("k.zjoin/rain"),
            &["rearrange", "k.zjoin/rain", "--axis", "day", "--remove", "4:"],
            &["tree", "k.zjoin"],
            // What cannot be.
            &["rearrange", "k.zjoin", "--axis", "day", "--remove", "4:"],
            &["rearrange", "k.zjoin", "--axis", "x", "--remove", "4:"],
            &["rearrange", "k.zjoin", "--remove", "4:"],
            &["rearrange", "k.zjoin/no", "--remove", "4:"],
            &["rearrange", "k.zjoin/day", "--remove", ":"],
            &["rearrange", "k.zjoin/day", "--remove", ":1"],
            &["rearrange", "k.zjoin/day", "--order", "4:,4:"],
            &["rearrange", "k.zjoin", "--axis", "day", "--insert", "a.zarr", "--at", "0"],
            &["rearrange", "j.zjoin", "--insert", "f", "--at", "0"],
            &["rearrange", "j.zjoin", "--insert", "g", "--at", "0"],
            &["rearrange", "j.zjoin", "--insert", "j.zjoin", "--at", "0"],
            &["rearrange", "no.zjoin", "--remove", ":2"],
            // A group into a group.
            &["join", "g", "i", "--along", "day", "--virtual", "-o", "l.zjoin"],
            &["rearrange", "l.zjoin", "--axis", "day", "--insert", "h", "--at", "2"],
            &read("l.zjoin/day"),
            &read("l.zjoin/rain"),
            &["rearrange", "l.zjoin", "--axis", "day", "--insert", "e", "--at", "2"],
            &["rearrange", "l.zjoin", "--axis", "day", "--insert", "k.zjoin", "--at", "2"],
            &["check", "l.zjoin", "--data"],
        ],
    ));
}

/// The labels are those of the coordinate: beside an array, in a group, and in a virtual join.
#[test]
fn ranges_and_edges_are_labels_too() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let units = r#"{"units": "days since 2012-01-01"}"#;
    for (name, days) in [("g", 0..91_u8), ("h", 91..95)] {
        let length = days.len().to_string();
        let edges = if name == "g" { "31|29|31" } else { "4" };
        for path in ["time", "v"] {
            let array = format!("{name}.zarr/{path}");
            let create = ["create", &array, "--parents", "--shape", &length, "--dtype", "uint8"];
            let rest = ["--chunks", edges, "--dims", "time", "--attributes", units];
            succeed(folder, &[&create[..], &rest].concat());
            let values: Vec<u8> = days.clone().collect();
            assert!(
                run_with(folder, &["write", &array, "--format", "raw", "--from", "-"], &values)
                    .status
                    .success()
            );
        }
    }
    for member in ["g", "h"] {
        succeed(folder, &["copy", &format!("{member}.zarr/v"), &format!("{member}-v.zarr")]);
    }
    let join = ["join", "g.zarr", "h.zarr", "--along", "time", "--virtual", "-o", "all.zjoin"];
    succeed(folder, &join);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["rearrange", "all.zjoin", "--along", "time", "--remove", "2012-04"],
            &["read", "all.zjoin/v", "-r", "-2:"],
            &["locate", "g.zarr/v", "time=2012-02-01"],
            &["locate", "g.zarr/v", "time=2012-02"],
            &["locate", "g.zarr/v", "time=2013-02-01"],
            &["rearrange", "g.zarr/v", "--axis", "time", "--remove", "2012-02", "--dry-run"],
            &["rearrange", "g.zarr", "--axis", "time", "--order", "2012-03,@2012-01:2012-02"],
            &["read", "g.zarr/time", "-r", "30:33"],
            &["rearrange", "g.zarr", "--axis", "time", "--insert", "h.zarr", "--at", "end"],
            &["rearrange", "g.zarr", "--axis", "time", "--remove", "-4:"],
            &["rearrange", "g.zarr", "--axis", "time", "--remove", "2012-03-05"],
            &["rearrange", "g.zarr", "--axis", "time", "--remove", "2014"],
            &["rearrange", "g.zarr", "--axis", "time", "--insert", "h.zarr", "--at", "2012-01-01"],
            &["rearrange", "g.zarr", "--axis", "time", "--insert", "h.zarr", "--at", "March"],
            &["rearrange", "h-v.zarr", "--axis", "time", "--insert", "g-v.zarr", "--at", "first"],
        ],
    ));
}

/// Monthly stores as Xarray writes them: times since the first of each.
#[test]
fn arrays_and_groups_are_appended_with_times_in_the_units_of_the_first() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let months =
        [("jan", "2012-01-01", "3"), ("feb", "2012-02-01", "2"), ("mar", "2012-03-01", "1")];
    for (name, since, length) in months {
        for (path, units) in [("time", format!("days since {since}")), ("v", "mm".to_owned())] {
            let array = format!("{name}.zarr/{path}");
            let create = ["create", &array, "--parents", "--shape", length, "--dtype", "int16"];
            let units = format!(r#"{{"units": "{units}"}}"#);
            let rest = ["--chunks", length, "--dims", "time", "--attributes", &units];
            succeed(folder, &[&create[..], &rest].concat());
            let length: i16 = length.parse().expect("a number");
            let values: Vec<u8> = (0..length).flat_map(i16::to_le_bytes).collect();
            assert!(
                run_with(folder, &["write", &array, "--format", "raw", "--from", "-"], &values)
                    .status
                    .success()
            );
        }
    }
    let hours = ["attrs", "mar.zarr/time", "--set", r#"units="hours since 2012-03-01 06:00:00""#];
    insta::assert_snapshot!(session(
        folder,
        &[
            &["append", "jan.zarr/v", "feb.zarr/v", "mar.zarr/v", "--json"],
            &["read", "jan.zarr/v"],
            &["rearrange", "jan.zarr/v", "--remove", "3:"],
            &["append", "jan.zarr", "feb.zarr", "mar.zarr"],
            &["append", "jan.zarr", "feb.zarr", "mar.zarr", "--along", "time"],
            // Again: the month is there.
            &["append", "jan.zarr", "mar.zarr", "--axis", "time"],
            &["join", "jan.zarr", "mar.zarr", "--along", "time", "-o", "twice.zarr"],
            &["read", "jan.zarr/time"],
            &["read", "jan.zarr/v"],
            &["check", "jan.zarr", "--data"],
            &["copy", "feb.zarr/time", "t.zarr"],
            &["append", "t.zarr", "mar.zarr/time"],
            &["read", "t.zarr"],
            &hours,
            &["append", "jan.zarr", "mar.zarr", "--axis", "time"],
            &["read", "jan.zarr/time"],
            &["append", "jan.zarr/time", "mar.zarr/time"],
            &["append", "jan.zarr/v", "mar.zarr/v", "--from", "x"],
            &["append", "jan.zarr/v"],
        ],
    ));
}
