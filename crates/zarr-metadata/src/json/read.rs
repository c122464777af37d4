//! Reading JSON text in place, one token at a time.

use super::MAX_DEPTH;
use super::raw::Key;
use crate::error::{Kind, MetadataError, Result};

/// A position in a JSON text.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    pub(super) rest: &'a [u8],
    pub(super) depth: usize,
    pub(super) not_finite: NotFinite,
}

/// The words `NaN`, `Infinity` and `-Infinity` that have been passed over.
#[derive(Debug, Clone, Default)]
pub(crate) struct NotFinite {
    pub(crate) count: usize,
    pub(crate) word: &'static str,
    /// The place of the first one.
    pub(crate) first: String,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Reader { text, rest: text.as_bytes(), depth: 0, not_finite: NotFinite::default() }
    }

    /// Bytes of the text that have been read.
    #[inline]
    pub(crate) fn offset(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    /// The words seen since this was last asked, if there were any.
    pub(crate) fn take_not_finite(&mut self) -> Option<NotFinite> {
        (self.not_finite.count > 0).then(|| std::mem::take(&mut self.not_finite))
    }

    /// The text from `start` to here.
    #[inline]
    pub(crate) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.offset()).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn space(&mut self) {
        if self.rest.first().is_some_and(|byte| *byte <= b' ') {
            let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
            let end = self.rest.iter().position(|byte| !is_space(byte));
            self.rest = self.rest.get(end.unwrap_or(self.rest.len())..).unwrap_or_default();
        }
    }

    /// The next byte after space, unread.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.space();
        self.rest.first().copied()
    }

    /// Reads `byte` if it comes next.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        self.space();
        match self.rest {
            [first, tail @ ..] if *first == byte => {
                self.rest = tail;
                true
            }
            _ => false,
        }
    }

    /// Passes over the byte that comes next.
    #[inline]
    fn advance(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// Checks that the whole text has been read.
    pub(crate) fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.syntax("the end of the document")),
        }
    }

    /// Opens an object or an array, by the byte `open`.
    #[inline]
    pub(crate) fn open(&mut self, open: u8, expected: &'static str) -> Result<()> {
        if !self.take(open) {
            return Err(self.syntax(expected));
        }
        self.deeper()
    }

    #[inline]
    pub(super) fn deeper(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let (line, column) = self.position();
            return Err(MetadataError::new(Kind::Depth { line, column, limit: MAX_DEPTH }));
        }
        Ok(())
    }

    /// Reads by `read`; if it returns `None`, nothing is read.
    pub(crate) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let before = (self.rest, self.depth);
        let result = read(self);
        if result.is_none() {
            (self.rest, self.depth) = before;
        }
        result
    }

    /// At an element of an array: passes plain positive integers to `take` while it accepts them,
    /// and stops at the first other element, or at the array's last.
    ///
    /// The same as reading them one at a time, without checking for space and the end at each.
    pub(crate) fn naturals(&mut self, mut take: impl FnMut(u64) -> bool) {
        // Ten to the nineteenth and below: no sum of nineteen digits overflows.
        const DIGITS: usize = 19;
        while let [first @ b'1'..=b'9', tail @ ..] = self.rest {
            let mut value = u64::from(first & 0xf);
            let mut tail = tail;
            let longest = tail.len().saturating_sub(DIGITS);
            while let [digit @ b'0'..=b'9', after @ ..] = tail {
                value = value.wrapping_mul(10).wrapping_add(u64::from(digit & 0xf));
                tail = after;
            }
            match tail {
                [b',', after @ ..]
                    if tail.len() > longest
                        && after.first().is_some_and(u8::is_ascii_digit)
                        && take(value) =>
                {
                    self.rest = after;
                }
                _ => break,
            }
        }
    }

    /// Reads a number if it is digits only and fits; otherwise reads nothing.
    pub(crate) fn natural(&mut self) -> Option<u64> {
        self.space();
        let mut tail = self.rest;
        let mut value = 0_u64;
        while let [digit @ b'0'..=b'9', after @ ..] = tail {
            value = value.checked_mul(10)?.checked_add(u64::from(digit & 0xf))?;
            tail = after;
        }
        let leading_zero = matches!(self.rest, [b'0', b'0'..=b'9', ..]);
        let none = tail.len() == self.rest.len();
        if none || leading_zero || matches!(tail, [b'.' | b'e' | b'E', ..]) {
            return None;
        }
        self.rest = tail;
        Some(value)
    }

    /// Steps to the next element of an array: false at its end.
    #[inline]
    pub(crate) fn next_element(&mut self, first: bool) -> Result<bool> {
        match self.peek() {
            Some(b']') => {
                self.advance();
                self.depth = self.depth.saturating_sub(1);
                return Ok(false);
            }
            Some(b',') if !first => self.advance(),
            _ if first => return Ok(true),
            _ => return Err(self.syntax("',' or ']'")),
        }
        match self.peek() {
            Some(b']') => Err(self.syntax("a value after ','")),
            _ => Ok(true),
        }
    }

    /// Steps to the next member of an object and reads its key: `None` at its end.
    #[inline]
    pub(crate) fn next_key(&mut self, first: bool) -> Result<Option<Key<'a>>> {
        let mut next = self.peek();
        match next {
            Some(b'}') => {
                self.advance();
                self.depth = self.depth.saturating_sub(1);
                return Ok(None);
            }
            Some(b',') if !first => {
                self.advance();
                next = self.peek();
            }
            _ if first => {}
            _ => return Err(self.syntax("',' or '}'")),
        }
        if next != Some(b'"') {
            return Err(self.syntax("a key in double quotes"));
        }
        let start = self.offset();
        let has_escapes = self.string()?;
        let key = Key::of(self.since(start), has_escapes);
        if !self.take(b':') {
            return Err(self.syntax("':'"));
        }
        Ok(Some(key))
    }

    /// Reads a string, checking its escapes and that it has no control characters; says whether it
    /// has escapes.
    #[inline]
    pub(super) fn string(&mut self) -> Result<bool> {
        let [b'"', tail @ ..] = self.rest else {
            return Err(self.syntax("a string"));
        };
        self.rest = tail;
        let mut has_escapes = false;
        loop {
            self.rest = self.rest.get(plain(self.rest)..).unwrap_or_default();
            match self.rest {
                [b'"', tail @ ..] => {
                    self.rest = tail;
                    return Ok(has_escapes);
                }
                [b'\\', b'u', a, b, c, d, tail @ ..]
                    if [a, b, c, d].into_iter().all(u8::is_ascii_hexdigit) =>
                {
                    self.rest = tail;
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', tail @ ..] => {
                    self.rest = tail;
                }
                [b'\\', ..] => return Err(self.syntax("an escape such as \\n or \\u00e9")),
                [] => return Err(self.syntax("a closing double quote")),
                _ => return Err(self.syntax("an escape for a control character")),
            }
            has_escapes = true;
        }
    }

    /// Reads a number by the grammar of RFC 8259.
    pub(super) fn number(&mut self) -> Result<()> {
        if let [b'-', tail @ ..] = self.rest {
            self.rest = tail;
        }
        match self.rest {
            [b'0', b'0'..=b'9', ..] => return Err(self.syntax("a number without leading zeros")),
            [b'0'..=b'9', ..] => self.digits(),
            _ => return Err(self.syntax("a value")),
        }
        if let [b'.', tail @ ..] = self.rest {
            self.rest = tail;
            self.some_digits()?;
        }
        if let [b'e' | b'E', tail @ ..] = self.rest {
            self.rest = tail;
            if let [b'+' | b'-', tail @ ..] = self.rest {
                self.rest = tail;
            }
            self.some_digits()?;
        }
        Ok(())
    }

    fn some_digits(&mut self) -> Result<()> {
        match self.rest {
            [b'0'..=b'9', ..] => {
                self.digits();
                Ok(())
            }
            _ => Err(self.syntax("a digit")),
        }
    }

    fn digits(&mut self) {
        while let [b'0'..=b'9', tail @ ..] = self.rest {
            self.rest = tail;
        }
    }

    /// The error that something else than `expected` follows.
    #[cold]
    pub(crate) fn syntax(&self, expected: &'static str) -> MetadataError {
        let (line, column) = self.position();
        let rest = self.text.get(self.offset()..).unwrap_or_default();
        let found = match rest.chars().next() {
            None => "the end of the text".to_owned(),
            Some(c) => format!("{c:?}"),
        };
        MetadataError::new(Kind::Syntax { line, column, found, expected })
    }

    /// Line and column, in characters, both from 1.
    fn position(&self) -> (usize, usize) {
        let before = self.since(0);
        let line = before.matches('\n').count() + 1;
        let last = before.rsplit('\n').next().unwrap_or_default();
        (line, last.chars().count() + 1)
    }
}

/// How many bytes come before the first quote, backslash or control character.
#[inline]
fn plain(bytes: &[u8]) -> usize {
    /// A number with this byte in all of its bytes.
    const fn all(byte: u8) -> u64 {
        u64::from_le_bytes([byte; 8])
    }
    let (words, rest) = bytes.as_chunks::<8>();
    let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    let mut before = 0_usize;
    for word in words {
        // The first byte that is 0, or below 0x20, gets its highest bit set; a carry can only reach
        // the bytes behind it.
        let word = u64::from_le_bytes(*word);
        let zero = |word: u64| word.wrapping_sub(all(1)) & !word;
        let control = word.wrapping_sub(all(0x20)) & !word;
        let found = (zero(word ^ all(b'"')) | zero(word ^ all(b'\\')) | control) & all(0x80);
        if found != 0 {
            let at = found.trailing_zeros().wrapping_shr(3);
            return before + usize::try_from(at).unwrap_or_default();
        }
        before += 8;
    }
    before + rest.iter().position(ends).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn strings_end_at_the_first_byte_that_ends_them() {
        let ends = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
        // Each byte at each place of a word, before and after bytes that differ from it by one.
        for byte in 0..=255_u8 {
            for at in 0..20 {
                for other in [b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xa2, 0xff, byte] {
                    let mut bytes = [other; 21];
                    bytes[at] = byte;
                    let expected = bytes.iter().position(ends).unwrap_or(21);
                    assert_eq!(plain(&bytes), expected, "{byte} at {at} among {other}");
                }
            }
        }
    }
}
