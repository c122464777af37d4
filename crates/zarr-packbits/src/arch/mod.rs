//! Kernels with vector instructions, and the only unsafe code of this crate.
//!
//! A value of a kernel's type proves that the processor has its instructions: only `new` makes
//! one, and only after checking. The requirements of the instructions on memory are checked, or
//! implied by a type, right where they are used.
#![expect(unsafe_code, reason = "vector loads and stores take pointers")]

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod stream;
#[cfg(any(target_arch = "x86_64", target_arch = "wasm32"))]
mod vector128;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::Neon;
#[cfg(target_arch = "wasm32")]
pub(crate) use vector128::Simd128;
#[cfg(target_arch = "x86_64")]
pub(crate) use vector128::Ssse3;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{Avx2, Avx512};
