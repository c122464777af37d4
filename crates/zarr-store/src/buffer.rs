//! Allocating memory for objects.

use std::io::IoSlice;

use super::{Key, StoreError};

/// Makes room for `additional` more bytes of an object; an error where a hostile size would abort the
/// process.
///
/// An empty buffer gets a quarter more. Reused buffers are for objects of about one size, such as
/// compressed chunks; each new buffer for a slightly larger object would leave a hole of its size
/// in the memory of the thread. The unused part is never touched, so it takes no memory.
///
/// # Errors
/// [`StoreError::TooLarge`] if memory does not suffice.
///
/// # Examples
/// ```
/// use zarr_store::{Key, reserve};
///
/// let (key, mut out) = (Key::new("c/0")?, Vec::new());
/// reserve(&key, &mut out, 1000)?;
/// assert!(out.capacity() >= 1000);
/// assert!(reserve(&key, &mut out, u64::MAX).is_err());
/// # Ok::<(), zarr_store::StoreError>(())
/// ```
pub fn reserve(key: &Key, out: &mut Vec<u8>, additional: u64) -> Result<(), StoreError> {
    let too_large = || StoreError::TooLarge { key: key.to_string(), size: additional };
    let needed = usize::try_from(additional).map_err(|_| too_large())?;
    if out.is_empty() && out.capacity() < needed {
        // Freed first, so that the old and the new memory never exist at the same time.
        *out = Vec::new();
        if out.try_reserve_exact(needed.saturating_add(needed / 4)).is_ok() {
            return Ok(());
        }
    }
    out.try_reserve_exact(needed).map_err(|_| too_large())
}

/// The pieces as one.
pub(super) fn assemble(key: &Key, pieces: &[IoSlice<'_>]) -> Result<Vec<u8>, StoreError> {
    let total = pieces.iter().fold(0_u64, |sum, piece| sum + piece.len() as u64);
    let mut bytes = Vec::new();
    reserve(key, &mut bytes, total)?;
    for piece in pieces {
        bytes.extend_from_slice(piece);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_for_objects_of_about_its_size() {
        let key = Key::new("c/0").expect("a key");
        let mut out = Vec::new();
        reserve(&key, &mut out, 8000).expect("reserves");
        let first = (out.as_ptr(), out.capacity());
        assert!((10_000..11_000).contains(&first.1), "{}", first.1);
        for size in [8000, 9999, 3] {
            reserve(&key, &mut out, size).expect("reserves");
            assert_eq!((out.as_ptr(), out.capacity()), first);
        }
        for hostile in [u64::MAX, u64::MAX / 2, u64::MAX / 5 * 4] {
            let error = reserve(&key, &mut out, hostile).expect_err("too large");
            assert!(matches!(error, StoreError::TooLarge { size, .. } if size == hostile));
        }
    }
}
