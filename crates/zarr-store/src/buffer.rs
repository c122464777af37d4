//! Making room in callers' buffers.

use super::{Key, StoreError};

/// Room for `additional` bytes more, or an error where a hostile size would end the process.
pub(super) fn reserve(key: &Key, out: &mut Vec<u8>, additional: u64) -> Result<(), StoreError> {
    if out.is_empty() && (out.capacity() as u64) < additional {
        // Gone before the new memory is there.
        *out = Vec::new();
    }
    usize::try_from(additional)
        .ok()
        .and_then(|additional| out.try_reserve_exact(additional).ok())
        .ok_or_else(|| StoreError::TooLarge { key: key.to_string(), size: additional })
}
