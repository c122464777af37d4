//! Elements of variable length as text: the JSON of a fill value, without characters that a
//! terminal does not print.

use std::fmt::Write as _;

use zarr_kit::metadata::{DataType, MetadataError, format_element, is_printable};

/// The JSON of an element, on one line. Characters that do not print are escaped as in JSON, so
/// it reads back unchanged.
pub(crate) fn quoted(data_type: &DataType, element: &[u8]) -> Result<String, MetadataError> {
    let mut json = String::new();
    format_element(data_type, element, &mut json)?;
    if json.chars().all(is_printable) {
        return Ok(json);
    }
    let mut escaped = String::new();
    for character in json.chars() {
        if is_printable(character) {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a `String` cannot fail.
            let _infallible = write!(escaped, "\\u{unit:04x}");
        }
    }
    Ok(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

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
