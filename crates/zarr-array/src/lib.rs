//! Zarr v3 arrays and groups in a store: open, read, write.
//!
//! An [`Array`] is opened from a [`store`], checked as far as it can be without its chunks, and
//! read and written by [`Region`]: a box of it, perhaps with steps. Chunks may have different
//! lengths (`rectilinear`), and codec chains may pack, transpose and reshape; see the crate
//! `zarr-codec` for how.
//!
//! ```no_run
//! use std::sync::Arc;
//! use zarr_array::{Array, Region};
//! use zarr_array::store::{LocalStore, Prefix};
//!
//! let store = Arc::new(LocalStore::open("weather.zarr")?);
//! let array = Array::open(store, &Prefix::new("temp_max")?)?;
//! let february = array.read_as::<f32>(&Region::from(31..60))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Non-goals
//! No arithmetic on arrays, no lazy evaluation, no Zarr version 2. Strings and other types of
//! variable length are kept in metadata, but their elements are not read.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod array;
mod change;
#[cfg(feature = "check")]
pub mod check;
mod consolidated;
#[cfg(feature = "copy")]
pub mod copy;
mod error;
mod grid;
mod group;
mod index_moves;
mod layout;
mod node;
mod parallel;
mod pieces;
mod plan;
mod planned_reads;
mod region;
mod transfer;
mod unfinished;

pub use array::{Array, Element, Loss, StoredChunk, Written};
pub use change::{Cut, delete_node};
pub use error::ArrayError;
pub use grid::grid_of;
pub use group::Group;
pub use layout::ChunkLayout;
pub use node::{Node, open as open_node};
pub use pieces::Pieces;
pub use plan::{Plan, PlannedChunk, PlannedIndices};
pub use planned_reads::PlannedReads;
pub use region::{AxisRegion, Region, RegionError};
/// What to select along one axis; see [`Array::read_orthogonal`].
pub use zarr_grid::AxisSelection;
pub use zarr_store as store;
