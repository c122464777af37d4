//! Behaviour of the crate as its users see it.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as the tests do")]

mod modified;
mod ozx;
mod sessions;
mod zip;
