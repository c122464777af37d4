//! Which bytes of an object are read.

use std::ops::Range;

use crate::{Key, StoreError, reserve};

/// The bytes of an object that [`Store::get`](crate::Store::get) reads.
///
/// Requests are exact: it is an error if the object is too short.
///
/// # Examples
/// ```
/// use zarr_store::{Key, MemoryStore, ReadRange, Store, StoreExt};
///
/// let (store, key) = (MemoryStore::new(), Key::new("c/0")?);
/// store.put(&key, b"0123456789")?;
/// let mut bytes = Vec::new();
/// store.get(&key, ReadRange::Suffix(2), &mut bytes)?;
/// assert_eq!(bytes, b"89");
/// store.get(&key, ReadRange::Ranges(&[6..8, 0..1]), &mut bytes)?;
/// assert_eq!(bytes, b"670");
/// # Ok::<(), zarr_store::StoreError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadRange<'r> {
    /// The whole object.
    All,
    /// This many bytes at the end.
    Suffix(u64),
    /// These ranges, concatenated in the order given. They may overlap.
    Ranges(&'r [Range<u64>]),
}

impl ReadRange<'_> {
    /// The same without borrowing: for requests that outlive their caller.
    #[cfg(feature = "async")]
    pub(crate) fn to_owned(self) -> OwnedReadRange {
        match self {
            Self::All => OwnedReadRange::All,
            Self::Suffix(len) => OwnedReadRange::Suffix(len),
            Self::Ranges(ranges) => OwnedReadRange::Ranges(ranges.to_vec()),
        }
    }

    /// The number of these bytes in an object of `size` bytes.
    ///
    /// # Errors
    /// [`StoreError::Range`] or [`StoreError::Suffix`] if the object is too short.
    pub fn len_within(self, key: &Key, size: u64) -> Result<u64, StoreError> {
        match self {
            Self::All => Ok(size),
            Self::Suffix(len) if len <= size => Ok(len),
            Self::Suffix(len) => Err(StoreError::Suffix { key: key.to_string(), len, size }),
            Self::Ranges(ranges) => ranges.iter().try_fold(0_u64, |total, range| {
                Ok(total.saturating_add(len_within(key, range, size)?))
            }),
        }
    }

    /// Copies these bytes of `object` to `out`, replacing its contents: for stores that have whole
    /// objects in memory.
    ///
    /// # Errors
    /// [`StoreError::Range`] or [`StoreError::Suffix`] if the object is too short;
    /// [`StoreError::TooLarge`] if memory does not suffice.
    pub fn copy(self, key: &Key, object: &[u8], out: &mut Vec<u8>) -> Result<(), StoreError> {
        out.clear();
        let size = object.len() as u64;
        let len = self.len_within(key, size)?;
        reserve(key, out, len)?;
        // Within the object, as was checked, so that all positions are in memory.
        let mut take = |range: Range<u64>| {
            let range = range.start as usize..range.end as usize;
            out.extend_from_slice(object.get(range).unwrap_or_default());
        };
        match self {
            Self::All => take(0..size),
            Self::Suffix(len) => take(size - len..size),
            Self::Ranges(ranges) => ranges.iter().cloned().for_each(take),
        }
        Ok(())
    }
}

/// The length of a range.
///
/// # Errors
/// [`StoreError::Range`] if it does not lie within an object of `size` bytes.
pub(crate) fn len_within(key: &Key, range: &Range<u64>, size: u64) -> Result<u64, StoreError> {
    range
        .end
        .checked_sub(range.start)
        .filter(|_| range.end <= size)
        .ok_or_else(|| StoreError::Range { key: key.to_string(), range: range.clone(), size })
}

/// A [`ReadRange`] that borrows nothing.
#[cfg(feature = "async")]
#[derive(Debug, Clone)]
pub(crate) enum OwnedReadRange {
    All,
    Suffix(u64),
    Ranges(Vec<Range<u64>>),
}

#[cfg(feature = "async")]
impl OwnedReadRange {
    pub(crate) fn borrow(&self) -> ReadRange<'_> {
        match self {
            Self::All => ReadRange::All,
            Self::Suffix(len) => ReadRange::Suffix(*len),
            Self::Ranges(ranges) => ReadRange::Ranges(ranges),
        }
    }
}
