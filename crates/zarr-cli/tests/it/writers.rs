//! Stores of every writer, with `info`, `read`, `check` and `locate`.

use std::fs::{self, File};
use std::path::Path;

use serde_json::Value;
use zarr_store_tests::folder_in_memory;

use crate::support::{root, run, session};

/// Unpacks a collection into a folder and gives its cases.
pub(crate) fn unpack(collection: &str, folder: &Path) -> Vec<Value> {
    let suite = root().join("fixtures/conformance");
    let from = root().join("fixtures").join(collection);
    let listed = if let Ok(archive) = File::open(suite.join(format!("stores/{collection}.tar.gz")))
    {
        let decoder = flate2::read::GzDecoder::new(archive);
        let mut archive = tar::Archive::new(decoder);
        // Files of 1970 are older than any virtual join.
        archive.set_preserve_mtime(false);
        archive.unpack(folder).expect("unpacks");
        suite.join("manifest.json")
    } else {
        let archive = File::open(from.join("stores.tar.zst")).expect("an archive");
        let decoder = zstd::stream::read::Decoder::new(archive).expect("zstd");
        tar::Archive::new(decoder).unpack(folder).expect("unpacks");
        from.join("cases.json")
    };
    let cases = fs::read(listed).expect("cases");
    let cases: Value = serde_json::from_slice(&cases).expect("JSON");
    let cases = cases["cases"].as_array().expect("a list").iter();
    let of_it = |case: &&Value| case.get("archive").is_none_or(|name| name == collection);
    cases.filter(of_it).cloned().collect()
}

/// The tests of the library read all cases; here each case starts three processes, so only some
/// are read.
fn check_collection(collection: &str, every: usize) {
    let folder = folder_in_memory();
    let folder = folder.path();
    let mut read = 0;
    for case in unpack(collection, folder).iter().step_by(every) {
        let path = case["path"].as_str().expect("a path");
        // Snappy is a feature that is not on by default.
        if path.contains("snappy") && !cfg!(feature = "snappy") {
            continue;
        }
        let info = run(folder, &["info", path, "--json"]);
        assert!(info.status.success(), "{path}: {}", String::from_utf8_lossy(&info.stderr));
        let info: Value = serde_json::from_slice(&info.stdout).expect("JSON");
        // Stores of other programs break no rule; warnings are matters of style.
        let check = run(folder, &["check", path, "--data", "--json"]);
        let check: Value = serde_json::from_slice(&check.stdout).expect("JSON");
        assert_eq!(check["errors"], 0, "{path}: {check}");
        let Some(expected) = case["expected"].as_str() else { continue };
        if info["readable"] != true {
            continue;
        }
        let expected = fs::read(folder.join(expected)).expect("expected elements");
        let found = run(folder, &["read", path, "--format", "raw"]);
        assert!(found.stdout == expected, "{path}: {}", String::from_utf8_lossy(&found.stderr));
        read += 1;
    }
    assert!(read > 0);
}

#[test]
fn zarr_python() {
    check_collection("zarr-python", 3);
}

#[test]
fn tensorstore() {
    check_collection("tensorstore", 3);
}

#[test]
fn zarrs_and_the_reference_writer() {
    check_collection("reference", 19);
}

#[test]
fn numcodecs() {
    check_collection("numcodecs", 1);
}

#[test]
fn zfp() {
    check_collection("zfp", 29);
}

#[test]
fn in_words() {
    let folder = folder_in_memory();
    let mut commands: Vec<[String; 2]> = Vec::new();
    for collection in ["zarr-python", "tensorstore", "reference", "numcodecs", "codecs"] {
        let cases = unpack(collection, &folder.path().join(collection));
        // The first case of each chain.
        let mut seen = Vec::new();
        for case in &cases {
            let chain = case["codecs"].to_string();
            if !seen.contains(&chain) && seen.len() < 12 {
                seen.push(chain);
                let path = case["path"].as_str().expect("a path");
                commands.push(["info".to_owned(), format!("{collection}/{path}")]);
            }
        }
    }
    let commands: Vec<Vec<&str>> =
        commands.iter().map(|command| command.iter().map(String::as_str).collect()).collect();
    let commands: Vec<&[&str]> = commands.iter().map(Vec::as_slice).collect();
    insta::assert_snapshot!(session(folder.path(), &commands));
}

/// What is lossy is said to be.
#[test]
fn modes_of_zfp_in_words() {
    let folder = folder_in_memory();
    unpack("zfp", folder.path());
    for (case, expected) in [
        ("reversible-int32-1", "zfp (reversible)"),
        ("accuracy-float32-1", "zfp (error of floats at most 0.05; lossy)"),
        ("accuracy-0-float32-1", "zfp (error of floats as small as possible; lossy)"),
        ("rate-float64-3", "zfp (10.5 bits per element; lossy)"),
        ("precision-int16", "zfp (19 bit planes; lossy)"),
        ("expert-float32-3", "zfp (1 to 300 bits per block, 19 bit planes, down to 2^-2; lossy)"),
        ("zfpy-default-float32-1", "numcodecs.zfpy (reversible)"),
        ("zfpy-rate-40-float64-1", "numcodecs.zfpy (40 bits per element; lossy)"),
        ("zfpy-precision-0-float32-2", "numcodecs.zfpy (all bit planes; lossy)"),
    ] {
        let info = run(folder.path(), &["info", case]);
        let text = String::from_utf8(info.stdout).expect("text");
        let codecs = text.lines().find_map(|line| line.strip_prefix("codecs "));
        assert_eq!(codecs.expect("codecs").trim(), expected, "{case}");
    }
}
