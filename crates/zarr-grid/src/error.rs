//! Errors of grids and of requests to them.

use core::fmt;

/// The error of making a grid, or of a question about a grid.
///
/// # Examples
/// ```
/// use zarr_grid::{Grid, GridErrorKind};
///
/// let error = Grid::regular(&[10, 10], &[4, 0]).unwrap_err();
/// assert_eq!(error.axis(), Some(1));
/// assert!(matches!(error.kind(), GridErrorKind::ZeroEdge { .. }));
/// assert_eq!(error.to_string(), "axis 1: edge 0 is 0, allowed are lengths of at least 1");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct GridError {
    axis: Option<usize>,
    kind: GridErrorKind,
}

/// As the text.
impl fmt::Debug for GridError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl GridError {
    /// The axis of the grid that the error concerns, if the grid has several.
    #[must_use]
    pub fn axis(&self) -> Option<usize> {
        self.axis
    }

    /// The kind of fault.
    #[must_use]
    pub fn kind(&self) -> &GridErrorKind {
        &self.kind
    }

    /// The same error, on axis number `axis`.
    #[must_use]
    pub fn on_axis(self, axis: usize) -> GridError {
        GridError { axis: Some(axis), ..self }
    }
}

impl From<GridErrorKind> for GridError {
    fn from(kind: GridErrorKind) -> GridError {
        GridError { axis: None, kind }
    }
}

impl fmt::Display for GridError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.axis {
            Some(axis) => write!(f, "axis {axis}: {}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

impl core::error::Error for GridError {}

/// Kinds of faults; see [`GridError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GridErrorKind {
    /// An edge length is zero.
    #[error("edge {position} is 0, allowed are lengths of at least 1")]
    ZeroEdge {
        /// Position of the edge, or of the run it is in, among those given.
        position: u64,
    },
    /// A run repeats its edge zero times.
    #[error("run {position} repeats edge {edge} 0 times, allowed are counts of at least 1")]
    ZeroCount {
        /// Position of the run among those given.
        position: u64,
        /// Edge length of the run.
        edge: u64,
    },
    /// The edges sum to more than `u64` holds.
    #[error("the sum of the edges exceeds the largest index, {}", u64::MAX)]
    EdgeOverflow,
    /// The edges do not reach the end of the axis.
    #[error("edges sum to {sum}, less than extent {extent}")]
    EdgesTooShort {
        /// Sum of all edges.
        sum: u64,
        /// Extent that they have to cover.
        extent: u64,
    },
    /// A slice does not have one entry for each axis.
    #[error("got {found} {what}, the grid has rank {rank}")]
    Rank {
        /// The items of the slice, in the plural.
        what: &'static str,
        /// Its length.
        found: usize,
        /// Number of axes of the grid.
        rank: usize,
    },
    /// An index lies outside of the axis.
    #[error("index {index} is out of bounds for extent {extent}")]
    IndexOutOfBounds {
        /// The requested index.
        index: u64,
        /// Extent of the axis.
        extent: u64,
    },
    /// A chunk number lies outside of the axis.
    #[error("chunk {chunk} is out of bounds for {declared} declared chunks")]
    ChunkOutOfBounds {
        /// The requested chunk number.
        chunk: u64,
        /// Number of declared chunks on the axis.
        declared: u64,
    },
    /// A chunk to move or drop holds no element of the array, so no store has it.
    #[error("chunk {chunk} is out of bounds for {occupied} occupied chunks")]
    NotOccupied {
        /// The requested chunk number.
        chunk: u64,
        /// Number of occupied chunks on the axis.
        occupied: u64,
    },
    /// A range runs backwards or past the end of the axis.
    #[error("range {start}..{end} is not within extent {extent}")]
    RangeOutOfBounds {
        /// First index of the range.
        start: u64,
        /// Index after its last.
        end: u64,
        /// Extent of the axis.
        extent: u64,
    },
    /// A step of zero.
    #[error("step 0, allowed are steps other than 0")]
    ZeroStep,
    /// Two slices that go together are not equally long.
    #[error("got {found} {what}, {expected} are needed")]
    Length {
        /// The items of the slice, in the plural.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
    },
    /// New edges were given, and the declared ones suffice.
    #[error("edges already reach {end}, extent {extent} needs no new ones")]
    EdgesNotNeeded {
        /// Sum of the declared edges.
        end: u64,
        /// The new extent.
        extent: u64,
    },
    /// New edges were given for a regular axis.
    #[error("a regular axis of edge {edge} takes no new edges; only rectilinear axes do")]
    EdgesOnRegular {
        /// Edge of the axis.
        edge: u64,
    },
    /// There is no last edge to repeat.
    #[error("there is no edge to repeat")]
    NoEdgeToRepeat,
    /// There are no members to concatenate.
    #[error("there is nothing to concatenate")]
    NothingToConcat,
    /// A member ends inside of its last chunk, which is stored at its full length, and another
    /// member follows.
    #[error("member {member} ends at {extent}, inside of its last chunk, which ends at {end}")]
    ClippedAxis {
        /// Position of the member.
        member: usize,
        /// Its extent.
        extent: u64,
        /// Where its last occupied chunk ends.
        end: u64,
    },
    /// Two axes that are compared have different extents.
    #[error("extents {left} and {right} differ")]
    ExtentMismatch {
        /// Extent of the first.
        left: u64,
        /// Extent of the second.
        right: u64,
    },
    /// The result would need more runs than allowed.
    #[error("the result needs more than the {limit} runs allowed")]
    TooManyRuns {
        /// The limit given.
        limit: u64,
    },
    /// A region touches more chunks than `u64` counts.
    #[error("the region touches more than {} chunks", u64::MAX)]
    TooManyChunks,
}

impl GridErrorKind {
    /// This error, on axis number `axis`.
    #[must_use]
    pub fn on_axis(self, axis: usize) -> GridError {
        GridError { axis: Some(axis), kind: self }
    }
}
