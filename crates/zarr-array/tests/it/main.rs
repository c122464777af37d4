//! The public behaviour of the crate.

// Clippy knows helper functions as test code by this attribute alone.
#[cfg(test)]
mod store;
