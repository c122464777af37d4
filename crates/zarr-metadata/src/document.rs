//! A `zarr.json` as text with its members marked: what arrays and groups share.
//!
//! The text is the truth. Reading keeps it, writing gives it back, and a change replaces the text
//! of one member and leaves every other byte alone; the result is then read like any document, so
//! that a checked type never holds what reading would refuse.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::de::value::{Error as ValueError, F64Deserializer};

use crate::error::{At, MetadataError};
use crate::extension::RawExtension;
use crate::finding::Finding;
use crate::json::{
    Grammar, JsonType, Object, Raw, Reader, distinct, new_line, pretty, read_elements, same_value,
    unescape, write_string,
};
use crate::rule::Rule;

type Result<T> = std::result::Result<T, MetadataError>;

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

#[derive(Debug, Clone)]
pub(crate) struct Document {
    text: Box<str>,
    members: Vec<Member>,
}

#[derive(Debug, Clone)]
struct Member {
    name: Box<str>,
    value: Range<usize>,
}

impl Document {
    /// A new document in canonical layout, of members with their JSON texts.
    pub(crate) fn new(members: &[(&str, String)]) -> Self {
        let mut text = "{".to_owned();
        let mut marked = Vec::with_capacity(members.len());
        for (index, (name, json)) in members.iter().enumerate() {
            text.push_str(if index == 0 { "" } else { "," });
            new_line(1, &mut text);
            write_string(name, &mut text);
            text.push_str(": ");
            let start = text.len();
            pretty(json, 1, &mut text);
            marked.push(Member { name: (*name).into(), value: start..text.len() });
        }
        text.push_str("\n}\n");
        Document { text: text.into(), members: marked }
    }

    /// Marks the members of an object; `in_place` may read a member where it stands.
    pub(crate) fn read<'a>(
        text: &'a str,
        findings: &mut Vec<Finding>,
        mut in_place: impl FnMut(&str, &mut Reader<'a>, &mut Vec<Finding>) -> Option<Result<()>>,
    ) -> Result<Self> {
        let mut reader = Reader::new(text);
        reader.open(b'{', "a JSON object")?;
        let mut members = Vec::new();
        while let Some(key) = reader.next_key(members.is_empty())? {
            let name = unescape(key).unwrap_or(Cow::Borrowed(key));
            reader.space();
            let start = reader.offset();
            match in_place(&name, &mut reader, findings) {
                Some(result) => result.member(&name)?,
                None => {
                    let grammar = match name.as_ref() {
                        "attributes" | "consolidated_metadata" | "fill_value" => {
                            Grammar::WithNotFinite
                        }
                        _ => Grammar::Json,
                    };
                    reader.value(grammar).member(&name)?;
                }
            }
            let seen = reader.take_not_finite();
            if seen.count > 0 && name != "fill_value" {
                let more = match seen.count.saturating_sub(1) {
                    0 => String::new(),
                    more => format!(" and {more} more such words"),
                };
                findings.push(
                    Finding::in_document(
                        Rule::NOT_FINITE_WORD,
                        format!("{}{more}", seen.word),
                        "JSON, which has no such numbers",
                    )
                    .under(&format!(".{name}{}", seen.first)),
                );
            }
            members.push(Member { name: name.as_ref().into(), value: start..reader.offset() });
        }
        reader.end()?;
        let mut names: Vec<_> =
            members.iter().map(|member| Cow::Borrowed(member.name.as_ref())).collect();
        distinct(&mut names)?;
        Ok(Document { text: text.into(), members })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn member(&self, name: &str) -> Option<Raw<'_>> {
        let member = self.members.iter().find(|member| member.name.as_ref() == name)?;
        self.raw(member)
    }

    fn raw(&self, member: &Member) -> Option<Raw<'_>> {
        self.text.get(member.value.clone()).map(Raw::checked)
    }

    pub(crate) fn require(&self, name: &'static str, allowed: &'static str) -> Result<Raw<'_>> {
        self.member(name).ok_or_else(|| MetadataError::missing(name, allowed))
    }

    /// The JSON text of the attributes, `{}` where there are none.
    pub(crate) fn attributes(&self) -> &str {
        self.member("attributes").map_or("{}", Raw::text)
    }

    /// Checks what arrays and groups have in common; `known` are the names of the members.
    pub(crate) fn check(
        &self,
        node_type: &'static str,
        known: &'static [&'static str],
    ) -> Result<()> {
        check_format(self.require("zarr_format", "3")?)?;
        let raw = self.require("node_type", "\"array\" or \"group\"")?;
        if raw.json_type() != JsonType::String || raw.string("text")? != node_type {
            let error = raw.expected(format!("\"{node_type}\"")).breaks(Rule::NODE_TYPE);
            return Err(error.in_member("node_type"));
        }
        if let Some(raw) = self.member("attributes")
            && raw.json_type() != JsonType::Object
        {
            return Err(raw.expected("an object").breaks(Rule::ATTRIBUTES).in_member("attributes"));
        }
        for member in &self.members {
            if !known.contains(&member.name.as_ref()) {
                self.check_unknown(member, known)?;
            }
        }
        Ok(())
    }

    /// SD-40.
    fn check_unknown(&self, member: &Member, known: &'static [&'static str]) -> Result<()> {
        let name = member.name.as_ref();
        let raw = self.raw(member).filter(|raw| raw.json_type() == JsonType::Object);
        if let Some(raw) = raw {
            let mut object = Object::read(raw, "an object").member(name)?;
            if object.take("must_understand").is_some_and(|raw| raw.text() == "false") {
                return Ok(());
            }
        }
        Err(MetadataError::not_among(name, known, Rule::UNKNOWN_MEMBER))
    }

    /// SD-56: storage transformers that all may be ignored.
    pub(crate) fn check_storage_transformers(&self) -> Result<()> {
        let Some(raw) = self.member("storage_transformers") else { return Ok(()) };
        read_elements(raw, "an array of storage transformers", |raw| {
            let extension = RawExtension::read(raw)?;
            if extension.must_understand {
                return Err(MetadataError::unexpected(
                    extension.describe(),
                    "no storage transformer, or one with \"must_understand\": false",
                ));
            }
            Ok(())
        })
        .breaks(Rule::STORAGE_TRANSFORMERS)
        .member("storage_transformers")
        .map(drop)
    }

    /// The text with `json` as the value of the member `name`, which is added where `order` has it
    /// if it is not there.
    pub(crate) fn with_member(&self, name: &str, json: &str, order: &[&str]) -> String {
        let mut value = String::new();
        pretty(json, 1, &mut value);
        if let Some(member) = self.members.iter().find(|member| member.name.as_ref() == name) {
            return self.spliced(member.value.clone(), &value);
        }
        let rank = |name: &str| order.iter().position(|known| *known == name);
        let before = self.members.iter().rev().find(|member| rank(&member.name) < rank(name));
        let at = before.or(self.members.last()).map_or(0, |member| member.value.end);
        let mut inserted = ",".to_owned();
        new_line(1, &mut inserted);
        write_string(name, &mut inserted);
        inserted.push_str(": ");
        inserted.push_str(&value);
        self.spliced(at..at, &inserted)
    }

    /// The text without the member `name`: as it is, if there is none.
    pub(crate) fn without_member(&self, name: &str) -> String {
        let mut before = None;
        for member in &self.members {
            if member.name.as_ref() != name {
                before = Some(member);
                continue;
            }
            let end = member.value.end;
            if let Some(before) = before {
                return self.spliced(before.value.end..end, "");
            }
            // Between a value and the next key there are a comma and space, and no other comma.
            let start = self.text.find('{').map_or(0, |at| at.saturating_add(1));
            let comma = self.text.get(end..).and_then(|rest| rest.find(','));
            let next = comma.map_or(end, |at| end.saturating_add(at).saturating_add(1));
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
    fn unknown(&self, known: &[&str]) -> impl Iterator<Item = (&str, &str)> {
        self.members
            .iter()
            .filter(|member| !known.contains(&member.name.as_ref()))
            .map(|member| (member.name.as_ref(), self.raw(member).map_or("", Raw::text)))
    }
}

/// SD-56: the integer 3.
fn check_format(raw: Raw<'_>) -> Result<()> {
    let allowed = match raw.text() {
        "3" => return Ok(()),
        "2" => "3: this is Zarr version 2",
        _ => "the integer 3",
    };
    Err(raw.expected(allowed).breaks(Rule::ZARR_FORMAT).in_member("zarr_format"))
}

/// The text of attributes that may be written: an object of JSON proper (SD-43).
pub(crate) fn check_attributes(json: &str) -> Result<()> {
    let raw = Raw::parse(json, Grammar::Json).member("attributes")?;
    match raw.json_type() {
        JsonType::Object => Ok(()),
        _ => Err(raw.expected("an object").breaks(Rule::ATTRIBUTES).in_member("attributes")),
    }
}

/// The attributes with another value for one of them, or without it; the others keep their text and
/// their order.
pub(crate) fn changed_attributes(
    attributes: &str,
    name: &str,
    json: Option<&str>,
) -> Result<String> {
    if let Some(json) = json {
        Raw::parse(json, Grammar::Json).member(name).member("attributes")?;
    }
    let members = Object::read(Raw::checked(attributes), "an object").member("attributes")?.rest();
    let mut text = "{".to_owned();
    let mut push = |name: &str, value: &str| {
        if text.len() > 1 {
            text.push(',');
        }
        write_string(name, &mut text);
        text.push(':');
        text.push_str(value);
    };
    let mut found = false;
    for (member, raw) in &members {
        if member != name {
            push(member, raw.text());
            continue;
        }
        found = true;
        if let Some(json) = json {
            push(name, json);
        }
    }
    if let Some(json) = json.filter(|_| !found) {
        push(name, json);
    }
    text.push('}');
    Ok(text)
}

/// The JSON text of the attribute `name`.
pub(crate) fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let mut object = Object::read(Raw::checked(attributes), "an object").ok()?;
    object.take(name).map(Raw::text)
}

/// One attribute as a value of a Rust type, `None` if there is none of this name.
pub(crate) fn attribute_as<T: DeserializeOwned>(attributes: &str, name: &str) -> Result<Option<T>> {
    let Some(json) = attribute(attributes, name) else { return Ok(None) };
    let number = |number: f64| T::deserialize(<F64Deserializer<ValueError>>::new(number));
    let value = match json {
        // Not JSON, but what others write for missing values (SD-43).
        "NaN" => number(f64::NAN).map_err(|error| error.to_string()),
        "Infinity" => number(f64::INFINITY).map_err(|error| error.to_string()),
        "-Infinity" => number(f64::NEG_INFINITY).map_err(|error| error.to_string()),
        json => serde_json::from_str(json).map_err(|error| error.to_string()),
    };
    value.map(Some).map_err(|message| {
        MetadataError::of_value(&message).in_member(name).in_member("attributes")
    })
}

/// The names of all attributes, in the order of the text.
pub(crate) fn attribute_names(attributes: &str) -> Vec<String> {
    let object = Object::read(Raw::checked(attributes), "an object");
    let members = object.map(Object::rest).unwrap_or_default();
    members.into_iter().map(|(name, _)| name.into_owned()).collect()
}

/// The value of `node_type`, read no further than that.
pub(crate) fn node_type(text: &str) -> Result<Cow<'_, str>> {
    const ALLOWED: &str = "\"array\" or \"group\"";
    let mut reader = Reader::new(text);
    reader.open(b'{', "a JSON object")?;
    let mut first = true;
    while let Some(key) = reader.next_key(first)? {
        first = false;
        let key = unescape(key).unwrap_or(Cow::Borrowed(key));
        let raw = reader.value(Grammar::WithNotFinite).member(&key)?;
        match key.as_ref() {
            "zarr_format" => check_format(raw)?,
            "node_type" => {
                return raw.string(ALLOWED).breaks(Rule::NODE_TYPE).member("node_type");
            }
            _ => {}
        }
    }
    Err(MetadataError::missing("node_type", ALLOWED))
}
