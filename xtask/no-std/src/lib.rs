//! A static library without the standard library that links the bottom crates.
//!
//! It is built, not linked or run: a crate that pulled in `std` would bring a second panic handler, which
//! the compiler refuses.

#![no_std]

extern crate alloc;

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

use zarr_grid as _;
use zarr_packbits as _;
use zarr_view as _;

/// An allocator without memory.
struct Empty;

// SAFETY: an allocator returns a null pointer if it has no memory.
unsafe impl GlobalAlloc for Empty {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: Empty = Empty;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}
