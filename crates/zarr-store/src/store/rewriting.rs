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

/// The object of these pieces, with `put` in place of [`PieceWriter::put`]: a store that wraps another
/// passes it on under its own conditions.
///
/// # Examples
/// ```
/// use zarr_store::{Key, LocalStore, Operation, Store, StoreError, StoreExt, put_by};
///
/// # let folder = tempfile::tempdir()?;
/// let (store, key) = (LocalStore::open(folder.path())?, Key::new("c/0")?);
/// let pieces = store.put_in_pieces(&key)?.expect("files are written in pieces");
/// let mut refused = put_by(pieces, |_| Err(StoreError::unsupported(Operation::Put, "c/0", "a turn")));
/// refused.write_all(b"123")?;
/// assert!(refused.put().is_err());
/// assert_eq!(store.read(&key)?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn put_by<'s>(
    pieces: Box<dyn PieceWriter + 's>,
    put: impl FnOnce(Box<dyn PieceWriter + 's>) -> Result<(), StoreError> + 's,
) -> Box<dyn PieceWriter + 's> {
    Box::new(PutBy { pieces, put })
}

struct PutBy<'s, F> {
    pieces: Box<dyn PieceWriter + 's>,
    put: F,
}

impl<F> io::Write for PutBy<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pieces.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pieces.flush()
    }
}

impl<'s, F> PieceWriter for PutBy<'s, F>
where
    F: FnOnce(Box<dyn PieceWriter + 's>) -> Result<(), StoreError>,
{
    fn put(self: Box<Self>) -> Result<(), StoreError> {
        let Self { pieces, put } = *self;
        put(pieces)
    }
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
