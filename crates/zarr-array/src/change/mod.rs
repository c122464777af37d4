//! Changes of existing arrays and groups: shape, appended elements, attributes.

mod append;
mod attributes;
mod consolidate;
mod delete;
mod document;
mod follow;
mod resize;

pub use delete::delete_node;
#[cfg(feature = "copy")]
pub(crate) use delete::documents;
pub use follow::refresh_consolidated;
pub(crate) use follow::{Scope, follow};
pub use resize::Cut;
