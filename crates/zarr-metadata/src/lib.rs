//! The JSON documents of Zarr v3, typed and lossless.
//!
//! `zarr.json` describes an array: its shape, its data type, its chunk grid, and the codecs of its
//! chunks. This crate reads such documents, checks them against the specification, and writes them.
//!
//! ```
//! use zarr_metadata::{ChunkGrid, NodeMetadata};
//!
//! let json = br#"{
//!   "zarr_format": 3,
//!   "node_type": "array",
//!   "shape": [365, 10],
//!   "data_type": "int16",
//!   "chunk_grid": {
//!     "name": "rectilinear",
//!     "configuration": {"kind": "inline", "chunk_shapes": [[31, 28, [1, 306]], 5]}
//!   },
//!   "chunk_key_encoding": {"name": "default"},
//!   "fill_value": -999,
//!   "codecs": [{"name": "packbits", "configuration": {"last_bit": 11}}, {"name": "crc32c"}]
//! }"#;
//! let NodeMetadata::Array(array) = NodeMetadata::from_json(json)? else { unreachable!() };
//! assert_eq!(array.data_type().size(), Some(2));
//! assert_eq!(array.fill_value().bytes(), Some(&[0x19, 0xfc][..]));
//! assert_eq!(array.chunk_key_encoding().encode(&[3, 0]), "c/3/0");
//! assert!(matches!(array.chunk_grid(), ChunkGrid::Rectilinear { .. }));
//! assert_eq!(array.json().as_bytes(), json);
//! # Ok::<_, zarr_metadata::MetadataError>(())
//! ```
//!
//! # Lossless text
//! The text of a document is kept and written back byte for byte; a change replaces only the
//! members that it concerns (SD-33). Parts that the crate does not interpret (attributes, unknown
//! codecs) are available as JSON text. Run-length pairs of a rectilinear grid are never expanded.
//!
//! # Hostile input
//! Hostile input can only cause an error with the JSON path, the found and the allowed values. It
//! cannot cause a panic or nesting deeper than 128 levels, nor use memory or time out of proportion
//! to its own length. More than [`MAX_RANK`] dimensions and more than [`MAX_CODECS`] codecs in a
//! chain are refused, so that callers need not expect them.
//!
//! # In memory
//! The bytes of an element are little-endian; a component narrower than a byte takes one byte,
//! extended from its own bits (SD-18). [`DataType::element_layout`] has the numbers.
//!
//! # serde
//! Documents, data types, grids, key encodings and codecs serialise and deserialise with the same
//! checks, through the raw text of `serde_json` and only there. A document with bare `NaN` in its
//! attributes is no JSON, and `serde_json` refuses it.
//!
//! # Specifications
//! Zarr v3 core 3.1 and the documents of its codecs; from zarr-extensions the chunk grid
//! `rectilinear`, the codecs `packbits` and `reshape`, and the data types. Numbers such as SD-33
//! are this project's decisions where these texts leave a question open.
//!
//! # Non-goals
//! No I/O and no chunk data. Zarr version 2 is read, not written. Conditions that depend on chunk
//! shapes, such as whether a `reshape` fits each chunk of a grid, are not checked here:
//! `zarr-codec` checks them.

#![forbid(unsafe_code)]
#![warn(clippy::as_conversions)]

mod chunk_grid;
mod chunk_key;
mod codec;
mod data_type;
mod documents;
mod element;
mod error;
mod extension;
mod fill_value;
mod float;
mod json;
mod limits;
mod serde_impls;
mod version_2;

pub use chunk_grid::ChunkGrid;
pub use chunk_grid::edges::{ChunkEdges, EdgeRun};
pub use chunk_key::{ChunkKeyEncoding, KeyTemplate, Separator};
pub use codec::{
    AsType, Bitround, Blosc, BloscCompressor, BloscShuffle, Bytes, Bz2, CastValue, Checksum,
    ChecksumLocation, Codec, CodecKind, CodecNotation, Deflate, Delta, Endian, FixedScaleOffset,
    Gzip, IndexLocation, JenkinsLookup3, Lz4, Lzma, LzmaCheck, LzmaFilter, LzmaFormat,
    NotationError, NumcodecsBitround, NumcodecsBlosc, NumcodecsZstd, OptionalCodecs, OutOfRange,
    Packbits, PaddingEncoding, Pcodec, PcodecDelta, PcodecMode, Quantize, Reshape, ReshapeDim,
    Rounding, ScaleOffset, Sharding, Shuffle, Transpose, Zfp, Zfpy, Zstd,
};
pub use data_type::{
    ByteLength, DataType, ElementLayout, ElementPart, Field, Optional, RawBits, Struct, TimeStep,
    TimeUnit, Utf32Length,
};
pub use documents::array::ArrayMetadata;
pub use documents::builder::{ArrayBuilder, Fill};
pub use documents::consolidated::ConsolidatedMetadata;
pub use documents::document::NodeDocument;
pub use documents::group::GroupMetadata;
pub use documents::node::NodeMetadata;
pub use element::{Loss, format_element, parse_element, parse_value};
pub use error::MetadataError;
pub use error::finding::Finding;
pub use error::printable::{Printable, is_printable};
pub use error::rule::{Rule, Severity};
pub use extension::Extension;
pub use fill_value::FillValue;
pub use float::{FloatFormat, FloatSpecials, FloatValue};
pub use json::{JsonTokens, same_value};
pub use limits::{MAX_CODECS, MAX_ELEMENT_SIZE, MAX_RANK};
pub use version_2::{Version2Error, json2_elements};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
