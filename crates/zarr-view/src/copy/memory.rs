//! New memory without the cost of a page fault every 4 KiB.

use alloc::vec::Vec;

use crate::CopyError;

/// From this size on, ask for huge pages.
#[cfg(all(feature = "std", target_os = "linux"))]
const HUGE: usize = 4 << 20;

/// A vector of `len` zero bytes for the result of a copy.
///
/// From 4 MiB on, on Linux with the `std` feature, it asks the operating system for huge pages.
/// Without them the first write to fresh memory causes a page fault every 4 KiB. A copy is then
/// several times slower than into memory used before. Zeroing costs no time: the operating system
/// supplies zeroed memory.
///
/// # Errors
/// [`CopyError::Memory`] if there is not enough memory.
///
/// # Examples
/// ```
/// let buffer = zarr_view::zeroed(8 << 20)?;
/// assert_eq!(buffer.len(), 8 << 20);
/// # Ok::<(), zarr_view::CopyError>(())
/// ```
pub fn zeroed(len: usize) -> Result<Vec<u8>, CopyError> {
    if len == 0 {
        return Ok(Vec::new());
    }
    let error = CopyError::Memory { bytes: len };
    let layout = core::alloc::Layout::array::<u8>(len).map_err(|_| error)?;
    #[expect(unsafe_code, reason = "zeroed memory that may fail, with advice on its pages")]
    // SAFETY: the layout has a size above 0.
    let start = unsafe { alloc::alloc::alloc_zeroed(layout) };
    if start.is_null() {
        return Err(error);
    }
    #[expect(unsafe_code, reason = "zeroed memory that may fail, with advice on its pages")]
    // SAFETY: `start` comes from the global allocator with the layout of a `Vec<u8>` of capacity
    // `len`: `len` bytes of alignment 1. All of them are initialised to zero.
    let mut buffer = unsafe { Vec::from_raw_parts(start, len, len) };
    advise_huge_pages(&mut buffer);
    Ok(buffer)
}

/// Asks for huge pages for fresh memory, as [`zeroed`] does for its own. Use it for elements that
/// are not bytes, or for memory from another allocator. It does not change the content.
///
/// Does nothing below 4 MiB, without the `std` feature, and on other systems than Linux.
pub fn advise_huge_pages(memory: &mut [u8]) {
    #[cfg(all(feature = "std", target_os = "linux"))]
    if memory.len() >= HUGE {
        advise(memory.as_mut_ptr(), memory.len());
    }
    #[cfg(not(all(feature = "std", target_os = "linux")))]
    let _ = memory;
}

/// Asks for huge pages where whole ones fit. If the request is refused, the memory is still
/// usable.
#[cfg(all(feature = "std", target_os = "linux"))]
fn advise(start: *mut u8, len: usize) {
    const PAGE: usize = 4096;
    let skip = start.align_offset(PAGE);
    let Some(inside) = len.checked_sub(skip) else { return };
    #[expect(unsafe_code, reason = "huge-page advice")]
    // SAFETY: the pages lie within one slice that is borrowed mutably; the advice changes neither
    // their content nor their protection.
    unsafe {
        libc::madvise(start.add(skip).cast(), inside / PAGE * PAGE, libc::MADV_HUGEPAGE);
    }
}
