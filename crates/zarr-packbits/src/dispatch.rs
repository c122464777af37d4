//! Chooses the kernel; no other file does.

#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"),
))]
use crate::arch;
use crate::choices::Kernel;

impl Kernel {
    /// Every kernel of this build, slowest first, available here or not.
    pub const ALL: &'static [Self] =
        &[Self::Reference, Self::Portable, Self::Avx2, Self::Avx512, Self::Neon];

    /// Whether this processor can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Reference | Self::Portable => true,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Avx2 => arch::Avx2::new().is_some(),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Avx512 => arch::Avx512::new().is_some(),
            #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
            Self::Avx2 | Self::Avx512 => false,
            #[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
            Self::Neon => arch::Neon::new().is_some(),
            #[cfg(not(all(
                target_arch = "aarch64",
                target_feature = "neon",
                target_endian = "little"
            )))]
            Self::Neon => false,
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
