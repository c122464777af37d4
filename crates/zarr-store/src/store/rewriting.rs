//! Objects assembled from ranges of their old bytes, or written in pieces.

use std::io;
use std::ops::Range;

use crate::StoreError;

/// Takes the bytes of an object one after another, from
/// [`Store::put_in_pieces`](crate::Store::put_in_pieces). Nothing is put if it is dropped.
pub trait PieceWriter: io::Write {
    /// Puts the object with the bytes that were written.
    ///
    /// # Errors
    /// As for [`put_opts`](crate::Store::put_opts).
    fn put(self: Box<Self>) -> Result<(), StoreError>;
}

/// Some bytes of a new object, from [`Store::rewrite`](crate::Store::rewrite).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RewritePiece<'b> {
    /// These bytes of the object as it is.
    Old(Range<u64>),
    /// New bytes.
    New(&'b [u8]),
}

impl RewritePiece<'_> {
    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::Old(range) => range.end - range.start,
            Self::New(bytes) => bytes.len() as u64,
        }
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The result of [`Store::rewrite`](crate::Store::rewrite).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub enum Rewrite {
    /// The store cannot do it, and nothing was written: read and put.
    Unsupported,
    /// The object is missing, or not of the expected version; it is unchanged.
    Changed,
    /// The object now has the new bytes.
    Written,
}
