//! Skipping a whole value, without recursion, with every check that reading would make.

use std::borrow::Cow;

use super::read::{Raw, Reader, unescape};
use crate::error::{MetadataError, path_member};

type Result<T> = std::result::Result<T, MetadataError>;

/// Whether the bare words `NaN`, `Infinity` and `-Infinity` may stand for a number (SD-43).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grammar {
    Json,
    WithNotFinite,
}

/// One open object or array.
struct Frame<'a> {
    /// Where the keys of this object begin in the shared list; `None` for an array.
    first_key: Option<usize>,
    /// Elements or members seen.
    count: usize,
    key: &'a str,
}

impl<'a> Reader<'a> {
    /// Passes over the next value and gives its text.
    ///
    /// Checks the grammar, the depth and that no object has a key twice. Memory is
    /// proportional to the depth and the keys of open objects, and never exceeds the text.
    pub(crate) fn value(&mut self, grammar: Grammar) -> Result<Raw<'a>> {
        self.space();
        let start = self.offset();
        let outer = self.depth;
        let mut open: Vec<Frame<'a>> = Vec::new();
        let mut keys: Vec<Cow<'a, str>> = Vec::new();
        self.walk(grammar, &mut open, &mut keys).map_err(|e| within(e, &open))?;
        self.depth = outer;
        Ok(Raw::checked(self.since(start)))
    }

    fn walk(
        &mut self,
        grammar: Grammar,
        open: &mut Vec<Frame<'a>>,
        keys: &mut Vec<Cow<'a, str>>,
    ) -> Result<()> {
        loop {
            // A value comes here.
            match self.peek() {
                Some(b'{') => {
                    self.open(b'{', "an object")?;
                    open.push(Frame { first_key: Some(keys.len()), count: 0, key: "" });
                }
                Some(b'[') => {
                    self.open(b'[', "an array")?;
                    open.push(Frame { first_key: None, count: 0, key: "" });
                }
                _ => {
                    self.scalar(grammar)?;
                    if self.not_finite.count == 1 && self.not_finite.first.is_empty() {
                        path_of(open, &mut self.not_finite.first);
                    }
                }
            }
            // Close what ends here, and step to the next value.
            loop {
                let Some(frame) = open.last_mut() else { return Ok(()) };
                let first = frame.count == 0;
                let more = match frame.first_key {
                    None => self.next_element(first)?,
                    Some(_) => match self.next_key(first)? {
                        Some(key) => {
                            frame.key = key;
                            keys.push(unescape(key).unwrap_or(Cow::Borrowed(key)));
                            true
                        }
                        None => false,
                    },
                };
                if more {
                    frame.count = frame.count.saturating_add(1);
                    break;
                }
                let first_key = frame.first_key;
                open.pop();
                if let Some(first_key) = first_key {
                    if let Some(keys) = keys.get_mut(first_key..) {
                        distinct(keys)?;
                    }
                    keys.truncate(first_key);
                }
            }
        }
    }

    fn scalar(&mut self, grammar: Grammar) -> Result<()> {
        match self.rest {
            [b'"', ..] => self.string(),
            [b't', ..] => self.word("true"),
            [b'f', ..] => self.word("false"),
            [b'n', ..] => self.word("null"),
            [b'N', ..] if grammar == Grammar::WithNotFinite => self.not_finite("NaN"),
            [b'I', ..] if grammar == Grammar::WithNotFinite => self.not_finite("Infinity"),
            [b'-', b'I', ..] if grammar == Grammar::WithNotFinite => self.not_finite("-Infinity"),
            [b'N', b'a', b'N', ..] => Err(self.syntax("a JSON value, which NaN is not")),
            [b'I', b'n', b'f', ..] | [b'-', b'I', ..] => {
                Err(self.syntax("a JSON value, which Infinity is not"))
            }
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &'static str) -> Result<()> {
        match self.rest.strip_prefix(word.as_bytes()) {
            Some(tail) => {
                self.rest = tail;
                Ok(())
            }
            None => Err(self.syntax("a value")),
        }
    }

    fn not_finite(&mut self, word: &'static str) -> Result<()> {
        self.word(word)?;
        self.not_finite.count = self.not_finite.count.saturating_add(1);
        if self.not_finite.count == 1 {
            self.not_finite.word = word;
        }
        Ok(())
    }
}

/// Checks that no two of `keys` are the same (SD-43). Sorts them if they are many.
pub(crate) fn distinct(keys: &mut [Cow<'_, str>]) -> Result<()> {
    let twice = if keys.len() <= 8 {
        keys.iter()
            .enumerate()
            .find(|(i, key)| keys.iter().take(*i).any(|other| other == *key))
            .map(|(_, key)| key)
    } else {
        keys.sort_unstable();
        keys.windows(2).find_map(|pair| match pair {
            [a, b] if a == b => Some(a),
            _ => None,
        })
    };
    match twice {
        Some(key) => Err(MetadataError::duplicate(key)),
        None => Ok(()),
    }
}

/// Puts the place of the innermost open value before the error's own.
fn within(error: MetadataError, open: &[Frame<'_>]) -> MetadataError {
    if error.is_depth() {
        return error;
    }
    let mut path = String::new();
    path_of(open, &mut path);
    error.under(&path)
}

fn path_of(open: &[Frame<'_>], path: &mut String) {
    for frame in open.iter().filter(|frame| frame.count > 0) {
        match frame.first_key {
            Some(_) => path_member(path, &unescape(frame.key).unwrap_or_default()),
            None => path.push_str(&format!("[{}]", frame.count.saturating_sub(1))),
        }
    }
}
