//! The JSON of a reference file, versions 0 and 1.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::value::RawValue;

use zarr_store::Key;

use super::json::Json;

/// The target of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    /// These bytes.
    Inline(Arc<[u8]>),
    /// All of a target, by its number.
    Whole(usize),
    /// A part of a target.
    Part { target: usize, offset: u64, len: u64 },
}

/// The factor by which replacing the templates of different targets may lengthen a file. Without a
/// limit, a long text that is used many times would take any time and memory.
const MOST_EXPANDED: usize = 32;

/// The most bytes of a path or URL. No file system or server takes a longer one. Each use of a
/// longer one, such as an error that names it, would cost far more than the file that makes it from
/// templates.
const LONGEST_TARGET: usize = 1 << 16;

/// The references of a file, by key.
pub(super) type References = BTreeMap<String, Reference>;

/// A reference file of version 1.
#[derive(Deserialize)]
struct File<'a> {
    version: Option<serde_json::Value>,
    #[serde(borrow)]
    refs: Option<BTreeMap<String, &'a RawValue>>,
    #[serde(default)]
    templates: BTreeMap<String, serde_json::Value>,
    r#gen: Option<serde_json::Value>,
}

/// The forms of a reference that is not a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Listed {
    Part(String, u64, u64),
    Whole((String,)),
}

/// Reads a reference file: its references, and the names that are no keys. `target` gives the
/// number of a path or URL.
pub(super) fn parse(
    json: &[u8],
    target: &mut dyn FnMut(&str) -> usize,
) -> Result<(References, BTreeSet<String>), String> {
    let text = Json::new(json);
    let file: BTreeMap<String, &RawValue> =
        text.read().map_err(|error| format!("it is not a JSON object of references: {error}"))?;
    // Version 0 has the references at the top, and version 1 below "refs". A key "refs" of version
    // 0 would be a name of a file, which no hierarchy has.
    let mut parser = Parser {
        found: References::new(),
        without_key: BTreeSet::new(),
        templates: BTreeMap::new(),
        numbers: HashMap::new(),
        room: json.len().saturating_mul(MOST_EXPANDED),
        text: &text,
        target,
    };
    if !file.contains_key("refs") {
        parser.all(file)?;
        return Ok((parser.found, parser.without_key));
    }
    let file: File<'_> =
        text.read().map_err(|error| format!("it is not a reference file: {error}"))?;
    if file.version.as_ref().is_some_and(|version| *version != 1) {
        return Err("its version is neither 0 nor 1".to_owned());
    }
    if file.r#gen.is_some_and(|made| made.as_array().is_none_or(|made| !made.is_empty())) {
        return Err("it has \"gen\", generated references, which are not supported; kerchunk's \
                        own library writes them out"
            .to_owned());
    }
    for (name, text) in file.templates {
        let Some(text) = text.as_str().filter(|text| !text.contains("{{")) else {
            return Err(format!(
                "its template {name:?} is more than a text, which is not supported"
            ));
        };
        parser.templates.insert(name, text.to_owned());
    }
    parser.all(file.refs.unwrap_or_default())?;
    Ok((parser.found, parser.without_key))
}

struct Parser<'a> {
    found: References,
    without_key: BTreeSet<String>,
    templates: BTreeMap<String, String>,
    /// The targets by their text with templates.
    numbers: HashMap<String, usize>,
    /// The number of bytes that replaced templates may still add.
    room: usize,
    text: &'a Json<'a>,
    target: &'a mut dyn FnMut(&str) -> usize,
}

impl Parser<'_> {
    fn all(&mut self, refs: BTreeMap<String, &RawValue>) -> Result<(), String> {
        for (key, value) in refs {
            if Key::new(&key).is_err() {
                self.without_key.insert(key);
                continue;
            }
            let fail = |reason: &dyn fmt::Display| format!("its reference {key:?} {reason}");
            let reference = self.one(value).map_err(|reason| fail(&reason))?;
            self.found.insert(key, reference);
        }
        Ok(())
    }

    fn one(&mut self, value: &RawValue) -> Result<Reference, String> {
        let json = value.get();
        match json.as_bytes().first() {
            Some(b'"') => {
                let text: String = serde_json::from_str(json).map_err(|error| error.to_string())?;
                let bytes = match text.strip_prefix("base64:") {
                    Some(encoded) => STANDARD
                        .decode(encoded)
                        .map_err(|error| format!("is not base64: {error}"))?,
                    None => text.into_bytes(),
                };
                Ok(Reference::Inline(bytes.into()))
            }
            // A document that was not quoted.
            Some(b'{') => Ok(Reference::Inline(self.text.given(value).into())),
            Some(b'[') => {
                let listed = serde_json::from_str(json).map_err(|_| {
                    "is a list, but neither [url] nor [url, offset, length] with numbers of bytes"
                })?;
                match listed {
                    Listed::Whole((url,)) => Ok(Reference::Whole(self.target(&url)?)),
                    Listed::Part(url, offset, len) => {
                        if offset.checked_add(len).is_none() {
                            return Err("ends past what 64 bits can count".to_owned());
                        }
                        Ok(Reference::Part { target: self.target(&url)?, offset, len })
                    }
                }
            }
            _ => Err("is neither a text, an object nor a list".to_owned()),
        }
    }

    /// The number of a target, with its templates replaced.
    fn target(&mut self, url: &str) -> Result<usize, String> {
        if let Some(number) = self.numbers.get(url) {
            return Ok(*number);
        }
        let mut full = String::new();
        let mut rest = url;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else { break };
            let Some(text) = self.templates.get(name.trim()) else {
                return Err(format!("uses {name:?}, which is no template of the file"));
            };
            self.room = self.room.checked_sub(text.len()).ok_or_else(|| {
                format!(
                    "is too much: templates may make the file {MOST_EXPANDED} times as long, not more"
                )
            })?;
            full.push_str(before);
            full.push_str(text);
            rest = after;
            check_length(full.len())?;
        }
        full.push_str(rest);
        check_length(full.len())?;
        let number = (self.target)(&full);
        self.numbers.insert(url.to_owned(), number);
        Ok(number)
    }
}

fn check_length(bytes: usize) -> Result<(), String> {
    if bytes > LONGEST_TARGET {
        return Err(format!(
            "leads to a path or URL of more than {LONGEST_TARGET} bytes, which is too long"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The references, and the targets in the order of their numbers.
    fn parse(json: &[u8]) -> Result<(References, Vec<String>), String> {
        let mut targets: Vec<String> = Vec::new();
        let (found, without_key) = super::parse(json, &mut |url| {
            let known = targets.iter().position(|target| target == url);
            known.unwrap_or_else(|| {
                targets.push(url.to_owned());
                targets.len() - 1
            })
        })?;
        assert!(without_key.iter().all(|name| ["../escape", "a//b"].contains(&name.as_str())));
        Ok((found, targets))
    }

    #[test]
    fn both_versions_and_all_forms() {
        let refs = r#"{".zgroup": "{\"zarr_format\": 2}", "a/.zattrs": {"units": "K"},
            "a/0": "base64:AAH/", "a/1": "two", "a/2": ["{{u}}/x.nc"], "a/3": ["s3://b/y", 7, 9],
            "../escape": "x", "a//b": ["z"]}"#;
        let one = format!(r#"{{"version": 1, "templates": {{"u": "data"}}, "refs": {refs}}}"#);
        let (found, targets) = parse(one.as_bytes()).expect("parses");
        let keys: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(keys, [".zgroup", "a/.zattrs", "a/0", "a/1", "a/2", "a/3"]);
        assert_eq!(targets, ["data/x.nc", "s3://b/y"]);
        assert_eq!(found["a/0"], Reference::Inline([0, 1, 255].into()));
        assert_eq!(found["a/1"], Reference::Inline(b"two".as_slice().into()));
        assert_eq!(found["a/.zattrs"], Reference::Inline(br#"{"units": "K"}"#.as_slice().into()));
        assert_eq!(found["a/2"], Reference::Whole(0));
        assert_eq!(found["a/3"], Reference::Part { target: 1, offset: 7, len: 9 });
        let zero = refs.replace("{{u}}", "data");
        assert_eq!(parse(zero.as_bytes()), Ok((found, targets)));
    }

    /// Each different target is made once, and all together are in proportion to the file.
    #[test]
    fn templates_take_memory_in_proportion_to_the_file() {
        let file = |template: &str, refs: &[String]| {
            let refs = refs.join(", ");
            format!(r#"{{"version": 1, "templates": {{"u": "{template}"}}, "refs": {{{refs}}}}}"#)
        };
        let reference = |at: usize, url: &str| format!(r#""c/{at}": ["{url}", {at}, 1]"#);
        let bytes_of = |json: &str| {
            let (mut calls, mut bytes) = (0, 0_usize);
            let found = super::parse(json.as_bytes(), &mut |url| {
                calls += 1;
                bytes += url.len();
                0
            });
            (found.map(|(found, _)| found.len()), calls, bytes)
        };
        // A long URL, such as a signed one, of all chunks.
        let same: Vec<String> = (0..10_000).map(|at| reference(at, "{{u}}")).collect();
        let (found, calls, bytes) = bytes_of(&file(&"u".repeat(4000), &same));
        assert_eq!((found, calls, bytes), (Ok(10_000), 1, 4000));
        // One file for each chunk.
        let each: Vec<String> =
            (0..10_000).map(|at| reference(at, &format!("{{{{u}}}}/{at}.nc"))).collect();
        let (found, calls, _) = bytes_of(&file(&"u".repeat(200), &each));
        assert_eq!((found, calls), (Ok(10_000), 10_000));
        // A long template many times in one target, in many targets, and both.
        let often = |times: usize, targets: usize| -> Vec<String> {
            let uses = "{{u}}".repeat(times);
            (0..targets).map(|at| reference(at, &format!("{uses}{at}"))).collect()
        };
        for (length, refs, reason) in [
            (60_000, often(1, 5000), "32 times"),
            (1000, often(50, 5000), "32 times"),
            (60_000, often(5000, 1), "more than 65536 bytes"),
            (100_000, often(50, 500), "more than 65536 bytes"),
        ] {
            let json = file(&"u".repeat(length), &refs);
            let (found, _, bytes) = bytes_of(&json);
            let reason_found = found.expect_err("refused");
            assert!(reason_found.contains(reason), "{reason_found}");
            assert!(bytes <= 33 * json.len(), "{bytes} of {}", json.len());
        }
        // One long target within the bounds of all, with templates and without.
        for url in ["{{u}}".repeat(50), "u".repeat(70_000)] {
            let json = file(&"u".repeat(500_000), &[reference(0, &url)]);
            let (found, calls, _) = bytes_of(&json);
            assert!(found.expect_err("refused").contains("more than 65536 bytes"));
            assert_eq!(calls, 0);
        }
    }

    #[test]
    fn what_is_not_supported_is_named() {
        let message = |json: &str| parse(json.as_bytes()).expect_err(json);
        for (json, expected) in [
            ("[]", "not a JSON object of references"),
            (r#"{"version": 2, "refs": {}}"#, "neither 0 nor 1"),
            (r#"{"version": 1, "gen": [{}], "refs": {}}"#, "\"gen\""),
            (r#"{"version": 1, "templates": {"f": "{{c}}"}, "refs": {}}"#, "template \"f\""),
            (r#"{"version": 1, "refs": {"a": ["{{f(1)}}"]}}"#, "\"f(1)\""),
            (r#"{"a": ["x", 1]}"#, "reference \"a\" is a list"),
            (r#"{"a": ["x", -1, 5]}"#, "reference \"a\" is a list"),
            (r#"{"a": ["x", 18446744073709551615, 1]}"#, "64 bits"),
            (r#"{"a": "base64:???"}"#, "not base64"),
            (r#"{"a": null}"#, "neither a text"),
            (r#"{"\u001b[2J": 5}"#, "\\u{1b}[2J"),
        ] {
            assert!(message(json).contains(expected), "{json}: {}", message(json));
        }
    }
}
