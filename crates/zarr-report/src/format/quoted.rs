//! Elements of variable length as text: the JSON of a fill value, without characters that a
//! terminal does not print.

use std::fmt::Write as _;

use zarr_metadata::{DataType, MetadataError, format_element, is_printable};

/// The JSON of an element, on one line. Characters that do not print are escaped as in JSON, so
/// it reads back unchanged.
pub fn quoted(data_type: &DataType, element: &[u8]) -> Result<String, MetadataError> {
    let mut json = String::new();
    format_element(data_type, element, &mut json)?;
    if json.chars().all(is_printable) {
        return Ok(json);
    }
    Ok(escaped(&json))
}

/// JSON with control characters escaped for terminals. JSON itself escapes only those below the
/// space. All other characters that do not print can occur only within strings, except line
/// breaks, which are layout here.
#[must_use]
pub fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if character == '\n' || is_printable(character) {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _infallible = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

/// JSON with the characters that are written as `\u00b0` and need not be, as many writers do: all that
/// print, but quotes and backslashes.
pub(crate) fn unescaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        text.push_str(before);
        let (character, length) = unescaped_one(escape);
        match character {
            Some(character) => text.push(character),
            None => text.push_str(escape.get(..length).unwrap_or(escape)),
        }
        rest = escape.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// The character of an escape at the beginning of a text, if it may be shown, and the length of the
/// escape.
fn unescaped_one(text: &str) -> (Option<char>, usize) {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let Some(first) = unit(text) else { return (None, 2.min(text.len())) };
    let (units, length) = match text.get(6..).and_then(unit) {
        Some(second) if (0xd800..0xdc00).contains(&first) => (vec![first, second], 12),
        _ => (vec![first], 6),
    };
    let character = char::decode_utf16(units).next().and_then(Result::ok);
    let shown = character.filter(|c| is_printable(*c) && !['"', '\\'].contains(c));
    // An unpaired half stays unchanged.
    (shown, if character.is_none() { 6 } else { length })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_prints_needs_no_escape() {
        for (json, expected) in [
            (r#""\u00b0C""#, "\"°C\""),
            (r#""\ud83c\udf27 rain""#, "\"🌧 rain\""),
            (r#""\\u00b0""#, r#""\\u00b0""#),
            (r#""\u0022\u005c\u001b\u202e\n\"""#, r#""\u0022\u005c\u001b\u202e\n\"""#),
            (r#""\ud83c\u00b0\ud83c""#, r#""\ud83c°\ud83c""#),
            (r#""\u00"#, r#""\u00"#),
            ("\\", "\\"),
            ("\\é", "\\é"),
        ] {
            assert_eq!(unescaped(json), expected);
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_reads_back() {
        for text in ["plain", "\u{1b}[31m", "a\u{202e}b", "\u{85}\n\"", "\u{e0001}é"] {
            let json = quoted(&DataType::String, text.as_bytes()).expect("a string");
            assert!(json.chars().all(is_printable), "{json}");
            assert_eq!(serde_json::from_str::<String>(&json).expect("JSON"), text);
        }
        assert_eq!(quoted(&DataType::Bytes, b"foo").expect("bytes"), "\"Zm9v\"");
    }
}
