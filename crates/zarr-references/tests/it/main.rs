//! Behaviour of the crate as its users see it.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as the tests do")]

mod changing;
mod documents;
mod export;
mod modified;
mod places;
mod references;
