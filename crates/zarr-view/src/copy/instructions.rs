//! Chooses the vector instructions of a copy; no other file does.

use crate::InstructionSet;

impl InstructionSet {
    /// Every instruction set of this build, slowest first, available here or not.
    pub const ALL: &'static [Self] = &[
        Self::Portable,
        Self::Sse2,
        Self::Ssse3,
        Self::Avx2,
        Self::Avx512,
        Self::Avx512Vbmi,
        Self::Neon,
        Self::Simd128,
    ];

    /// Whether this processor has these instructions.
    #[must_use]
    pub fn is_available(self) -> bool {
        Detected::new(self).is_some()
    }

    /// The instruction sets that this processor has, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|set| set.is_available())
    }

    /// The fastest instruction set of this machine.
    #[must_use]
    pub fn best() -> Self {
        Self::available().last().unwrap_or(Self::Portable)
    }
}

/// An instruction set that this processor was found to have.
///
/// Kernels take this type, so none can run on a processor that lacks its instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detected {
    Portable,
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Sse2,
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Ssse3(Ssse3),
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Avx2(Avx2),
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Avx512(Avx512),
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    Vbmi(Vbmi),
    /// NEON, or `simd128` of WebAssembly.
    #[cfg(any(
        all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ))]
    OneLane,
}

impl Detected {
    /// `None` if this processor lacks the instructions.
    pub(super) fn new(set: InstructionSet) -> Option<Self> {
        match set {
            InstructionSet::Portable => Some(Self::Portable),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            InstructionSet::Sse2 => Some(Self::Sse2),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            InstructionSet::Ssse3 => Ssse3::new().map(Self::Ssse3),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            InstructionSet::Avx2 => Avx2::new().map(Self::Avx2),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            InstructionSet::Avx512 => Avx512::new().map(Self::Avx512),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            InstructionSet::Avx512Vbmi => Vbmi::new().map(Self::Vbmi),
            #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
            InstructionSet::Sse2
            | InstructionSet::Ssse3
            | InstructionSet::Avx2
            | InstructionSet::Avx512
            | InstructionSet::Avx512Vbmi => None,
            #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
            InstructionSet::Neon => Some(Self::OneLane),
            #[cfg(not(all(
                target_arch = "aarch64",
                target_feature = "neon",
                target_endian = "little"
            )))]
            InstructionSet::Neon => None,
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            InstructionSet::Simd128 => Some(Self::OneLane),
            #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
            InstructionSet::Simd128 => None,
        }
    }

    /// Whether a byte can go to any other of 64.
    pub(super) const fn wide(self) -> bool {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        return matches!(self, Self::Vbmi(_));
        #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
        return false;
    }

    /// The fastest instructions of this machine.
    pub(super) fn best() -> Self {
        let all = InstructionSet::ALL.iter().rev();
        all.copied().find_map(Self::new).unwrap_or(Self::Portable)
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
pub(super) use tokens::{Avx2, Avx512, Ssse3, Vbmi};

/// Proofs that the processor has certain instructions: only `new` makes one, after checking.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
mod tokens {
    /// Whether the processor has all of these features: detected at run time, or else known to
    /// the compiler.
    macro_rules! has {
        ($($feature:tt),+) => {{
            #[cfg(feature = "std")]
            let has = $(std::arch::is_x86_feature_detected!($feature))&&+;
            #[cfg(not(feature = "std"))]
            let has = $(cfg!(target_feature = $feature))&&+;
            has
        }};
    }

    /// The processor has SSSE3.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::copy) struct Ssse3(());

    impl Ssse3 {
        pub(super) fn new() -> Option<Self> {
            has!("ssse3").then_some(Self(()))
        }
    }

    /// The processor has AVX2.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::copy) struct Avx2(());

    impl Avx2 {
        pub(super) fn new() -> Option<Self> {
            has!("avx2").then_some(Self(()))
        }
    }

    /// The processor has AVX-512 F and BW, and AVX2.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::copy) struct Avx512(());

    impl Avx512 {
        pub(super) fn new() -> Option<Self> {
            has!("avx512f", "avx512bw", "avx2").then_some(Self(()))
        }
    }

    /// The processor has AVX-512 VBMI and the instructions of [`Avx512`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::copy) struct Vbmi(Avx512);

    impl Vbmi {
        pub(super) fn new() -> Option<Self> {
            if has!("avx512vbmi") { Avx512::new().map(Self) } else { None }
        }

        /// The part without VBMI.
        pub(in crate::copy) const fn avx512(self) -> Avx512 {
            self.0
        }
    }
}
