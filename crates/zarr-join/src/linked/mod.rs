//! Virtual joins as stores: the document's nodes, and the chunks of their members.

mod base;
mod document_url;
mod error;
mod inserted;
mod open;
mod options;
mod rearrange;
mod record;
mod recorded;
mod relaid;
mod source;
mod store;
mod watched;

pub use document_url::is_virtual_join;
pub use error::LinkError;
pub use open::open_store;
pub use options::{OpenOptions, References};
pub use rearrange::{AxisOf, LinkedArray, LinkedDocument, LinkedRearrangement, MemberSpan};
