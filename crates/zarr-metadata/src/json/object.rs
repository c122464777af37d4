//! Objects and arrays, read member by member.

use std::borrow::Cow;

use super::read::{JsonType, Raw, Reader, unescape};
use super::skip::{Grammar, distinct};
use crate::error::{At, Kind, MetadataError};

type Result<T> = std::result::Result<T, MetadataError>;

/// The members of an object, taken out by name; what is left over is unknown.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    members: Vec<(Cow<'a, str>, Raw<'a>)>,
}

impl<'a> Object<'a> {
    /// Opens a value that should be an object; otherwise the error says `allowed`.
    pub(crate) fn read(raw: Raw<'a>, allowed: impl Into<Cow<'static, str>>) -> Result<Self> {
        if raw.json_type() != JsonType::Object {
            return Err(raw.expected(allowed));
        }
        let mut reader = Reader::new(raw.text());
        reader.open(b'{', "an object")?;
        let mut members = Vec::new();
        while let Some(key) = reader.next_key(members.is_empty())? {
            let key = unescape(key).unwrap_or(Cow::Borrowed(key));
            // Whether NaN is allowed here was checked when `raw` was first read.
            let value = reader.value(Grammar::WithNotFinite).member(&key)?;
            members.push((key, value));
        }
        let mut keys: Vec<_> = members.iter().map(|(key, _)| key.clone()).collect();
        distinct(&mut keys)?;
        Ok(Object { members })
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Raw<'a>> {
        let at = self.members.iter().position(|(name, _)| name == key)?;
        Some(self.members.remove(at).1)
    }

    pub(crate) fn require(
        &mut self,
        key: &'static str,
        allowed: impl Into<Cow<'static, str>>,
    ) -> Result<Raw<'a>> {
        self.take(key).ok_or_else(|| MetadataError::missing(key, allowed))
    }

    /// A member that may be missing or `null`, read by `read`.
    pub(crate) fn optional<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(Raw<'a>) -> Result<T>,
    ) -> Result<Option<T>> {
        match self.take(key) {
            Some(raw) if raw.json_type() != JsonType::Null => read(raw).map(Some).member(key),
            _ => Ok(None),
        }
    }

    /// The members not taken, in the order of the text.
    pub(crate) fn rest(self) -> Vec<(Cow<'a, str>, Raw<'a>)> {
        self.members
    }

    /// Refuses members whose name is not in `known` (SD-41).
    ///
    /// Called before missing members are reported: one may be there with a typing error.
    pub(crate) fn check_known(&self, known: &'static [&'static str]) -> Result<()> {
        match self.members.iter().find(|(name, _)| !known.contains(&name.as_ref())) {
            Some((name, _)) => Err(MetadataError::unknown_member(name, known)),
            None => Ok(()),
        }
    }
}

/// Reads every element of an array by `read`; an error names the element.
pub(crate) fn read_elements<'a, T>(
    raw: Raw<'a>,
    allowed: impl Into<Cow<'static, str>>,
    mut read: impl FnMut(Raw<'a>) -> Result<T>,
) -> Result<Vec<T>> {
    if raw.json_type() != JsonType::Array {
        return Err(raw.expected(allowed));
    }
    let mut reader = Reader::new(raw.text());
    reader.open(b'[', "an array")?;
    let mut elements = Vec::new();
    while reader.next_element(elements.is_empty())? {
        let index = elements.len();
        let value = reader.value(Grammar::WithNotFinite).element(index)?;
        elements.push(read(value).element(index)?);
    }
    Ok(elements)
}

/// The text of a document.
pub(crate) fn utf8(json: &[u8]) -> Result<&str> {
    str::from_utf8(json).map_err(|e| MetadataError::new(Kind::Utf8 { offset: e.valid_up_to() }))
}

impl<'a> Raw<'a> {
    /// A whole text that holds one value.
    pub(crate) fn parse(text: &'a str, grammar: Grammar) -> Result<Self> {
        let mut reader = Reader::new(text);
        let raw = reader.value(grammar)?;
        reader.end()?;
        Ok(raw)
    }
}
