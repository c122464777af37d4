//! Reversing bytes.

/// Reverses the bytes of each `unit` of `bytes` bytes.
///
/// # Safety
/// They are valid for reads and writes from `start`; `unit` divides `bytes`.
#[inline]
pub(super) unsafe fn in_place(start: *mut u8, bytes: usize, unit: usize) {
    if unit > 1 {
        // SAFETY: the caller guarantees that the bytes are valid for reads and writes and
        // initialised.
        let bytes = unsafe { core::slice::from_raw_parts_mut(start, bytes) };
        match unit {
            2 => units::<2>(bytes),
            4 => units::<4>(bytes),
            8 => units::<8>(bytes),
            _ => bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse),
        }
    }
}

fn units<const U: usize>(bytes: &mut [u8]) {
    let (units, _) = bytes.as_chunks_mut::<U>();
    units.iter_mut().for_each(|unit| unit.reverse());
}

/// Copies `bytes` bytes and reverses the bytes of each `unit`.
///
/// # Safety
/// They are valid for reads from `src`, for writes from `dst`, and do not overlap; `unit` divides
/// `bytes`.
pub(super) unsafe fn copy(src: *const u8, dst: *mut u8, bytes: usize, unit: usize) {
    /// Small enough to be still in the cache when it is swapped.
    const PART: usize = 4096;
    if unit <= 1 {
        // Without the division of `step_by`, which takes as long as the copy of some hundred bytes.
        // SAFETY: the caller guarantees that `bytes` bytes are valid for reads from `src` and for
        // writes from `dst`, and that the two do not overlap.
        return unsafe { core::ptr::copy_nonoverlapping(src, dst, bytes) };
    }
    let part = PART.next_multiple_of(unit);
    for at in (0..bytes).step_by(part) {
        let part = part.min(bytes - at);
        // SAFETY: both ranges are within their buffers.
        unsafe {
            core::ptr::copy_nonoverlapping(src.add(at), dst.add(at), part);
            in_place(dst.add(at), part, unit);
        }
    }
}
