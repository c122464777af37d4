//! Changes of arrays and groups that are there: another shape, more elements, other attributes.

mod append;
mod attributes;
mod delete;
mod document;
mod resize;

pub use delete::delete_node;
pub(crate) use delete::documents;
pub use resize::Cut;
