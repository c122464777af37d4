//! Zarr v3 codec chains, compiled to views.
//!
//! A [`Chain`] is a list of codecs bound to a data type and to the chunk shapes of a grid; binding
//! finds every fault that can be found without seeing a chunk, for all chunk shapes at once. A
//! [`ChunkCodec`] is the chain for one chunk shape: `transpose` and `reshape` have become strided
//! views there, so that decoding undoes the compressors, then moves each element once, from where
//! the leaf (`bytes`, `packbits` or the inner chunks of a shard) has it to where the caller wants
//! it.
//!
//! ```text
//! stored bytes ── gzip, zstd, crc32c ──> leaf: packed bits | bytes | shard ── one move ──> caller
//! ```
//!
//! The byte compressors are features, one dependency each, on by default: `blosc` and `zstd` (the C
//! libraries), `crc32c`, `gzip`. Snappy within blosc is the feature `snappy`, apart because it needs
//! a compiler for C++.
//!
//! # Hostile input
//! No chunk, whatever its bytes, causes a panic, or memory beyond what its own length and its
//! metadata account for.
//!
//! # Non-goals
//! No I/O, no threads, no grids: callers fetch the bytes and say which chunk shapes there are.

#![cfg_attr(not(feature = "blosc"), forbid(unsafe_code))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod chain;
mod chunk;
mod compressor;
mod element;
mod error;
mod leaf;
mod moves;
mod options;
mod partial;
mod range;
mod reshape;
mod route;
mod scratch;
mod symbolic;

pub use chain::Chain;
pub use chunk::{ChunkCodec, ChunkElements, Encoded, Order};
pub use error::{ChainError, ChainErrorKind, ChunkError, ChunkErrorKind};
pub use leaf::shard::{ShardCodec, ShardIndex};
pub use options::Options;
pub use partial::{ChunkReader, Need};
pub use range::ByteRange;
pub use route::{Route, Slice, margins, sliced};
pub use scratch::Scratch;
pub use symbolic::AxisEdges;
