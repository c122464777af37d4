//! JSON text: a borrowing reader that knows where it is, and a writer.
//!
//! Why not `serde_json` alone: `docs/design/040-json-reader.md`.

mod object;
mod read;
mod skip;
mod tokens;
mod value;
mod write;

pub(crate) use object::{Object, read_elements, utf8};
pub(crate) use read::{JsonType, Raw, Reader, unescape};
pub(crate) use skip::{Grammar, distinct};
pub use tokens::JsonTokens;
pub use value::same_value;
pub(crate) use write::{new_line, pretty, same, write_string, write_u64};

/// The deepest nesting that is read, the same as `serde_json`'s.
pub(crate) const MAX_DEPTH: usize = 128;
