//! Changes of existing arrays and groups: another shape, more elements, other attributes.

mod append;
mod attributes;
mod delete;
mod document;
mod resize;

pub use delete::delete_node;
#[cfg(feature = "copy")]
pub(crate) use delete::documents;
pub use resize::Cut;
