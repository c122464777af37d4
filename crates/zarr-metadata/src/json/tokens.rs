//! The tokens of JSON text.

/// The tokens of JSON text, without the space between them: brackets, braces, commas, colons,
/// strings with their quotes, and all other words as they are written.
///
/// Use it to lay out a document anew without changing the spelling of numbers and strings. The text
/// is not checked: in text that is no JSON, a token may be any run of characters.
///
/// # Examples
/// ```
/// use zarr_metadata::JsonTokens;
///
/// let tokens: Vec<&str> = JsonTokens::new(r#"{"a, b": [1.50, NaN]}"#).collect();
/// assert_eq!(tokens, ["{", r#""a, b""#, ":", "[", "1.50", ",", "NaN", "]", "}"]);
/// ```
#[derive(Debug, Clone)]
pub struct JsonTokens<'t>(&'t str);

impl<'t> JsonTokens<'t> {
    /// The tokens of this text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        JsonTokens(text)
    }
}

impl<'t> Iterator for JsonTokens<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let text = self.0.trim_start_matches([' ', '\n', '\r', '\t']);
        let mut bytes = text.bytes().enumerate();
        let (_, first) = bytes.next()?;
        let end = match first {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => Some(1),
            b'"' => {
                let mut escaped = false;
                bytes
                    .find(|&(_, b)| {
                        let closes = b == b'"' && !escaped;
                        escaped = b == b'\\' && !escaped;
                        closes
                    })
                    .map(|(at, _)| at + 1)
            }
            _ => bytes
                .find(|(_, b)| {
                    matches!(b, b',' | b'}' | b']' | b':' | b' ' | b'\n' | b'\r' | b'\t')
                })
                .map(|(at, _)| at),
        };
        let (token, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
        self.0 = rest;
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_ends_at_the_first_quote_that_is_not_escaped() {
        let tokens = JsonTokens::new(r#"{"a\"b\\": "\\\"", "c":"\\"}"#);
        let expected = ["{", r#""a\"b\\""#, ":", r#""\\\"""#, ",", r#""c""#, ":", r#""\\""#, "}"];
        assert_eq!(tokens.collect::<Vec<_>>(), expected);
    }
}
