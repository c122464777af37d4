//! A `zarr.json` as text with its members marked, for both arrays and groups.
//!
//! The text is the truth. Reading keeps it, writing returns it, and a change replaces the text of
//! one member and keeps every other byte. The result is then read like any document, so a checked
//! type never holds a document that reading would refuse.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::de::value::{Error as ValueError, F64Deserializer};

use crate::error::finding::Finding;
use crate::error::{At, MetadataError, Result};
use crate::json::{
    Grammar, Key, Outline, members, new_line, pretty, same, same_value, write_string,
};

/// The members of arrays in canonical order.
pub(crate) const ARRAY: &[&str] = &[
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "dimension_names",
    "storage_transformers",
];

/// The members of groups in canonical order.
pub(crate) const GROUP: &[&str] =
    &["zarr_format", "node_type", "attributes", "consolidated_metadata"];

/// A checked `zarr.json`: the common methods of [`ArrayMetadata`](crate::ArrayMetadata),
/// [`GroupMetadata`](crate::GroupMetadata) and [`NodeMetadata`](crate::NodeMetadata).
///
/// Each of them dereferences to it.
///
/// # Examples
/// ```
/// use zarr_metadata::{NodeDocument, NodeMetadata};
///
/// let json = r#"{"zarr_format": 3, "node_type": "group", "attributes": {"a": 1.50}}"#;
/// let node = NodeMetadata::from_json(json.as_bytes())?;
/// let document: &NodeDocument = &node;
/// assert_eq!(document.json(), json);
/// assert_eq!(document.attribute("a"), Some("1.50"));
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct NodeDocument {
    text: Box<str>,
    members: Vec<Member>,
    findings: Vec<Finding>,
    /// Whether it is translated from documents of Zarr version 2.
    is_version_2: bool,
}

/// Where a member is in the text.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Of the [`Key`].
    pub(crate) key: Range<usize>,
    pub(crate) value: Range<usize>,
}

impl NodeDocument {
    /// The text, its members in their order, and its faults.
    pub(crate) fn of(
        text: &str,
        members: impl Iterator<Item = Member>,
        findings: Vec<Finding>,
    ) -> Self {
        let members = members.collect();
        NodeDocument { text: text.into(), members, findings, is_version_2: false }
    }

    /// A new document in canonical layout, of members with their JSON texts.
    pub(crate) fn new(members: &[(&str, String)]) -> Self {
        let mut text = "{".to_owned();
        let mut marked = Vec::with_capacity(members.len());
        for (index, (name, json)) in members.iter().enumerate() {
            text.push_str(if index == 0 { "" } else { "," });
            new_line(1, &mut text);
            let key = text.len() + 1;
            write_string(name, &mut text);
            let key = key..text.len() - 1;
            text.push_str(": ");
            let start = text.len();
            pretty(json, 1, &mut text);
            marked.push(Member { key, value: start..text.len() });
        }
        text.push_str("\n}\n");
        NodeDocument {
            text: text.into(),
            members: marked,
            findings: Vec::new(),
            is_version_2: false,
        }
    }

    pub(crate) fn of_version_2(self, is_version_2: bool) -> Self {
        NodeDocument { is_version_2, ..self }
    }

    /// The same with these findings before its own.
    pub(crate) fn with_findings(mut self, findings: Vec<Finding>) -> Self {
        self.findings.splice(..0, findings);
        self
    }

    /// The JSON text, unchanged since it was read or made.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.text
    }

    /// The JSON text of the attributes as written, `{}` where there are none.
    ///
    /// It may contain bare `NaN`, `Infinity` and `-Infinity`, which are then findings (SD-43).
    #[must_use]
    pub fn attributes(&self) -> &str {
        self.member("attributes").unwrap_or("{}")
    }

    /// The names of the attributes, in the order of the text.
    #[must_use]
    pub fn attribute_names(&self) -> Vec<String> {
        self.attribute_texts().into_iter().map(|(name, _)| name).collect()
    }

    /// The names of the attributes with their JSON texts, in the order of the text.
    #[must_use]
    pub fn attribute_texts(&self) -> Vec<(String, &str)> {
        let members = members(self.attributes()).unwrap_or_default();
        members.into_iter().map(|(key, json)| (key.name().into_owned(), json)).collect()
    }

    /// The JSON text of one attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        attribute(self.attributes(), name)
    }

    /// One attribute as a value of a Rust type, by `serde`; `None` if there is none of this name.
    ///
    /// Bare `NaN`, `Infinity` and `-Infinity`, which are not JSON, are numbers if they are the
    /// whole attribute (SD-43).
    ///
    /// # Errors
    /// [`MetadataError`] if the attribute is not such a value, with its path:
    /// `$.attributes.units`.
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::{ArrayBuilder, DataType};
    ///
    /// let array = ArrayBuilder::new([365], DataType::Float32)
    ///     .attributes(r#"{"units": "mm", "valid_range": [0, 500]}"#)
    ///     .build()?;
    /// let units: Option<String> = array.attribute_as("units")?;
    /// assert_eq!(units.as_deref(), Some("mm"));
    /// assert_eq!(array.attribute_as::<[f64; 2]>("valid_range")?, Some([0.0, 500.0]));
    /// assert_eq!(array.attribute_as::<f64>("scale_factor")?, None);
    ///
    /// let error = array.attribute_as::<f64>("units").unwrap_err();
    /// assert_eq!(error.path(), "$.attributes.units");
    /// # Ok::<(), zarr_metadata::MetadataError>(())
    /// ```
    pub fn attribute_as<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let Some(json) = self.attribute(name) else { return Ok(None) };
        let number = |number: f64| T::deserialize(<F64Deserializer<ValueError>>::new(number));
        let value = match json {
            // Not JSON, but others write it for missing values (SD-43).
            "NaN" => number(f64::NAN).map_err(|error| error.to_string()),
            "Infinity" => number(f64::INFINITY).map_err(|error| error.to_string()),
            "-Infinity" => number(f64::NEG_INFINITY).map_err(|error| error.to_string()),
            json => serde_json::from_str(json).map_err(|error| error.to_string()),
        };
        value.map(Some).map_err(|message| {
            MetadataError::of_value(&message).in_member(name).in_member("attributes")
        })
    }

    /// Whether the document was translated from Zarr version 2, and is not in any store. A change
    /// gives a document of version 3.
    #[must_use]
    pub fn is_version_2(&self) -> bool {
        self.is_version_2
    }

    /// Faults of the document that do not prevent reading it.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn key(&self, member: &Member) -> Key<'_> {
        Key::new(self.text.get(member.key.clone()).unwrap_or_default())
    }

    fn value(&self, member: &Member) -> &str {
        self.text.get(member.value.clone()).unwrap_or_default()
    }

    /// The JSON text of a top-level member as written, also of one that the specification does not
    /// have (SD-40).
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::{ArrayBuilder, DataType};
    ///
    /// let array = ArrayBuilder::new([365], DataType::Float32).build()?;
    /// assert_eq!(array.member("data_type"), Some("\"float32\""));
    /// assert_eq!(array.member("dimension_names"), None);
    /// # Ok::<(), zarr_metadata::MetadataError>(())
    /// ```
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&str> {
        let member = self.members.iter().find(|member| self.key(member).is(name))?;
        Some(self.value(member))
    }

    /// The text with `json` as the value of the member `name`, which is added where `order` has it
    /// if it is not there.
    pub(crate) fn with_member(&self, name: &str, json: &str, order: &[&str]) -> String {
        let mut value = String::new();
        pretty(json, 1, &mut value);
        if let Some(member) = self.members.iter().find(|member| self.key(member).is(name)) {
            return self.spliced(member.value.clone(), &value);
        }
        let rank = |name: &str| order.iter().position(|known| *known == name);
        let is_before = |member: &&Member| rank(&self.key(member).name()) < rank(name);
        let before = self.members.iter().rev().find(is_before);
        let at = before.or(self.members.last()).map_or(0, |member| member.value.end);
        let mut inserted = ",".to_owned();
        new_line(1, &mut inserted);
        write_string(name, &mut inserted);
        inserted.push_str(": ");
        inserted.push_str(&value);
        self.spliced(at..at, &inserted)
    }

    /// The text with other values of attributes, or without those with `None`; all else keeps its
    /// text and order. Of several changes of one attribute, the last counts.
    pub(crate) fn with_changed_attributes(
        &self,
        changes: &[(&str, Option<&str>)],
        order: &[&str],
    ) -> Result<String> {
        for (name, json) in changes.iter().filter_map(|(name, json)| Some((name, (*json)?))) {
            Outline::read(json, Grammar::Json).member(name).member("attributes")?;
        }
        let Some(found) = self.members.iter().find(|member| self.key(member).is("attributes"))
        else {
            let text = changed_members("{}", changes)?;
            return match text.as_str() {
                "{}" => Ok(self.text.to_string()),
                text => Ok(self.with_member("attributes", text, order)),
            };
        };
        let text = changed_members(self.value(found), changes)?;
        Ok(self.spliced(found.value.clone(), &text))
    }

    /// The text without the member `name`: as it is, if there is none.
    pub(crate) fn without_member(&self, name: &str) -> String {
        let mut before = None;
        for member in &self.members {
            if !self.key(member).is(name) {
                before = Some(member);
                continue;
            }
            let end = member.value.end;
            if let Some(before) = before {
                return self.spliced(before.value.end..end, "");
            }
            // Between a value and the next key there are a comma and space, and no other comma.
            let start = self.text.find('{').map_or(0, |at| at + 1);
            let comma = self.text.get(end..).and_then(|rest| rest.find(','));
            let next = comma.map_or(end, |at| end + at + 1);
            return self.spliced(start..next, "");
        }
        self.text.to_string()
    }

    fn spliced(&self, range: Range<usize>, with: &str) -> String {
        let before = self.text.get(..range.start).unwrap_or_default();
        let after = self.text.get(range.end..).unwrap_or_default();
        [before, with, after].concat()
    }

    /// Whether the members that `known` does not name are the same, in the same order.
    pub(crate) fn same_unknown(&self, other: &Self, known: &[&str]) -> bool {
        self.unknown(known).count() == other.unknown(known).count()
            && self
                .unknown(known)
                .zip(other.unknown(known))
                .all(|(a, b)| a.0 == b.0 && same_value(a.1, b.1))
    }

    /// Names and texts of the members that `known` does not name.
    fn unknown(&self, known: &[&str]) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
        self.members
            .iter()
            .map(|member| (self.key(member).name(), self.value(member)))
            .filter(|(name, _)| !known.contains(&name.as_ref()))
    }
}

/// The text of an object with other values of members, or without those with `None`. Every member that
/// does not change keeps its bytes.
fn changed_members(text: &str, changes: &[(&str, Option<&str>)]) -> Result<String> {
    let open = text.find('{').map_or(0, |at| at + 1);
    let between = |range: Range<usize>| text.get(range).unwrap_or_default();
    let mut left: HashMap<&str, Option<&str>> = changes.iter().copied().collect();
    // Space before the first member and before each further one, and members without it.
    let (mut before_first, mut before_further) = (None, None);
    let mut kept: Vec<(&str, String)> = Vec::new();
    let mut end = open;
    for (key, value) in members(text).member("attributes")? {
        let start = value.as_ptr().addr() - text.as_ptr().addr();
        let quote = between(end..start).find('"').map_or(start, |at| end + at);
        let lead = between(end..quote);
        end = start + value.len();
        match lead.contains(',') {
            true => before_further = before_further.or(Some(lead)),
            false => before_first = Some(lead),
        }
        match left.remove(&*key.name()) {
            Some(None) => {}
            Some(Some(json)) if !same(json, value) => {
                let mut member = between(quote..start).to_owned();
                pretty(json, 2, &mut member);
                kept.push((lead, member));
            }
            _ => kept.push((lead, between(quote..end).to_owned())),
        }
    }
    for (name, _) in changes {
        if let Some(json) = left.remove(name).flatten() {
            let mut member = String::new();
            write_string(name, &mut member);
            member.push_str(": ");
            pretty(json, 2, &mut member);
            kept.push(("", member));
        }
    }
    if kept.is_empty() {
        return Ok("{}".to_owned());
    }
    let mut line = String::new();
    new_line(2, &mut line);
    let first = before_first.unwrap_or(&line);
    let further = before_further.map_or_else(|| format!(",{first}"), str::to_owned);
    let mut out = between(0..open).to_owned();
    for (index, (lead, member)) in kept.iter().enumerate() {
        out.push_str(match index {
            0 => first,
            _ if lead.contains(',') => lead,
            _ => further.as_str(),
        });
        out.push_str(member);
    }
    match before_first {
        Some(_) => out.push_str(between(end..text.len())),
        // There were no members, whose space could be kept.
        None => {
            new_line(1, &mut out);
            out.push('}');
        }
    }
    Ok(out)
}

/// The text of a member that may be written: one value of JSON proper (SD-43).
pub(crate) fn strict<'t>(name: &str, json: &'t str) -> Result<&'t str> {
    Outline::read(json, Grammar::Json).member(name).map(|_| json)
}

/// The JSON text of the attribute `name`.
pub(crate) fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = members(attributes).ok()?.into_iter().find(|(key, _)| key.is(name))?;
    Some(value)
}
