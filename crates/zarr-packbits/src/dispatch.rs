//! Chooses the kernel; no other file does.

#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128"),
))]
use crate::arch;
use crate::choices::Kernel;

impl Kernel {
    /// Every kernel of this build, slowest first, available here or not.
    pub const ALL: &'static [Self] = &[
        Self::Reference,
        Self::Portable,
        Self::Ssse3,
        Self::Avx2,
        Self::Avx512,
        Self::Neon,
        Self::Simd128,
    ];

    /// Whether this processor can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Reference | Self::Portable => true,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Ssse3 => arch::Ssse3::new().is_some(),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Avx2 => arch::Avx2::new().is_some(),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Avx512 => arch::Avx512::new().is_some(),
            #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
            Self::Ssse3 | Self::Avx2 | Self::Avx512 => false,
            #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
            Self::Neon => arch::Neon::new().is_some(),
            #[cfg(not(all(
                target_arch = "aarch64",
                target_feature = "neon",
                target_endian = "little"
            )))]
            Self::Neon => false,
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Simd128 => arch::Simd128::new().is_some(),
            #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
            Self::Simd128 => false,
        }
    }

    /// The kernels that this processor can run, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|kernel| kernel.is_available())
    }

    /// The fastest kernel of this machine, detected once.
    #[must_use]
    pub fn best() -> Self {
        Self::available().last().unwrap_or(Self::Portable)
    }
}
