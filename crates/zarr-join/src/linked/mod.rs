//! Virtual joins as stores: the document's nodes, and the chunks of their members.

mod error;
mod open;
mod place;
mod record;
mod recorded;
mod source;
mod store;
mod watched;

pub use error::LinkError;
pub use open::{OpenOptions, is_virtual_join, open_store};
pub use place::References;
