//! Objects and arrays, read member by member.

use std::borrow::Cow;

use super::raw::{JsonType, Key, Raw};
use crate::error::{At, Kind, MetadataError, Result};

/// The members of an object. A reader takes the members it knows by name; the rest is unknown.
#[derive(Debug, Default)]
pub(crate) struct Object<'a> {
    /// `None` in place of a value that was taken.
    members: Vec<(Key<'a>, Option<Raw<'a>>)>,
}

impl<'a> Object<'a> {
    /// Opens a value that should be an object; otherwise the error says `allowed`.
    pub(crate) fn read(raw: Raw<'a>, allowed: impl Into<Cow<'static, str>>) -> Result<Self> {
        match raw.json_type() {
            JsonType::Object => {
                Ok(Object { members: raw.members().map(|(key, raw)| (key, Some(raw))).collect() })
            }
            _ => Err(raw.expected(allowed)),
        }
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Raw<'a>> {
        self.members.iter_mut().find(|(name, _)| name.is(key))?.1.take()
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
    pub(crate) fn rest(self) -> impl Iterator<Item = (Cow<'a, str>, Raw<'a>)> {
        self.members.into_iter().filter_map(|(key, raw)| Some((key.name(), raw?)))
    }

    /// Refuses members with names that are not in `known` (SD-41).
    ///
    /// Called before missing members are reported: one may be there with a typing error.
    pub(crate) fn check_known(&self, known: &'static [&'static str]) -> Result<()> {
        let mut left = self.members.iter().filter(|(_, raw)| raw.is_some());
        match left.find(|(key, _)| !known.iter().any(|name| key.is(name))) {
            Some((key, _)) => Err(MetadataError::unknown_member(&key.name(), known)),
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
    raw.elements().enumerate().map(|(index, raw)| read(raw).element(index)).collect()
}

/// The text of a document.
pub(crate) fn utf8(json: &[u8]) -> Result<&str> {
    str::from_utf8(json).map_err(|e| MetadataError::new(Kind::Utf8 { offset: e.valid_up_to() }))
}
