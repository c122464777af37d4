//! The one error type: the place in the document, the value found, the values allowed.

pub(crate) mod finding;
pub(crate) mod printable;
pub(crate) mod rule;

use std::borrow::Cow;
use std::fmt;

use crate::error::finding::Finding;
use crate::error::printable::Printable;
use crate::error::rule::Rule;
use crate::json::write_string;

/// The result of reading a document.
pub(crate) type Result<T, E = MetadataError> = std::result::Result<T, E>;

/// A document, or a part of one, that breaks the specification.
///
/// The message is one line: the JSON path, the value found there and the values allowed.
///
/// ```
/// use zarr_metadata::Codec;
///
/// let err = Codec::from_json(br#"{"name": "gzip", "configuration": {"level": 12}}"#).unwrap_err();
/// assert_eq!(err.path(), "$.configuration.level");
/// assert_eq!(err.reason().to_string(), "found 12, expected an integer from 0 to 9");
/// assert_eq!(err.to_string(), "$.configuration.level: found 12, expected an integer from 0 to 9");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct MetadataError(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    path: String,
    kind: Kind,
    /// Which rule is broken, once that is known.
    rule: Option<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Kind {
    #[error("found a byte that is not UTF-8 at offset {offset}, expected JSON text")]
    Utf8 { offset: usize },
    #[error("line {line} column {column}: found {found}, expected {expected}")]
    Syntax { line: usize, column: usize, found: String, expected: &'static str },
    #[error("line {line} column {column}: nested deeper than {limit} levels, the limit")]
    Depth { line: usize, column: usize, limit: usize },
    #[error("duplicate key")]
    Duplicate,
    #[error("found {found}, expected {allowed}")]
    Unexpected { found: String, allowed: Cow<'static, str> },
    #[error("{message}")]
    Reported { message: String },
    #[error("missing, expected {allowed}")]
    Missing { allowed: Cow<'static, str> },
    #[error("unknown member {}, expected {}{}", Quoted(member), Listed(allowed), Hint(nearest))]
    UnknownMember {
        member: String,
        allowed: &'static [&'static str],
        nearest: Option<&'static str>,
    },
    #[error("unknown {what} {}, expected {allowed}{}", Quoted(name), Hint(nearest))]
    UnknownName {
        what: &'static str,
        name: String,
        allowed: Cow<'static, str>,
        nearest: Option<&'static str>,
    },
}

impl MetadataError {
    pub(crate) fn new(kind: Kind) -> Self {
        let rule = match &kind {
            Kind::Utf8 { .. } | Kind::Syntax { .. } => Some(Rule::NOT_JSON),
            Kind::Depth { .. } => Some(Rule::TOO_DEEP),
            Kind::Duplicate => Some(Rule::DUPLICATE_KEY),
            // Set by the reader of the enclosing part.
            Kind::Unexpected { .. }
            | Kind::Reported { .. }
            | Kind::Missing { .. }
            | Kind::UnknownMember { .. }
            | Kind::UnknownName { .. } => None,
        };
        MetadataError(Box::new(Inner { path: "$".to_owned(), kind, rule }))
    }

    pub(crate) fn unexpected(
        found: impl Into<String>,
        allowed: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(Kind::Unexpected { found: found.into(), allowed: allowed.into() })
    }

    /// A value that the requested Rust type cannot have, with the message of its reader, which may
    /// repeat the value.
    pub(crate) fn of_value(message: &str) -> Self {
        // The place in a value of one line is no help.
        let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
        let message = cut(&Printable(message).to_string(), 4 * SHOWN);
        Self::new(Kind::Reported { message })
    }

    /// The object has no `member`; the path is where it should be.
    pub(crate) fn missing(member: &str, allowed: impl Into<Cow<'static, str>>) -> Self {
        let error = Self::new(Kind::Missing { allowed: allowed.into() });
        error.breaks(Rule::MISSING_MEMBER).in_member(member)
    }

    /// The object has `key` more than once.
    pub(crate) fn duplicate(key: &str) -> Self {
        Self::new(Kind::Duplicate).in_member(key)
    }

    /// Whether it is about depth: it has a line and a column, since a path would be as deep.
    pub(crate) fn is_depth(&self) -> bool {
        matches!(self.0.kind, Kind::Depth { .. })
    }

    /// An extension or its configuration has a `member` that its document does not name.
    pub(crate) fn unknown_member(member: &str, allowed: &'static [&'static str]) -> Self {
        Self::not_among(member, allowed, Rule::UNKNOWN_EXTENSION_MEMBER)
    }

    /// The object has a `member` that is not among those `allowed`.
    pub(crate) fn not_among(member: &str, allowed: &'static [&'static str], rule: Rule) -> Self {
        let nearest = nearest(member, allowed);
        let error = Self::new(Kind::UnknownMember { member: shorten(member), allowed, nearest });
        error.breaks(rule).in_member(member)
    }

    /// `known` are the names to suggest, `allowed` is how a message sums them up.
    pub(crate) fn unknown_name(
        what: &'static str,
        name: &str,
        known: &[&'static str],
        allowed: impl Into<Cow<'static, str>>,
    ) -> Self {
        let allowed = allowed.into();
        let nearest = nearest(name, known);
        Self::new(Kind::UnknownName { what, name: shorten(name), allowed, nearest })
    }

    /// A finding as an error: a writer refuses faults that a reader only reports.
    pub(crate) fn of_finding(finding: &Finding) -> Self {
        let mut error = Self::new(Kind::Reported { message: finding.message().to_owned() });
        error.0.path = finding.path().unwrap_or("$").to_owned();
        error.breaks(finding.rule())
    }

    /// The place inside the document as a JSON path, such as
    /// `$.codecs[0].configuration.shape[2]`; `$` is the document itself.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The message without its place: the found and the allowed values, for callers that show the
    /// place separately.
    #[must_use]
    pub fn reason(&self) -> impl fmt::Display {
        Printable(&self.0.kind)
    }

    /// The rule that is broken; `None` for errors that concern no document, such as bytes that are
    /// not an element.
    ///
    /// ```
    /// use zarr_metadata::{Codec, Rule};
    ///
    /// let err = Codec::from_json(br#"{"name": "gzip", "configuration": {"level": 12}}"#).unwrap_err();
    /// assert_eq!(err.rule().map(Rule::id), Some("gzip-configuration"));
    /// ```
    #[must_use]
    pub fn rule(&self) -> Option<Rule> {
        self.0.rule
    }

    /// Sets the broken rule, unless an inner part has set it already.
    pub(crate) fn breaks(mut self, rule: Rule) -> Self {
        self.0.rule.get_or_insert(rule);
        self
    }

    /// The same error seen from a document in which this one is the member `key`.
    #[cold]
    pub(crate) fn in_member(mut self, key: &str) -> Self {
        let mut segment = String::new();
        path_member(&mut segment, key);
        self.0.path.insert_str(1, &segment);
        self
    }

    /// The same error seen from a document in which this one is at `path`.
    pub(crate) fn under(mut self, path: &str) -> Self {
        self.0.path.insert_str(1, path);
        self
    }

    /// The same error seen from a document in which this one is the element `index`.
    #[cold]
    pub(crate) fn in_element(mut self, index: usize) -> Self {
        self.0.path.insert_str(1, &format!("[{index}]"));
        self
    }
}

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Printable(self.path()), self.reason())
    }
}

/// As the text.
impl fmt::Debug for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// As the text.
impl fmt::Debug for crate::NotationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for MetadataError {}

/// Adds the place to an error from inside it; costs nothing on success.
pub(crate) trait At<T> {
    fn member(self, key: &str) -> Result<T, MetadataError>;
    fn element(self, index: usize) -> Result<T, MetadataError>;
    fn breaks(self, rule: Rule) -> Result<T, MetadataError>;
}

impl<T> At<T> for Result<T, MetadataError> {
    #[inline]
    fn member(self, key: &str) -> Self {
        self.map_err(|e| e.in_member(key))
    }

    #[inline]
    fn element(self, index: usize) -> Self {
        self.map_err(|e| e.in_element(index))
    }

    fn breaks(self, rule: Rule) -> Self {
        self.map_err(|e| e.breaks(rule))
    }
}

impl Finding {
    /// Reads the member `key`, the path of whatever `read` finds or refuses.
    pub(crate) fn member<T>(
        findings: &mut Vec<Finding>,
        key: &str,
        read: impl FnOnce(&mut Vec<Finding>) -> Result<T, MetadataError>,
    ) -> Result<T, MetadataError> {
        Finding::scope(findings, || format!(".{key}"), read).member(key)
    }
}

/// Appends `.key`, or `["key"]` if the key is not a plain word.
pub(crate) fn path_member(path: &mut String, key: &str) {
    let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if plain && !key.is_empty() && key.len() <= SHOWN {
        path.push('.');
        path.push_str(key);
    } else {
        path.push('[');
        write_string(&shorten(key), path);
        path.push(']');
    }
}

/// Characters of someone else's text that a message repeats.
const SHOWN: usize = 48;

/// The beginning of `text`, for a message that stays one readable line.
pub(crate) fn shorten(text: &str) -> String {
    cut(text, SHOWN)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A JSON value in a message: short values unchanged, others by their kind.
pub(crate) fn describe(raw: &str) -> String {
    let long = raw.len() > SHOWN || raw.contains(['\n', '\r', '\t']);
    match raw.as_bytes().first() {
        Some(b'{') if long => "an object".to_owned(),
        Some(b'[') if long => "an array".to_owned(),
        _ => shorten(raw),
    }
}

struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut quoted = String::new();
        write_string(self.0, &mut quoted);
        f.write_str(&quoted)
    }
}

struct Listed<'a>(&'a [&'static str]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("no members"),
            [one] => write!(f, "{}", Quoted(one)),
            [first, rest @ ..] => {
                write!(f, "one of {}", Quoted(first))?;
                rest.iter().try_for_each(|name| write!(f, ", {}", Quoted(name)))
            }
        }
    }
}

struct Hint<'a>(&'a Option<&'static str>);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, "; did you mean {}?", Quoted(name)),
            None => Ok(()),
        }
    }
}

/// The known name that is a few typing errors away, if there is one.
pub(crate) fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    if name.chars().count() > SHOWN {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    known
        .iter()
        .map(|&candidate| (strsim::levenshtein(&lower, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= candidate.len().div_ceil(3).min(3))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_needs_a_likeness() {
        const KNOWN: &[&str] = &["first_bit", "last_bit", "padding_encoding"];
        assert_eq!(nearest("frist_bit", KNOWN), Some("first_bit"));
        assert_eq!(nearest("lastbit", KNOWN), Some("last_bit"));
        assert_eq!(nearest("level", KNOWN), None);
        assert_eq!(nearest(&"x".repeat(100_000), KNOWN), None);
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(shorten(&"é".repeat(60)), format!("{}...", "é".repeat(48)));
        assert_eq!(describe(&format!("[{}]", "1,".repeat(40))), "an array");
    }
}
