//! Bool packing as C functions, for `numpy_bool.py` to call on numpy's own buffers.

use std::ffi::c_void;
use std::hint::black_box;

use zarr_packbits::{Kernel, Packing};

fn packing(portable: bool) -> Packing {
    let packing = Packing::builder(1).build().expect("one bit");
    let kernel = if portable { Kernel::Portable } else { Kernel::best() };
    packing.with_kernel(kernel).expect("an available kernel")
}

/// Packs `len` bytes of 0 and 1 to `len / 8` bytes, rounded up, `calls` times.
///
/// # Safety
/// `src` and `dst` are valid for that many bytes, and do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pack(
    src: *const u8,
    dst: *mut u8,
    len: usize,
    portable: bool,
    calls: usize,
) {
    // SAFETY: the caller's promise.
    let (src, dst) = unsafe {
        (std::slice::from_raw_parts(src, len), std::slice::from_raw_parts_mut(dst, len.div_ceil(8)))
    };
    for _ in 0..calls {
        packing(portable).pack(black_box(src), black_box(dst)).expect("right lengths");
    }
}

/// Unpacks `len / 8` bytes, rounded up, to `len` bytes of 0 and 1, `calls` times.
///
/// # Safety
/// `src` and `dst` are valid for that many bytes, and do not overlap. `dst` may be uninitialised
/// only as memory of another allocator, of which the compiler knows nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unpack(
    src: *const u8,
    dst: *mut u8,
    len: usize,
    portable: bool,
    calls: usize,
) {
    // SAFETY: the caller's promise.
    let (src, dst) = unsafe {
        (std::slice::from_raw_parts(src, len.div_ceil(8)), std::slice::from_raw_parts_mut(dst, len))
    };
    for _ in 0..calls {
        packing(portable).unpack(black_box(src), black_box(dst)).expect("right lengths");
    }
}

unsafe extern "C" {
    /// The allocator of numpy's arrays, of whose results the compiler knows nothing.
    fn malloc(len: usize) -> *mut c_void;
    fn free(allocation: *mut c_void);
}

/// [`pack`], each time to a new allocation.
///
/// # Safety
/// `src` is valid for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pack_fresh(src: *const u8, len: usize, calls: usize) {
    for _ in 0..calls {
        // SAFETY: the caller's promise; a new allocation overlaps nothing, and is freed once.
        unsafe {
            let dst = malloc(len.div_ceil(8));
            assert!(!dst.is_null(), "out of memory");
            pack(src, dst.cast(), len, false, 1);
            free(dst);
        }
    }
}

/// [`unpack`], each time to a new allocation.
///
/// # Safety
/// `src` is valid for `len / 8` bytes, rounded up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn unpack_fresh(src: *const u8, len: usize, calls: usize) {
    for _ in 0..calls {
        // SAFETY: the caller's promise; a new allocation overlaps nothing, and is freed once.
        unsafe {
            let dst = malloc(len);
            assert!(!dst.is_null(), "out of memory");
            unpack(src, dst.cast(), len, false, 1);
            free(dst);
        }
    }
}
