//! Elements of variable length, `string`, `bytes` and those that may be missing: their codecs, and chains of them.
//!
//! They are separate from other elements because no position follows from an index: a chunk is
//! decompressed as a whole and traversed once, from length to length; of a shard, an inner chunk. The parts that do not look
//! at elements are shared: `transpose` and `reshape` as maps of positions, the compressors, and
//! the index of a shard.

mod bound;
mod chain;
mod chunk;
mod optional;
mod reader;
mod shard;
mod slots;
mod strings;
mod vlen;

pub use chain::VariableChain;
pub use chunk::VariableChunkCodec;
pub use reader::VariableChunkReader;
pub use slots::Slots;
pub use strings::{ByteStrings, NotUtf8, Strings};
