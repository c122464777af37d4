//! `join`: months into years, tiles, plans, and errors.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use crate::support::{file, root, run, session, stdout, succeed, text};

const RANGE: &str = "fixtures/seattle-weather.zarr/temp_range_12bit";

/// The first twelve chunks of the fixture, each as an array in a folder of its own.
fn months(folder: &Path) -> Vec<String> {
    let document = fs::read(root().join(RANGE).join("zarr.json")).expect("reads");
    let document: Value = serde_json::from_slice(&document).expect("JSON");
    let days = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let names = (1..).zip(days).map(|(month, days): (u32, u32)| {
        let name = format!("2012-{month:02}.zarr");
        let mut own = document.clone();
        own["shape"] = serde_json::json!([days, 2]);
        own["chunk_grid"] = serde_json::json!({"name": "regular",
            "configuration": {"chunk_shape": [days, 2]}});
        let chunks = folder.join(&name).join("c/0");
        fs::create_dir_all(&chunks).expect("creates");
        fs::write(folder.join(&name).join("zarr.json"), own.to_string()).expect("writes");
        let chunk = root().join(RANGE).join(format!("c/{}/0", month - 1));
        fs::copy(chunk, chunks.join("0")).expect("copies");
        name
    });
    names.collect()
}

#[test]
fn twelve_months_are_linked_into_a_year() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let months = months(folder.path());
    let list = folder.path().join("months.txt");
    fs::write(&list, months.join("\n")).expect("writes");
    let all: Vec<&str> = months.iter().map(String::as_str).collect();
    let members: [Vec<&str>; 4] =
        [all, vec!["2012-*.zarr"], vec!["@months.txt"], vec!["--from", "months.txt"]];
    for (number, members) in members.iter().enumerate() {
        let target = format!("year-{number}.zarr");
        let mut arguments = vec!["join"];
        arguments.extend(members);
        arguments.extend(["--along", "time", "-o", &target, "--link", "--json"]);
        let done: Value =
            serde_json::from_slice(&run(folder.path(), &arguments).stdout).expect("JSON");
        assert_eq!((&done["linked"], &done["written"]), (&12.into(), &0.into()), "{done}");
        for (month, name) in months.iter().enumerate() {
            let joined = folder.path().join(&target).join(format!("c/{month}/0"));
            let member = folder.path().join(name).join("c/0/0");
            let inode = |path: &Path| fs::metadata(path).expect("is there").ino();
            assert_eq!(inode(&joined), inode(&member));
            let fixture = root().join(RANGE).join(format!("c/{month}/0"));
            assert_eq!(fs::read(joined).expect("reads"), fs::read(fixture).expect("reads"));
        }
        let raw = |folder: &Path, array: &str| {
            stdout(folder, &["read", array, "--region", "0:366", "-f", "raw"])
        };
        assert_eq!(raw(folder.path(), &target), raw(&root(), RANGE));
        succeed(folder.path(), &["check", &target, "--data"]);
    }
}

#[test]
fn the_plan_has_both_counts() {
    let folder = tempfile::tempdir().expect("makes a folder");
    months(folder.path());
    let create = |name: &str, length: &str| {
        let arguments = ["create", name, "--shape", length, "--dtype", "uint8", "--chunks", "4"];
        succeed(folder.path(), &[&arguments[..], &["--dims", "x"]].concat());
        let values = folder.path().join("values.raw");
        fs::write(&values, vec![1; length.parse().expect("a number")]).expect("writes");
        succeed(folder.path(), &["write", name, "--from", "values.raw"]);
    };
    create("a.zarr", "6");
    create("b.zarr", "7");
    let plan = ["join", "a.zarr", "b.zarr", "--along", "x", "--dry-run"];
    // A number that a parser would round, and one that it would refuse.
    let document = folder.path().join("a.zarr/zarr.json");
    let old = fs::read_to_string(&document).expect("reads");
    let attributes = r#"{"attributes": {"big": 123456789012345678901234567890, "none": NaN},"#;
    fs::write(&document, old.replacen('{', attributes, 1)).expect("writes");
    let json = text(folder.path(), &[&plan[..], &["--json"]].concat());
    fs::write(&document, old).expect("writes");
    assert!(json.contains(r#""big": 123456789012345678901234567890,"#), "{json}");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let array = &json["arrays"][0];
    assert_eq!(array["shape"], serde_json::json!([13]));
    assert_eq!((&array["moved"]["chunks"], &array["written"]["chunks"]), (&3.into(), &1.into()));
    assert_eq!(array["written"]["bytes"], 2);
    let edges = &array["zarr_json"]["chunk_grid"]["configuration"]["chunk_shapes"];
    assert_eq!(*edges, serde_json::json!([[4, 2, 4, 4]]));
    // Linked, so that what is said does not depend on the file system.
    let months = ["join", "2012-0[123].zarr", "--along", "time", "-o", "new.zarr", "--link"];
    insta::assert_snapshot!(session(
        folder.path(),
        &[
            &plan,
            &[&months[..], &["--dry-run"]].concat(),
            &months,
            &["info", "new.zarr"],
            &[
                "join",
                "a.zarr",
                "b.zarr",
                "--along",
                "x",
                "--chunks",
                "4",
                "-o",
                "regular.zarr",
                "--link"
            ],
            &["join", "a.zarr", "a.zarr", "--new-axis", "run", "-o", "runs.zarr", "--link"],
            &["read", "runs.zarr", "-f", "text"],
            &[
                "join", "a.zarr", "a.zarr", "a.zarr", "a.zarr", "--along", "x", "--grid", "4",
                "-o", "row.zarr", "--link"
            ],
        ]
    ));
}

#[test]
fn mistakes_name_the_member_and_leave_nothing() {
    let folder = tempfile::tempdir().expect("makes a folder");
    months(folder.path());
    let at = |name: &str| folder.path().join(name);
    succeed(folder.path(), &["attrs", "2012-02.zarr", "--set", "units=\"K\""]);
    fs::create_dir(at("empty")).expect("creates");
    succeed(folder.path(), &["create", "group.zarr", "--group"]);
    let join = |members: &[&'static str], rest: &[&'static str]| {
        [&["join"][..], members, rest, &["-o", "out.zarr"]].concat()
    };
    let along = ["--along", "time"];
    let sessions = [
        join(&["2012-01.zarr", "2012-02.zarr"], &along),
        join(&["2012-01.zarr", "2012-04.zarr"], &["--along", "limit"]),
        join(&["2012-01.zarr", "2012-03.zarr"], &["--along", "day"]),
        join(&["2012-01.zarr", "2012-03.zarr"], &["--along", "time,limit"]),
        join(&["2012-01.zarr", "2012-03.zarr"], &["--along", "time", "--grid", "2x1"]),
        join(&["2012-01.zarr", "2012-03.zarr"], &["--along", "time", "--grid", "3"]),
        join(&["2012-01.zarr", "2012-03.zarr"], &["--along", "time", "--grid", "auto"]),
        join(&["2012-01.zarr", "2012-03.zarr"], &["--new-axis", "run"]),
        join(&["2012-01.zarr", "group.zarr"], &along),
        join(&["2012-01.zarr", "none.zarr"], &along),
        join(&["2012-01.zarr", "empty"], &along),
        join(&["2013-*.zarr"], &along),
        join(&[], &along),
        join(&["@none.txt"], &along),
        join(&["2012-01.zarr"], &[]),
        join(&["group.zarr"], &along),
    ];
    let sessions: Vec<&[&str]> = sessions.iter().map(Vec::as_slice).collect();
    insta::assert_snapshot!(session(folder.path(), &sessions));
    assert!(!at("out.zarr").exists());

    let target = join(&["2012-01.zarr", "2012-03.zarr"], &along);
    succeed(folder.path(), &target);
    let again = run(folder.path(), &target);
    let message = String::from_utf8(again.stderr).expect("UTF-8");
    assert!(message.contains("out.zarr: there is a node here already"), "{message}");
    succeed(folder.path(), &[&target[..], &["--overwrite"]].concat());
}

/// Three months as groups: days since 2012, the temperature of each at two places, and the places.
fn groups(folder: &Path) {
    for (name, first, days) in [("jan", 0, 31), ("feb", 31, 29), ("mar", 60, 31)] {
        let array = |path: &str, shape: &str, dims: &str, values: Vec<u8>| {
            let path = format!("{name}.zarr/{path}");
            let create = ["create", &path, "--shape", shape, "--dtype", "uint8", "--dims", dims];
            succeed(folder, &create);
            fs::write(folder.join("values.raw"), values).expect("writes");
            succeed(folder, &["write", &path, "--from", "values.raw"]);
        };
        succeed(folder, &["create", &format!("{name}.zarr"), "--group"]);
        let days: Vec<u8> = (first..first + days).collect();
        let count = days.len();
        array("x", "2", "x", vec![10, 20]);
        array("temp", &format!("{count},2"), "time,x", days.repeat(2));
        array("time", &count.to_string(), "time", days);
    }
}

#[test]
fn groups_become_a_virtual_join() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    groups(folder);
    let months = ["join", "jan.zarr", "feb.zarr", "mar.zarr", "--along", "time"];
    let month = |rest: &[&'static str]| [&months[..], rest].concat();
    insta::assert_snapshot!(session(
        folder,
        &[
            &month(&["--virtual", "-o", "quarter.zjoin"]),
            &month(&["--virtual", "-o", "quarter.zjoin"]),
            &month(&["--virtual", "-o", "json.zjoin", "--json"]),
            &["tree", "quarter.zjoin"],
            &["info", "quarter.zjoin"],
            &["info", "quarter.zjoin/temp"],
            &["locate", "quarter.zjoin/temp", "31,1"],
            &["check", "quarter.zjoin", "--data"],
            &["join", "feb.zarr", "jan.zarr", "--along", "time", "--virtual", "-o", "a.zjoin"],
            &["join", "jan.zarr", "feb.zarr", "--along", "day", "--virtual", "-o", "a.zjoin"],
            &["join", "jan.zarr", "feb.zarr", "--new-axis", "run", "--virtual", "-o", "a.zjoin"],
        ],
    ));
    assert!(!folder.join("a.zjoin").exists());
    succeed(folder, &["copy", "quarter.zjoin", "copy.zarr"]);
    succeed(folder, &month(&["-o", "moved.zarr"]));
    let all: Vec<u8> = (0..91).collect();
    for place in ["quarter.zjoin", "copy.zarr", "moved.zarr"] {
        let read =
            |array: &str| stdout(folder, &["read", &format!("{place}/{array}"), "-f", "raw"]);
        assert_eq!(read("time"), all, "{place}");
        assert_eq!(read("x"), [10, 20], "{place}");
        assert_eq!(
            read("temp"),
            [&all[..31], &all[..31], &all[31..60], &all[31..60], &all[60..], &all[60..]].concat(),
            "{place}"
        );
        succeed(folder, &["check", place, "--data"]);
    }
    // The first member's, by which it is named.
    fs::remove_dir_all(folder.join("feb.zarr/temp")).expect("removes");
    let read = |array: &str| run(folder, &["read", &format!("quarter.zjoin/{array}"), "-f", "raw"]);
    assert!(read("time").status.success());
    let gone = String::from_utf8(read("temp").stderr).expect("UTF-8");
    assert!(gone.contains("feb.zarr/temp"), "{gone}");
}

#[test]
fn chunks_that_are_written_later_are_errors_unless_they_may_change() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let months = months(folder);
    let join = |rest: &[&'static str]| {
        let members = ["join", &months[0], &months[1], "--along", "time"];
        let members = members.map(str::to_owned).into_iter();
        members.chain(rest.iter().map(|word| (*word).to_owned())).collect::<Vec<_>>()
    };
    let all = [
        join(&["--virtual", "-o", "strict.zjoin"]),
        join(&["--virtual", "--chunks-may-change", "-o", "free.zjoin"]),
    ];
    for arguments in &all {
        succeed(folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let expected = stdout(folder, &["read", "strict.zjoin", "-f", "raw"]);
    assert_eq!(stdout(folder, &["read", "free.zjoin", "-f", "raw"]), expected);
    // 2096-10-02T07:06:40Z.
    let later = UNIX_EPOCH + Duration::from_secs(4_000_000_000);
    let chunk = folder.join("2012-02.zarr/c/0/0");
    let chunk = fs::File::options().write(true).open(chunk).expect("opens");
    chunk.set_modified(later).expect("sets");
    assert_eq!(stdout(folder, &["read", "free.zjoin", "-f", "raw"]), expected);
    succeed(folder, &["check", "free.zjoin", "--data"]);
    let shown = session(
        folder,
        &[
            &["read", "strict.zjoin", "--region", "30:32"],
            &["check", "strict.zjoin", "--data"],
            &["info", "strict.zjoin"],
            &["copy", "strict.zjoin", "copy.zarr"],
            &["join", "2012-01.zarr", "--along", "time", "--chunks-may-change", "-o", "x.zarr"],
        ],
    );
    assert!(!folder.join("copy.zarr/zarr.json").exists());
    insta::assert_snapshot!(without_join_time(&shown));
}

/// The time of the join is the host's.
fn without_join_time(text: &str) -> String {
    let mut parts = text.split("Z, after ");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (_, rest) = part.split_once('Z').expect("a time");
        shown.push_str(&format!("Z, after (time){rest}"));
    }
    shown
}

#[test]
fn an_unfinished_join_says_what_it_is() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let marker = r#"{"unfinished_copy": {
  "version": 1,
  "node": "array",
  "from": "/data/jan.zarr and 2 more",
  "work": "join",
  "step": "copying"
}}"#;
    file(folder, "begun/zarr-kit-copy.json", marker);
    insta::assert_snapshot!(session(folder, &[&["info", "begun"]]));
}

/// Places that are no folders are members by whatever names `info` and `read` take them.
#[test]
fn members_are_opened_by_the_names_that_they_are_written_by() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let fixtures = root().join("fixtures/references");
    let folder = folder.path();
    for name in ["january.nc", "february.nc"] {
        fs::copy(fixtures.join(name), folder.join(name)).expect("copies");
    }
    fs::copy(fixtures.join("v3.json"), folder.join("REFS.JSON")).expect("copies");
    fs::create_dir_all(folder.join("refs.parq/rain")).expect("makes folders");
    for file in [".zmetadata", "rain/refs.0.parq", "rain/refs.1.parq"] {
        fs::copy(fixtures.join("pyarrow.parq").join(file), folder.join("refs.parq").join(file))
            .expect("copies");
    }
    succeed(folder, &["copy", "REFS.JSON", "JAN.ZIP"]);
    let members = ["REFS.JSON/rain", "JAN.ZIP/rain", "refs.parq/rain"];
    let rain = fs::read(fixtures.join("rain.raw")).expect("a fixture");
    for (number, member) in members.into_iter().enumerate() {
        let joined = format!("{number}.zjoin");
        succeed(folder, &["join", member, member, "--along", "0", "--virtual", "-o", &joined]);
        let read = stdout(folder, &["read", &joined, "-f", "raw"]);
        assert_eq!(read, [&rain[..], &rain].concat(), "{member}");
    }
    // A folder is one, whatever its name.
    let months = months(folder);
    fs::rename(folder.join(&months[0]), folder.join("first.ZIP")).expect("renames");
    let join = ["join", "first.ZIP", &months[1], "--along", "time", "--virtual", "-o", "a.zjoin"];
    succeed(folder, &join);
    stdout(folder, &["read", "a.zjoin", "-f", "raw"]);
}

/// The message says what is needed before somebody opens it.
#[test]
fn a_virtual_join_of_members_outside_says_what_opens_it() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    for name in ["a.zarr", "b.zarr"] {
        succeed(folder, &["create", name, "--shape", "2", "--dtype", "int8", "--dims", "x"]);
    }
    std::fs::create_dir(folder.join("out")).expect("makes a folder");
    let join = |out| ["join", "a.zarr", "b.zarr", "--along", "x", "--virtual", "-o", out];
    insta::assert_snapshot!(session(
        folder,
        &[
            &join("out/j.zjoin"),
            &["read", "out/j.zjoin"],
            &["read", "out/j.zjoin", "--outside-members"],
            &join("j.zjoin"),
            &[&join("out/k.zjoin")[..], &["--outside-members"]].concat(),
        ],
    ));
}

/// Chunks of one length, which all programs read, for what they cost.
#[test]
fn groups_in_chunks_of_one_length() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    for (name, days) in [("jan", "31"), ("feb", "29")] {
        for (array, shape, dims) in [("t", format!("{days},2"), "time,x"), ("x", "2".into(), "x")] {
            let path = format!("{name}.zarr/{array}");
            let create = ["create", &path, "--parents", "--shape", &shape, "--chunks", &shape];
            succeed(folder, &[&create[..], &["--dtype", "uint8", "--dims", dims]].concat());
        }
        file(folder, "ones", vec![1; 2 * days.parse::<usize>().expect("a number")]);
        succeed(folder, &["write", &format!("{name}.zarr/t"), "--from", "ones"]);
    }
    let join = ["join", "jan.zarr", "feb.zarr", "--along", "time", "-o", "both.zarr"];
    let with = |more: &[&'static str]| [&join[..], more].concat();
    insta::assert_snapshot!(session(
        folder,
        &[
            &with(&["--portable"]),
            &with(&["--chunks", "time=40", "--dry-run"]),
            &with(&["--chunks", "time=40", "--portable"]),
            &["check", "both.zarr", "--data"],
            &with(&["--chunks", "tim=40", "--overwrite"]),
            &with(&["--chunks", "40", "--overwrite"]),
        ],
    ));
}

/// Two arrays of version 2 with this document and these chunks.
fn of_version_2(folder: &Path, names: [&str; 2], document: &str, chunks: &[(&str, &[u8])]) {
    for name in names {
        file(folder, &format!("{name}/.zarray"), document);
        for (key, bytes) in chunks {
            file(folder, &format!("{name}/{key}"), bytes);
        }
    }
}

/// `numcodecs.json2` stores the shape of a chunk, and can only be read.
#[test]
fn stacked_json_becomes_strings() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let document = r#"{"zarr_format": 2, "shape": [2, 2], "chunks": [2, 2], "dtype": "|O",
        "compressor": null, "fill_value": null, "order": "C", "filters": [{"id": "json2"}]}"#;
    let chunk = br#"[["1", null], ["[3]", {"a": 1}], "|O", [2, 2]]"#;
    of_version_2(folder, ["a", "b"], document, &[("0.0", chunk)]);
    succeed(folder, &["join", "a", "b", "--new-axis", "run", "-o", "both"]);
    succeed(folder, &["join", "a", "b", "--new-axis", "run", "--virtual", "-o", "both.zjoin"]);
    let [both, by_members] = ["both", "both.zjoin"].map(|name| text(folder, &["read", name]));
    assert_eq!(both, by_members);
    succeed(folder, &["check", "both", "--data"]);
    let refused = run(folder, &["export", "both.zjoin", "both.json"]);
    assert!(!refused.status.success(), "chunks of other bytes");
    // The line on readers tells of the copy's codecs.
    let copy = run(folder, &["copy", "a", "copy"]);
    let said = String::from_utf8_lossy(&copy.stderr).into_owned();
    assert!(copy.status.success() && !said.contains("json2"), "{said}");
}

/// Nothing is removed for a join that cannot be written.
#[test]
fn codecs_that_only_read_are_refused_before_anything_is_removed() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let document = r#"{"zarr_format": 2, "shape": [3], "chunks": [2], "dtype": "|b1",
        "compressor": null, "fill_value": false, "order": "C", "filters": [{"id": "packbits"}]}"#;
    let chunks: [(&str, &[u8]); 2] = [("0", &[6, 0b1100_0000]), ("1", &[6, 0b1000_0000])];
    of_version_2(folder, ["a", "b"], document, &chunks);
    succeed(folder, &["create", "old", "--shape", "2", "--dtype", "uint8"]);
    for more in ["--dry-run", "--overwrite"] {
        let join = run(folder, &["join", "a", "b", "--along", "0", "-o", "old", more]);
        let said = String::from_utf8_lossy(&join.stderr).into_owned();
        let expected = "can be read here but not written: not all chunks can be moved unchanged";
        assert!(!join.status.success() && said.contains(expected), "{said}");
        assert!(text(folder, &["info", "old"]).contains("uint8"));
    }
}

#[test]
fn names_of_dimensions_tell_arrays_apart() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = |name: &str, names: &[&str]| {
        let shape = vec!["2"; names.len()].join(",");
        let create = ["create", name, "--dtype", "int16", "--shape", &shape];
        succeed(folder, &[&create[..], &["--dims", &names.join(",")]].concat());
    };
    for group in ["a", "b"] {
        succeed(folder, &["create", group, "--group"]);
        create(&format!("{group}/t"), &["time"]);
    }
    create("a/flag", &["x"]);
    create("b/flag", &["time"]);
    let refused = |arguments: &[&str], expected: &str| {
        let join = run(folder, &[&["join"], arguments, &["-o", "both"]].concat());
        let said = String::from_utf8_lossy(&join.stderr).into_owned();
        assert!(!join.status.success() && said.contains(expected), "{arguments:?}: {said}");
    };
    // Neither group says that the flags are not joined.
    refused(&["a", "b", "--along", "time"], "dimension names");
    refused(&["b", "a", "--along", "time"], "dimension names");
    refused(&["a/t", "b/t", "--new-axis", "time"], "two dimensions have the name time");
    for group in ["a", "b"] {
        std::fs::remove_dir_all(folder.join(group).join("flag")).expect("removes");
        create(&format!("{group}/square"), &["time", "time"]);
    }
    refused(&["a", "b", "--along", "time"], "two dimensions have the name time");
}

/// `zarrs.squeeze` removes the new axis again.
#[test]
fn squeezed_members_are_stacked_unchanged() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let codecs = r#"[{"name": "zarrs.squeeze"},
        {"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes"}]"#;
    for (name, first) in [("a", 0), ("b", 6)] {
        let create = ["create", name, "--shape", "2,1,3", "--dtype", "uint8", "--chunks", "2,1,3"];
        succeed(folder, &[&create[..], &["--codecs", codecs]].concat());
        file(folder, "in.raw", (first..first + 6).collect::<Vec<u8>>());
        succeed(folder, &["write", name, "--from", "in.raw"]);
    }
    let join = run(folder, &["join", "a", "b", "--new-axis", "run", "-o", "both"]);
    let said = String::from_utf8_lossy(&join.stderr).into_owned();
    assert!(said.contains("2 chunks to move unchanged"), "{said}");
    let all: Vec<u8> = (0..12).collect();
    assert_eq!(stdout(folder, &["read", "both", "-f", "raw"]), all);
}

/// To join again would help nobody.
#[test]
fn check_says_what_opens_a_member_elsewhere() {
    let folder = tempfile::tempdir().expect("makes a folder");
    succeed(folder.path(), &["create", "a.zarr", "--shape", "2", "--dtype", "uint8"]);
    std::fs::create_dir(folder.path().join("in")).expect("makes a folder");
    let join = ["join", "a.zarr", "a.zarr", "--along", "0", "--virtual", "-o", "in/j.zjoin"];
    succeed(folder.path(), &join);
    let output = run(folder.path(), &["check", "in/j.zjoin"]);
    let said = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
    assert!(said.contains("it leads out of the folder"), "{said}");
    assert!(said.contains("next, for unusable-member: --outside-members"), "{said}");
}
