//! Allocating memory for objects.

use std::io::IoSlice;

use super::{Key, StoreError};

/// Makes room for `additional` more bytes; an error where a hostile size would abort the process.
pub(super) fn reserve(key: &Key, out: &mut Vec<u8>, additional: u64) -> Result<(), StoreError> {
    if out.is_empty() && (out.capacity() as u64) < additional {
        // Freed first, so that the old and the new memory are never held at once.
        *out = Vec::new();
    }
    usize::try_from(additional)
        .ok()
        .and_then(|additional| out.try_reserve_exact(additional).ok())
        .ok_or_else(|| StoreError::TooLarge { key: key.to_string(), size: additional })
}

/// The pieces as one.
pub(super) fn assemble(key: &Key, pieces: &[IoSlice<'_>]) -> Result<Vec<u8>, StoreError> {
    let total = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(piece.len() as u64));
    let mut bytes = Vec::new();
    reserve(key, &mut bytes, total)?;
    for piece in pieces {
        bytes.extend_from_slice(piece);
    }
    Ok(bytes)
}
