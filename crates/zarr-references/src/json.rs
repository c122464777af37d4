//! JSON with the words `NaN`, `Infinity` and `-Infinity`, which Python writes and `serde_json`
//! refuses.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A text of JSON that may have such words.
pub(super) struct Json<'a> {
    given: &'a [u8],
    /// The text with numbers in place of the words. They have the lengths of the words, so that all
    /// places are the same.
    strict: Cow<'a, [u8]>,
}

impl<'a> Json<'a> {
    pub(super) fn new(given: &'a [u8]) -> Self {
        let mut strict = Cow::Borrowed(given);
        let mut bytes = given.iter().enumerate();
        let mut in_text = false;
        while let Some((at, byte)) = bytes.next() {
            let is = |word: &[u8]| given.get(at..).is_some_and(|rest| rest.starts_with(word));
            let number: &[u8] = match byte {
                b'"' => {
                    in_text = !in_text;
                    continue;
                }
                b'\\' => {
                    // The next byte may be a quote.
                    let _escaped = bytes.next();
                    continue;
                }
                b'N' if !in_text && is(b"NaN") => b"0.0",
                b'I' if !in_text && is(b"Infinity") => b"1.000000",
                _ => continue,
            };
            if let Some(word) = strict.to_mut().get_mut(at..at + number.len()) {
                word.copy_from_slice(number);
            }
        }
        Json { given, strict }
    }

    /// The text as a value, in which the words are some numbers.
    pub(super) fn read<'j, T: Deserialize<'j>>(&'j self) -> serde_json::Result<T> {
        serde_json::from_slice(&self.strict)
    }

    /// The given text of a part of a value that was read.
    pub(super) fn given(&self, part: &RawValue) -> &'a [u8] {
        let part = part.get();
        let start = part.as_ptr().addr().saturating_sub(self.strict.as_ptr().addr());
        self.given.get(start..start + part.len()).unwrap_or_default()
    }
}
