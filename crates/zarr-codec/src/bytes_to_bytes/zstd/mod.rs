//! `zstd`, by the C library or in Rust.

#[cfg(all(feature = "ruzstd", any(test, not(feature = "zstd"))))]
pub(super) mod in_rust;
#[cfg(feature = "zstd")]
mod library;

#[cfg(feature = "zstd")]
pub(super) use library::Zstd;
