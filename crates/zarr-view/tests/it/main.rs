//! The public behaviour of the crate, against brute force.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod compose;
mod copy;
mod generators;
mod laws;
mod oracle;
mod output;
mod owned;
mod reshape;
mod rng;
mod traits;
