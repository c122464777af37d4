//! Zarr v3 codec chains, compiled to views.
//!
//! A [`Chain`] is a list of codecs bound to a data type and to the chunk shapes of a grid. Binding
//! finds every error that can be found without a chunk, for all chunk shapes at once. A
//! [`ChunkCodec`] is the chain for one chunk shape, with `transpose` and `reshape` compiled to
//! strided views. Decoding first decompresses. Then it moves each element once, from its position
//! in the stored array to its position in the caller's memory. The stored array is `bytes`,
//! `packbits` or the inner chunks of a shard.
//!
//! ```text
//! stored bytes ── gzip, zstd, crc32c ──> packed bits | bytes | shard ── one move ──> caller
//! ```
//!
//! Elements of variable length (`string` and `bytes`) have a separate [`VariableChain`]. They are
//! decoded to [`ByteStrings`], and text from there to [`Strings`]. [`AnyChain`] is a chain for any
//! data type.
//!
//! The bytes-to-bytes codecs are features with one dependency each, on by default: `blosc` and
//! `zstd` (the C libraries), `crc32c`, `gzip`. The feature `snappy`, for snappy within blosc, is
//! separate because it needs a C++ compiler.
//!
//! [`Codecs`] are third-party codecs, by name.
//!
//! # Hostile input
//! No chunk causes a panic, or uses more memory than its length and its metadata account for.
//!
//! # Non-goals
//! No I/O, no threads, no grids: callers fetch the bytes and provide the chunk shapes.

#![cfg_attr(not(feature = "blosc"), forbid(unsafe_code))]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::as_conversions)]

mod array_to_array;
mod array_to_bytes;
mod bound;
mod bytes_to_bytes;
mod chain;
mod chunk;
mod codec_path;
mod element;
mod error;
mod length;
mod locate;
mod options;
mod partial;
mod per_axis;
mod scratch;
mod symbolic;
mod third_party;
mod transform;
mod values;
mod variable;

pub use array_to_bytes::shard::{NewInnerChunks, ShardCodec, ShardIndex, ShardPiece};
pub use chain::{Chain, Lost};
pub use chunk::{ChunkCodec, ChunkElements, Encoded, InnerChanges, InnerPart, Order};
pub use error::{ChainError, ChunkError, ChunkErrorKind};
pub use locate::{ElementLocation, ElementLocator, InnerChunk, StoredBytes};
pub use options::Options;
pub use partial::{ChunkReader, Need, ReadUnits};
pub use scratch::Scratch;
pub use symbolic::AxisEdges;
pub use third_party::{ArrayCodec, ArrayOutput, BytesCodec, CodecError, Codecs, DecodedLength};
pub use transform::{ArrayTransform, Slice, margins, sliced};
pub use values::{Change, ConvertError, convert};
pub use variable::{
    AnyChain, AnyChunkCodec, ByteStrings, Needs, NotUtf8, Slots, Strings, VariableChain,
    VariableChunkCodec, VariableChunkReader, VariableInnerChanges,
};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
