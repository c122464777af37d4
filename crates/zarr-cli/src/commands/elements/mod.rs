//! Commands that read or write elements.

pub(super) mod append;
mod explain;
pub(super) mod input;
pub(super) mod read;
mod text_input;
mod variable_length;
pub(super) mod write;
