//! Zarr v3 arrays and groups in a store: open, read, write.
//!
//! An [`Array`] is opened from a [`store`] and checked as far as possible without its chunks. It is
//! read and written by [`Selection`] or by [`Points`] (single elements). A selection has a range, a
//! range with a step, an index, a list of indices or a mask on each axis. Chunks may have different
//! lengths (`rectilinear`), and codec chains may pack, transpose and reshape; see the crate
//! `zarr-codec`. Elements have a fixed size, or are [`Strings`] and [`ByteStrings`].
//!
//! ```no_run
//! use std::sync::Arc;
//! use zarr_array::Array;
//! use zarr_array::store::LocalStore;
//!
//! let store = Arc::new(LocalStore::open("weather.zarr")?);
//! let array = Array::open(store, "temp_max")?;
//! let february = array.read_as::<f32>(31..60)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Non-goals
//! No arithmetic on arrays, no lazy evaluation. Zarr version 2 is read, but not written.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::as_conversions))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod array;
#[cfg(feature = "async")]
pub mod asynchronous;
mod change;
mod counts;
mod documents;
mod error;
mod hierarchy;
mod layout;
pub mod parallel;
mod selection;
#[cfg(feature = "async")]
mod threads;
mod transfer;

pub use array::{
    Array, Boxes, ChunkOf, ChunksOf, Destination, Element, InnerChunkOf, Input, LimitedStrings,
    PlannedReads, ReadAs, ShardContent, Source, StoredChunk, StoredMask, StoredTasks, WriteAs,
};
pub use change::{
    Added, Changes, Deletion, Extent, LockedDocument, Resize, delete_node, refresh_consolidated,
    refresh_consolidated_of, update_attributes, update_dimension_names,
};
#[cfg(feature = "jiff")]
pub use error::TimeError;
pub use error::{ArrayError, Loss, Written};
pub use hierarchy::node::open as open_node;
pub use hierarchy::{
    Group, Hierarchy, HierarchyAround, JoinedNodes, MemberSource, Members, Owner, Owners,
    UnlistedStore, create_parents, hierarchies_around, is_of_another_program, names_without_key,
    node, other_names, unfinished, version_2,
};
pub use layout::{
    Batches, ChunkLayout, OwnedChunks, Part, PartError, PlannedChunk, RegionPlan, chunk_grid_of,
    edges_of, grid_of,
};
pub use selection::{AnySelection, Points, Selection, SelectionError};
#[cfg(feature = "async")]
pub use threads::ArrayFuture;
pub use zarr_codec::{ByteStrings, Strings};
pub use zarr_grid::AxisSelection;
pub use zarr_store as store;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
