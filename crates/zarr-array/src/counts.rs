//! Counts of elements and bytes, and buffers for them.

use std::num::NonZero;

use smallvec::SmallVec;
use zarr_view::CopyError;

/// A list with one entry per axis. Up to four need no allocation, which took a sixth of the time of
/// a small read.
pub(crate) type PerAxis<T> = SmallVec<[T; 4]>;

/// Converts a number to `usize`, saturating: numbers that do not fit are refused elsewhere.
pub(crate) fn narrow(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Converts a number to `u64`.
pub(crate) fn wide(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Bytes of this many elements of this size; `None` if no buffer can hold them.
pub(crate) fn bytes_of(counts: &[usize], element_size: usize) -> Option<usize> {
    if counts.contains(&0) {
        return Some(0);
    }
    let bytes = counts.iter().try_fold(element_size, |bytes, count| bytes.checked_mul(*count));
    bytes.filter(|bytes| isize::try_from(*bytes).is_ok())
}

/// The first `length` bytes of a reused buffer, with unspecified content.
pub(crate) fn room(buffer: &mut Vec<u8>, length: usize) -> Result<&mut [u8], CopyError> {
    if buffer.len() < length {
        *buffer = zarr_view::zeroed(length)?;
    }
    Ok(buffer.get_mut(..length).unwrap_or_default())
}

/// Converts number `linear`, in C order of a product of counts, to a number on each axis.
pub(crate) fn number(
    mut linear: u64,
    counts: impl DoubleEndedIterator<Item = usize>,
) -> PerAxis<usize> {
    let mut number: PerAxis<usize> = counts
        .rev()
        .map(|count| {
            let count = u64::try_from(count).ok().and_then(NonZero::new);
            let count = count.unwrap_or(NonZero::<u64>::MIN);
            let at = linear % count;
            linear /= count;
            narrow(at)
        })
        .collect();
    number.reverse();
    number
}
