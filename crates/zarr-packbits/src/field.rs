//! The encoded part of one component. Kernels know nothing else of an element.

use crate::{BitOrder, ByteOrder};

/// `bits` bits from `first_bit` on, in a component of `size` bytes in memory.
///
/// Invariants, which the builder establishes and every kernel relies on:
/// 1. `size` is 1, 2, 4 or 8;
/// 2. `bits` is at least 1 and `first_bit + bits` at most `8 * size`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Field {
    pub(crate) bits: u32,
    pub(crate) first_bit: u32,
    pub(crate) size: usize,
    pub(crate) signed: bool,
    pub(crate) order: BitOrder,
    /// How components lie in memory. Kernels see little-endian ones only.
    pub(crate) memory: ByteOrder,
}

impl Field {
    /// The most significant bit of the component that is encoded.
    pub(crate) fn last_bit(&self) -> u32 {
        self.first_bit + self.bits - 1
    }

    /// Whether the packed bytes are the bytes in memory.
    pub(crate) fn is_copy(&self) -> bool {
        self.bits as usize == 8 * self.size && (self.order == BitOrder::LsbFirst || self.size == 1)
    }

    /// The mask of the encoded bits in a component.
    pub(crate) fn mask(&self) -> u64 {
        (u64::MAX >> (64 - self.bits)) << self.first_bit
    }

    /// The in-memory form, up to 64 bits, of a component with these encoded bits.
    pub(crate) fn component(&self, encoded: u64) -> u64 {
        let x = encoded << self.first_bit & self.mask();
        (x ^ self.sign()).wrapping_sub(self.sign())
    }

    /// The bit that a signed type extends upwards; 0 if no bit is extended.
    pub(crate) fn sign(&self) -> u64 {
        if self.signed { 1 << self.last_bit() } else { 0 }
    }
}
