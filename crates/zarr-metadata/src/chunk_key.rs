//! Chunk keys: from a chunk's index to its name in the store.

use std::borrow::Cow;

use crate::error::finding::Finding;
use crate::error::rule::Rule;
use crate::error::{At, Result};
use crate::extension::RawExtension;
use crate::json::{Grammar, Outline, Raw, utf8};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// The key of the chunk with this index.
    #[must_use]
    pub fn encode(&self, index: &[u64]) -> String {
        let mut key = String::new();
        self.encode_into(index, &mut key);
        key
    }

    /// Appends the key of the chunk with this index.
    pub fn encode_into(&self, index: &[u64], key: &mut String) {
        let (separator, mut first) = match self {
            ChunkKeyEncoding::Default { separator } => {
                key.push('c');
                (separator.as_char(), false)
            }
            ChunkKeyEncoding::V2 { separator } => {
                if index.is_empty() {
                    key.push('0');
                }
                (separator.as_char(), true)
            }
        };
        for part in index {
            if !first {
                key.push(separator);
            }
            first = false;
            push_decimal(*part, key);
        }
    }

    /// Whether this is the path of a folder in which chunks of an array of `rank` dimensions lie, such as
    /// `c/1` where `c/1/0` is the key of a chunk.
    #[must_use]
    pub fn is_chunk_folder(&self, path: &str, rank: usize) -> bool {
        let mut key = path.to_owned();
        (0..rank).any(|_| {
            key.push_str("/0");
            self.decode(&key, rank).is_some()
        })
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
            ChunkKeyEncoding::V2 { separator } => {
                if rank == 0 {
                    return (key == "0").then(Vec::new);
                }
                (key, separator)
            }
        };
        let index: Option<Vec<u64>> = numbers
            .split(separator.as_char())
            .map(|part| {
                let plain = part.bytes().all(|b| b.is_ascii_digit());
                let one_spelling = part == "0" || !part.starts_with('0');
                (plain && one_spelling).then(|| part.parse().ok()).flatten()
            })
            .collect();
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
            ChunkKeyEncoding::Default { .. } => ChunkKeyEncoding::Default { separator },
            ChunkKeyEncoding::V2 { .. } => ChunkKeyEncoding::V2 { separator },
        };
        let other = |separator| match self {
            ChunkKeyEncoding::Default { .. } => ChunkKeyEncoding::V2 { separator },
            ChunkKeyEncoding::V2 { .. } => ChunkKeyEncoding::Default { separator },
        };
        // A key of one axis has no separator: the usual one of its encoding comes first.
        let mut all = separators.map(same).into_iter().chain(separators.map(other));
        all.find(|encoding| encoding.decode(key, rank).is_some_and(|index| has(&index)))
    }

    /// Reads `"default"` or the object with a configuration.
    ///
    /// # Errors
    /// If the encoding is not known, even if `must_understand` is false (SD-42), or its
    /// separator is neither `/` nor `.`.
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::read(Outline::read(utf8(json)?, Grammar::Json)?.root(), &mut Vec::new())
    }

    pub(crate) fn read(raw: Raw<'_>, findings: &mut Vec<Finding>) -> Result<Self> {
        const KNOWN: &[&str] = &["default", "v2"];
        const ALLOWED: &str = "\"default\" or \"v2\"";
        let extension = RawExtension::read(raw)?;
        if !KNOWN.contains(&extension.name.as_ref()) {
            let error = extension.unknown_name("chunk key encoding", KNOWN, ALLOWED);
            return Err(error.breaks(Rule::UNKNOWN_CHUNK_KEY_ENCODING));
        }
        extension.only_known_members()?;
        extension.report_optional(findings);
        let mut members = extension.members()?;
        members.check_known(&["separator"]).member("configuration")?;
        let separator = match members.take("separator") {
            Some(raw) => match raw.string(SEPARATORS).map(Cow::into_owned).as_deref() {
                Ok("/") => Ok(Some(Separator::Slash)),
                Ok(".") => Ok(Some(Separator::Dot)),
                _ => Err(raw
                    .expected(SEPARATORS)
                    .breaks(Rule::CHUNK_KEY_SEPARATOR)
                    .in_member("separator")),
            },
            None => Ok(None),
        };
        let separator = separator.member("configuration")?;
        if extension.bare {
            findings.push(Finding::in_document(
                Rule::BARE_STRING_CHUNK_KEY_ENCODING,
                extension.describe(),
                "an object with a name, which every reader takes",
            ));
        }
        Ok(match extension.name.as_ref() {
            "v2" => ChunkKeyEncoding::V2 { separator: separator.unwrap_or(Separator::Dot) },
            _ => ChunkKeyEncoding::Default { separator: separator.unwrap_or(Separator::Slash) },
        })
    }

    /// The JSON text, the separator spelled out.
    #[must_use]
    pub fn to_json(&self) -> String {
        let (name, separator) = match self {
            ChunkKeyEncoding::Default { separator } => ("default", separator),
            ChunkKeyEncoding::V2 { separator } => ("v2", separator),
        };
        let separator = separator.as_char();
        format!(r#"{{"name": "{name}", "configuration": {{"separator": "{separator}"}}}}"#)
    }
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
