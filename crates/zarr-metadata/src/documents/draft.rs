//! A `zarr.json` between its text and its types, with the checks that arrays and groups share.

use std::ops::Range;

use crate::chunk_grid::Axes;
use crate::documents::document::{ARRAY, Member, NodeDocument};
use crate::error::finding::Finding;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::extension::RawExtension;
use crate::json::{
    Grammar, InPlace, JsonType, Key, Outliner, Raw, Reader, distinct, range_of, read_elements,
};

/// A document; only its syntax is checked.
pub(crate) struct Draft<'a> {
    pub(crate) text: &'a str,
    members: Vec<DraftMember<'a>>,
    /// The entries of the members' values, one member after the other.
    outliner: Outliner<'a>,
    /// The edges of a rectilinear chunk grid.
    pub(crate) axes: Axes,
    pub(crate) findings: Vec<Finding>,
}

struct DraftMember<'a> {
    key: Key<'a>,
    value: &'a str,
    entries: Range<usize>,
}

impl<'a> Draft<'a> {
    /// Reads the text once: every level below reads the recorded entries.
    pub(crate) fn read(text: &'a str) -> Result<Self> {
        let mut draft = Draft {
            text,
            members: Vec::with_capacity(ARRAY.len()),
            outliner: Outliner::with_capacity(text.len().min(64)),
            axes: Axes::default(),
            findings: Vec::new(),
        };
        let mut reader = Reader::new(text);
        reader.open(b'{', "a JSON object")?;
        while let Some(key) = reader.next_key(draft.members.is_empty())? {
            draft.read_member(key, &mut reader).map_err(|error| error.in_member(&key.name()))?;
        }
        reader.end()?;
        distinct(draft.members.iter().map(|member| member.key))?;
        Ok(draft)
    }

    fn read_member(&mut self, key: Key<'a>, reader: &mut Reader<'a>) -> Result<()> {
        let name = key.name();
        let (grammar, levels) = match name.as_ref() {
            "attributes" => (Grammar::WithNotFinite, 0),
            "consolidated_metadata" => (Grammar::WithNotFinite, 2),
            "fill_value" => (Grammar::WithNotFinite, usize::MAX),
            _ => (Grammar::Json, usize::MAX),
        };
        let first = self.outliner.entries().len();
        let mut read_axes = |level, key, reader: &mut _| self.axes.read(level, key, reader);
        let in_place: InPlace<'_, '_> = match name == "chunk_grid" {
            true => Some(&mut read_axes),
            false => None,
        };
        let value = self.outliner.value(reader, grammar, levels, in_place)?;
        self.members.push(DraftMember {
            key,
            value,
            entries: first..self.outliner.entries().len(),
        });
        if let Some(seen) = reader.take_not_finite().filter(|_| name != "fill_value") {
            let more = match seen.count.saturating_sub(1) {
                0 => String::new(),
                more => format!(" and {more} more such words"),
            };
            let found = format!("{}{more}", seen.word);
            let allowed = "JSON, which has no such numbers";
            let finding = Finding::in_document(Rule::NOT_FINITE_WORD, found, allowed);
            self.findings.push(finding.under(&format!(".{name}{}", seen.first)));
        }
        Ok(())
    }

    /// The document with its faults, to be kept.
    pub(crate) fn keep(&self, findings: Vec<Finding>) -> NodeDocument {
        let members = self.members.iter().map(|member| Member {
            key: range_of(member.key.text(), self.text),
            value: range_of(member.value, self.text),
        });
        NodeDocument::of(self.text, members, findings)
    }

    pub(crate) fn member(&self, name: &str) -> Option<Raw<'_>> {
        self.members.iter().find(|member| member.key.is(name)).map(|member| self.raw(member))
    }

    fn raw(&self, member: &DraftMember<'a>) -> Raw<'_> {
        let entries = self.outliner.entries().get(member.entries.clone());
        Raw::new(member.value, entries.unwrap_or_default())
    }

    pub(crate) fn require(&self, name: &'static str, allowed: &'static str) -> Result<Raw<'_>> {
        self.member(name).ok_or_else(|| MetadataError::missing(name, allowed))
    }

    /// Whether the document says that it is of an array; otherwise it is of a group.
    pub(crate) fn is_array(&self) -> Result<bool> {
        const ALLOWED: &str = "\"array\" or \"group\"";
        check_format(self.require("zarr_format", "3")?)?;
        let raw = self.require("node_type", ALLOWED)?;
        match raw.string(ALLOWED).as_deref() {
            Ok("array") => Ok(true),
            Ok("group") => Ok(false),
            _ => Err(raw.expected(ALLOWED).breaks(Rule::NODE_TYPE).in_member("node_type")),
        }
    }

    /// Makes the checks that arrays and groups share; `known` are the names of the members.
    pub(crate) fn check(
        &self,
        node_type: &'static str,
        known: &'static [&'static str],
    ) -> Result<()> {
        check_format(self.require("zarr_format", "3")?)?;
        let raw = self.require("node_type", "\"array\" or \"group\"")?;
        if raw.string("text").as_deref() != Ok(node_type) {
            let error = raw.expected(format!("\"{node_type}\"")).breaks(Rule::NODE_TYPE);
            return Err(error.in_member("node_type"));
        }
        if let Some(raw) = self.member("attributes")
            && raw.json_type() != JsonType::Object
        {
            return Err(raw.expected("an object").breaks(Rule::ATTRIBUTES).in_member("attributes"));
        }
        for member in &self.members {
            if !known.iter().any(|name| member.key.is(name)) {
                self.check_unknown(member, known)?;
            }
        }
        Ok(())
    }

    /// SD-40.
    fn check_unknown(
        &self,
        member: &DraftMember<'a>,
        known: &'static [&'static str],
    ) -> Result<()> {
        let raw = self.raw(member);
        let may_be_ignored = raw.json_type() == JsonType::Object
            && raw
                .members()
                .any(|(key, value)| key.is("must_understand") && value.text() == "false");
        match may_be_ignored {
            true => Ok(()),
            false => {
                let name = member.key.name();
                Err(MetadataError::not_among(&name, known, Rule::UNKNOWN_MEMBER))
            }
        }
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
