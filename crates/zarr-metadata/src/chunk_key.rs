//! Chunk keys: from a chunk's index to its name in the store.

mod added;
mod template;

use std::borrow::Cow;

use crate::error::finding::Finding;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::extension::{Extension, RawExtension};
use crate::json::{Grammar, JsonType, Outline, Raw, utf8, write_string};

pub use template::KeyTemplate;

/// The separator between the numbers of a chunk key.
///
/// # Examples
/// ```
/// use zarr_metadata::{ChunkKeyEncoding, Separator};
///
/// let encoding = ChunkKeyEncoding::Default { separator: Separator::Dot };
/// assert_eq!(encoding.encode(&[1, 23]), "c.1.23");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Separator {
    /// `/`
    Slash,
    /// `.`
    Dot,
}

impl Separator {
    /// The character itself.
    fn as_char(self) -> char {
        match self {
            Separator::Slash => '/',
            Separator::Dot => '.',
        }
    }
}

/// How the index of a chunk becomes its key (SD-57).
///
/// ```
/// use zarr_metadata::{ChunkKeyEncoding, Separator};
///
/// assert_eq!(ChunkKeyEncoding::default().encode(&[1, 23]), "c/1/23");
/// let v2 = ChunkKeyEncoding::V2 { separator: Separator::Dot };
/// assert_eq!(v2.encode(&[1, 23]), "1.23");
/// assert_eq!(v2.decode("1.23", 2), Some(vec![1, 23]));
/// ```
///
/// # Spec
/// Zarr v3 core 3.1, "Chunk key encoding".
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkKeyEncoding {
    /// `c/1/23`; a chunk of no dimensions is `c`.
    Default {
        /// `/` if the document does not say.
        separator: Separator,
    },
    /// `1.23`; a chunk of no dimensions is `0`.
    V2 {
        /// `.` if the document does not say.
        separator: Separator,
    },
    /// `zarrs.default_suffix`: `c/1/23.tif`.
    DefaultSuffix {
        /// `/` if the document does not say.
        separator: Separator,
        /// What follows the numbers.
        suffix: Box<str>,
    },
    /// `template`, or an encoding that was [added](Self::add): keys by a format, such as
    /// `{0}/{2}_{1}.jpeg`.
    Template(Box<KeyTemplate>),
    /// An encoding of another name. It is kept, but has no keys: the document can be read and
    /// changed, the elements of the array cannot.
    Unknown(Box<Extension>),
}

impl Default for ChunkKeyEncoding {
    fn default() -> Self {
        ChunkKeyEncoding::Default { separator: Separator::Slash }
    }
}

/// Appends a number; for few digits, several times faster than `write!`.
fn push_decimal(number: u64, text: &mut String) {
    let digit = u32::try_from(number % 10).ok().and_then(|digit| char::from_digit(digit, 10));
    if number >= 10 {
        push_decimal(number / 10, text);
    }
    text.extend(digit);
}

impl ChunkKeyEncoding {
    /// The name: `default`, `v2`, `zarrs.default_suffix`, `template`, or that of an encoding which was
    /// [added](Self::add) or is unknown.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            ChunkKeyEncoding::Default { .. } => DEFAULT,
            ChunkKeyEncoding::V2 { .. } => V2,
            ChunkKeyEncoding::DefaultSuffix { .. } => DEFAULT_SUFFIX,
            ChunkKeyEncoding::Template(template) => {
                template.extension().map_or(TEMPLATE, Extension::name)
            }
            ChunkKeyEncoding::Unknown(extension) => extension.name(),
        }
    }

    /// The key of the chunk with this index; empty if the encoding is unknown.
    #[must_use]
    pub fn encode(&self, index: &[u64]) -> String {
        let mut key = String::new();
        self.encode_into(index, &mut key);
        key
    }

    /// Appends the key of the chunk with this index.
    pub fn encode_into(&self, index: &[u64], key: &mut String) {
        let (separator, mut first, suffix) = match self {
            ChunkKeyEncoding::Default { separator } => {
                key.push('c');
                (separator.as_char(), false, "")
            }
            ChunkKeyEncoding::V2 { separator } => {
                if index.is_empty() {
                    key.push('0');
                }
                (separator.as_char(), true, "")
            }
            ChunkKeyEncoding::DefaultSuffix { separator, suffix } => {
                key.push('c');
                (separator.as_char(), false, &**suffix)
            }
            ChunkKeyEncoding::Template(template) => return template.encode_into(index, key),
            ChunkKeyEncoding::Unknown(_) => return,
        };
        for part in index {
            if !first {
                key.push(separator);
            }
            first = false;
            push_decimal(*part, key);
        }
        key.push_str(suffix);
    }

    /// Whether this is the path of a folder in which chunks of an array of `rank` dimensions lie, such as
    /// `c/1` where `c/1/0` is the key of a chunk.
    #[must_use]
    pub fn is_chunk_folder(&self, path: &str, rank: usize) -> bool {
        // All keys have as many segments; those that follow do not matter.
        let any = self.encode(&vec![0; rank]);
        let mut rest = any.split('/').skip(path.split('/').count()).peekable();
        if rest.peek().is_none() {
            return false;
        }
        let key = rest.fold(path.to_owned(), |key, segment| key + "/" + segment);
        self.decode(&key, rank).is_some()
    }

    /// The index of the chunk that has this key, in an array of `rank` dimensions.
    ///
    /// `None` for every other string: a key has one spelling only.
    #[must_use]
    pub fn decode(&self, key: &str, rank: usize) -> Option<Vec<u64>> {
        let (numbers, separator) = match self {
            ChunkKeyEncoding::Default { separator } => {
                let rest = key.strip_prefix('c')?;
                if rank == 0 {
                    return rest.is_empty().then(Vec::new);
                }
                (rest.strip_prefix(separator.as_char())?, separator)
            }
            ChunkKeyEncoding::DefaultSuffix { separator, suffix } => {
                let plain = ChunkKeyEncoding::Default { separator: *separator };
                return plain.decode(key.strip_suffix(&**suffix)?, rank);
            }
            ChunkKeyEncoding::Template(template) => return template.decode(key, rank),
            ChunkKeyEncoding::Unknown(_) => return None,
            ChunkKeyEncoding::V2 { separator } => {
                if rank == 0 {
                    return (key == "0").then(Vec::new);
                }
                (key, separator)
            }
        };
        let index: Option<Vec<u64>> =
            numbers.split(separator.as_char()).map(|part| number(part, 0)).collect();
        index.filter(|index| index.len() == rank)
    }

    /// The other encoding in which this is the key of a chunk that `has` says the grid has. Chunks under
    /// such keys are hidden: a reader takes them for fill values.
    ///
    /// ```
    /// use zarr_metadata::{ChunkKeyEncoding, Separator};
    ///
    /// let dots = ChunkKeyEncoding::V2 { separator: Separator::Dot };
    /// let slashes = ChunkKeyEncoding::V2 { separator: Separator::Slash };
    /// assert_eq!(dots.other_with("1/0", 2, |index| index[0] < 3), Some(slashes));
    /// assert_eq!(dots.other_with("7/0", 2, |index| index[0] < 3), None);
    /// assert_eq!(dots.other_with("1.0", 2, |_| true), None);
    /// ```
    #[must_use]
    pub fn other_with(&self, key: &str, rank: usize, has: impl Fn(&[u64]) -> bool) -> Option<Self> {
        if self.decode(key, rank).is_some() {
            return None;
        }
        let separators = [Separator::Slash, Separator::Dot];
        let same = |separator| match self {
            ChunkKeyEncoding::V2 { .. } => ChunkKeyEncoding::V2 { separator },
            _ => ChunkKeyEncoding::Default { separator },
        };
        let other = |separator| match self {
            ChunkKeyEncoding::V2 { .. } => ChunkKeyEncoding::Default { separator },
            _ => ChunkKeyEncoding::V2 { separator },
        };
        // A key of one axis has no separator: the usual one of its encoding comes first.
        let mut all = separators.map(same).into_iter().chain(separators.map(other));
        all.find(|encoding| encoding.decode(key, rank).is_some_and(|index| has(&index)))
    }

    /// Reads `"default"` or the object with a configuration.
    ///
    /// Another name gives [`ChunkKeyEncoding::Unknown`]: the document can be read, but not the
    /// elements.
    ///
    /// # Errors
    /// If an unknown encoding has `"must_understand": false` (SD-42), a separator is neither `/` nor
    /// `.`, or the configuration of a known one is wrong.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::read(Outline::read(utf8(json)?, Grammar::Json)?.root(), &mut Vec::new())
    }

    pub(crate) fn read(raw: Raw<'_>, findings: &mut Vec<Finding>) -> Result<Self> {
        const ALLOWED: &str = "\"default\", \"v2\", \"zarrs.default_suffix\" or \"template\"";
        let extension = RawExtension::read(raw)?;
        let name = extension.name.as_ref();
        if !KNOWN.contains(&name) {
            if let Some(template) = added::template_of(&extension, findings)? {
                extension.report_optional(findings);
                return Ok(ChunkKeyEncoding::Template(Box::new(template)));
            }
            let error = extension.unknown_name("chunk key encoding", KNOWN, ALLOWED);
            if !extension.must_understand {
                return Err(error.breaks(Rule::UNKNOWN_CHUNK_KEY_ENCODING));
            }
            findings.push(Finding::of(Rule::UNKNOWN_CHUNK_KEY_ENCODING, &error));
            return Ok(ChunkKeyEncoding::Unknown(Box::new(extension.keep(findings))));
        }
        extension.only_known_members()?;
        extension.report_optional(findings);
        let encoding = Self::configured(&extension).member("configuration")?;
        if extension.bare {
            findings.push(Finding::in_document(
                Rule::BARE_STRING_CHUNK_KEY_ENCODING,
                extension.describe(),
                "an object with a name, which every reader takes",
            ));
        }
        Ok(encoding)
    }

    fn configured(extension: &RawExtension<'_>) -> Result<Self> {
        let mut members = extension.members()?;
        let text = |raw: Raw<'_>| raw.string("a text").map(Cow::into_owned);
        if extension.name == TEMPLATE {
            members.check_known(&["format", "separator"])?;
            let format = text(members.require("format", "a format, such as \"{0}/{1}\"")?);
            let format = format.member("format")?;
            let separator = match members.take("separator") {
                Some(raw) if raw.json_type() != JsonType::Null => {
                    Some(text(raw).member("separator")?)
                }
                _ => None,
            };
            let template = KeyTemplate::new(&format, separator.as_deref())?;
            return Ok(ChunkKeyEncoding::Template(Box::new(template)));
        }
        let is_suffixed = extension.name == DEFAULT_SUFFIX;
        members.check_known(if is_suffixed { &["separator", "suffix"] } else { &["separator"] })?;
        let separator = match members.take("separator") {
            Some(raw) => match raw.string(SEPARATORS).map(Cow::into_owned).as_deref() {
                Ok("/") => Some(Separator::Slash),
                Ok(".") => Some(Separator::Dot),
                _ => {
                    return Err(raw
                        .expected(SEPARATORS)
                        .breaks(Rule::CHUNK_KEY_SEPARATOR)
                        .in_member("separator"));
                }
            },
            None => None,
        };
        if extension.name == V2 {
            return Ok(ChunkKeyEncoding::V2 { separator: separator.unwrap_or(Separator::Dot) });
        }
        let separator = separator.unwrap_or(Separator::Slash);
        if !is_suffixed {
            return Ok(ChunkKeyEncoding::Default { separator });
        }
        let suffix = text(members.require("suffix", "the text after the numbers")?);
        let suffix = suffix.member("suffix")?.into();
        Ok(ChunkKeyEncoding::DefaultSuffix { separator, suffix })
    }

    /// Checks that each chunk of an array of this rank has a key of its own, which stores take, and
    /// which is no name of a document or of a marker.
    pub(crate) fn check(&self, rank: usize) -> Result<()> {
        let member = match self {
            ChunkKeyEncoding::Template(template) => {
                let checked = template.check(rank).breaks(Rule::CHUNK_KEY_FORMAT);
                match template.extension() {
                    Some(_) => checked.member("configuration")?,
                    None => checked.member("format").member("configuration")?,
                }
                template.extension().is_none().then_some("format")
            }
            ChunkKeyEncoding::DefaultSuffix { .. } => Some("suffix"),
            _ => return Ok(()),
        };
        let key = self.encode(&vec![0; rank]);
        let is_wrong = |segment: &str| {
            let own = ["__", ".z", "zarr-kit-"].iter().any(|start| segment.starts_with(start));
            own || ["", ".", "..", "zarr.json"].contains(&segment)
        };
        if key.split('/').any(is_wrong) || key.contains(['\\', '\0']) {
            let found = format!("a format of keys such as {key:?}");
            let allowed = "keys without empty segments, without . and .. as segments, without names \
                           of documents and names that begin with __, .z or zarr-kit-";
            let error = MetadataError::unexpected(found, allowed).breaks(Rule::CHUNK_KEY_FORMAT);
            let error = match member {
                Some(member) => error.in_member(member),
                None => error,
            };
            return Err(error.in_member("configuration"));
        }
        Ok(())
    }

    /// The JSON text, the separator spelled out.
    #[must_use]
    pub fn to_json(&self) -> String {
        let (separator, more) = match self {
            ChunkKeyEncoding::Default { separator } | ChunkKeyEncoding::V2 { separator } => {
                (separator, None)
            }
            ChunkKeyEncoding::DefaultSuffix { separator, suffix } => (separator, Some(suffix)),
            ChunkKeyEncoding::Template(template) => return template.to_json(),
            ChunkKeyEncoding::Unknown(extension) => return extension.json().to_owned(),
        };
        let (name, separator) = (self.name(), separator.as_char());
        let mut json =
            format!(r#"{{"name": "{name}", "configuration": {{"separator": "{separator}""#);
        if let Some(suffix) = more {
            json.push_str(", \"suffix\": ");
            write_string(suffix, &mut json);
        }
        json.push_str("}}");
        json
    }
}

const DEFAULT: &str = "default";
const V2: &str = "v2";
const DEFAULT_SUFFIX: &str = "zarrs.default_suffix";
const TEMPLATE: &str = "template";
const KNOWN: &[&str] = &[DEFAULT, V2, DEFAULT_SUFFIX, TEMPLATE];

/// A number in the one spelling that it has with at least `width` digits.
fn number(text: &str, width: usize) -> Option<u64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit());
    let one_spelling = text == "0" || !text.starts_with('0') || text.len() == width;
    (plain && one_spelling && text.len() >= width).then(|| text.parse().ok()).flatten()
}

const SEPARATORS: &str = r#""/" or ".""#;

#[cfg(test)]
mod tests {
    use super::push_decimal;

    #[test]
    fn numbers_are_written_as_everybody_writes_them() {
        let powers = (0..20).map(|exponent| 10_u64.pow(exponent));
        let around = powers.flat_map(|power| [power - 1, power, power + 1]);
        for number in (0..2000).chain(around).chain([u64::MAX]) {
            let mut text = "c/".to_owned();
            push_decimal(number, &mut text);
            assert_eq!(text, format!("c/{number}"));
        }
    }
}
