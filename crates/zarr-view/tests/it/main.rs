//! The public behaviour of the crate, against brute force.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod copy;
mod oracle;
mod reshape;
mod rng;
