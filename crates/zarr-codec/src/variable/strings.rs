//! Lists of byte strings and of strings.

use std::ops::Index;

/// Byte strings of any lengths, one after the other in one buffer.
///
/// String `i` is the bytes from `offsets()[i]` to `offsets()[i + 1]`, as in Apache Arrow.
///
/// # Examples
/// ```
/// use zarr_codec::ByteStrings;
///
/// let list: ByteStrings = [&b"ab"[..], b"", b"c"].into_iter().collect();
/// assert_eq!((list.len(), &list[0], list.get(3)), (3, &b"ab"[..], None));
/// assert_eq!((list.offsets(), list.bytes()), (&[0, 2, 2, 3][..], &b"abc"[..]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ByteStrings {
    /// One more than there are strings: ascending, the first 0, the last the length of `bytes`.
    offsets: Vec<usize>,
    bytes: Vec<u8>,
}

impl Default for ByteStrings {
    fn default() -> Self {
        Self { offsets: vec![0], bytes: Vec::new() }
    }
}

impl ByteStrings {
    /// No strings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty list with capacity for this many strings and bytes; `None` if there is not enough
    /// memory.
    pub(super) fn with_room(strings: usize, bytes: usize) -> Option<Self> {
        let mut list = Self { offsets: Vec::new(), bytes: Vec::new() };
        list.offsets.try_reserve_exact(strings.checked_add(1)?).ok()?;
        list.bytes.try_reserve_exact(bytes).ok()?;
        list.offsets.push(0);
        Some(list)
    }

    /// The number of strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no strings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The string of this number, if there is one.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.offsets.get(index.checked_add(1)?)?;
        self.bytes.get(*self.offsets.get(index)?..end)
    }

    /// The strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.offsets.windows(2).map(|ends| match ends {
            [start, end] => self.bytes.get(*start..*end).unwrap_or_default(),
            _ => &[],
        })
    }

    /// Appends a string.
    pub fn push(&mut self, string: &[u8]) {
        self.bytes.extend_from_slice(string);
        self.offsets.push(self.bytes.len());
    }

    /// The start of each string in [`bytes`](Self::bytes), and the end of the last one.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The bytes of all strings, without gaps.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The offsets and the bytes.
    #[must_use]
    pub fn into_parts(self) -> (Vec<usize>, Vec<u8>) {
        (self.offsets, self.bytes)
    }
}

impl Index<usize> for ByteStrings {
    type Output = [u8];

    /// # Panics
    /// As for a slice, if there is no such string.
    fn index(&self, index: usize) -> &[u8] {
        self.get(index).expect("an index below the number of strings")
    }
}

impl<B: AsRef<[u8]>> FromIterator<B> for ByteStrings {
    fn from_iter<I: IntoIterator<Item = B>>(strings: I) -> Self {
        let mut list = Self::new();
        strings.into_iter().for_each(|string| list.push(string.as_ref()));
        list
    }
}

/// Strings of any lengths, one after the other in one buffer: [`ByteStrings`] that are UTF-8.
///
/// # Examples
/// ```
/// use zarr_codec::Strings;
///
/// let names: Strings = ["Genève", "", "Zürich"].into_iter().collect();
/// assert_eq!((names.len(), &names[2], names.offsets()), (3, "Zürich", &[0, 7, 7, 14][..]));
/// assert!(names.iter().eq(["Genève", "", "Zürich"]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Strings {
    /// As in [`ByteStrings`], all at character boundaries.
    offsets: Vec<usize>,
    text: String,
}

impl Default for Strings {
    fn default() -> Self {
        Self { offsets: vec![0], text: String::new() }
    }
}

/// A byte string is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("string {index} is not UTF-8 from byte {byte} on")]
pub struct NotUtf8 {
    /// The number of the string in the list.
    pub index: usize,
    /// The first invalid byte.
    pub byte: usize,
}

impl Strings {
    /// No strings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no strings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The string of this number, if there is one.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        let end = *self.offsets.get(index.checked_add(1)?)?;
        self.text.get(*self.offsets.get(index)?..end)
    }

    /// The strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.offsets.windows(2).map(|ends| match ends {
            [start, end] => self.text.get(*start..*end).unwrap_or_default(),
            _ => "",
        })
    }

    /// Appends a string.
    pub fn push(&mut self, string: &str) {
        self.text.push_str(string);
        self.offsets.push(self.text.len());
    }

    /// The start of each string in [`text`](Self::text), in bytes, and the end of the last one.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The text of all strings, without gaps.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The offsets and the text.
    #[must_use]
    pub fn into_parts(self) -> (Vec<usize>, String) {
        (self.offsets, self.text)
    }
}

impl Index<usize> for Strings {
    type Output = str;

    /// # Panics
    /// As for a slice, if there is no such string.
    fn index(&self, index: usize) -> &str {
        self.get(index).expect("an index below the number of strings")
    }
}

impl<S: AsRef<str>> FromIterator<S> for Strings {
    fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Self {
        let mut list = Self::new();
        strings.into_iter().for_each(|string| list.push(string.as_ref()));
        list
    }
}

impl From<Strings> for ByteStrings {
    fn from(strings: Strings) -> Self {
        Self { offsets: strings.offsets, bytes: strings.text.into_bytes() }
    }
}

impl TryFrom<ByteStrings> for Strings {
    type Error = NotUtf8;

    /// # Errors
    /// [`NotUtf8`] names the first string that is not UTF-8.
    fn try_from(strings: ByteStrings) -> Result<Self, NotUtf8> {
        let ByteStrings { offsets, bytes } = strings;
        // Text cut at character boundaries is text: one pass over all bytes instead of one per
        // string.
        match String::from_utf8(bytes) {
            Ok(text) if offsets.iter().all(|offset| text.is_char_boundary(*offset)) => {
                Ok(Self { offsets, text })
            }
            Ok(text) => Err(not_utf8(&ByteStrings { offsets, bytes: text.into_bytes() })),
            Err(error) => Err(not_utf8(&ByteStrings { offsets, bytes: error.into_bytes() })),
        }
    }
}

/// The first string that is not UTF-8, of a list that has one.
fn not_utf8(strings: &ByteStrings) -> NotUtf8 {
    let faults = strings.iter().enumerate().filter_map(|(index, string)| {
        let error = std::str::from_utf8(string).err()?;
        Some(NotUtf8 { index, byte: error.valid_up_to() })
    });
    faults.into_iter().next().unwrap_or(NotUtf8 { index: 0, byte: 0 })
}
