//! `copy`: chunks, codecs, groups, and errors.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{file, root, run, run_with, session, stdout, succeed, text};

const SEATTLE: &str = "fixtures/seattle-weather.zarr";

pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = zarr_store_tests::text_of(path.strip_prefix(folder).expect("below"));
                all.insert(name, fs::read(path).expect("reads"));
            }
        }
    }
    all
}

#[test]
fn seattle_in_other_chunks_and_codecs() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let source = format!("{SEATTLE}/temp_range_12bit");
    let raw = |array: &str| stdout(&root(), &["read", array, "-f", "raw"]);
    let shards = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [20, 2],
        "codecs": [{"name": "packbits", "configuration": {"last_bit": 11}}, {"name": "crc32c"}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "crc32c"}], "index_location": "end"}}]"#;
    let plain = r#"[{"name": "bytes", "configuration": {"endian": "big"}}]"#;
    for (name, chunks, codecs) in [
        ("regular", "time=100,limit=1", plain),
        ("runs", "365x2|366|365,2", plain),
        ("shards", "200,2", shards),
    ] {
        let target = path(name);
        let copy = ["copy", &source, &target, "--chunks", chunks, "--codecs", codecs, "--verify"];
        succeed(&root(), &copy);
        assert_eq!(raw(&target), raw(&source), "{name}");
        let attributes = text(&root(), &["info", &target]);
        assert!(attributes.contains("lowest and highest temperature"), "{attributes}");
    }
}

#[test]
fn a_group_object_by_object() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let target = folder.path().join("copy.zarr");
    succeed(&root(), &["copy", SEATTLE, target.to_str().expect("UTF-8")]);
    assert!(files(&target) == files(&root().join(SEATTLE)));
}

#[test]
fn messages() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a", "--shape", "1000", "--dtype", "int32", "--chunks", "100"];
    succeed(folder, &create);
    file(folder, "group/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    file(folder, "group/inner/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    succeed(folder, &["create", "group/inner/x", "--shape", "5,6", "--dtype", "int8"]);
    let write = ["write", "a", "--from", "-"];
    assert!(run_with(folder, &write, &[1; 4000]).status.success());
    succeed(folder, &["copy", "a", "unfinished"]);
    file(folder, "unfinished/zarr-kit-copy.json", "{}");
    file(folder, "strange/thesis.tex", "");
    insta::assert_snapshot!(session(
        folder,
        &[
            &["copy", "a", "b", "--chunks", "250"],
            &["copy", "a", "b", "--chunks", "250"],
            &["copy", "a", "b", "--chunks", "250", "--resume"],
            &["copy", "a", "b", "--chunks", "250", "--resume", "--json"],
            &["copy", "a", "d", "--chunks", "250", "--json"],
            &["copy", "a", "b", "--chunks", "500", "--resume"],
            &["copy", "a", "b", "--chunks", "500", "--overwrite"],
            &["copy", "a", "c", "--chunks", "500", "--memory", "2KiB"],
            &["copy", "a", "deep/er/c", "--memory", "1", "--chunks", "250"],
            &["copy", "a", "c", "--codecs", "[{\"name\": \"packbit\"}]"],
            &["copy", "a", "c", "--chunks", "10|20"],
            &["copy", "a", "c", "--memory", "much"],
            &["copy", "group", "c", "--chunks", "100"],
            &["copy", "a", "a/inside"],
            &["copy", "a", "./a"],
            &["copy", "missing", "c"],
            &["copy", "a", "b", "--resume", "--overwrite"],
            &["copy", "unfinished", "c"],
            &["copy", "a", "unfinished", "--resume"],
            &["copy", "a", "unfinished"],
            &["copy", "a", "strange"],
            &["copy", "a", "strange", "--overwrite"],
        ],
    ));
    for name in ["missing", "c", "deep"] {
        assert!(!folder.join(name).exists(), "{name} is left behind");
    }
}

/// Every command reports an unfinished copy, and shows nothing of it as data.
#[test]
fn an_unfinished_copy_says_what_it_is() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a", "--shape", "1000", "--dtype", "int32", "--chunks", "100"];
    succeed(folder, &create);
    let marker = r#"{"unfinished_copy": {
  "version": 1,
  "node": "array",
  "from": "/data/a",
  "step": "copying"
}}"#;
    file(folder, "begun/zarr-kit-copy.json", marker);
    file(folder, "begun/c/0", "1");
    file(folder, "begun/.zarr-kit-tmp.1.2.3.4.zarr.json", "{");
    file(folder, "begun/c/.zarr-kit-lock.0", "");
    file(folder, "group/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    file(folder, "group/begun/zarr-kit-copy.json", "{}");
    file(folder, "group/begun/c/0", "1");
    insta::assert_snapshot!(session(
        folder,
        &[
            &["info", "begun"],
            &["read", "begun"],
            &["locate", "begun", "0"],
            &["info", "group/begun"],
            &["read", "group/begun"],
            &["create", "begun", "--shape", "10", "--dtype", "int8"],
            &["write", "begun", "--from", "a"],
            &["copy", "begun", "c"],
            &["copy", "group", "c"],
            &["copy", "a", "begun"],
            &["copy", "a", "begun", "--resume"],
            &["check", "begun"],
            &["check", "group"],
            &["check", "begun", "--repair"],
            &["check", "begun", "--repair", "--json"],
            &["copy", "a", "begun", "--overwrite"],
            &["check", "begun"],
        ],
    ));
}

#[test]
fn a_copy_onto_its_source_is_refused_whatever_it_is_called() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let create = ["create", "g/a", "--shape", "1000", "--dtype", "int32", "--chunks", "100"];
    succeed(folder.path(), &create);
    let write = ["write", "g/a", "--from", "-"];
    assert!(run_with(folder.path(), &write, &[1; 4000]).status.success());
    file(folder.path(), "g/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    let before = files(folder.path());
    let names = [
        ("g/a", format!("file://{}", path("g/a"))),
        ("g/a", format!("file:{}", path("g/a"))),
        ("g/a", path("g/a/")),
        ("g/a", "g/../g/a".to_owned()),
        ("g/a", format!("file://{}", path("g"))),
        ("g", format!("file://{}", path("g/a"))),
        ("g", "g/new/er".to_owned()),
    ];
    for (source, target) in &names {
        for chunks in [&[][..], &["--chunks", "20"]] {
            for source in [(*source).to_owned(), format!("file://{}", path(source))] {
                let copy = [&["copy", &source, target, "--overwrite"], chunks].concat();
                let output = run(folder.path(), &copy);
                let said = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code(), Some(2), "{copy:?}: {said}");
                assert!(said.contains("one of the two lies in the other"), "{copy:?}: {said}");
                assert!(files(folder.path()) == before, "{copy:?}");
                assert!(!Path::new(&path("g/new")).exists(), "{copy:?} leaves a folder behind");
            }
        }
    }
}

/// A refused copy leaves nothing, or explains how to continue; and that works.
#[test]
fn sd_49_a_copy_refused_for_loss_says_how_to_go_on() {
    const CODECS: &str = r#"[{"name": "packbits", "configuration": {"last_bit": 5}}]"#;
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    let create = ["create", "a", "--shape", "1000", "--dtype", "uint8", "--chunks", "100"];
    succeed(folder, &create);
    let copy = |more: &[&'static str]| {
        let copy = ["copy", "a", "b", "--codecs", CODECS, "--memory", "1KiB"];
        [&copy[..], more].concat()
    };
    let write = |at: usize| {
        let elements: Vec<u8> = (0..1000).map(|n| if n < at { 7 } else { 99 }).collect();
        assert!(
            run_with(folder, &["write", "a", "--format", "raw", "--from", "-"], &elements)
                .status
                .success()
        );
    };
    let said = |arguments: &[&str]| {
        let output = run(folder, arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    write(0);
    let message = said(&copy(&[]));
    assert!(message.ends_with("; --allow-loss stores them anyway\n"), "{message}");
    assert!(!folder.join("b").exists());
    succeed(folder, &copy(&["--allow-loss"]));
    write(150);
    let message = said(&copy(&["--overwrite"]));
    // A task has some of the chunks, so its counts are not those of the copy.
    assert!(
        message.contains(" would store as 35; at least 250 elements would change; "),
        "{message}"
    );
    let advice = "; repeat the command with --resume --allow-loss instead of --overwrite to";
    assert!(message.contains(advice), "{message}");
    let message = said(&copy(&["--resume"]));
    let advice =
        "; repeat the command with --resume --allow-loss to continue and store them anyway\n";
    assert!(message.ends_with(advice), "{message}");
    succeed(folder, &copy(&["--resume", "--allow-loss"]));
    let read = stdout(folder, &["read", "b", "-f", "raw"]);
    assert!(read.iter().enumerate().all(|(n, value)| *value == if n < 150 { 7 } else { 99 & 63 }));
}

/// Another program, such as one that makes all groups, may write a document beside an unfinished copy:
/// nothing that was copied is lost.
#[test]
fn a_document_of_another_program_beside_an_unfinished_copy_is_named() {
    const CODECS: &str = r#"[{"name": "packbits", "configuration": {"last_bit": 5}}]"#;
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "a", "--shape", "1000", "--dtype", "uint8", "--chunks", "100"]);
    let elements: Vec<u8> = (0..1000).map(|n| if n < 900 { 7 } else { 99 }).collect();
    assert!(run_with(folder, &["write", "a", "--from", "-"], &elements).status.success());
    let copy = ["copy", "a", "b", "--codecs", CODECS, "--memory", "1KiB"];
    assert_eq!(run(folder, &copy).status.code(), Some(2));
    let other = r#"{"zarr_format": 3, "node_type": "group"}"#;
    file(folder, "b/zarr.json", other);
    let resume = [&copy[..], &["--resume", "--allow-loss"]].concat();
    let output = run(folder, &resume);
    let said = String::from_utf8_lossy(&output.stderr);
    insta::assert_snapshot!(said, @"error: b: another program has put zarr.json here since the unfinished copy or join began; move it away and repeat the command, which then continues; --overwrite removes it and starts again");
    assert_eq!(std::fs::read_to_string(folder.join("b/zarr.json")).expect("stays"), other);
    std::fs::remove_file(folder.join("b/zarr.json")).expect("removes");
    succeed(folder, &resume);
    let read = stdout(folder, &["read", "b", "-f", "raw"]);
    assert!(read.iter().enumerate().all(|(n, value)| *value == if n < 900 { 7 } else { 99 & 63 }));

    // Of a group, at the target and below it: the document that the copy itself would put, too.
    succeed(folder, &["create", "g", "--group"]);
    succeed(folder, &["create", "g/h", "--group"]);
    succeed(folder, &["copy", "a", "g/a"]);
    succeed(folder, &["copy", "a", "g/h/b"]);
    let copy = ["copy", "g", "t", "--codecs", CODECS, "--memory", "1KiB"];
    let resume = [&copy[..], &["--resume", "--allow-loss"]].concat();
    assert_eq!(run(folder, &copy).status.code(), Some(2));
    let own = std::fs::read_to_string(folder.join("g/zarr.json")).expect("reads");
    file(folder, "t/zarr.json", &own);
    std::fs::create_dir_all(folder.join("t/h")).expect("makes a folder");
    file(folder, "t/h/zarr.json", other);
    let output = run(folder, &resume);
    let said = String::from_utf8_lossy(&output.stderr);
    insta::assert_snapshot!(said, @"error: t: h: another program has put zarr.json here since the unfinished copy or join began; move it away and repeat the command, which then continues; --overwrite removes it and starts again");
    assert_eq!(std::fs::read_to_string(folder.join("t/h/zarr.json")).expect("stays"), other);
    std::fs::rename(folder.join("t/h/zarr.json"), folder.join("moved")).expect("moves");
    succeed(folder, &resume);
    let read = stdout(folder, &["read", "t/h/b", "-f", "raw"]);
    assert!(read.iter().enumerate().all(|(n, value)| *value == if n < 900 { 7 } else { 99 & 63 }));
}

/// A file that is not a marker, however long, gets the same advice from all commands.
#[test]
fn a_marker_that_says_nothing_cannot_be_resumed() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "a", "--shape", "10", "--dtype", "int8"]);
    file(folder, "begun/zarr-kit-copy.json", vec![b'x'; 1 << 20]);
    insta::assert_snapshot!(session(
        folder,
        &[
            &["info", "begun"],
            &["read", "begun"],
            &["check", "begun"],
            &["copy", "a", "begun"],
            &["copy", "a", "begun", "--resume"],
            &["copy", "a", "begun", "--overwrite"],
        ],
    ));
}

/// Rules for arrays by name or path, chunks of the axes that an array has, and what cannot change.
#[test]
fn arrays_of_a_group_by_rules() {
    let folder = tempfile::tempdir().expect("makes a folder");
    let folder = folder.path();
    succeed(folder, &["create", "g", "--group"]);
    succeed(folder, &["create", "g/daily", "--group"]);
    for (name, shape, dims) in [
        ("g/temp_max", "60,4", "time,x"),
        ("g/temp_min", "60,4", "time,x"),
        ("g/daily/temp", "60", "time"),
        ("g/x", "4", "x"),
    ] {
        let create = ["create", name, "--shape", shape, "--dims", dims, "--dtype", "int16"];
        succeed(folder, &[&create[..], &["--codecs", r#"[{"name": "packbits"}]"#]].concat());
        let elements = shape.split(',').map(|n| n.parse::<usize>().expect("a number"));
        let bytes = vec![1; elements.product::<usize>() * 2];
        assert!(run_with(folder, &["write", name, "--from", "-"], &bytes).status.success());
    }
    succeed(folder, &["create", "g/station", "--shape", "4", "--dims", "x", "--dtype", "string"]);
    let gzip = r#"[{"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "gzip", "configuration": {"level": 1}}]"#;
    insta::assert_snapshot!(session(
        folder,
        &[
            &["copy", "g", "months", "--chunks", "time=31|29"],
            &["tree", "months"],
            &["info", "months/temp_max"],
            &["copy", "g", "gzip", "--codecs", gzip],
            &["tree", "gzip"],
            &["copy", "g", "gzip", "--codecs", gzip, "--overwrite", "--json"],
            // The last rule that matches counts, for chunks and codecs separately.
            &[
                "copy",
                "g",
                "rules",
                "--chunks",
                "time=30",
                "--for",
                "temp*",
                "--codecs",
                gzip,
                "--for",
                "daily/*",
                "--chunks",
                "time=20",
                "--for",
                "*_min",
                "--chunks",
                "time=10,x=2"
            ],
            &["tree", "rules"],
            &["info", "rules/temp_max"],
            &["info", "rules/temp_min"],
            &["info", "rules/daily/temp"],
            &["check", "rules", "--data"],
            // Mistakes.
            &["copy", "g", "c", "--chunks", "tiem=30"],
            &["copy", "g", "c", "--for", "tmep*", "--chunks", "time=30"],
            &["copy", "g", "c", "--for", "temp*"],
            &["copy", "g", "c", "--for", "[", "--chunks", "time=30"],
            &["copy", "g", "c", "--chunks", "time=30", "--chunks", "time=20"],
            &["copy", "g", "c", "--codecs", "[{\"name\": \"vlen-bytes\"}]"],
            &["copy", "g/x", "c", "--for", "x", "--chunks", "2"],
            &["copy", "g/x", "c", "--chunks", "time=30"],
            &["copy", "g/temp_max", "c", "--chunks", "x=2"],
            &["info", "c"],
        ],
    ));
}
