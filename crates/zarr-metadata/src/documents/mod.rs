//! The documents of arrays and groups.

pub(crate) mod array;
pub(crate) mod builder;
pub(crate) mod consolidated;
mod default_chunks;
pub(crate) mod document;
mod draft;
pub(crate) mod group;
pub(crate) mod node;
mod shards;
