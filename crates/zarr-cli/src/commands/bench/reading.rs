//! The amount read, and its time.

use std::time::Duration;

use super::counts::Fetched;

/// The amount read in a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Reading {
    pub(super) time: Duration,
    /// How often all that the first read reached was read.
    pub(super) rounds: u64,
    pub(super) boxes: usize,
    pub(super) chunks: u64,
    pub(super) elements: u64,
    /// Bytes of elements.
    pub(super) bytes: u64,
    pub(super) fetched: Fetched,
}
