//! Proofs that an x86-64 processor has the instructions of a kernel.

use super::vector128::Ssse3;
use super::{avx2, avx512};
use crate::field::Field;
use crate::used_bits::{UsedBits, Watch};

/// Whether the processor has all of these features: detected at run time, or else known to the
/// compiler.
macro_rules! has {
    ($($feature:tt),+) => {{
        #[cfg(feature = "std")]
        let has = $(std::arch::is_x86_feature_detected!($feature))&&+;
        #[cfg(not(feature = "std"))]
        let has = $(cfg!(target_feature = $feature))&&+;
        has
    }};
}

/// The kernel in [`avx512`].
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    pub(crate) fn new() -> Option<Self> {
        has!("avx512f", "avx512bw", "avx512vbmi").then_some(Self(()))
    }

    /// Unpacks all of `dst` from bit `bit` of `packed` on; returns false, having done nothing, if
    /// it cannot.
    pub(crate) fn unpack(
        self,
        field: &Field,
        packed: &[u8],
        bit: usize,
        dst: &mut [u8],
        streaming: bool,
    ) -> bool {
        if !avx512::can_unpack(field, bit) {
            return false;
        }
        // SAFETY: a value of this type exists only on processors with these instructions.
        unsafe { avx512::unpack(field, packed, bit, dst, streaming) };
        true
    }

    /// Packs all of `src`, a multiple of eight fields, into the whole of `dst`.
    pub(crate) fn pack<const WATCH: Watch>(
        self,
        field: &Field,
        src: &[u8],
        dst: &mut [u8],
        seen: &mut UsedBits<WATCH>,
    ) {
        // SAFETY: a value of this type exists only on processors with these instructions.
        unsafe { avx512::pack(field, src, dst, seen) }
    }
}

/// The kernel in [`avx2`].
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(crate) fn new() -> Option<Self> {
        has!("avx2").then_some(Self(()))
    }

    fn ssse3(self) -> Ssse3 {
        // SAFETY: a value of this type exists only on processors with AVX2, which includes SSSE3.
        unsafe { Ssse3::assume() }
    }

    /// Unpacks a multiple of eight fields from the start of `packed`, and returns their number.
    pub(crate) fn unpack(self, field: &Field, packed: &[u8], dst: &mut [u8]) -> usize {
        if !avx2::can_unpack(field) {
            return self.ssse3().unpack(field, packed, dst);
        }
        // SAFETY: a value of this type exists only on processors with these instructions.
        unsafe { avx2::unpack(field, packed, dst) }
    }

    /// Packs a multiple of eight fields to the start of `dst`, and returns their number.
    pub(crate) fn pack<const WATCH: Watch>(
        self,
        field: &Field,
        src: &[u8],
        dst: &mut [u8],
        seen: &mut UsedBits<WATCH>,
    ) -> usize {
        if !avx2::can_pack(field) {
            return self.ssse3().pack(field, src, dst, seen);
        }
        // SAFETY: a value of this type exists only on processors with these instructions.
        unsafe { avx2::pack(field, src, dst, seen) }
    }

    /// As [`UsedBits::look`].
    pub(crate) fn look<const WATCH: Watch>(
        self,
        seen: &mut UsedBits<WATCH>,
        field: &Field,
        components: &[u8],
    ) {
        // SAFETY: a value of this type exists only on processors with these instructions.
        unsafe { avx2::look(seen, field, components) }
    }
}

impl Ssse3 {
    pub(crate) fn new() -> Option<Self> {
        // SAFETY: made only if the processor has SSSE3.
        has!("ssse3").then(|| unsafe { Self::assume() })
    }
}
