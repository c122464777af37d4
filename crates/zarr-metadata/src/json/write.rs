//! Writing JSON: strings, and the layout of whole documents.

use super::JsonTokens;

/// Columns that a value may take to stay on one line.
const LINE: usize = 80;

/// Appends `[item, item]`, each item by `write`.
pub(crate) fn write_array<T>(
    items: impl IntoIterator<Item = T>,
    json: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    json.push('[');
    for (index, item) in items.into_iter().enumerate() {
        json.push_str(if index == 0 { "" } else { ", " });
        write(item, json);
    }
    json.push(']');
}

/// Appends `text` as a JSON string.
pub(crate) fn write_string(text: &str, out: &mut String) {
    // Serialising a `str` into memory has no way to fail.
    if let Ok(quoted) = serde_json::to_string(text) {
        out.push_str(&quoted);
    }
}

/// Appends a decimal.
pub(crate) fn write_u64(value: u64, out: &mut String) {
    out.push_str(&value.to_string());
}

/// Appends the JSON text `raw`, formatted again at `level` indentations of two spaces.
///
/// Only space changes: order, spelling of numbers and escapes stay. Containers that fit a line
/// and arrays of plain values of any length, go on one line.
pub(crate) fn pretty(raw: &str, level: usize, out: &mut String) {
    let mut level = level;
    // Containers open on the current line, if any.
    let mut inline = 0_usize;
    let mut tokens = JsonTokens::new(raw);
    while let Some(token) = tokens.next() {
        match token {
            "{" | "[" => {
                let fits = inline == 0 && one_line(token, tokens.clone());
                out.push_str(token);
                if inline > 0 || fits {
                    inline += 1;
                } else {
                    level += 1;
                    new_line(level, out);
                }
            }
            "}" | "]" => {
                if inline > 0 {
                    inline = inline.saturating_sub(1);
                } else {
                    level = level.saturating_sub(1);
                    new_line(level, out);
                }
                out.push_str(token);
            }
            "," if inline > 0 => out.push_str(", "),
            "," => {
                out.push(',');
                new_line(level, out);
            }
            ":" => out.push_str(": "),
            scalar => out.push_str(scalar),
        }
    }
}

/// Whether two JSON texts differ in nothing but the space between tokens.
pub(crate) fn same(a: &str, b: &str) -> bool {
    JsonTokens::new(a).eq(JsonTokens::new(b))
}

pub(crate) fn new_line(level: usize, out: &mut String) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", level));
}

/// Whether the container fits on one line; its opening token has just been read.
fn one_line(open: &str, rest: JsonTokens<'_>) -> bool {
    let mut width = open.len();
    let mut depth = 1_usize;
    let mut plain = open == "[";
    for token in rest {
        match token {
            "{" | "[" => {
                plain = false;
                depth += 1;
            }
            "}" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        let space = usize::from(matches!(token, "," | ":"));
        width += token.chars().count() + space;
        if depth == 0 {
            return plain || width <= LINE;
        }
        if !plain && width > LINE {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(raw: &str) -> String {
        let mut out = String::new();
        pretty(raw, 0, &mut out);
        out
    }

    #[test]
    fn short_values_stay_on_a_line() {
        assert_eq!(laid_out("{ }"), "{}");
        assert_eq!(laid_out("[1,2 ,\n3]"), "[1, 2, 3]");
        assert_eq!(laid_out(r#"{"a":{"b":[ ]},"c":"x,\"]"}"#), r#"{"a": {"b": []}, "c": "x,\"]"}"#);
    }

    #[test]
    fn long_values_are_broken_by_members() {
        let long = "x".repeat(70);
        assert_eq!(
            laid_out(&format!(r#"{{"a":"{long}","b":[1,{{"c":2}}]}}"#)),
            format!("{{\n  \"a\": \"{long}\",\n  \"b\": [1, {{\"c\": 2}}]\n}}")
        );
    }

    #[test]
    fn only_space_between_tokens_is_no_difference() {
        assert!(same(r#"{"a":[1,"b c"]}"#, "{ \"a\" : [1, \n\"b c\"]} "));
        for other in [r#"{"a":[1,"b  c"]}"#, r#"{"a":[1.0,"b c"]}"#, r#"{"a":[1]}"#, "{", ""] {
            assert!(!same(r#"{"a":[1,"b c"]}"#, other), "{other}");
        }
    }

    #[test]
    fn plain_arrays_of_any_length_stay_on_a_line() {
        let numbers = vec!["1"; 200].join(",");
        assert_eq!(laid_out(&format!("[{numbers}]")), format!("[{}]", numbers.replace(',', ", ")));
    }
}
