//! Differences between two metadata documents: of what an array or group is, and of how it is
//! stored.

use serde_json::Value;
use zarr_kit::ArrayMetadata;
use zarr_kit::metadata::GroupMetadata;

use crate::words;

/// The most characters of a value that are shown.
const SHOWN: usize = 100;

/// Something that differs.
pub(super) struct Change {
    pub(super) what: String,
    pub(super) one: String,
    pub(super) other: String,
    /// Whether readers see other content, and not only other objects.
    pub(super) is_content: bool,
}

impl Change {
    pub(super) fn content(what: impl Into<String>, one: String, other: String) -> Self {
        Self { what: what.into(), one, other, is_content: true }
    }

    fn stored(what: impl Into<String>, one: String, other: String) -> Self {
        Self { is_content: false, ..Self::content(what, one, other) }
    }
}

/// The beginning of a long text.
pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

pub(super) fn groups(one: &GroupMetadata, other: &GroupMetadata) -> Vec<Change> {
    let mut changes = Vec::new();
    attributes(one.attributes(), other.attributes(), &mut changes);
    changes
}

pub(super) fn arrays(one: &ArrayMetadata, other: &ArrayMetadata) -> Vec<Change> {
    let mut changes = Vec::new();
    if one.shape() != other.shape() {
        let shape = |array: &ArrayMetadata| words::shape(array.shape());
        changes.push(Change::content("shape", shape(one), shape(other)));
    }
    if one.data_type() != other.data_type() {
        let name = |array: &ArrayMetadata| array.data_type().to_json();
        changes.push(Change::content("data_type", name(one), name(other)));
    }
    if one.dimension_names() != other.dimension_names() {
        let names = |array: &ArrayMetadata| words::axis_names(array).join(", ");
        changes.push(Change::content("dimension_names", names(one), names(other)));
    }
    // What is absent has the fill value, so another one is noticed where elements are compared; it
    // also is what the next resize shows.
    let (fill, other_fill) = (one.fill_value(), other.fill_value());
    let same = match (fill.bytes(), other_fill.bytes()) {
        (Some(one), Some(other)) => one == other,
        _ => value(fill.json()) == value(other_fill.json()),
    };
    if !same {
        let (fill, other_fill) = (fill.json().to_owned(), other_fill.json().to_owned());
        changes.push(Change::content("fill_value", fill, other_fill));
    }
    attributes(one.attributes(), other.attributes(), &mut changes);
    let (one, other) = (value(one.json()), value(other.json()));
    for name in ["chunk_grid", "chunk_key_encoding", "codecs", "storage_transformers"] {
        let member = |document: &Value| match document.get(name) {
            // An empty list is the same as none.
            Some(Value::Array(list)) if list.is_empty() => Value::Null,
            Some(member) => member.clone(),
            None => Value::Null,
        };
        let (a, b) = (member(&one), member(&other));
        if a != b {
            changes.push(Change::stored(name, a.to_string(), b.to_string()));
        }
    }
    changes
}

/// The JSON of a document; documents that are read are JSON, but for a bare NaN.
fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.to_owned()))
}

/// One change per attribute, so that a long document does not hide which one it is.
fn attributes(one: &str, other: &str, changes: &mut Vec<Change>) {
    let (one, other) = (value(one), value(other));
    let (Some(ours), Some(theirs)) = (one.as_object(), other.as_object()) else {
        if one != other {
            changes.push(Change::content("attributes", one.to_string(), other.to_string()));
        }
        return;
    };
    let more = theirs.keys().filter(|name| !ours.contains_key(*name));
    for name in ours.keys().chain(more) {
        let (a, b) = (ours.get(name), theirs.get(name));
        if a != b {
            let text = |value: Option<&Value>| {
                value.map_or_else(|| "none".to_owned(), ToString::to_string)
            };
            changes.push(Change::content(format!("attribute {name:?}"), text(a), text(b)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{attributes, short};

    #[test]
    fn attributes_are_compared_as_values() {
        let mut changes = Vec::new();
        attributes(r#"{"a": 1, "b": [1, 2]}"#, r#"{"b": [ 1,2 ], "a": 1}"#, &mut changes);
        assert!(changes.is_empty());
        attributes(r#"{"a": 1, "b": 2}"#, r#"{"a": 3, "c": NaN}"#, &mut changes);
        assert_eq!(changes.len(), 1, "a bare NaN leaves the text");
        changes.clear();
        attributes(r#"{"a": 1, "b": 2}"#, r#"{"a": 3, "c": null}"#, &mut changes);
        let lines: Vec<String> =
            changes.iter().map(|c| format!("{} {} {}", c.what, c.one, c.other)).collect();
        assert_eq!(
            lines,
            ["attribute \"a\" 1 3", "attribute \"b\" 2 none", "attribute \"c\" none null"]
        );
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let text = short(&"é".repeat(200));
        assert!(text.ends_with("...") && text.chars().count() == 103);
    }
}
