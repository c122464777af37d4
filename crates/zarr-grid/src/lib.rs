//! Regular and rectilinear chunk grids: the chunk of an index, the place of a chunk, and the chunks
//! of a region.
//!
//! A grid cuts a Zarr array into chunks. In a *regular* grid all chunks have the same shape. In a
//! *rectilinear* grid each axis has a list of edges, the lengths of its chunks. An [`Axis`] is
//! either; a [`Grid`] has one axis per dimension.
//!
//! The edges of a list may reach beyond the *extent*, the axis's length in elements. All listed chunks
//! are *declared*. Chunks that begin within the extent are *occupied*: only these exist in a store.
//!
//! ```
//! use zarr_grid::{Axis, Grid};
//!
//! // A year of days in months, on a regular map.
//! let months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
//! let grid = Grid::new([Axis::from_edges(365, months)?, Axis::regular(180, 100)?]);
//! assert_eq!(grid.axes()[0].chunk_of(59), Some((2, 0))); // 1 March
//!
//! // February and March, all of the map: 2 x 2 chunks.
//! let parts = grid.chunks(&[31..90, 0..180])?;
//! assert_eq!(parts.len(), 4);
//! for part in parts {
//!     assert!(part.is_whole());
//! }
//! # Ok::<(), zarr_grid::GridError>(())
//! ```
//!
//! # Cost
//! Runs of equal edges are never expanded, so memory is proportional to the list in the metadata,
//! not to the number of chunks. A look-up is a division on a regular axis, and near constant time
//! on any other. Look-ups do not allocate. Iterating over a region of up to four dimensions does
//! not either. Lists of indices are sorted in memory of their size.
//!
//! # Specification
//! The chunk grid `rectilinear` of
//! [zarr-extensions](https://github.com/zarr-developers/zarr-extensions/tree/main/chunk-grids/rectilinear),
//! and regular grids of Zarr v3 core 3.1. Numbers such as SD-05 are this project's decisions where
//! these texts leave a question open.
//!
//! # Hostile input
//! No input makes it panic, loop, or use memory or time out of proportion to the input. All sums
//! are checked (SD-07); a grid of eight axes of 2^63 chunks is as cheap as any.
//!
//! # Non-goals
//! It has no JSON and no chunk keys, does no I/O, and holds no data. It has no threads:
//! [`ChunkParts`] can be split, and is `Send`. Chunks come in C order, even if a step is negative
//! or a list is not sorted.

#![no_std]
#![forbid(unsafe_code)]
#![warn(clippy::as_conversions)]

extern crate alloc;

mod axis;
mod boxes;
mod change;
mod error;
mod grid;
mod num;
mod selection;

pub use axis::runs::Run;
pub use axis::storage::AxisRuns;
pub use axis::{Axis, AxisKind};
pub use boxes::boxes;
pub use change::refine::{Overlap, Overlaps};
pub use change::resize::Growth;
pub use error::{GridError, GridErrorKind};
pub use grid::{Grid, unravel};
pub use selection::AxisSelection;
pub use selection::axis_part::{AxisPart, PartIndices};
pub use selection::selected_axis::{AxisParts, SelectedAxis};
pub use selection::selected_chunks::{ChunkPart, ChunkParts, SelectedChunks};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
