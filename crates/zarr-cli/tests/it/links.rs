//! Symbolic links that lead out of the folder of an array.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{file, run, session, stdout, succeed};

const ARRAY: [&str; 9] =
    ["create", "a", "--shape", "4", "--dtype", "uint8", "--chunks", "2", "--json"];

/// As on clusters and in annexes: each chunk is a link to a file elsewhere.
#[test]
fn links_out_of_an_array_are_followed_if_asked_for() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &ARRAY);
    fs::write(folder.join("values.raw"), [1, 2, 3, 4]).expect("writes");
    fs::write(folder.join("two.raw"), [9, 9]).expect("writes");
    succeed(folder, &["write", "a", "--from", "values.raw"]);
    fs::rename(folder.join("a/c"), folder.join("chunks")).expect("moves");
    fs::create_dir(folder.join("a/c")).expect("makes a folder");
    for chunk in ["0", "1"] {
        symlink(format!("../../chunks/{chunk}"), folder.join("a/c").join(chunk)).expect("links");
    }
    let refused = session(
        folder,
        &[
            &["read", "a"],
            &["stats", "a"],
            &["check", "a", "--data"],
            &["write", "a", "--from", "two.raw", "-r", "1:3"],
        ],
    );
    let real = folder.canonicalize().expect("is there");
    insta::assert_snapshot!(refused.replace(&format!("{}/", real.display()), ""));
    // Which chunk it names depends on the file system's order.
    let copied = session(folder, &[&["copy", "a", "b"]]);
    assert!(copied.contains("leads outside the store") && copied.contains("exit status 2"));
    let values = [1, 2, 3, 4];
    let allowed = |arguments: &[&str]| stdout(folder, &[arguments, &["--outside-links"]].concat());
    assert_eq!(allowed(&["read", "a", "-f", "raw"]), values);
    for command in [&["stats", "a"][..], &["check", "a", "--data"], &["copy", "a", "c"]] {
        succeed(folder, &[command, &["--outside-links"]].concat());
    }
    assert_eq!(stdout(folder, &["read", "c", "-f", "raw"]), values);
    // A write replaces a link, and what it led to stays.
    let before = fs::read(folder.join("chunks/0")).expect("reads");
    succeed(folder, &["write", "a", "--from", "two.raw", "-r", "0:2", "--outside-links"]);
    assert_eq!(allowed(&["read", "a", "-f", "raw"]), [9, 9, 3, 4]);
    assert!(!folder.join("a/c/0").is_symlink() && folder.join("a/c/1").is_symlink());
    assert_eq!(fs::read(folder.join("chunks/0")).expect("reads"), before);
}

/// As where a disk is not mounted: the chunks behind such a link are not missing, and none is written
/// in their place.
#[test]
fn chunks_behind_links_that_lead_nowhere_do_not_read_as_fill_values() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    fs::write(folder.join("two.raw"), [9, 9]).expect("writes");
    for options in [&[][..], &["--outside-links"]] {
        for link in ["a/c", "a/c/1"] {
            succeed(folder, &ARRAY);
            succeed(folder, &["write", "a", "--from", "two.raw", "-r", "2:4"]);
            let hides_all = link == "a/c";
            let link = folder.join(link);
            fs::rename(&link, folder.join("away")).expect("moves");
            symlink("../gone", &link).expect("links");
            let mut commands = vec![
                &["read", "a"][..],
                &["stats", "a"],
                &["write", "a", "--from", "two.raw", "-r", "1:3"],
                &["join", "a", "a", "--along", "0", "-o", "joined"],
            ];
            // One chunk is moved as the link that it is.
            commands.extend(
                hides_all.then_some(&["rearrange", "a", "--axis", "0", "--remove", "0:2"][..]),
            );
            for command in commands {
                let refused = run(folder, &[command, options].concat());
                let said = String::from_utf8_lossy(&refused.stderr);
                let named = format!("{} leads to nothing that is there", quoted(&link));
                assert!(said.contains(&named), "{command:?} {options:?}: {said}");
                assert_eq!(refused.status.code(), Some(2), "{command:?} {options:?}");
            }
            let checked = session(folder, &[&[&["check", "a"], options].concat()[..]]);
            assert!(checked.contains("[foreign-file]"), "{checked}");
            // The link takes its target back.
            fs::remove_file(&link).expect("is still a link");
            fs::rename(folder.join("away"), &link).expect("moves");
            succeed(folder, &["read", "a"]);
            fs::remove_dir_all(folder.join("a/c")).expect("removes");
            symlink("../gone", folder.join("a/c")).expect("links");
            succeed(folder, &[&["delete", "a", "--yes"], options].concat());
            assert!(!folder.join("a").exists());
        }
    }
}

/// A path as messages of the stores have it.
fn quoted(path: &Path) -> String {
    let real = path.parent().expect("a folder").canonicalize().expect("is there");
    format!("{:?}", real.join(path.file_name().expect("a name")))
}

/// A folder that is a link is deleted as one: what it leads to stays.
#[test]
fn what_links_lead_to_is_not_deleted() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &ARRAY);
    fs::write(folder.join("values.raw"), [1, 2, 3, 4]).expect("writes");
    succeed(folder, &["write", "a", "--from", "values.raw"]);
    fs::rename(folder.join("a/c"), folder.join("chunks")).expect("moves");
    symlink("../chunks", folder.join("a/c")).expect("links");
    succeed(folder, &["delete", "a", "--yes", "--outside-links"]);
    assert!(!folder.join("a").exists());
    assert!(folder.join("chunks/0").exists() && folder.join("chunks/1").exists());
}

/// A virtual join is moved with the options of all commands.
#[test]
fn members_behind_links_are_read_and_rearranged() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &ARRAY);
    fs::create_dir(folder.join("joined")).expect("makes a folder");
    symlink("../a", folder.join("joined/a")).expect("links");
    symlink("../a", folder.join("joined/b")).expect("links");
    let join =
        ["join", "joined/a", "joined/b", "--along", "0", "--virtual", "-o", "joined/x.zjoin"];
    succeed(folder, &join);
    let read = ["read", "joined/x.zjoin", "-f", "raw"];
    assert!(!run(folder, &read).status.success());
    let allowed = ["read", "joined/x.zjoin", "-f", "raw", "--outside-links"];
    assert_eq!(stdout(folder, &allowed), [0; 8]);
    let rearrange = ["rearrange", "joined/x.zjoin", "--axis", "0", "--remove", "0:4"];
    succeed(folder, &[&rearrange[..], &["--outside-links"]].concat());
    assert_eq!(stdout(folder, &allowed), [0; 4]);
}

/// A child whose document is a link to itself hides none of the others.
#[test]
fn a_link_to_itself_hides_no_other_node() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["create", "g.zarr", "--group"]);
    for name in ["g.zarr/a", "g.zarr/z"] {
        succeed(at, &["create", name, "--shape", "4", "--dtype", "int8"]);
    }
    std::fs::create_dir(at.join("g.zarr/loop")).expect("makes");
    symlink("zarr.json", at.join("g.zarr/loop/zarr.json")).expect("links");
    symlink("gone", at.join("g.zarr/a/nowhere")).expect("links");
    insta::assert_snapshot!(session(
        at,
        &[
            &["tree", "g.zarr"],
            &["info", "g.zarr"],
            &["check", "g.zarr"],
            &["copy", "g.zarr", "h.zarr"],
            &["delete", "g.zarr/loop", "--yes"],
            &["tree", "g.zarr"],
            &["delete", "g.zarr", "--yes"],
        ]
    ));
    assert_eq!(std::fs::read_dir(at.join("g.zarr")).map(Iterator::count).unwrap_or(0), 0);
}

/// A link is removed, wherever it leads to, and never what is there.
#[test]
fn links_are_deleted_and_their_targets_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let all = || {
        let listed = |folder: &Path| std::fs::read_dir(at.join(folder)).expect("lists");
        let names = ["", "g.zarr", "g.zarr/a", "g.zarr/a/c", "plain"].map(|folder| {
            let names = listed(Path::new(folder)).map(|entry| entry.expect("an entry").path());
            names.collect::<std::collections::BTreeSet<_>>()
        });
        names.into_iter().flatten().collect::<std::collections::BTreeSet<_>>()
    };
    succeed(at, &["create", "g.zarr", "--group"]);
    succeed(at, &["create", "g.zarr/a", "--shape", "4", "--dtype", "int8", "--fill", "1"]);
    file(at, "elements.json", "[1, 2, 3, 4]");
    succeed(at, &["write", "g.zarr/a", "--from", "elements.json"]);
    file(at, "plain/file", "");
    let before = all();
    for (link, target) in [
        ("g.zarr/loop", "."),
        ("g.zarr/up", "../g.zarr"),
        ("g.zarr/itself", "itself"),
        ("g.zarr/nowhere", "gone"),
        ("g.zarr/b", "a"),
        ("alias", "g.zarr"),
        ("alias-of-array", "g.zarr/a"),
    ] {
        symlink(target, at.join(link)).expect("links");
        let output = run(at, &["delete", &format!("{link}/"), "--yes"]);
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(said.contains("a symbolic link; its target stays"), "{link}: {said}");
        assert_eq!(all(), before, "{link}");
    }
    // What is no node is not deleted, and neither is a link to it.
    for (link, target) in [("to-plain", "plain"), ("to-nothing", "gone"), ("itself", "itself")] {
        symlink(target, at.join(link)).expect("links");
        let output = run(at, &["delete", link, "--yes"]);
        assert_eq!(output.status.code(), Some(2), "{link}");
        std::fs::remove_file(at.join(link)).expect("is still there");
        assert_eq!(all(), before, "{link}");
    }
    // A copy names the link that it cannot follow to an end.
    symlink(".", at.join("g.zarr/loop")).expect("links");
    insta::assert_snapshot!(session(
        at,
        &[&["copy", "g.zarr", "h.zarr"], &["copy", "g.zarr", "h.zarr", "--nodes-only"]]
    ));
}

/// The folders in a folder count as its links, but it is not the chunk of a member.
#[test]
fn a_folder_in_the_place_of_a_chunk_is_no_hard_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    succeed(at, &["create", "a", "--shape", "4", "--dtype", "int8"]);
    file(at, "a/c/0/below/file", "");
    let output = run(at, &["check", "a", "--complete"]);
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.contains("next, for missing-chunk"), "{said}");
    assert!(!said.contains("hard link"), "{said}");
}
