//! Keys by a format, as the extension `template` has them.

use super::{number, push_decimal};
use crate::error::{MetadataError, Result};
use crate::extension::Extension;
use crate::json::write_string;

/// The format of a chunk's key, such as `{0}/{2}_{1:03}.jpeg`.
///
/// `{0}` is the chunk's number on the first axis, `{-1}` on the last one, and `{*}` those on all
/// other axes with the separator between them. `{0:03}` has at least three digits. `{{` and `}}` are
/// braces.
///
/// # Examples
/// ```
/// use zarr_metadata::{ChunkKeyEncoding, KeyTemplate};
///
/// let template = KeyTemplate::new("{0:03}/{*}.jpeg", Some("_"))?;
/// let slices = ChunkKeyEncoding::Template(Box::new(template));
/// assert_eq!(slices.encode(&[7, 1, 23]), "007/1_23.jpeg");
/// assert_eq!(slices.decode("007/1_23.jpeg", 3), Some(vec![7, 1, 23]));
/// assert_eq!(slices.decode("7/1_23.jpeg", 3), None);
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyTemplate {
    format: Box<str>,
    separator: Option<Box<str>>,
    parts: Vec<Part>,
    /// The encoding in the document, if it is not `template` itself.
    extension: Option<Extension>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    /// The number of this axis, from the end if it is negative.
    Axis {
        axis: i32,
        width: usize,
    },
    /// The numbers of all other axes.
    Rest {
        width: usize,
    },
}

/// A part for an array of known rank.
enum Piece<'t> {
    Text(&'t str),
    Number { axis: usize, width: usize },
}

/// The extension forbids these in a format, also where the key would be valid.
const FORBIDDEN: &[&str] = &["..", "\\", "\0", "//", "zarr.json"];

/// No store takes longer keys.
const WIDEST: usize = 1024;

impl KeyTemplate {
    /// The template of this format, with the separator of `{*}`.
    ///
    /// # Errors
    /// If the format has braces without a partner, or other words in braces.
    pub fn new(format: &str, separator: Option<&str>) -> Result<Self> {
        let wrong = |found: String| {
            let allowed = "{*}, {0} or {-1}, with a width as in {0:03}, and {{ and }} for braces";
            MetadataError::unexpected(found, allowed).in_member("format")
        };
        let mut parts: Vec<Part> = Vec::new();
        let mut text = String::new();
        let mut rest = format;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, braced) = rest.split_at(at);
            text.push_str(before);
            if let Some(after) = ["{{", "}}"].iter().find_map(|two| braced.strip_prefix(two)) {
                text.push_str(braced.get(..1).unwrap_or_default());
                rest = after;
                continue;
            }
            let inner = braced.strip_prefix('{').and_then(|rest| rest.split_once('}'));
            let Some((word, after)) = inner else {
                return Err(wrong(format!("a brace without its partner in {format:?}")));
            };
            let part = placeholder(word).ok_or_else(|| wrong(format!("{{{word}}}")))?;
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            parts.push(part);
            rest = after;
        }
        text.push_str(rest);
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        let separator = separator.map(Into::into);
        Ok(Self { format: format.into(), separator, parts, extension: None })
    }

    /// The same keys, for an encoding of another name.
    pub(super) fn of(self, extension: Extension) -> Self {
        Self { extension: Some(extension), ..self }
    }

    pub(super) fn extension(&self) -> Option<&Extension> {
        self.extension.as_ref()
    }

    /// The format as written.
    #[must_use]
    pub fn format(&self) -> &str {
        &self.format
    }

    /// The separator of the numbers of `{*}`.
    #[must_use]
    pub fn separator(&self) -> Option<&str> {
        self.separator.as_deref()
    }

    /// Checks that the chunks of an array of this rank have different keys.
    pub(super) fn check(&self, rank: usize) -> Result<()> {
        let wrong = |found: String, allowed: &'static str| {
            Err(MetadataError::unexpected(format!("{found} in {:?}", &self.format), allowed))
        };
        let rests = self.parts.iter().filter(|part| matches!(part, Part::Rest { .. })).count();
        if rests > 1 {
            return wrong(format!("{{*}} {rests} times"), "{*} once at most");
        }
        let mut uses = vec![0_usize; rank];
        let pieces = self.pieces(rank);
        for part in &self.parts {
            if let Part::Axis { axis, .. } = part
                && position(*axis, rank).is_none()
            {
                return wrong(format!("{{{axis}}} for {rank} dimensions"), "an axis of the array");
            }
        }
        for piece in &pieces {
            if let Piece::Number { axis, .. } = piece
                && let Some(count) = uses.get_mut(*axis)
            {
                *count += 1;
            }
        }
        if let Some((axis, count)) = uses.iter().enumerate().find(|(_, count)| **count != 1) {
            return wrong(format!("the number of axis {axis} {count} times"), "each axis once");
        }
        if rests == 1 && self.separator.is_none() {
            return wrong("{*} without a separator".to_owned(), "a separator beside the format");
        }
        if rests == 1 && self.named(rank).len() == rank {
            return wrong("{*} without an axis".to_owned(), "{*} if other words leave an axis");
        }
        for part in &self.parts {
            if let Part::Text(text) = part
                && let Some(word) = FORBIDDEN.iter().find(|word| text.contains(**word))
            {
                let found = format!("{word:?}");
                return wrong(
                    found,
                    "a format without \"..\", \"\\\\\", NUL, \"//\" and \"zarr.json\"",
                );
            }
        }
        // Between two numbers is something that is no digit, or 1 and 23 read as 12 and 3.
        let mut divided = true;
        for piece in &pieces {
            match piece {
                Piece::Number { .. } if !divided => {
                    return wrong(
                        "two numbers without a character other than a digit between them"
                            .to_owned(),
                        "different keys for all chunks",
                    );
                }
                Piece::Number { .. } => divided = false,
                Piece::Text(text) => {
                    divided = divided || text.bytes().any(|byte| !byte.is_ascii_digit());
                }
            }
        }
        Ok(())
    }

    /// The axes that have a placeholder of their own.
    fn named(&self, rank: usize) -> Vec<usize> {
        let axis = |part: &Part| match part {
            Part::Axis { axis, .. } => position(*axis, rank),
            Part::Text(_) | Part::Rest { .. } => None,
        };
        self.parts.iter().filter_map(axis).collect()
    }

    fn pieces(&self, rank: usize) -> Vec<Piece<'_>> {
        let named = self.named(rank);
        let separator = self.separator.as_deref().unwrap_or_default();
        let mut pieces = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => pieces.push(Piece::Text(text)),
                Part::Axis { axis, width } => {
                    let number = |axis| Piece::Number { axis, width: *width };
                    pieces.extend(position(*axis, rank).map(number));
                }
                Part::Rest { width } => {
                    let rest = (0..rank).filter(|axis| !named.contains(axis));
                    for (count, axis) in rest.enumerate() {
                        if count > 0 {
                            pieces.push(Piece::Text(separator));
                        }
                        pieces.push(Piece::Number { axis, width: *width });
                    }
                }
            }
        }
        pieces
    }

    pub(super) fn encode_into(&self, index: &[u64], key: &mut String) {
        for piece in self.pieces(index.len()) {
            match piece {
                Piece::Text(text) => key.push_str(text),
                Piece::Number { axis, width } => {
                    let mut digits = String::new();
                    push_decimal(index.get(axis).copied().unwrap_or_default(), &mut digits);
                    let zeros = width.saturating_sub(digits.len());
                    key.extend(std::iter::repeat_n('0', zeros));
                    key.push_str(&digits);
                }
            }
        }
    }

    pub(super) fn decode(&self, key: &str, rank: usize) -> Option<Vec<u64>> {
        let mut index = vec![0; rank];
        let pieces = self.pieces(rank);
        let mut rest = key;
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => rest = rest.strip_prefix(text)?,
                Piece::Number { axis, width } => {
                    // Digits of the text that follows the number belong to that text.
                    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
                    let texts = pieces.iter().skip(at + 1).map_while(|piece| match piece {
                        Piece::Text(text) => Some(*text),
                        Piece::Number { .. } => None,
                    });
                    let after = digits(&texts.collect::<String>());
                    let length = digits(rest).checked_sub(after)?;
                    let (found, left) = rest.split_at_checked(length)?;
                    *index.get_mut(*axis)? = number(found, *width)?;
                    rest = left;
                }
            }
        }
        rest.is_empty().then_some(index)
    }

    pub(super) fn to_json(&self) -> String {
        if let Some(extension) = &self.extension {
            return extension.json().to_owned();
        }
        let mut json = r#"{"name": "template", "configuration": {"format": "#.to_owned();
        write_string(&self.format, &mut json);
        if let Some(separator) = &self.separator {
            json.push_str(", \"separator\": ");
            write_string(separator, &mut json);
        }
        json.push_str("}}");
        json
    }
}

/// What is in braces: `*` or an axis, and perhaps a width.
fn placeholder(word: &str) -> Option<Part> {
    let (what, width) = match word.split_once(':') {
        Some((what, width)) => (what, width.strip_prefix('0')?),
        None => (word, "0"),
    };
    let decimal = |text: &str| {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse::<i32>().ok()).flatten()
    };
    let width = usize::try_from(decimal(width)?).ok().filter(|width| *width <= WIDEST)?;
    if what == "*" {
        return Some(Part::Rest { width });
    }
    let axis = match what.strip_prefix('-') {
        Some(digits) => decimal(digits)?.checked_neg()?,
        None => decimal(what)?,
    };
    Some(Part::Axis { axis, width })
}

fn position(axis: i32, rank: usize) -> Option<usize> {
    let distance = usize::try_from(axis.unsigned_abs()).ok()?;
    match axis < 0 {
        true => rank.checked_sub(distance),
        false => (distance < rank).then_some(distance),
    }
}
