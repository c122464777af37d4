//! Elements of variable length (`string`, `bytes` and optional elements): their codecs and chains.
//!
//! They are separate from other elements because no position follows from an index. A chunk (of a
//! shard, an inner chunk) is decompressed as a whole and traversed once, from length to length. The
//! parts that do not look at elements are shared: `transpose` and `reshape` as maps of positions,
//! the compressors, and the index of a shard.

mod any;
mod bound;
mod chain;
mod chunk;
mod inner;
mod optional;
mod reader;
mod shard;
mod slots;
mod strings;
mod vlen;

pub use any::{AnyChain, AnyChunkCodec, Needs};
pub use chain::VariableChain;
pub use chunk::VariableChunkCodec;
pub use inner::VariableInnerChanges;
pub use reader::VariableChunkReader;
pub use slots::Slots;
pub use strings::{ByteStrings, NotUtf8, Strings};
