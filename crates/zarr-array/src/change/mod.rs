//! Changes of existing arrays and groups: shape, appended elements, attributes.

mod append;
mod attributes;
mod consolidate;
mod delete;
mod document;
mod follow;
mod resize;

pub use delete::delete_node;
pub use document::{Extent, LockedDocument};
pub(crate) use follow::{Scope, follow};
pub use follow::{refresh_consolidated, refresh_consolidated_of};
pub use resize::Cut;
