//! The vector instructions that a copy may use.

/// The instructions that transposes and shuffles use. All give the same result.
///
/// A [`CopyPlan`](crate::CopyPlan) takes the [best](InstructionSet::best) ones of its machine; tests
/// and benchmarks force others by
/// [`CopyPlan::with_instruction_set`](crate::CopyPlan::with_instruction_set).
///
/// # Examples
/// ```
/// use zarr_view::InstructionSet;
///
/// assert!(InstructionSet::best().is_available());
/// assert_eq!(InstructionSet::available().next(), Some(InstructionSet::Portable));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InstructionSet {
    /// No explicit vector instructions; the compiler may still generate some. Runs on any machine.
    Portable,
    /// SSE2: every x86-64 target, except targets without vector registers, such as operating system
    /// kernels.
    Sse2,
    /// SSSE3: x86-64 since about 2006. The transposes of SSE2, and shuffles.
    Ssse3,
    /// AVX2: x86-64 since Haswell and Zen 1.
    Avx2,
    /// AVX-512 with BW: x86-64 since Skylake-X and Zen 4.
    Avx512,
    /// AVX-512 with VBMI: x86-64 since Ice Lake and Zen 4.
    Avx512Vbmi,
    /// NEON: every little-endian AArch64 processor.
    Neon,
    /// WebAssembly's `simd128`: builds for `wasm32` that enable it (`-C target-feature=+simd128`).
    Simd128,
}
