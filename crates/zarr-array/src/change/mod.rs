//! Changes of existing arrays and groups: shape, appended elements, attributes.

mod append;
mod attributes;
mod changes;
mod consolidate;
mod delete;
mod document;
mod resize;
mod update_consolidated;

pub use append::Added;
pub use attributes::{update_attributes, update_dimension_names};
pub use changes::Changes;
pub use delete::{Deletion, delete_node};
pub use document::{Extent, LockedDocument};
pub use resize::Resize;
pub(crate) use update_consolidated::{Scope, update_consolidated};
pub use update_consolidated::{refresh_consolidated, refresh_consolidated_of};
