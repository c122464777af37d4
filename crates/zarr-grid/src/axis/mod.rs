//! One axis: how its elements are cut into chunks.

mod boundaries;
pub(crate) mod build;
mod bulk_lookup;
pub(crate) mod runs;
pub(crate) mod storage;
pub(crate) mod walk;

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use crate::axis::runs::Run;
use crate::axis::storage::{AxisRuns, AxisStorage, Stretches};
use crate::axis::walk::Walk;
use crate::error::{GridError, GridErrorKind};
use crate::num::{to_u64, to_usize};

/// The chunks along one axis of an array.
///
/// An axis has an *extent*, the number of elements of the array along it, and chunks. The length of
/// a chunk is its *edge*. The edges sum to at least the extent. Listed edges may reach beyond it by
/// several chunks. All chunks of an axis are *declared*. Chunks that start inside of the extent are
/// *occupied*, and only these exist in a store.
///
/// ```text
/// edges [4, 4, 4], extent 6      0   1   2   3   4   5
///                              |  chunk 0      | chunk 1 .  .  |  chunk 2      |
///                              |<----- occupied: 2 ----------->|               |
///                              |<----- declared: 3 --------------------------->|
/// ```
///
/// An axis is either *regular*, declared by a single edge as by an integer in the metadata, or
/// *rectilinear*, declared by a list. Two axes are equal if they are declared the same way, up to
/// how a list is written in runs.
///
/// Memory is proportional to the number of runs of equal edges, not of chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    extent: u64,
    occupied: u64,
    declared: u64,
    /// Sum of all declared edges.
    end: u64,
    /// The longest edge of the occupied chunks. Each read and write asks for it.
    longest: u64,
    layout: AxisStorage,
    /// Declared by a single edge rather than by a list.
    regular: bool,
}

/// How an axis is declared.
///
/// # Examples
/// ```
/// use zarr_grid::{Axis, AxisKind};
///
/// assert_eq!(Axis::regular(10, 4)?.kind(), AxisKind::Regular { edge: 4 });
/// assert_eq!(Axis::from_edges(10, [4, 6])?.kind(), AxisKind::Rectilinear);
/// # Ok::<(), zarr_grid::GridError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AxisKind {
    /// By one edge length, repeated until the extent is covered.
    Regular {
        /// The edge length.
        edge: u64,
    },
    /// By a list of edges.
    Rectilinear,
}

impl Axis {
    /// The regular axis of `ceil(extent / edge)` chunks, none where `extent` is 0 (SD-04).
    ///
    /// # Errors
    /// [`GridErrorKind::ZeroEdge`], and [`GridErrorKind::EdgeOverflow`] if the last chunk, which is stored
    /// at its full length, ends beyond `u64`.
    ///
    /// # Examples
    /// ```
    /// let axis = zarr_grid::Axis::regular(10, 3)?;
    /// assert_eq!(axis.declared(), 4);
    /// assert_eq!(axis.chunk_of(9), Some((3, 0)));
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn regular(extent: u64, edge: u64) -> Result<Axis, GridError> {
        if edge == 0 {
            return Err(GridErrorKind::ZeroEdge { position: 0 }.into());
        }
        let declared = extent.div_ceil(edge);
        let end = declared.checked_mul(edge).ok_or(GridErrorKind::EdgeOverflow)?;
        Ok(Axis::from_parts(extent, declared, end, AxisStorage::Uniform { edge }, true))
    }

    /// `end` is the checked sum of the edges, at least `extent`.
    pub(crate) fn from_parts(
        extent: u64,
        declared: u64,
        end: u64,
        layout: AxisStorage,
        regular: bool,
    ) -> Axis {
        let mut axis = Axis { extent, occupied: 0, declared, end, longest: 0, layout, regular };
        if let Some(last) = extent.checked_sub(1) {
            let (last, _) = axis.find(last);
            (axis.occupied, axis.longest) = (last + 1, axis.layout.longest(last));
        }
        axis
    }

    /// Number of elements of the array along the axis.
    #[must_use]
    pub fn extent(&self) -> u64 {
        self.extent
    }

    /// Number of chunks that the metadata declares (SD-05).
    #[must_use]
    pub fn declared(&self) -> u64 {
        self.declared
    }

    /// Number of chunks that hold elements of the array: they start inside of the extent (SD-05).
    /// They come first.
    #[must_use]
    pub fn occupied(&self) -> u64 {
        self.occupied
    }

    /// Sum of all declared edges, at least the extent.
    #[must_use]
    pub fn declared_end(&self) -> u64 {
        self.end
    }

    /// How the axis is declared: an integer stays an integer, and a list stays a list (SD-04).
    #[must_use]
    pub fn kind(&self) -> AxisKind {
        match self.layout {
            AxisStorage::Uniform { edge } if self.regular => AxisKind::Regular { edge },
            _ => AxisKind::Rectilinear,
        }
    }

    /// The edge of the regular axis with the same declared chunks, if there is one. Then all edges
    /// are equal and there are `ceil(extent / edge)` of them (SD-09). Takes constant time.
    ///
    /// A list without edges declares the same chunks as any regular axis of extent 0, but no
    /// edge is known: `None`.
    #[must_use]
    pub fn regular_edge(&self) -> Option<u64> {
        match self.layout {
            AxisStorage::Uniform { edge } => {
                (self.declared == self.extent.div_ceil(edge)).then_some(edge)
            }
            _ => None,
        }
    }

    /// Where the last occupied chunk ends: the sum of the occupied edges.
    pub(crate) fn occupied_end(&self) -> u64 {
        self.occupied.checked_sub(1).map_or(0, |last| {
            let (start, edge) = self.span(last);
            start + edge
        })
    }

    /// Whether two axes have the same extent and the same occupied chunks, however declared.
    #[must_use]
    pub fn same_chunks(&self, other: &Axis) -> bool {
        self.extent == other.extent && self.occupied_runs().eq(other.occupied_runs())
    }

    pub(crate) fn storage(&self) -> &AxisStorage {
        &self.layout
    }

    /// Chunk and local index of `index`, which is less than `end`.
    #[inline]
    pub(crate) fn find(&self, index: u64) -> (u64, u64) {
        let (chunk, local, _) = self.find_edge(index);
        (chunk, local)
    }

    /// Chunk, local index and edge of the chunk of `index`, which is less than `end`.
    #[inline]
    pub(crate) fn find_edge(&self, index: u64) -> (u64, u64, u64) {
        match &self.layout {
            AxisStorage::Uniform { edge } => (index / edge, index % edge, *edge),
            AxisStorage::Explicit(boundaries) => {
                let (chunk, start) = boundaries.find(index);
                (to_u64(chunk), index - start, boundaries.length(chunk))
            }
            AxisStorage::Runs(runs) => runs.chunk_of(index),
        }
    }

    /// First index and edge of `chunk`, which is declared.
    #[inline]
    pub(crate) fn span(&self, chunk: u64) -> (u64, u64) {
        match &self.layout {
            AxisStorage::Uniform { edge } => (chunk * edge, *edge),
            AxisStorage::Explicit(boundaries) => {
                let chunk = to_usize(chunk);
                (boundaries.bound(chunk), boundaries.length(chunk))
            }
            AxisStorage::Runs(runs) => runs.span(chunk),
        }
    }

    /// The chunk that holds `index`, and the index inside of it; `None` past the extent.
    ///
    /// Takes constant time on a regular axis and for a single run. Otherwise it takes at most the
    /// logarithm of the number of runs, and near constant time if edges are similar.
    ///
    /// # Spec
    /// zarr-extensions `chunk-grids/rectilinear`, "Indexing", as corrected by SD-01 and SD-02.
    #[inline]
    #[must_use]
    pub fn chunk_of(&self, index: u64) -> Option<(u64, u64)> {
        (index < self.extent).then(|| self.find(index))
    }

    /// First index of a declared chunk.
    #[inline]
    #[must_use]
    pub fn start(&self, chunk: u64) -> Option<u64> {
        (chunk < self.declared).then(|| self.span(chunk).0)
    }

    /// Edge length of a declared chunk. The chunk is stored at this length, never clipped to the
    /// extent (SD-05).
    #[inline]
    #[must_use]
    pub fn edge(&self, chunk: u64) -> Option<u64> {
        (chunk < self.declared).then(|| self.span(chunk).1)
    }

    /// The indices of the array in an occupied chunk, clipped to the extent.
    #[inline]
    #[must_use]
    pub fn clipped(&self, chunk: u64) -> Option<Range<u64>> {
        (chunk < self.occupied).then(|| {
            let (start, edge) = self.span(chunk);
            start..self.extent.min(start + edge)
        })
    }

    /// The chunks that hold an index of `range`; none for an empty one.
    ///
    /// # Errors
    /// [`GridErrorKind::RangeOutOfBounds`] unless `start <= end <= extent`.
    pub fn chunks_in(&self, range: Range<u64>) -> Result<Range<u64>, GridError> {
        let Range { start, end } = range;
        if start > end || end > self.extent {
            return Err(GridErrorKind::RangeOutOfBounds { start, end, extent: self.extent }.into());
        }
        if start == end {
            return Ok(0..0);
        }
        Ok(self.find(start).0..self.find(end - 1).0 + 1)
    }

    /// The declared edges as merged runs: the canonical run-length form, in O(1) per run.
    #[must_use]
    pub fn runs(&self) -> AxisRuns<'_> {
        AxisRuns::new(&self.layout, self.declared)
    }

    /// The runs of the occupied chunks.
    pub(crate) fn occupied_runs(&self) -> impl Iterator<Item = Run> + '_ {
        self.runs_of(0..self.occupied)
    }

    /// The different edges of the occupied chunks, in increasing order (SD-24).
    #[must_use]
    pub fn distinct_edges(&self) -> Vec<u64> {
        if let AxisStorage::Uniform { edge } = self.layout {
            return if self.occupied > 0 { vec![edge] } else { Vec::new() };
        }
        let mut edges: Vec<u64> = self.occupied_runs().map(|run| run.edge).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The longest edge of the occupied chunks, 0 if there is none. Takes constant time.
    #[must_use]
    pub fn max_edge(&self) -> u64 {
        self.longest
    }

    /// The declared chunks as stretches of equal edge, beginning at or before the chunk that
    /// holds `index`; `index` is 0 or less than the declared end.
    pub(crate) fn stretches(&self, index: u64) -> Stretches<'_> {
        Stretches::new(&self.layout, self.declared, index)
    }

    /// Iterates over the chunks from the chunk with `index` on, which is 0 or less than the declared
    /// end.
    pub(crate) fn walk(&self, index: u64) -> Walk<'_> {
        Walk::at(&self.layout, index)
    }
}
