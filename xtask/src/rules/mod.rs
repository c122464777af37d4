//! The repository's own rules, and the records that they compare with.

pub(crate) mod api;
mod circles;
pub(crate) mod dependencies;
pub(crate) mod steps;
pub(crate) mod tidy;
