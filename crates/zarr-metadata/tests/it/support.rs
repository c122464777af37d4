//! Documents for tests.

use zarr_metadata::{ArrayMetadata, Codec, DataType, FillValue, MetadataError, Rule};

const MEMBERS: &[(&str, &str)] = &[
    ("zarr_format", "3"),
    ("node_type", "\"array\""),
    ("shape", "[6, 6]"),
    ("data_type", "\"int16\""),
    ("chunk_grid", r#"{"name": "regular", "configuration": {"chunk_shape": [3, 2]}}"#),
    ("chunk_key_encoding", r#"{"name": "default", "configuration": {"separator": "/"}}"#),
    ("fill_value", "0"),
    ("codecs", r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#),
];

/// The text of an ordinary array with some members replaced, added, or (by "") left out.
pub(crate) fn document(changes: &[(&str, &str)]) -> String {
    changed(MEMBERS, changes)
}

/// The text of an object with some of its members replaced, added, or (by "") left out.
pub(crate) fn changed(known: &[(&str, &str)], changes: &[(&str, &str)]) -> String {
    let change = |name: &str| changes.iter().find(|(changed, _)| *changed == name);
    let added = changes.iter().filter(|(name, _)| !known.iter().any(|(known, _)| known == name));
    let members: Vec<_> = known
        .iter()
        .map(|member| change(member.0).unwrap_or(member))
        .chain(added)
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    format!("{{{}}}", members.join(", "))
}

pub(crate) fn array(changes: &[(&str, &str)]) -> Result<ArrayMetadata, MetadataError> {
    ArrayMetadata::from_json(document(changes).as_bytes())
}

/// The document with this grid for an array of this shape.
pub(crate) fn with_grid(shape: &str, grid: &str) -> Result<ArrayMetadata, MetadataError> {
    array(&[("shape", shape), ("chunk_grid", grid)])
}

pub(crate) fn with_codecs(data_type: &str, codecs: &str) -> Result<ArrayMetadata, MetadataError> {
    let data_type = format!("\"{data_type}\"");
    let fill_value = match data_type.as_str() {
        "\"bool\"" => "false",
        "\"string\"" => "\"\"",
        name if name.contains("complex") => "[0, 0]",
        "\"r16\"" => "[0, 0]",
        _ => "0",
    };
    array(&[("data_type", &data_type), ("fill_value", fill_value), ("codecs", codecs)])
}

/// A codec by its name and configuration.
pub(crate) fn codec(name: &str, configuration: &str) -> Result<Codec, MetadataError> {
    let json = format!(r#"{{"name": "{name}", "configuration": {configuration}}}"#);
    Codec::from_json(json.as_bytes())
}

pub(crate) fn data_type(name: &str) -> DataType {
    DataType::from_name(name).unwrap()
}

pub(crate) fn fill_bytes(name: &str, json: &str) -> Result<Vec<u8>, MetadataError> {
    FillValue::parse(&data_type(name), json).map(|value| value.bytes().unwrap().to_vec())
}

pub(crate) fn message<T: std::fmt::Debug>(result: Result<T, MetadataError>) -> String {
    match result {
        Ok(value) => panic!("an error was expected, not {value:?}"),
        Err(error) => {
            let text = error.to_string();
            assert!(!text.contains('\n'), "more than one line: {text}");
            assert!(!text.ends_with('.') || text.ends_with("..."), "a final period: {text}");
            text
        }
    }
}

/// The text of an error, which breaks this rule.
pub(crate) fn breaks<T: std::fmt::Debug>(rule: &str, result: Result<T, MetadataError>) -> String {
    let broken = result.as_ref().err().and_then(MetadataError::rule);
    assert_eq!(broken.map(Rule::id), Some(rule), "{result:?}");
    message(result)
}

/// The canonical JSON of each configuration that is "valid", and the error of each that breaks a
/// rule.
pub(crate) fn outcomes(name: &str, groups: &[(&str, &[&str])]) -> String {
    let mut lines = Vec::new();
    for (rule, configurations) in groups {
        for configuration in *configurations {
            let read = codec(name, configuration);
            let line = match *rule {
                "valid" => {
                    read.unwrap_or_else(|error| panic!("{configuration}: {error}")).to_json()
                }
                rule => breaks(rule, read),
            };
            lines.push(format!("{configuration}\n  {line}"));
        }
    }
    lines.join("\n")
}
