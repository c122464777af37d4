//! Virtual joins of members with names that are easily taken for others.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{file, run, session, stdout, succeed};

/// An array of two elements.
fn array(folder: &Path, name: &str, elements: [u8; 2]) {
    succeed(folder, &["create", name, "--shape", "2", "--dtype", "uint8"]);
    file(folder, "elements", elements);
    succeed(folder, &["write", name, "--from", "elements"]);
}

/// The elements of a virtual join of two members.
fn joined(folder: &Path, members: [&str; 2], document: &str) -> Vec<u8> {
    succeed(folder, &["join", members[0], members[1], "--along", "0", "--virtual", "-o", document]);
    read(folder, document)
}

fn read(folder: &Path, document: &str) -> Vec<u8> {
    stdout(folder, &["read", document, "-f", "raw", "--outside-members"])
}

/// The names were stored without the spaces: another array was read.
#[test]
fn spaces_at_the_ends_of_names_are_part_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (name, elements) in [
        (" x.zarr", [1, 2]),
        ("x.zarr", [7, 8]),
        (" sub/y", [3, 4]),
        ("sub/y", [7, 8]),
        ("z.zarr ", [5, 6]),
        ("z.zarr", [7, 8]),
    ] {
        array(at, name, elements);
    }
    assert_eq!(joined(at, [" x.zarr", " sub/y"], "v.zjoin"), [1, 2, 3, 4]);
    assert_eq!(joined(at, ["z.zarr ", "z.zarr"], "w.zjoin"), [5, 6, 7, 8]);
    succeed(at, &["append", "v.zjoin", "z.zarr ", "--axis", "0"]);
    succeed(at, &["rearrange", "v.zjoin", "--insert", " x.zarr", "--at", "0"]);
    assert_eq!(read(at, "v.zjoin"), [1, 2, 1, 2, 3, 4, 5, 6]);
    insta::assert_snapshot!(session(at, &[&["delete", " x.zarr", "--yes"]]));
    assert!(at.join("x.zarr").exists() && !at.join(" x.zarr").exists());
}

/// The locations were made of the names, and led to other arrays.
#[test]
fn folders_behind_links_are_named_by_their_real_places() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (name, elements) in [
        ("data/m.zarr", [1, 2]),
        ("a/b/data/m.zarr", [7, 8]),
        ("a/b/x.zarr", [3, 4]),
        ("x.zarr", [7, 8]),
    ] {
        array(at, name, elements);
    }
    std::fs::create_dir(at.join("a/b/phys")).expect("creates");
    symlink("a/b/phys", at.join("work")).expect("links");
    let members = ["data/m.zarr", "work/../x.zarr"];
    assert_eq!(joined(at, members, "v.zjoin"), [1, 2, 3, 4]);
    let args = ["join", members[0], members[1], "--along", "0", "--virtual", "-o", "work/v.zjoin"];
    insta::assert_snapshot!(session(at, &[&args]));
    assert_eq!(read(at, "work/v.zjoin"), [1, 2, 3, 4]);
    assert_eq!(read(at, "a/b/phys/v.zjoin"), [1, 2, 3, 4]);
}

#[test]
fn stacked_members_are_exported_where_they_are() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    // The spaces are part of the names.
    for (name, value) in [("a ", 1), (" b", 2)] {
        let create = ["create", name, "--shape", "3,2", "--dtype", "uint8", "--chunks", "2,2"];
        succeed(folder, &[&create[..], &["--codecs", "transpose,bytes"]].concat());
        file(folder, "one.raw", [value, value, 0, 3, value, 4]);
        succeed(folder, &["write", name, "--from", "one.raw"]);
    }
    file(folder, "list", "a \n\n b\r\n");
    succeed(folder, &["join", "@list", "--new-axis", "run", "--virtual", "-o", "both.zjoin"]);
    succeed(folder, &["export", "both.zjoin", "both.json"]);
    let [joined, exported] =
        ["both.zjoin", "both.json"].map(|name| stdout(folder, &["read", name, "-f", "raw"]));
    assert_eq!(joined, [1, 1, 0, 3, 1, 4, 2, 2, 0, 3, 2, 4]);
    assert_eq!(exported, joined);
    // So are members with a padded last chunk, side by side.
    succeed(folder, &["join", "@list", "--along", "1", "--virtual", "-o", "wide.zjoin"]);
    succeed(folder, &["export", "wide.zjoin", "wide.json"]);
    let wide = stdout(folder, &["read", "wide.json", "-f", "raw"]);
    assert_eq!(wide, [1, 1, 2, 2, 0, 3, 0, 3, 1, 4, 2, 4]);
    let again = run(folder, &["export", "both.zjoin", "both.json"]);
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(!again.status.success() && said.contains("there is something here already"), "{said}");
    // A name of a table is not given to JSON.
    for name in ["both.parq", "both.parquet"] {
        let refused = run(folder, &["export", "both.zjoin", name]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("only JSON"), "{said}");
        assert!(!folder.join(name).exists());
    }
}

/// Programs that read references know one fill value.
#[test]
fn members_with_another_fill_value_are_not_exported() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    for (name, fill) in [("a", "0"), ("b", "7")] {
        let create = ["create", name, "--shape", "2", "--dtype", "uint8", "--fill", fill];
        succeed(folder, &create);
    }
    file(folder, "a.raw", [1, 2]);
    succeed(folder, &["write", "a", "--from", "a.raw"]);
    for arrangement in ["--along=0", "--new-axis=run"] {
        succeed(folder, &["join", "a", "b", arrangement, "--virtual", "-o", "both.zjoin"]);
        assert_eq!(stdout(folder, &["read", "both.zjoin", "-f", "raw"]), [1, 2, 7, 7]);
        let refused = run(folder, &["export", "both.zjoin", "both.json"]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("one fill value"), "{said}");
        assert!(!folder.join("both.json").exists());
        std::fs::remove_file(folder.join("both.zjoin")).expect("removes");
    }
}

/// The member was cleared, and then could not be read.
#[test]
fn nothing_is_copied_over_members_of_its_source() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let at = folder.path();
    for group in ["g", "h"] {
        succeed(at, &["create", group, "--group"]);
    }
    for (name, elements) in [
        ("m1.zarr", [1, 2]),
        ("m2.zarr", [3, 4]),
        ("m3.zarr", [5, 6]),
        ("g/a", [1, 2]),
        ("g/b", [3, 4]),
        ("h/a", [5, 6]),
        ("h/b", [7, 8]),
    ] {
        let create = ["create", name, "--shape", "2", "--dtype", "uint8", "--dims", "t"];
        succeed(at, &create);
        file(at, "elements", elements);
        succeed(at, &["write", name, "--from", "elements"]);
    }
    succeed(at, &["copy", "m3.zarr", "m3.zip"]);
    let join = ["--along", "t", "--virtual", "-o"];
    for members in [
        &["m1.zarr", "m2.zarr", "j.zjoin"][..],
        &["g/a", "g/b", "g.zjoin"],
        &["g", "h", "groups.zjoin"],
        &["j.zjoin", "m3.zarr", "nested.zjoin"],
        &["m1.zarr", "m3.zip", "zip.zjoin"],
    ] {
        let (document, members) = members.split_last().expect("is named");
        succeed(at, &[&["join"], members, &join, &[document]].concat());
    }
    succeed(at, &["export", "j.zjoin", "r.json"]);
    for args in [
        &["copy", "j.zjoin", "m1.zarr"][..],
        &["copy", "j.zjoin", "m2.zarr", "--chunks", "4"],
        &["copy", "r.json", "m1.zarr"],
        &["copy", "nested.zjoin", "m2.zarr"],
        &["copy", "nested.zjoin", "m3.zarr"],
        &["copy", "g.zjoin", "g"],
        &["copy", "groups.zjoin", "h"],
        &["copy", "groups.zjoin/a", "h/a"],
        &["copy", "zip.zjoin", "m3.zip"],
        &["join", "j.zjoin", "m3.zarr", "--along", "t", "-o", "m1.zarr"],
    ] {
        let refused = run(at, &[args, &["--overwrite"]].concat());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("a part of it"), "{args:?}: {said}");
    }
    for (name, elements) in [
        ("nested.zjoin", &[1, 2, 3, 4, 5, 6][..]),
        ("r.json", &[1, 2, 3, 4]),
        ("g.zjoin", &[1, 2, 3, 4]),
        ("groups.zjoin/a", &[1, 2, 5, 6]),
        ("zip.zjoin", &[1, 2, 5, 6]),
    ] {
        assert_eq!(read(at, name), elements, "{name}");
    }
    // Beside the members.
    for args in [["copy", "r.json", "m3.zarr"], ["copy", "g.zjoin", "h/a"]] {
        succeed(at, &[&args[..], &["--overwrite"]].concat());
        assert_eq!(read(at, args[2]), [1, 2, 3, 4]);
    }
    succeed(at, &["copy", "g.zjoin", "g/c"]);
}

/// Members with stores of their own, which could not be opened.
#[test]
fn members_that_are_missing_everywhere_read_as_the_fill_value() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let at = folder.path();
    for (name, elements) in [("m1.zarr", [1, 2]), ("m2.zarr", [3, 4])] {
        succeed(at, &["create", name, "--shape", "2", "--dtype", "uint8", "--fill", "7"]);
        file(at, "elements", elements);
        succeed(at, &["write", name, "--from", "elements"]);
    }
    std::fs::create_dir(at.join("d")).expect("creates");
    succeed(at, &["copy", "m2.zarr", "m2.zip"]);
    succeed(at, &["join", "m2.zarr", "--along", "0", "--virtual", "-o", "one.zjoin"]);
    let members = [("m2.zip", "zip.zjoin"), ("m2.zarr", "d/other.zjoin"), ("one.zjoin", "n.zjoin")];
    for (member, document) in members {
        let join = ["--along", "0", "--virtual", "--outside-members", "-o", document];
        succeed(at, &[&["join", "m1.zarr", member], &join[..]].concat());
        let again = at.join(document).with_extension("fill.zjoin").display().to_string();
        let join = ["--along", "0", "--virtual", "--outside-members", "--fill-missing", "-o"];
        succeed(at, &[&["join", "m1.zarr", member], &join[..], &[&again]].concat());
        assert_eq!(read(at, &again), [1, 2, 3, 4]);
    }
    let mut messages = String::new();
    for (member, document) in members {
        let away = at.join("away");
        std::fs::rename(at.join(member), &away).expect("moves");
        let filled = document.replace(".zjoin", ".fill.zjoin");
        assert_eq!(read(at, &filled), [1, 2, 7, 7], "{filled}");
        succeed(at, &["copy", &filled, "copy.zarr", "--outside-members", "--overwrite"]);
        messages += &session(at, &[&["read", document, "--outside-members"]]);
        // What is there and is something else is no missing member.
        file(at, member, b"else");
        messages += &session(at, &[&["read", &filled, "--outside-members"]]);
        std::fs::remove_file(at.join(member)).expect("removes");
        symlink("unmounted", at.join(member)).expect("links");
        let refused = run(at, &["read", &filled, "--outside-members"]);
        assert!(!refused.status.success(), "{filled}");
        std::fs::remove_file(at.join(member)).expect("removes");
        std::fs::rename(&away, at.join(member)).expect("moves");
    }
    insta::assert_snapshot!(messages);
}
