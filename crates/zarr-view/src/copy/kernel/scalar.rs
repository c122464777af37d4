//! One element at a time.

/// Moves one element of `size` bytes, reversing the bytes of each `unit`.
///
/// # Safety
/// `src` is valid for reads of `size` bytes, `dst` for writes, and `unit` divides `size`.
pub(super) unsafe fn element(src: *const u8, dst: *mut u8, size: usize, unit: usize) {
    if unit <= 1 {
        // SAFETY: the caller's.
        unsafe { core::ptr::copy_nonoverlapping(src, dst, size) };
        return;
    }
    for at in (0..size).step_by(unit) {
        for byte in 0..unit {
            // SAFETY: both are below `size`, since `unit` divides it.
            unsafe { dst.add(at + byte).write(src.add(at + unit - 1 - byte).read()) };
        }
    }
}
