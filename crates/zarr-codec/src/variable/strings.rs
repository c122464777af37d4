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

/// A byte string is not UTF-8.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("string {index} is not UTF-8 from byte {byte} on")]
pub struct NotUtf8 {
    /// The number of the string in the list.
    pub index: usize,
    /// The first invalid byte.
    pub byte: usize,
}

/// As the text.
impl core::fmt::Debug for NotUtf8 {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Display::fmt(self, f)
    }
}

/// The code of [`ByteStrings`] and [`Strings`], which differ in the type of a string.
macro_rules! list {
    ($list:ident, $string:ty, $buffer:ty, $whole:ident, $append:ident) => {
        impl Default for $list {
            fn default() -> Self {
                Self { offsets: vec![0], $whole: <$buffer>::new() }
            }
        }

        impl $list {
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
            pub fn get(&self, index: usize) -> Option<&$string> {
                let end = *self.offsets.get(index.checked_add(1)?)?;
                self.$whole.get(*self.offsets.get(index)?..end)
            }

            /// The strings in order.
            pub fn iter(&self) -> impl ExactSizeIterator<Item = &$string> {
                self.offsets.windows(2).map(|ends| &self.$whole[ends[0]..ends[1]])
            }

            /// Appends a string.
            pub fn push(&mut self, string: &$string) {
                self.$whole.$append(string);
                self.offsets.push(self.$whole.len());
            }

            /// The byte at which each string starts within all, and the end of the last one.
            #[must_use]
            pub fn offsets(&self) -> &[usize] {
                &self.offsets
            }

            #[doc = concat!("The ", stringify!($whole), " of all strings, without gaps.")]
            #[must_use]
            pub fn $whole(&self) -> &$string {
                &self.$whole
            }

            #[doc = concat!("The offsets and the ", stringify!($whole), ".")]
            #[must_use]
            pub fn into_parts(self) -> (Vec<usize>, $buffer) {
                (self.offsets, self.$whole)
            }
        }

        impl Index<usize> for $list {
            type Output = $string;

            /// # Panics
            /// As for a slice, if there is no such string.
            fn index(&self, index: usize) -> &$string {
                self.get(index).expect("an index below the number of strings")
            }
        }

        impl<S: AsRef<$string>> FromIterator<S> for $list {
            fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Self {
                let mut list = Self::new();
                strings.into_iter().for_each(|string| list.push(string.as_ref()));
                list
            }
        }
    };
}

list!(ByteStrings, [u8], Vec<u8>, bytes, extend_from_slice);
list!(Strings, str, String, text, push_str);

impl ByteStrings {
    /// An empty list with capacity for this many strings and bytes; `None` if there is not enough
    /// memory.
    pub(super) fn with_room(strings: usize, bytes: usize) -> Option<Self> {
        let mut list = Self { offsets: Vec::new(), bytes: Vec::new() };
        list.offsets.try_reserve_exact(strings.checked_add(1)?).ok()?;
        list.bytes.try_reserve_exact(bytes).ok()?;
        list.offsets.push(0);
        Some(list)
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
