//! What all kernels share: starts within a byte, ends, and neighbours that must not be disturbed.

use crate::{Kernel, field::Field, scalar};

/// Packs `src` from bit `bit` (0 to 7) of `dst` on; the caller has checked that it fits.
pub(crate) fn pack(kernel: Kernel, field: &Field, src: &[u8], dst: &mut [u8], bit: usize) {
    match kernel {
        Kernel::Reference | Kernel::Portable => scalar::pack(field, src, dst, bit as u64),
    }
}

/// Unpacks from bit `bit` (0 to 7) of `packed` on; the caller has checked that it is there.
pub(crate) fn unpack(kernel: Kernel, field: &Field, packed: &[u8], bit: usize, dst: &mut [u8]) {
    match kernel {
        Kernel::Reference | Kernel::Portable => scalar::unpack(field, packed, bit as u64, dst),
    }
}
