//! The proof that an AArch64 processor has the instructions of the kernel.

use super::neon;
use crate::field::Field;
use crate::used_bits::{UsedBits, Watch};

/// The kernel in [`neon`].
#[derive(Clone, Copy)]
pub(crate) struct Neon(());

impl Neon {
    /// Always: this is compiled only for targets with NEON.
    pub(crate) fn new() -> Option<Self> {
        Some(Self(()))
    }

    /// Unpacks a multiple of eight fields from the start of `packed`, and returns their number.
    pub(crate) fn unpack(self, field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
        // SAFETY: a value of this type exists only on processors with these instructions.
        unsafe { neon::unpack(field, packed, dst) }
    }

    /// Packs a multiple of eight fields to the start of `dst`, and returns their number.
    pub(crate) fn pack<const WATCH: Watch>(
        self,
        field: &Field,
        src: &[u8],
        dst: &mut [u8],
        seen: &mut UsedBits<WATCH>,
    ) -> usize {
        // SAFETY: a value of this type exists only on processors with these instructions.
        unsafe { neon::pack(field, src, dst, seen) }
    }
}
