//! Reports on Zarr v3 arrays for people and programs: descriptions, statistics, differences,
//! pictures, and elements as text or as `.npy`.
//!
//! Each report takes an open [`Array`](zarr_array::Array) or a store, and gives values, text, JSON,
//! SVG or PNG. The `zarr-kit` command and the Python package print the same reports.
//!
//! | module | report |
//! | --- | --- |
//! | [`info`] | the description of an array: shape, type, grid, codecs, stored chunks |
//! | [`readers`] | other programs that read an array unchanged |
//! | [`labels`] | indices in the words of coordinate arrays |
//! | [`stats`] | number, range, mean and histogram of elements |
//! | [`advise`] | codec chains tried on sampled chunks: sizes, speeds, the smallest chain |
//! | [`diff`] | differences between two nodes and all nodes below them |
//! | [`draw`] | the chunk grid as a picture, and a plane of values as a picture |
//! | [`format`](mod@format) | elements as text, lines, CSV, nested lists and `.npy` |
//!
//! # Examples
//! ```
//! use std::sync::Arc;
//! use zarr_array::Array;
//! use zarr_array::store::{MemoryStore, Prefix};
//! use zarr_metadata::{ArrayBuilder, DataType};
//! use zarr_report::info::ArrayInfo;
//!
//! let metadata = ArrayBuilder::new([3], DataType::Uint8).chunk_shape([2]).build()?;
//! let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
//! let text = ArrayInfo::of(&array, true).table().text();
//! assert!(text.lines().any(|line| line.starts_with("shape ") && line.ends_with("3 elements")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Non-goals
//! No arguments, no terminal, no progress bars: the caller prints. No plots except pictures of
//! chunks and of a plane of values.

#![forbid(unsafe_code)]

pub mod advise;
mod bits;
pub mod diff;
pub mod draw;
mod error;
pub mod format;
pub mod info;
pub mod labels;
mod pieces;
pub mod readers;
pub mod stats;
mod table;
pub mod words;

pub use error::ReportError;
pub use table::{Table, wrapped};

/// Bytes of elements that a report reads at a time.
const PIECE: u64 = 64 << 20;

/// A callback that gets the number of bytes read so far.
type Progress<'a> = &'a mut dyn FnMut(u64);

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
