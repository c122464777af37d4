//! The store of a node.

mod block;
pub(crate) mod node_store;
pub(crate) mod of_python;
pub(crate) mod sole_writer;
