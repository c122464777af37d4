//! Parts of an encoded chunk.

use std::fmt;
use std::ops::Range;

/// A part of an encoded chunk, or of the object that holds it, in bytes.
///
/// A range is exact: reading it from an object that is too short is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteRange {
    /// `len` bytes from `offset`.
    FromStart {
        /// Bytes before the range.
        offset: u64,
        /// Bytes in the range.
        len: u64,
    },
    /// The last `len` bytes.
    Suffix {
        /// Bytes in the range.
        len: u64,
    },
}

impl ByteRange {
    /// Bytes in the range.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a range is a request, no collection")]
    pub fn len(&self) -> u64 {
        match *self {
            Self::FromStart { len, .. } | Self::Suffix { len } => len,
        }
    }

    /// The position of the range in an object of `size` bytes, `None` if it extends past the end.
    ///
    /// ```
    /// use zarr_codec::ByteRange;
    ///
    /// assert_eq!(ByteRange::Suffix { len: 3 }.within(10), Some(7..10));
    /// assert_eq!(ByteRange::FromStart { offset: 8, len: 3 }.within(10), None);
    /// ```
    #[must_use]
    pub fn within(&self, size: u64) -> Option<Range<u64>> {
        match *self {
            Self::FromStart { offset, len } => {
                let end = offset.checked_add(len)?;
                (end <= size).then_some(offset..end)
            }
            Self::Suffix { len } => Some(size.checked_sub(len)?..size),
        }
    }
}

impl fmt::Display for ByteRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::FromStart { offset, len } => write!(f, "{len} bytes from byte {offset}"),
            Self::Suffix { len } => write!(f, "the last {len} bytes"),
        }
    }
}
