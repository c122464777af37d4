//! Differences between two metadata documents: in the properties of an array or group, and in its
//! storage.

use std::collections::HashMap;

use serde_json::Value;
use zarr_metadata::ArrayMetadata;
use zarr_metadata::{GroupMetadata, JsonTokens, same_value};

use crate::words;

/// The most characters of a value that are shown.
const SHOWN: usize = 100;

/// A part of two documents that differs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Change {
    /// The part: a member of the document, or an attribute.
    pub what: String,
    /// Its value in the first node.
    pub one: String,
    /// Its value in the second node.
    pub other: String,
    /// Whether readers see different content, not only different objects.
    pub is_content: bool,
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
    attributes([one.attribute_texts(), other.attribute_texts()], &mut changes);
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
    // Absent elements have the fill value. So another fill value is noticed when elements are
    // compared; the next resize shows it too.
    let (fill, other_fill) = (one.fill_value(), other.fill_value());
    let same = match (fill.bytes(), other_fill.bytes()) {
        (Some(one), Some(other)) => one == other,
        _ => same_value(fill.json(), other_fill.json()),
    };
    if !same {
        let (fill, other_fill) = (fill.json().to_owned(), other_fill.json().to_owned());
        changes.push(Change::content("fill_value", fill, other_fill));
    }
    attributes([one.attribute_texts(), other.attribute_texts()], &mut changes);
    let (one, other) = (without_attributes(one), without_attributes(other));
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

/// The document without its attributes, which may hold a bare NaN that is no JSON.
fn without_attributes(array: &ArrayMetadata) -> Value {
    let document = array.with_attributes("{}");
    document.ok().and_then(|array| serde_json::from_str(array.json()).ok()).unwrap_or_default()
}

/// One change per attribute, so that a long document does not hide which one it is.
fn attributes([ours, theirs]: [Vec<(String, &str)>; 2], changes: &mut Vec<Change>) {
    let [our_texts, their_texts] = [&ours, &theirs]
        .map(|all| all.iter().map(|(name, json)| (name, *json)).collect::<HashMap<_, _>>());
    let more = theirs.iter().filter(|(name, _)| !our_texts.contains_key(name));
    for (name, _) in ours.iter().chain(more) {
        let (a, b) = (our_texts.get(name).copied(), their_texts.get(name).copied());
        let is_same = match (a, b) {
            (Some(a), Some(b)) => same_value(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if !is_same {
            // On one line, and with all the digits that differ.
            let text = |json: Option<&str>| {
                json.map_or_else(|| "none".to_owned(), |json| JsonTokens::new(json).collect())
            };
            changes.push(Change::content(format!("attribute {name:?}"), text(a), text(b)));
        }
    }
}

#[cfg(test)]
mod tests {
    use zarr_metadata::GroupMetadata;

    use super::{groups, short};

    fn compared(one: &str, other: &str) -> Vec<String> {
        let group = |attributes: &str| {
            let json = format!(
                r#"{{"zarr_format": 3, "node_type": "group", "attributes": {attributes}}}"#
            );
            GroupMetadata::from_json(json.as_bytes()).unwrap()
        };
        let changes = groups(&group(one), &group(other));
        changes.iter().map(|c| format!("{} {} {}", c.what, c.one, c.other)).collect()
    }

    #[test]
    fn attributes_are_compared_as_values() {
        let none: [&str; 0] = [];
        assert_eq!(compared(r#"{"a": 1, "b": [1, 2]}"#, r#"{"b": [ 1,2 ], "a": 1}"#), none);
        assert_eq!(compared(r#"{"a": 1.0, "b": "é"}"#, r#"{"a": 1.00, "b": "\u00e9"}"#), none);
        assert_eq!(
            compared(r#"{"a": 1, "b": 2}"#, r#"{"a": 3, "c": null}"#),
            ["attribute \"a\" 1 3", "attribute \"b\" 2 none", "attribute \"c\" none null"]
        );
    }

    #[test]
    fn a_bare_nan_is_a_value_like_others() {
        let none: [&str; 0] = [];
        assert_eq!(compared(r#"{"a": NaN, "b": 1}"#, r#"{"b": 1, "a": NaN}"#), none);
        assert_eq!(
            compared(r#"{"a": NaN, "b": 1}"#, r#"{"a": Infinity, "b": 2}"#),
            ["attribute \"a\" NaN Infinity", "attribute \"b\" 1 2"]
        );
    }

    #[test]
    fn no_digit_of_a_number_is_lost() {
        assert_eq!(
            compared(
                r#"{"id": 12345678901234567890123, "n": {"a": [9007199254740993.0]}}"#,
                r#"{"id": 12345678901234567890124, "n": {"a": [9007199254740994.0]}}"#
            ),
            [
                "attribute \"id\" 12345678901234567890123 12345678901234567890124",
                "attribute \"n\" {\"a\":[9007199254740993.0]} {\"a\":[9007199254740994.0]}"
            ]
        );
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let text = short(&"é".repeat(200));
        assert!(text.ends_with("...") && text.chars().count() == 103);
    }
}
