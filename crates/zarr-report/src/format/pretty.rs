//! JSON over several lines, with every token unchanged: the spelling of numbers and the order of
//! members are the store's.

use std::iter::Peekable;

use serde_json::value::RawValue;
use zarr_metadata::JsonTokens;

/// The document with one member per line. Lists of plain values, such as shapes and indices, are in
/// one line.
///
/// The text must be JSON, with no more levels than the reader of documents allows.
pub fn pretty(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    value(&mut JsonTokens::new(json).peekable(), 0, &mut text);
    text
}

/// JSON that a document holds, kept as it is written. Bare `NaN`, `Infinity` and `-Infinity`, which
/// documents may have, become strings; text that is still not JSON becomes a string itself.
pub fn raw(text: &str) -> Box<RawValue> {
    let parsed = RawValue::from_string(text.to_owned())
        .or_else(|_| RawValue::from_string(quoted_words(text)));
    // A string is JSON.
    parsed.or_else(|_| serde_json::value::to_raw_value(text)).unwrap_or_default()
}

/// The text with quotes around the words for numbers that are not finite.
fn quoted_words(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for token in JsonTokens::new(text) {
        match token {
            "NaN" | "Infinity" | "-Infinity" => quoted.push_str(&format!("\"{token}\"")),
            token => quoted.push_str(token),
        }
    }
    quoted
}

fn value(tokens: &mut Peekable<JsonTokens<'_>>, depth: usize, text: &mut String) {
    let Some(open) = tokens.next() else { return };
    text.push_str(open);
    let close = match open {
        "{" => "}",
        "[" => "]",
        _ => return,
    };
    let is_plain = open == "["
        && !tokens
            .clone()
            .take_while(|token| *token != "]")
            .any(|token| matches!(token, "{" | "["));
    let is_empty = tokens.peek() == Some(&close);
    while let Some(token) = tokens.peek().filter(|token| **token != close) {
        match *token {
            "," => {
                text.push_str(if is_plain { ", " } else { "," });
                tokens.next();
                continue;
            }
            ":" => {
                text.push_str(": ");
                tokens.next();
                value(tokens, depth + 1, text);
                continue;
            }
            _ => {}
        }
        if !is_plain {
            new_line(depth + 1, text);
        }
        value(tokens, depth + 1, text);
    }
    tokens.next();
    if !is_plain && !is_empty {
        new_line(depth, text);
    }
    text.push_str(close);
}

fn new_line(depth: usize, text: &mut String) {
    text.push('\n');
    text.push_str(&"  ".repeat(depth));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{pretty, raw};

    #[test]
    fn lists_of_plain_values_are_one_line() {
        let document = json!({
            "shape": [3, 4], "empty": [], "none": {}, "text": "a \"b\"\n\\", "nested": [[1, 2], []],
            "members": [{"name": "x"}, 5, null],
        });
        let text = pretty(&document.to_string());
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(document));
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_a_store_says_keeps_its_spelling() {
        let text = r#"{"z": 12345678901234567890123, "a": 1.50, "\u0041": [1e400, true]}"#;
        assert_eq!(
            pretty(text),
            "{\n  \"z\": 12345678901234567890123,\n  \"a\": 1.50,\n  \"\\u0041\": [1e400, true]\n}"
        );
        assert_eq!(pretty("-0.0"), "-0.0");
    }

    #[test]
    fn numbers_that_json_lacks_are_strings_where_they_stand() {
        let text = raw(r#"{"a": [NaN, -Infinity, "NaN, \" x"], "b": 1.50}"#);
        assert_eq!(text.get(), r#"{"a":["NaN","-Infinity","NaN, \" x"],"b":1.50}"#);
        assert_eq!(raw("{oops").get(), "\"{oops\"");
    }
}
