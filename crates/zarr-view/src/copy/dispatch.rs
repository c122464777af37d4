//! The one place where the instructions of a copy are chosen.

/// The instructions that transposes are made of. All give the same result.
///
/// A [`CopyPlan`](crate::CopyPlan) takes the [best](Kernel::best) ones of its machine; tests and
/// benchmarks force others by [`CopyPlan::with_kernel`](crate::CopyPlan::with_kernel).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kernel {
    /// No vector instructions but those the compiler finds, on any machine.
    Portable,
    /// SSE2: every x86-64, but for targets that leave vector registers alone, as of operating systems.
    Sse2,
    /// AVX2: x86-64 since Haswell and Zen 1.
    Avx2,
    /// AVX-512 with BW: x86-64 since Skylake-X and Zen 4.
    Avx512,
}

/// Whether the processor has all of these features: asked at run time, or else known to the
/// compiler.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
macro_rules! has {
    ($($feature:tt),+) => {{
        #[cfg(feature = "std")]
        let has = $(std::arch::is_x86_feature_detected!($feature))&&+;
        #[cfg(not(feature = "std"))]
        let has = $(cfg!(target_feature = $feature))&&+;
        has
    }};
}

impl Kernel {
    /// Every kernel of this build, slowest first, available here or not.
    pub const ALL: &'static [Self] = &[Self::Portable, Self::Sse2, Self::Avx2, Self::Avx512];

    /// Whether this processor can run it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Sse2 => true,
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Avx2 => has!("avx2"),
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Self::Avx512 => has!("avx512f", "avx512bw"),
            #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
            Self::Sse2 | Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// The kernels that this processor can run, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|kernel| kernel.is_available())
    }

    /// The fastest kernel of this machine.
    #[must_use]
    pub fn best() -> Self {
        Self::available().last().unwrap_or(Self::Portable)
    }
}
