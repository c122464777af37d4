//! Elements of variable length, `string` and `bytes`: their codecs, and chains of them.
//!
//! They have a path of their own, since no position follows from an index: a chunk is decompressed
//! whole and walked through once, from length to length. What is shared is what does not look at
//! elements: `transpose` and `reshape` as maps of positions, the compressors, and the index of a
//! shard.

mod chain;
mod chunk;
mod shard;
mod slots;
mod strings;
mod vlen;

pub use chain::VariableChain;
pub use chunk::VariableChunkCodec;
pub use slots::Slots;
pub use strings::{ByteStrings, NotUtf8, Strings};
