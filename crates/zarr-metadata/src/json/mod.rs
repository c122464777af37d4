//! JSON text: a borrowing reader that knows where it is, and a writer.
//!
//! Why not `serde_json` alone: `docs/design/040-json-reader.md`.

mod object;
mod outline;
mod raw;
mod read;
mod tokens;
mod value;
mod write;

pub(crate) use object::{Object, read_elements, utf8};
pub(crate) use outline::{Grammar, InPlace, Outline, Outliner, distinct, members};
pub(crate) use raw::{JsonType, Key, Raw, range_of};
pub(crate) use read::Reader;
pub use tokens::JsonTokens;
pub use value::same_value;
pub(crate) use write::{new_line, pretty, same, write_array, write_string, write_u64};

/// The deepest nesting that is read, the same as `serde_json`'s.
pub(crate) const MAX_DEPTH: usize = 128;
