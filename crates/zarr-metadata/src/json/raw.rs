//! A value of a JSON text: its type, its text, and the values within it.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::{MetadataError, Result, describe};

/// One value of a JSON text, its syntax already checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw<'a> {
    /// Without space around it.
    text: &'a str,
    /// The values within it, as far as [`Reader::outline`](super::Reader::outline) has recorded
    /// them.
    within: &'a [Entry<'a>],
}

/// A value within another one, or the key before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    /// Of a key, the text of [`Key`].
    pub(super) text: &'a str,
    /// How many of the entries that follow lie within the value.
    pub(super) within: usize,
}

/// The key of a member as it is written: without its quotes, or with them if it has escapes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key<'a>(&'a str);

impl<'a> Key<'a> {
    /// A key as it is written in this form.
    pub(crate) fn new(text: &'a str) -> Self {
        Key(text)
    }

    #[inline]
    pub(crate) fn text(self) -> &'a str {
        self.0
    }

    #[inline]
    pub(super) fn of(quoted: &'a str, has_escapes: bool) -> Self {
        Key(if has_escapes { quoted } else { between_quotes(quoted) })
    }

    /// Whether it has escapes. A bare key cannot begin with a quote.
    #[inline]
    pub(super) fn has_escapes(self) -> bool {
        self.0.starts_with('"')
    }

    /// The key as it is written, with its quotes.
    pub(crate) fn quoted(self) -> Cow<'a, str> {
        match self.has_escapes() {
            true => Cow::Borrowed(self.0),
            false => Cow::Owned(format!("\"{}\"", self.0)),
        }
    }

    /// The key with its escapes resolved; unchanged if it is not text, because of half a surrogate
    /// pair.
    pub(crate) fn name(self) -> Cow<'a, str> {
        match self.has_escapes() {
            true => unescape(self.0).unwrap_or(Cow::Borrowed(self.0)),
            false => Cow::Borrowed(self.0),
        }
    }

    /// Whether this is its name.
    #[inline]
    pub(crate) fn is(self, name: &str) -> bool {
        if self.has_escapes() { self.name() == name } else { self.0 == name }
    }
}

/// The type of a value, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonType {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
    /// The bare words `NaN`, `Infinity` and `-Infinity` that Python writes.
    NotFinite,
}

impl<'a> Raw<'a> {
    /// The value with this text; `within` are the entries of its outline.
    pub(crate) fn new(text: &'a str, within: &'a [Entry<'a>]) -> Self {
        Raw { text, within }
    }

    #[inline]
    pub(crate) fn text(self) -> &'a str {
        self.text
    }

    /// The members of an object, in the order of the text.
    pub(crate) fn members(self) -> impl Iterator<Item = (Key<'a>, Raw<'a>)> {
        let mut rest = self.within;
        std::iter::from_fn(move || {
            let (key, values) = rest.split_first()?;
            rest = values;
            Some((Key(key.text), next_value(&mut rest)?))
        })
    }

    /// The elements of an array.
    pub(crate) fn elements(self) -> impl Iterator<Item = Raw<'a>> {
        let mut rest = self.within;
        std::iter::from_fn(move || next_value(&mut rest))
    }

    #[inline]
    pub(crate) fn json_type(self) -> JsonType {
        match self.text.as_bytes() {
            [b'{', ..] => JsonType::Object,
            [b'[', ..] => JsonType::Array,
            [b'"', ..] => JsonType::String,
            [b't' | b'f', ..] => JsonType::Bool,
            [b'n', ..] => JsonType::Null,
            [b'N' | b'I', ..] | [b'-', b'I', ..] => JsonType::NotFinite,
            _ => JsonType::Number,
        }
    }

    /// An error at this very value.
    #[cold]
    pub(crate) fn expected(self, allowed: impl Into<Cow<'static, str>>) -> MetadataError {
        MetadataError::unexpected(describe(self.text), allowed)
    }

    /// The text of a string value, or the error that `allowed` is wanted here.
    pub(crate) fn string(self, allowed: impl Into<Cow<'static, str>>) -> Result<Cow<'a, str>> {
        if self.json_type() != JsonType::String {
            return Err(self.expected(allowed));
        }
        unescape(self.text).ok_or_else(|| self.expected("text without half surrogate pairs"))
    }

    /// `true` or `false`.
    pub(crate) fn bool(self) -> Result<bool> {
        match self.text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.expected("true or false")),
        }
    }

    /// A number written as digits only: no sign, fraction or exponent.
    pub(crate) fn natural(self) -> Option<u64> {
        let plain = self.text.as_bytes().iter().all(u8::is_ascii_digit);
        plain.then(|| self.text.parse().ok()).flatten()
    }

    /// As [`Raw::natural`], and a minus sign.
    pub(crate) fn integer(self) -> Option<i64> {
        let digits = self.text.strip_prefix('-').unwrap_or(self.text);
        let plain = digits.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| self.text.parse().ok()).flatten()
    }

    pub(crate) fn at_least(self, least: u64) -> Result<u64> {
        self.natural()
            .filter(|&n| n >= least)
            .ok_or_else(|| self.expected_natural(&format!("an integer of at least {least}")))
    }

    /// An error at this very value, which should be a number that [`natural`](Raw::natural) reads; it
    /// says so if the number is only too large.
    pub(crate) fn expected_natural(self, allowed: &str) -> MetadataError {
        let is_digits = self.text.bytes().all(|b| b.is_ascii_digit());
        match is_digits && self.natural().is_none() {
            true => {
                self.expected(format!("{allowed}; the number is too large, at most {}", u64::MAX))
            }
            false => self.expected(allowed.to_owned()),
        }
    }
}

/// The text between the quotes of a string, with its escapes resolved.
///
/// `None` if an escape is half of a surrogate pair: valid JSON, but not text.
pub(crate) fn unescape(quoted: &str) -> Option<Cow<'_, str>> {
    let text = between_quotes(quoted);
    match text.bytes().any(|byte| byte == b'\\') {
        false => Some(Cow::Borrowed(text)),
        true => serde_json::from_str(quoted).ok().map(Cow::Owned),
    }
}

fn between_quotes(quoted: &str) -> &str {
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default()
}

fn next_value<'a>(entries: &mut &'a [Entry<'a>]) -> Option<Raw<'a>> {
    let (entry, rest) = entries.split_first()?;
    let (within, rest) = rest.split_at_checked(entry.within)?;
    *entries = rest;
    Some(Raw { text: entry.text, within })
}

/// Where `part`, a slice of `text`, lies in it.
pub(crate) fn range_of(part: &str, text: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}
