//! The stores that arguments name.

pub(crate) mod access;
pub(crate) mod node_store;
pub(crate) mod watched_store;
