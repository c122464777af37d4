//! Commands that describe nodes and change nothing.

pub(super) mod advise;
pub(super) mod check;
pub(super) mod diff;
pub(super) mod draw;
mod findings;
pub(super) mod info;
pub(super) mod locate;
pub(crate) mod next_step;
mod other_file;
pub(super) mod plan;
pub(super) mod stats;
pub(super) mod tree;
