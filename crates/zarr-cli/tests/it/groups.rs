//! Groups: made, shown, changed, consolidated and deleted.

use std::fs;
use std::path::Path;

use crate::support::{run, run_with, session, succeed};

/// A hierarchy of two groups and three arrays.
fn hierarchy(folder: &Path) {
    succeed(folder, &["create", "w.zarr", "--group", "--attributes", r#"{"title": "Weather"}"#]);
    let array = ["--shape", "6,2", "--dtype", "int16", "--chunks", "3,2", "--dims", "time,x"];
    succeed(folder, &[&["create", "w.zarr/rain"], &array[..]].concat());
    succeed(folder, &[&["create", "w.zarr/2015/rain", "--parents"], &array[..]].concat());
    let names = ["create", "w.zarr/2015/names", "--shape", "3", "--dtype", "string"];
    succeed(folder, &names);
}

#[test]
fn groups_are_made_and_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    hierarchy(at);
    fs::create_dir_all(at.join("w.zarr/broken")).expect("makes");
    fs::write(at.join("w.zarr/broken/zarr.json"), r#"{"zarr_format": 3}"#).expect("writes");
    insta::assert_snapshot!(session(
        at,
        &[
            &["tree", "w.zarr"],
            &["tree", "w.zarr", "--depth", "1"],
            &["tree", "w.zarr/2015", "--json"],
            &["tree", "w.zarr/rain"],
            &["tree", "nowhere"],
            &["create", "w.zarr", "--group"],
            &["create", "w.zarr/rain/x", "--group"],
            &["create", "w.zarr/rain/c/0/x", "--shape", "2", "--dtype", "int8"],
            &["create", "w.zarr/a/b", "--group"],
            &["create", "plain/a/b", "--group", "--parents"],
            &["create", "new.zarr/a/b", "--group", "--parents", "--json"],
            &["create", "x.zarr", "--group", "--shape", "3"],
            &["create", "w.zarr/__x", "--group"],
        ]
    ));
    let documents = ["new.zarr", "new.zarr/a", "new.zarr/a/b"];
    assert!(documents.iter().all(|group| at.join(group).join("zarr.json").is_file()));
    assert!(!at.join("w.zarr/rain/x").exists() && !at.join("w.zarr/rain/c").exists());
}

#[test]
fn attributes() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    hierarchy(at);
    insta::assert_snapshot!(session(
        at,
        &[
            &["attrs", "w.zarr"],
            &[
                "attrs",
                "w.zarr/rain",
                "--set",
                "units=\"mm\"",
                "--set",
                "n=12345678901234567890123"
            ],
            &["attrs", "w.zarr/rain"],
            &["attrs", "w.zarr/rain", "units"],
            &["attrs", "w.zarr/rain", "--remove", "units", "--set", "a={\"b\": [1.50]}"],
            &["attrs", "w.zarr/rain"],
            &["attrs", "w.zarr/rain", "units"],
            &["attrs", "w.zarr/rain", "--set", "units=mm"],
            &["attrs", "w.zarr/rain", "--set", "units"],
            &["attrs", "w.zarr/rain", "--set", "a=1", "--remove", "a"],
            &["attrs", "nowhere"],
        ]
    ));
}

#[test]
fn consolidated_metadata_follows_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    hierarchy(at);
    insta::assert_snapshot!(session(
        at,
        &[
            &["consolidate", "w.zarr"],
            &["consolidate", "w.zarr/2015", "--json"],
            &["consolidate", "w.zarr/rain"],
            &["check", "w.zarr"],
        ]
    ));
    let resize = ["resize", "w.zarr/2015/rain", "--shape", "9,2"];
    let file = at.join("three.raw");
    fs::write(&file, [1; 12]).expect("writes");
    let append = ["append", "w.zarr/rain", "--from", "three.raw"];
    let create = ["create", "w.zarr/2015/wind", "--shape", "3", "--dtype", "int8"];
    let attrs = ["attrs", "w.zarr/2015", "--set", "a=1"];
    let copy = ["copy", "w.zarr/rain", "w.zarr/2015/again"];
    let delete = ["delete", "w.zarr/2015/names", "--yes"];
    for command in [&resize[..], &append, &create, &attrs, &copy, &delete] {
        succeed(at, command);
        succeed(at, &["check", "w.zarr"]);
    }
    let document = fs::read_to_string(at.join("w.zarr/zarr.json")).expect("there");
    assert!(document.contains("2015/again") && !document.contains("2015/names"));
    succeed(at, &["consolidate", "w.zarr", "--remove"]);
    let document = fs::read_to_string(at.join("w.zarr/zarr.json")).expect("there");
    assert!(!document.contains("consolidated"));
}

/// The hierarchy around a node is found on the disk where the text of a path does not name it.
#[cfg(unix)]
#[test]
fn consolidated_metadata_follows_changes_through_dots_and_links() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    hierarchy(at);
    std::os::unix::fs::symlink(at.join("w.zarr/2015"), at.join("link")).expect("links");
    succeed(at, &["consolidate", "w.zarr"]);
    succeed(at, &["consolidate", "w.zarr/2015"]);
    let create = ["--shape", "3", "--dtype", "int8"];
    for (inside, arguments) in [
        ("w.zarr/2015/rain", &["resize", "../rain", "--shape", "7,2"][..]),
        ("w.zarr/2015/rain", &["attrs", "..", "--set", "a=1"]),
        ("w.zarr/2015/rain", &[&["create", "../new"], &create[..]].concat()),
        ("w.zarr/2015/rain", &["copy", "../new", "../../2015/copy"]),
        ("w.zarr/2015/rain", &["delete", "../new", "--yes"]),
        (".", &["resize", "link/rain", "--shape", "8,2"]),
        (".", &["attrs", "link", "--set", "a=2"]),
        (".", &[&["create", "link/new"], &create[..]].concat()),
        (".", &["delete", "link/copy", "--yes"]),
        (".", &["rearrange", "link/rain", "--axis", "time", "--remove", "0:3"]),
    ] {
        succeed(&at.join(inside), arguments);
        succeed(at, &["check", "w.zarr"]);
    }
    // A link in a group is in its hierarchy too.
    succeed(at, &["create", "other.zarr", "--group"]);
    std::os::unix::fs::symlink(at.join("w.zarr/2015"), at.join("other.zarr/in")).expect("links");
    succeed(at, &["--outside-links", "consolidate", "other.zarr"]);
    for arguments in [
        &["resize", "other.zarr/in/rain", "--shape", "9,2"][..],
        &["attrs", "other.zarr/in", "--set", "a=3"],
        &[&["create", "other.zarr/in/more"], &create[..]].concat(),
    ] {
        succeed(at, &[&["--outside-links"], arguments].concat());
        succeed(at, &["check", "w.zarr"]);
        succeed(at, &["--outside-links", "check", "other.zarr"]);
    }
}

#[test]
fn deletion_asks_and_takes_no_other_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    hierarchy(at);
    fs::create_dir_all(at.join("photos")).expect("makes");
    fs::write(at.join("photos/a.jpg"), "?").expect("writes");
    insta::assert_snapshot!(session(
        at,
        &[
            &["delete", "w.zarr/2015"],
            &["delete", "photos", "--yes"],
            &["delete", "w.zarr/nothing", "--yes"],
            &["delete", "w.zarr/2015", "--yes"],
            &["tree", "w.zarr"],
            &["delete", "w.zarr/zarr.json", "--yes"],
            &["delete", "w.zarr/rain/zarr.json/", "--yes"],
            &["delete", "w.zarr", "--yes", "--json"],
        ]
    ));
    assert!(!at.join("w.zarr").exists() && at.join("photos/a.jpg").is_file());
    // A document that is not valid can be deleted.
    fs::create_dir_all(at.join("bad.zarr")).expect("makes");
    fs::write(at.join("bad.zarr/zarr.json"), "{").expect("writes");
    let deleted = run(at, &["delete", "bad.zarr", "--yes"]);
    assert!(deleted.status.success() && !at.join("bad.zarr").exists());
}

/// The documents go first: a deletion that ends early leaves chunks, and nodes without their group.
#[test]
fn an_interrupted_deletion_is_completed() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for path in ["w.zarr/rain", "w.zarr"] {
        hierarchy(at);
        let write = ["write", "w.zarr/rain", "--from", "-"];
        assert!(run_with(at, &write, &[1; 24]).status.success());
        fs::remove_file(at.join(path).join("zarr.json")).expect("is there");
        succeed(at, &["delete", path, "--yes"]);
        assert!(!at.join(path).exists(), "{path}");
        let _removed = fs::remove_dir_all(at.join("w.zarr"));
    }
    // Nothing else is taken for chunks.
    for other in ["c/0/notes", "c.txt", "d/0", "c/", "0"] {
        fs::create_dir_all(at.join("other/c/0")).expect("makes");
        fs::write(at.join("other/c/0/0"), "?").expect("writes");
        let other = at.join("other").join(other.trim_end_matches('/')).with_extension("x");
        fs::create_dir_all(other.parent().expect("a folder")).expect("makes");
        fs::write(&other, "?").expect("writes");
        let refused = run(at, &["delete", "other", "--yes"]);
        assert!(!refused.status.success() && other.is_file(), "{other:?}");
        fs::remove_dir_all(at.join("other")).expect("removes");
    }
}

/// A file `c` below a folder that has no document is no chunk; that of a deleted array without
/// dimensions is, and those of a group of which a document is left, or whose chunks have numbers.
#[test]
fn a_file_named_c_is_not_always_a_chunk() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let delete = |files: &[&str]| {
        for name in files {
            let path = at.join("q").join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("makes");
            fs::write(path, "int main").expect("writes");
        }
        let deleted = run(at, &["delete", "q", "--yes"]).status.success();
        assert_eq!(!at.join("q").exists(), deleted, "{files:?}");
        let _removed = fs::remove_dir_all(at.join("q"));
        deleted
    };
    assert!(!delete(&["src/c"]));
    assert!(!delete(&["c", "src/c"]));
    assert!(!delete(&["rain/c/0/1", "src/deep/c"]));
    assert!(delete(&["c"]));
    assert!(delete(&["c/0/1", "c/1/1"]));
    assert!(delete(&["rain/c/0/1", "wind/c/0"]));
    assert!(delete(&["rain/zarr.json", "scalar/c"]));
}

/// Only the name is that of a document or a marker.
#[test]
fn files_of_other_programs_with_such_names_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["create", "a", "--shape", "4", "--dtype", "uint8"]);
    for name in ["zarr.json", "zarr-kit-copy.json"] {
        let photos = at.join(name.replace('.', "-")).join("photos");
        fs::create_dir_all(&photos).expect("makes");
        fs::write(photos.join("x"), "?").expect("writes");
        fs::write(photos.with_file_name(name), r#"{"some": "json"}"#).expect("writes");
        let place = name.replace('.', "-");
        for command in [
            &["delete", &place, "--yes"][..],
            &["copy", "a", &place, "--overwrite"],
            &["join", "a", "a", "--along", "0", "-o", &place, "--overwrite"],
        ] {
            let refused = run(at, command);
            assert!(!refused.status.success() && photos.join("x").is_file(), "{command:?}");
        }
    }
}

/// An unfinished copy of a later version is one, too.
#[test]
fn unfinished_copies_of_other_versions_are_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let marker = r#"{"unfinished_copy": {"version": 2}}"#;
    fs::create_dir(at.join("begun")).expect("makes");
    fs::write(at.join("begun/zarr-kit-copy.json"), marker).expect("writes");
    succeed(at, &["delete", "begun", "--yes"]);
    assert!(!at.join("begun").exists());
}

/// Copies and joins give nodes the names that `create` gives.
#[test]
fn names_that_no_node_can_have_are_refused_by_all_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["create", "a", "--shape", "4", "--dtype", "uint8"]);
    succeed(at, &["create", "g.zarr", "--group"]);
    for name in ["__x", ".zmetadata", "zarr-kit-copy.json", "..."] {
        let target = format!("g.zarr/{name}");
        for command in [
            &["create", &target, "--shape", "4", "--dtype", "uint8"][..],
            &["copy", "a", &target],
            &["join", "a", "a", "--along", "0", "-o", &target],
        ] {
            let refused = run(at, command);
            assert!(!refused.status.success() && !at.join(&target).exists(), "{command:?}");
        }
    }
}

#[test]
fn copies_and_joins_make_no_node_in_an_array() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    hierarchy(at);
    succeed(at, &["copy", "w.zarr/rain", "alone.zarr"]);
    for target in ["w.zarr/rain/x", "w.zarr/rain/c/0/x", "alone.zarr/x"] {
        let join = ["join", "w.zarr/rain", "--along", "time", "-o", target];
        for command in [&["copy", "w.zarr/rain", target][..], &join] {
            let said = String::from_utf8(run(at, command).stderr).expect("text");
            let expected = format!("error: {target}: this is in an array, where no node can be\n");
            assert_eq!(said, expected);
            assert!(!at.join(target).exists());
        }
    }
}

#[test]
fn axes_without_names_get_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["create", "g.zarr", "--group"]);
    for (name, shape) in [("g.zarr/0", "4,6"), ("g.zarr/1", "4,3"), ("g.zarr/flat", "4")] {
        let chunks = shape.replace(['4', '6', '3'], "1");
        succeed(at, &["create", name, "--shape", shape, "--dtype", "uint8", "--chunks", &chunks]);
    }
    insta::assert_snapshot!(session(
        at,
        &[
            &["attrs", "g.zarr/0", "--dims", "y"],
            &["attrs", "g.zarr", "--dims", "y,x"],
            &["join", "g.zarr", "g.zarr", "--along", "-1", "-o", "wide.zarr"],
            &["tree", "wide.zarr"],
            &["append", "g.zarr", "wide.zarr", "--axis", "0"],
            &["append", "g.zarr", "g.zarr", "--axis", "0"],
            &["copy", "g.zarr", "named.zarr", "--dims", "y,x", "--chunks", "y=2,x=3"],
            &["tree", "named.zarr", "--json"],
            &["copy", "g.zarr", "none.zarr", "--dims", "t,y,x"],
            &["copy", "g.zarr/0", "none.zarr", "--dims", "t,y,x"],
            &[
                "copy",
                "g.zarr",
                "some.zarr",
                "--for",
                "1",
                "--dims",
                "y,",
                "--for",
                "flat",
                "--dims",
                "z"
            ],
            &["join", "named.zarr", "named.zarr", "--along", "0", "-o", "no.zarr"],
            &["attrs", "g.zarr/0", "--dims", "y,x"],
            &["attrs", "g.zarr/0", "--dims", "y,x", "--remove", "a"],
            &["info", "g.zarr/0"],
        ]
    ));
}

/// A group with an array in chunks of 4, and one in shards of 8.
fn with_shards(folder: &Path, name: &str, inner: &str, level: &str) {
    succeed(folder, &["create", name, "--group"]);
    let codecs = format!(r#"["bytes", {{"name": "gzip", "configuration": {{"level": {level}}}}}]"#);
    for (array, more) in [("plain", ["--chunks", "4"]), ("sharded", ["--shards", "8"])] {
        let path = format!("{name}/{array}");
        let common = ["create", &path, "--shape", "16", "--dtype", "uint8", "--dims", "t"];
        let inner: &[&str] = if array == "plain" { &[] } else { &["--chunks", inner] };
        succeed(folder, &[&common[..], &more, inner, &["--codecs", &codecs]].concat());
        let values: String = (0..16).map(|value| format!("{value},")).collect();
        let json = format!("[{}]", values.trim_end_matches(','));
        fs::write(folder.join("v.json"), json).expect("writes");
        succeed(folder, &["write", &path, "--from", "v.json"]);
    }
}

#[test]
fn shards_that_stay_as_they_are_are_named_with_the_option_that_changes_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    with_shards(at, "a.zarr", "2", "1");
    with_shards(at, "other-chunks.zarr", "4", "1");
    with_shards(at, "other-codecs.zarr", "2", "5");
    insta::assert_snapshot!(session(
        at,
        &[
            &["copy", "a.zarr", "b.zarr", "--chunks", "3"],
            &["copy", "a.zarr", "c.zarr", "--chunks", "2", "--shards", "4"],
            &["append", "a.zarr", "other-chunks.zarr", "--axis", "t"],
            &["append", "a.zarr/sharded", "other-chunks.zarr/sharded"],
            &["append", "a.zarr/sharded", "other-codecs.zarr/sharded"],
            &[
                "join",
                "a.zarr",
                "other-chunks.zarr",
                "--along",
                "t",
                "-o",
                "d.zarr",
                "--chunks",
                "3"
            ],
            &[
                "join", "a.zarr", "b.zarr", "--along", "t", "-o", "e.zarr", "--chunks", "8",
                "--shards", "12"
            ],
        ]
    ));
}

#[test]
fn a_number_that_names_an_axis_is_said_with_the_name_of_the_axis() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let image = r#"{"multiscales": [{"version": "0.4", "axes": [{"name": "t", "type": "time"},
        {"name": "x", "type": "space"}], "datasets": [{"path": "0"}]}]}"#;
    for name in ["a.zarr", "b.zarr"] {
        succeed(at, &["create", name, "--group", "--attributes", image]);
        let path = format!("{name}/0");
        succeed(at, &["create", &path, "--shape", "2,3", "--dtype", "uint8", "--chunks", "1,3"]);
    }
    insta::assert_snapshot!(session(
        at,
        &[
            &["append", "a.zarr", "b.zarr", "--axis", "-2"],
            &["rearrange", "a.zarr", "--axis", "0", "--remove", "0:1", "--dry-run", "--json"],
            &["rearrange", "a.zarr", "--axis", "2", "--remove", "0:1"],
        ]
    ));
}
