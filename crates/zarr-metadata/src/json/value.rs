//! Whether two texts of JSON have the same value.

use std::borrow::Cow;

use super::outline::Grammar;
use super::raw::{Raw, unescape};
use super::read::Reader;
use super::write::same;
use crate::error::MetadataError;
use crate::float::Digits;

/// Whether two JSON texts mean the same to a program that reads them. Members may be in any order,
/// strings may have any escapes, and numbers must have the same value.
///
/// Fractions are also equal if their closest 64-bit floats are, since programs that read and write
/// them change their digits; integers are compared digit by digit. Text that is not JSON equals no
/// other text.
///
/// # Examples
/// ```
/// use zarr_metadata::same_value;
///
/// assert!(same_value(r#"{"a": 1, "b": 2.0}"#, r#"{"b": 2.0, "a": 1}"#));
/// assert!(!same_value("1", "2"));
/// ```
pub fn same_value(a: &str, b: &str) -> bool {
    same(a, b) || matches!((Value::read(a), Value::read(b)), (Ok(a), Ok(b)) if a == b)
}

#[derive(PartialEq)]
enum Value<'a> {
    /// `true`, `false`, `null`, and the words for numbers that are not finite.
    Word(&'a str),
    Text(Cow<'a, str>),
    Number(Number<'a>),
    Array(Vec<Value<'a>>),
    /// The members, sorted by their names.
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    fn read(text: &'a str) -> Result<Self, MetadataError> {
        let mut reader = Reader::new(text);
        let value = Self::next(&mut reader)?;
        reader.end()?;
        Ok(value)
    }

    /// Calls itself for each level of nesting; the reader refuses more than 128 levels.
    fn next(reader: &mut Reader<'a>) -> Result<Self, MetadataError> {
        match reader.peek() {
            Some(b'{') => {
                reader.open(b'{', "an object")?;
                let mut members = Vec::new();
                while let Some(key) = reader.next_key(members.is_empty())? {
                    members.push((key.name(), Self::next(reader)?));
                }
                members.sort_by(|(a, _), (b, _)| a.cmp(b));
                Ok(Value::Object(members))
            }
            Some(b'[') => {
                reader.open(b'[', "an array")?;
                let mut elements = Vec::new();
                while reader.next_element(elements.is_empty())? {
                    elements.push(Self::next(reader)?);
                }
                Ok(Value::Array(elements))
            }
            _ => reader.value(Grammar::WithNotFinite).map(Self::scalar),
        }
    }

    fn scalar(raw: Raw<'a>) -> Self {
        match raw.text().as_bytes() {
            [b'"', ..] => Value::Text(text(raw.text())),
            [b'0'..=b'9', ..] | [b'-', b'0'..=b'9', ..] => Value::Number(Number(raw.text())),
            _ => Value::Word(raw.text()),
        }
    }
}

/// The text of a string; unchanged if it is not text, because of half a surrogate pair.
fn text(quoted: &str) -> Cow<'_, str> {
    unescape(quoted).unwrap_or(Cow::Borrowed(quoted))
}

/// A number as it is written.
struct Number<'a>(&'a str);

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        if Digits::read(self.0).is_some_and(|digits| Some(digits) == Digits::read(other.0)) {
            return true;
        }
        let float = |number: &Self| number.0.parse::<f64>().ok().filter(|float| float.is_finite());
        let fractions = self.is_fraction() && other.is_fraction();
        fractions && float(self).is_some_and(|float_of_this| Some(float_of_this) == float(other))
    }
}

impl Number<'_> {
    fn is_fraction(&self) -> bool {
        self.0.contains(['.', 'e', 'E'])
    }
}

#[cfg(test)]
mod tests {
    use super::same_value;

    #[test]
    fn values_are_the_same_however_they_are_written() {
        for (a, b) in [
            (r#"{"a": 1, "b": [true, null]}"#, r#"{"b":[true,null],"a":1}"#),
            (r#""caf\u00e9 \/""#, r#""café /""#),
            ("1e-05", "0.00001"),
            ("1.0", "1"),
            ("-0.0", "0"),
            ("120", "1.2E+2"),
            ("0.1", "0.1000000000000000055511151231257827"),
            ("NaN", "NaN"),
            (r#""\ud800""#, r#""\ud800""#),
        ] {
            assert!(same_value(a, b) && same_value(b, a), "{a} and {b}");
        }
    }

    #[test]
    fn other_values_are_not_the_same() {
        for (a, b) in [
            (r#"{"a": 1}"#, r#"{"a": 1, "b": 1}"#),
            (r#"{"a": 1}"#, r#"{"A": 1}"#),
            ("[1, 2]", "[2, 1]"),
            ("1", "\"1\""),
            ("1", "-1"),
            ("12345678901234567890123", "12345678901234567890124"),
            ("12345678901234567890123", "1.2345678901234568e22"),
            ("1e999", "1e998"),
            ("NaN", "\"NaN\""),
            ("null", "false"),
            (r#""\ud800""#, r#""\ud801""#),
        ] {
            assert!(!same_value(a, b) && !same_value(b, a), "{a} and {b}");
        }
    }
}
