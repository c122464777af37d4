//! Zarr v3 with variable-length chunks, bit packing and virtual views.
//!
//! This crate is the whole library under one name: it re-exports the crates below and has no logic
//! of its own. If you need only one part, depend on its crate.
//!
//! | crate | purpose |
//! | --- | --- |
//! | [`mod@array`] | arrays and groups in a store: open, read, write |
//! | [`place`] | opens what is at a path or URL, whatever it is: [`open`] |
//! | `copy` (a feature) | copies into other chunks, other codecs, other stores |
//! | `check` (a feature) | checks of whole hierarchies against the specifications |
//! | `join` (a feature) | many arrays joined into one |
//! | `virtual_join` (a feature) | documents that open as arrays made of others |
//! | [`cf`] | what numbers mean by the CF conventions: packing, missing values, times |
//! | [`store`] | files, memory and object storage |
//! | `zip` (a feature) | stores in zip archives |
//! | `references` (a feature) | stores of references to parts of other files |
//! | [`codec`] | codec chains, compiled to views |
//! | [`grid`] | regular and rectilinear chunk grids |
//! | [`metadata`] | the JSON documents, typed and lossless |
//! | [`packbits`] | values of any number of bits |
//! | [`view`] | strided views and the copies between them |
//!
//! # From end to end
//! An array of days in months, with twelve bits per temperature, created, written and read:
//! ```
//! use std::sync::Arc;
//! use zarr_kit::{Array, ArrayBuilder, Codec, DataType, MemoryStore, Selection};
//!
//! let metadata = ArrayBuilder::new([90, 2], DataType::Int16)
//!     .chunks([[31, 28, 31].into(), 2.into()])
//!     .codecs([Codec::transpose([1, 0]), Codec::packbits(0..=11)])
//!     .fill_value(-2048)
//!     .dimension_names(["day", "range"])
//!     .build()?;
//! let store = Arc::new(MemoryStore::new());
//! let array = Array::create(store, "", metadata)?;
//!
//! // The last day of January and the first of February, in two chunks.
//! array.write_as::<i16>([30..32, 0..2], &[-12, 47, -30, 21])?;
//! let both = array.read_as::<i16>(Selection::parse("30:32, 0", array.shape())?)?;
//! assert_eq!(both, [-12, -30]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Non-goals
//! Each crate lists its own.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub use zarr_array as array;
pub use zarr_array::store;
pub use zarr_cf as cf;
#[cfg(feature = "check")]
pub use zarr_check as check;
pub use zarr_codec as codec;
#[cfg(feature = "copy")]
pub use zarr_copy as copy;
pub use zarr_grid as grid;
#[cfg(feature = "join")]
pub use zarr_join as join;
pub use zarr_metadata as metadata;
pub use zarr_packbits as packbits;
pub use zarr_place as place;
#[cfg(feature = "references")]
pub use zarr_references as references;
#[cfg(feature = "report")]
pub use zarr_report as report;
pub use zarr_view as view;
#[cfg(feature = "virtual-join")]
pub use zarr_virtual_join as virtual_join;
#[cfg(feature = "zip")]
pub use zarr_zip as zip;

pub use zarr_array::store::{AsPrefix, LocalStore, MemoryStore, Prefix, Store, StoreExt};
pub use zarr_array::{
    Added, AnySelection, Array, ArrayError, AxisSelection, ByteStrings, Group, Points, Resize,
    Selection, Strings,
};
pub use zarr_metadata::{ArrayBuilder, ArrayMetadata, ChunkEdges, Codec, DataType, GroupMetadata};
pub use zarr_place::{OPENERS, Opened, open};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// The book's examples, run as tests.
#[cfg(doctest)]
mod book {
    #[doc = include_str!("../../../docs/array.md")]
    struct Array;
    #[doc = include_str!("../../../docs/strings.md")]
    struct Strings;
    #[doc = include_str!("../../../docs/grid.md")]
    struct Grid;
    #[doc = include_str!("../../../docs/from-zarrs.md")]
    struct FromZarrs;
    #[cfg(feature = "join")]
    #[doc = include_str!("../../../docs/join.md")]
    struct Join;
}
