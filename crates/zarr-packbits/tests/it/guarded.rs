//! Tests every kernel before pages that must not be touched: reading or writing past a slice
//! faults there, and the code that avoids it must give the same bytes.

#![expect(unsafe_code, reason = "pages are mapped and protected by the system")]

use std::ptr;

use zarr_packbits::{BitOrder, Kernel, Packing, PaddingEncoding};

/// Bytes that are mapped before the inaccessible page.
const ROOM: usize = 16 << 10;
const PAGE: usize = 4096;

/// Memory that ends at a page that can be neither read nor written.
struct Guarded(*mut u8);

impl Guarded {
    fn new() -> Self {
        // SAFETY: a new mapping at an address that the system chooses; the second call makes its
        // last page inaccessible.
        unsafe {
            let (flags, all) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, ROOM + PAGE);
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let start = libc::mmap(ptr::null_mut(), all, access, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            let guard = start.cast::<u8>().add(ROOM);
            assert_eq!(libc::mprotect(guard.cast(), PAGE, libc::PROT_NONE), 0);
            Self(start.cast())
        }
    }

    /// The last `len` bytes before the guard.
    fn last(&mut self, len: usize) -> &mut [u8] {
        assert!(len <= ROOM);
        // SAFETY: within the accessible pages, which were zeroed when mapped and are borrowed
        // exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(ROOM - len), len) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, which nothing borrows any longer.
        unsafe { libc::munmap(self.0.cast(), ROOM + PAGE) };
    }
}

fn noise(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 151 + i / 7 * 13 + 5) as u8).collect()
}

#[test]
fn ends_at_a_guard_page_are_exact() {
    let (mut from, mut to) = (Guarded::new(), Guarded::new());
    for (component_bits, last) in [1, 2, 3, 4, 5, 6, 7, 8]
        .map(|bits| (bits, bits - 1))
        .into_iter()
        .chain([(16, 0), (16, 4), (16, 9), (16, 14), (32, 2), (32, 19), (32, 30)])
        .chain([(64, 1), (64, 36), (64, 58), (64, 62), (64, 63)])
    {
        for (signed, order) in [
            (false, BitOrder::LsbFirst),
            (true, BitOrder::LsbFirst),
            (false, BitOrder::MsbFirst),
            (true, BitOrder::MsbFirst),
        ] {
            let builder = Packing::builder(component_bits).last_bit(u64::from(last));
            let packing = builder.signed(signed).bit_order(order).build().unwrap();
            let reference = packing.with_kernel(Kernel::Portable).unwrap();
            let refusing = packing.refuse_loss(true);
            // All small lengths, and some above the size from which kernels align their output.
            for n in (0..=150).chain([1024, 1031, 1100]) {
                let start = n % 5;
                let (packed_len, len) =
                    (packing.packed_len(start + n).unwrap(), n * packing.element_size());
                let (packed, elements) = (noise(packed_len), noise(len));
                let (mut unpacked, mut repacked) = (vec![0; len], packed.clone());
                reference
                    .unpack_range(&packed, PaddingEncoding::None, start, &mut unpacked)
                    .unwrap();
                reference
                    .pack_range(&elements, PaddingEncoding::None, start, &mut repacked)
                    .unwrap();
                for kernel in Kernel::available() {
                    let packing = packing.with_kernel(kernel).unwrap();
                    let (src, dst) = (from.last(packed_len), to.last(len));
                    src.copy_from_slice(&packed);
                    packing.unpack_range(src, PaddingEncoding::None, start, dst).unwrap();
                    assert!(*dst == *unpacked, "{packing:?} unpacks {n} from {start}");
                    let (src, dst) = (from.last(len), to.last(packed_len));
                    src.copy_from_slice(&elements);
                    dst.copy_from_slice(&packed);
                    packing.pack_range(src, PaddingEncoding::None, start, dst).unwrap();
                    assert!(*dst == *repacked, "{packing:?} packs {n} from {start}");
                    dst.copy_from_slice(&packed);
                    let refused = refusing.with_kernel(kernel).unwrap().pack_range(
                        src,
                        PaddingEncoding::None,
                        start,
                        dst,
                    );
                    assert_eq!(
                        refused.is_ok(),
                        packing.is_lossless_for(src).unwrap(),
                        "{packing:?}, {n}"
                    );
                    assert!(*dst == *repacked, "{packing:?} looks at {n} from {start}");
                }
            }
        }
    }
}
