//! Tests of public behaviour, in one binary.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod byte_order;
mod common;
mod errors;
mod golden;
#[cfg(all(feature = "std", target_os = "linux"))]
mod guarded;
mod kernels;
mod layout;
mod loss;
mod product;
mod traits;
