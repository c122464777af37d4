//! Reading JSON text in place, one token at a time.

use std::borrow::Cow;

use super::MAX_DEPTH;
use crate::error::{Kind, MetadataError, describe};

type Result<T> = std::result::Result<T, MetadataError>;

/// The text of one JSON value, its syntax already checked, without space around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Raw<'a>(&'a str);

/// What type of value a text is, by its first byte.
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
    /// A text that a [`Reader`] has passed over.
    pub(crate) fn checked(text: &'a str) -> Self {
        Raw(text)
    }

    pub(crate) fn text(self) -> &'a str {
        self.0
    }

    pub(crate) fn json_type(self) -> JsonType {
        match self.0.as_bytes() {
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
    pub(crate) fn expected(self, allowed: impl Into<Cow<'static, str>>) -> MetadataError {
        MetadataError::unexpected(describe(self.0), allowed)
    }

    /// The text of a string value, or the error that `allowed` is wanted here.
    pub(crate) fn string(self, allowed: impl Into<Cow<'static, str>>) -> Result<Cow<'a, str>> {
        if self.json_type() != JsonType::String {
            return Err(self.expected(allowed));
        }
        unescape(self.0).ok_or_else(|| self.expected("text without half surrogate pairs"))
    }

    /// `true` or `false`.
    pub(crate) fn bool(self) -> Result<bool> {
        match self.0 {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.expected("true or false")),
        }
    }

    /// A number written as digits only: no sign, fraction or exponent.
    pub(crate) fn natural(self) -> Option<u64> {
        let plain = self.0.as_bytes().iter().all(u8::is_ascii_digit);
        plain.then(|| self.0.parse().ok()).flatten()
    }

    /// As [`Raw::natural`], and a minus sign.
    pub(crate) fn integer(self) -> Option<i64> {
        let digits = self.0.strip_prefix('-').unwrap_or(self.0);
        let plain = digits.bytes().all(|b| b.is_ascii_digit());
        plain.then(|| self.0.parse().ok()).flatten()
    }

    pub(crate) fn at_least(self, least: u64) -> Result<u64> {
        self.natural()
            .filter(|&n| n >= least)
            .ok_or_else(|| self.expected_natural(&format!("an integer of at least {least}")))
    }

    /// An error at this very value, which should be a number that [`natural`](Raw::natural) reads; it
    /// says so if the number is only too large.
    pub(crate) fn expected_natural(self, allowed: &str) -> MetadataError {
        let is_digits = self.0.bytes().all(|b| b.is_ascii_digit());
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
    if quoted.contains('\\') {
        return serde_json::from_str(quoted).ok().map(Cow::Owned);
    }
    quoted.strip_prefix('"')?.strip_suffix('"').map(Cow::Borrowed)
}

/// A position in a JSON text.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    pub(super) rest: &'a [u8],
    pub(super) depth: usize,
    pub(super) not_finite: NotFinite,
}

/// The words `NaN`, `Infinity` and `-Infinity` that have been passed over.
#[derive(Debug, Clone, Default)]
pub(crate) struct NotFinite {
    pub(crate) count: usize,
    pub(crate) word: &'static str,
    /// The place of the first one.
    pub(crate) first: String,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Reader { text, rest: text.as_bytes(), depth: 0, not_finite: NotFinite::default() }
    }

    /// Bytes of the text that have been read.
    pub(crate) fn offset(&self) -> usize {
        self.text.len().saturating_sub(self.rest.len())
    }

    /// The words seen since this was last asked.
    pub(crate) fn take_not_finite(&mut self) -> NotFinite {
        std::mem::take(&mut self.not_finite)
    }

    /// The text from `start` to here.
    pub(crate) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.offset()).unwrap_or_default()
    }

    pub(crate) fn space(&mut self) {
        while let [b' ' | b'\n' | b'\r' | b'\t', tail @ ..] = self.rest {
            self.rest = tail;
        }
    }

    /// The next byte after space, unread.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.space();
        self.rest.first().copied()
    }

    /// Reads `byte` if it comes next.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        self.space();
        match self.rest {
            [first, tail @ ..] if *first == byte => {
                self.rest = tail;
                true
            }
            _ => false,
        }
    }

    /// Checks that the whole text has been read.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.syntax("the end of the document")),
        }
    }

    /// Opens an object or an array, whichever `open` says.
    pub(crate) fn open(&mut self, open: u8, expected: &'static str) -> Result<()> {
        if !self.take(open) {
            return Err(self.syntax(expected));
        }
        self.deeper()
    }

    pub(super) fn deeper(&mut self) -> Result<()> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > MAX_DEPTH {
            let (line, column) = self.position();
            return Err(MetadataError::new(Kind::Depth { line, column, limit: MAX_DEPTH }));
        }
        Ok(())
    }

    /// Reads by `read`, or nothing at all if it returns `None`.
    pub(crate) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = self.rest;
        let result = read(self);
        if result.is_none() {
            self.rest = before;
        }
        result
    }

    /// Before an element of an array: passes on the plain positive integers before the array's last
    /// element, while `take` accepts them, and stops before the first other one.
    ///
    /// The same as reading them one at a time, without checking for space and the end at each.
    pub(crate) fn naturals(&mut self, mut take: impl FnMut(u64) -> bool) {
        // Ten to the nineteenth and below: no sum of nineteen digits overflows.
        const DIGITS: usize = 19;
        while let [first @ b'1'..=b'9', tail @ ..] = self.rest {
            let mut value = u64::from(first & 0xf);
            let mut tail = tail;
            let longest = tail.len().saturating_sub(DIGITS);
            while let [digit @ b'0'..=b'9', after @ ..] = tail {
                value = value.wrapping_mul(10).wrapping_add(u64::from(digit & 0xf));
                tail = after;
            }
            match tail {
                [b',', after @ ..]
                    if tail.len() > longest
                        && after.first().is_some_and(u8::is_ascii_digit)
                        && take(value) =>
                {
                    self.rest = after;
                }
                _ => break,
            }
        }
    }

    /// Reads a number if it is digits only and fits; leaves everything else unread.
    pub(crate) fn natural(&mut self) -> Option<u64> {
        self.space();
        let mut tail = self.rest;
        let mut value = 0_u64;
        while let [digit @ b'0'..=b'9', after @ ..] = tail {
            value = value.checked_mul(10)?.checked_add(u64::from(digit & 0xf))?;
            tail = after;
        }
        let leading_zero = matches!(self.rest, [b'0', b'0'..=b'9', ..]);
        let none = tail.len() == self.rest.len();
        if none || leading_zero || matches!(tail, [b'.' | b'e' | b'E', ..]) {
            return None;
        }
        self.rest = tail;
        Some(value)
    }

    /// Steps to the next element of an array: false at its end.
    pub(crate) fn next_element(&mut self, first: bool) -> Result<bool> {
        if self.take(b']') {
            // Not after a comma, which is only read together with a value behind it.
            self.depth = self.depth.saturating_sub(1);
            return Ok(false);
        }
        if !first {
            if !self.take(b',') {
                return Err(self.syntax("',' or ']'"));
            }
            if self.peek() == Some(b']') {
                return Err(self.syntax("a value after ','"));
            }
        }
        Ok(true)
    }

    /// Steps to the next member of an object and reads its key: `None` at its end.
    ///
    /// The key is returned with its quotes, as written.
    pub(crate) fn next_key(&mut self, first: bool) -> Result<Option<&'a str>> {
        if self.take(b'}') {
            self.depth = self.depth.saturating_sub(1);
            return Ok(None);
        }
        if !first && !self.take(b',') {
            return Err(self.syntax("',' or '}'"));
        }
        if self.peek() != Some(b'"') {
            return Err(self.syntax("a key in double quotes"));
        }
        let start = self.offset();
        self.string()?;
        let key = self.since(start);
        if !self.take(b':') {
            return Err(self.syntax("':'"));
        }
        Ok(Some(key))
    }

    /// Reads a string, checking its escapes and that it has no control characters.
    pub(super) fn string(&mut self) -> Result<()> {
        let [b'"', tail @ ..] = self.rest else {
            return Err(self.syntax("a string"));
        };
        self.rest = tail;
        loop {
            match self.rest {
                [b'"', tail @ ..] => {
                    self.rest = tail;
                    return Ok(());
                }
                [b'\\', b'u', a, b, c, d, tail @ ..]
                    if [a, b, c, d].into_iter().all(u8::is_ascii_hexdigit) =>
                {
                    self.rest = tail;
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', tail @ ..] => {
                    self.rest = tail;
                }
                [b'\\', ..] => return Err(self.syntax("an escape such as \\n or \\u00e9")),
                [0..=0x1f, ..] => return Err(self.syntax("an escape for a control character")),
                [_, tail @ ..] => self.rest = tail,
                [] => return Err(self.syntax("a closing double quote")),
            }
        }
    }

    /// Reads a number by the grammar of RFC 8259.
    pub(super) fn number(&mut self) -> Result<()> {
        if let [b'-', tail @ ..] = self.rest {
            self.rest = tail;
        }
        match self.rest {
            [b'0', b'0'..=b'9', ..] => return Err(self.syntax("a number without leading zeros")),
            [b'0'..=b'9', ..] => self.digits(),
            _ => return Err(self.syntax("a value")),
        }
        if let [b'.', tail @ ..] = self.rest {
            self.rest = tail;
            self.some_digits()?;
        }
        if let [b'e' | b'E', tail @ ..] = self.rest {
            self.rest = tail;
            if let [b'+' | b'-', tail @ ..] = self.rest {
                self.rest = tail;
            }
            self.some_digits()?;
        }
        Ok(())
    }

    fn some_digits(&mut self) -> Result<()> {
        match self.rest {
            [b'0'..=b'9', ..] => {
                self.digits();
                Ok(())
            }
            _ => Err(self.syntax("a digit")),
        }
    }

    fn digits(&mut self) {
        while let [b'0'..=b'9', tail @ ..] = self.rest {
            self.rest = tail;
        }
    }

    /// The error that something else than `expected` follows.
    pub(crate) fn syntax(&self, expected: &'static str) -> MetadataError {
        let (line, column) = self.position();
        let rest = self.text.get(self.offset()..).unwrap_or_default();
        let found = match rest.chars().next() {
            None => "the end of the text".to_owned(),
            Some(c) => format!("{c:?}"),
        };
        MetadataError::new(Kind::Syntax { line, column, found, expected })
    }

    /// Line and column, in characters, both from 1.
    fn position(&self) -> (usize, usize) {
        let before = self.since(0);
        let line = before.matches('\n').count().saturating_add(1);
        let last = before.rsplit('\n').next().unwrap_or_default();
        (line, last.chars().count().saturating_add(1))
    }
}
