//! Changes of existing arrays and groups: shape, appended elements, attributes.

mod append;
mod attributes;
mod consolidate;
mod delete;
mod document;
mod resize;

pub use consolidate::refresh_consolidated;
pub(crate) use consolidate::{Scope, follow};
pub use delete::delete_node;
#[cfg(feature = "copy")]
pub(crate) use delete::documents;
pub use resize::Cut;
