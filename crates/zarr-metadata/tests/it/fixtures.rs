//! Documents that other programs wrote, and the ones that must be refused.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use zarr_metadata::{ArrayMetadata, Codec, MetadataError, NodeMetadata, Rule};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            documents(&path, found);
        } else if path.file_name().is_some_and(|name| name == "zarr.json") {
            found.push(path);
        }
    }
}

/// The `zarr.json` of every store in a collection, by the folder that it is in.
///
/// The archives are plain ustar: a header of 512 bytes, the contents padded to 512.
fn collection(name: &str) -> BTreeMap<String, Vec<u8>> {
    let suite = fixtures().join("conformance/stores").join(format!("{name}.tar.gz"));
    let archive = if let Ok(packed) = std::fs::read(suite) {
        let mut archive = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut archive).unwrap();
        archive
    } else {
        let packed = std::fs::read(fixtures().join(name).join("stores.tar.zst")).unwrap();
        zstd::decode_all(packed.as_slice()).unwrap()
    };
    let mut rest = archive.as_slice();
    let mut found = BTreeMap::new();
    while let Some((header, tail)) = rest.split_at_checked(512) {
        let text = |range: std::ops::Range<usize>| {
            let field = header[range].split(|byte| *byte == 0).next().unwrap();
            String::from_utf8(field.to_vec()).unwrap().trim().to_owned()
        };
        if header[0] == 0 {
            break;
        }
        let size = usize::from_str_radix(&text(124..136), 8).unwrap();
        let path = [text(345..500), text(0..100)].join("/");
        let path = path.trim_start_matches('/');
        if let Some(folder) = path.strip_suffix("/zarr.json") {
            found.insert(folder.to_owned(), tail[..size].to_vec());
        }
        rest = &tail[size.next_multiple_of(512)..];
    }
    found
}

/// The cases of one archive of the conformance suite.
fn cases(archive: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read(fixtures().join("conformance/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let cases = manifest["cases"].as_array().unwrap().iter();
    cases.filter(|case| case["archive"] == archive).cloned().collect()
}

fn kept_to_the_byte(json: &[u8]) -> Result<NodeMetadata, MetadataError> {
    let node = NodeMetadata::from_json(json)?;
    assert_eq!(node.json().as_bytes(), json);
    if let NodeMetadata::Array(array) = &node {
        let changed = array.with_attributes(r#"{"a": 1}"#).unwrap();
        let restored = changed.with_attributes("{}").unwrap();
        assert_eq!(restored.codecs(), array.codecs());
        assert_eq!(restored.fill_value(), array.fill_value());
    }
    Ok(node)
}

#[test]
fn sd_33_the_weather_is_read_and_kept() {
    let mut found = Vec::new();
    documents(&fixtures().join("seattle-weather.zarr"), &mut found);
    assert!(found.len() > 5, "{}", found.len());
    for path in found {
        let node = kept_to_the_byte(&std::fs::read(&path).unwrap()).unwrap();
        assert!(node.findings().is_empty(), "{}: {:?}", path.display(), node.findings());
    }
}

#[test]
fn sd_33_documents_of_other_writers_are_read_and_kept() {
    for name in ["zarr-python", "tensorstore", "reference", "numcodecs", "codecs"] {
        let documents = collection(name);
        assert!(documents.len() > 10, "{name}: {}", documents.len());
        for (folder, json) in documents {
            let node = kept_to_the_byte(&json);
            let node = node.unwrap_or_else(|error| panic!("{name}/{folder}: {error}"));
            let NodeMetadata::Array(array) = node else { continue };
            let canonical = ArrayMetadata::new(
                array.shape(),
                array.data_type(),
                array.chunk_grid(),
                array.fill_value(),
                array.codecs(),
            );
            match canonical {
                Ok(canonical) => assert_eq!(canonical.codecs(), array.codecs()),
                Err(error) => assert!(
                    ["kept-type", "grid-empty-list", "unknown-type"].contains(&folder.as_str()),
                    "{name}/{folder}: {error}"
                ),
            }
        }
    }
}

#[test]
fn documents_that_must_be_refused_are_refused_at_their_place() {
    let documents = collection("invalid");
    let mut refused = 0;
    let mut broken: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in cases("invalid") {
        let text = |key: &str| case[key].as_str().unwrap();
        // Errors of chunks, and of chains on chunks, belong to the crates above.
        let decision = case["readings"][0].as_str().unwrap_or_default();
        let meets_the_chunk = ["SD-20", "SD-22", "SD-23", "SD-24", "SD-34"].contains(&decision);
        let (name, place) = (text("path"), text("where"));
        let Err(error) = kept_to_the_byte(&documents[text("path")]) else {
            let later = text("fails") == "read" || meets_the_chunk;
            assert!(later, "{name} is read, but {place} is wrong: {decision}");
            continue;
        };
        refused += 1;
        // An error may point at a part of the fault; a premature end is found in whatever it
        // cuts.
        let inside = error.path().starts_with(place) || place.starts_with(error.path());
        assert!(inside || name == "json-truncated", "{name}: {error}, expected at {place}");
        let rule = error.rule().unwrap_or_else(|| panic!("{name}: {error} breaks no rule"));
        broken.entry(rule.id()).or_default().push(name.to_owned());
    }
    assert!(refused > 300, "{refused}");
    let lines: Vec<_> =
        broken.iter().map(|(rule, names)| format!("{rule}\n  {}", names.join("\n  "))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn rules_have_names_in_kebab_case_of_their_own() {
    let ids: BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    assert_eq!(ids.len(), Rule::ALL.len());
    for rule in Rule::ALL {
        let plain = rule.id().bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        assert!(plain && rule.to_string() == rule.id(), "{rule:?}");
        assert!(!rule.text().ends_with('.') && !rule.text().contains('\n'), "{rule:?}");
    }
}

#[test]
fn codecs_that_other_writers_use_are_known() {
    let unknown: Vec<_> = ["zarr-python", "tensorstore"]
        .iter()
        .flat_map(|name| collection(name).into_values())
        .filter_map(|json| match NodeMetadata::from_json(&json) {
            Ok(NodeMetadata::Array(array)) => Some(array.codecs().to_vec()),
            _ => None,
        })
        .flatten()
        .filter_map(|codec| match codec {
            Codec::Unknown(extension) => Some(extension.name().to_owned()),
            _ => None,
        })
        .collect();
    for name in unknown {
        assert!(["vlen-utf8", "vlen-bytes", "numcodecs.delta"].contains(&name.as_str()), "{name}");
    }
}
