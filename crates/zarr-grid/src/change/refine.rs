//! Two ways to cut the same axis: their overlaps, refinement and coarsening.
//!
//! Both axes are walked together, segment by segment: a segment is where each of them stays in one
//! run of equal edges. In a segment the boundaries of either are an arithmetic progression. So
//! division answers the questions, in one step per segment however many chunks there are:
//!
//! ```text
//! a   |     |     |     |     |     |     |     edge 6
//! b     |   |   |   |   |   |   |   |   |   |   edge 4
//!           ^           ^           ^           in both: every lcm(6, 4) = 12
//! ```

use core::iter::Peekable;

use crate::axis::build::AxisBuilder;
use crate::axis::storage::{Stretch, Stretches};
use crate::axis::walk::Walk;
use crate::axis::{Axis, AxisKind};
use crate::error::{GridError, GridErrorKind};
use crate::grid::Grid;
use crate::num::gcd;

/// The boundaries of one axis in one segment, an arithmetic progression: `count` of them, the first at
/// `first`, `edge` apart.
#[derive(Debug, Clone, Copy)]
struct Progression {
    first: u64,
    edge: u64,
    count: u64,
}

/// A segment `start..end` in which both axes have one edge each.
#[derive(Debug, Clone, Copy)]
struct Segment {
    left: Progression,
    right: Progression,
}

/// The segments of two axes, up to their common extent.
struct Segments<'a> {
    left: Peekable<Stretches<'a>>,
    right: Peekable<Stretches<'a>>,
    at: u64,
    extent: u64,
}

impl<'a> Segments<'a> {
    fn new(left: &'a Axis, right: &'a Axis) -> Result<Segments<'a>, GridError> {
        same_extent(left, right)?;
        let extent = left.extent();
        let (left, right) = (left.stretches(0).peekable(), right.stretches(0).peekable());
        Ok(Segments { left, right, at: 0, extent })
    }
}

fn same_extent(left: &Axis, right: &Axis) -> Result<(), GridError> {
    let (left, right) = (left.extent(), right.extent());
    if left == right { Ok(()) } else { Err(GridErrorKind::ExtentMismatch { left, right }.into()) }
}

impl Progression {
    /// The boundaries of a stretch that lie in `start..end`; this range starts in the stretch and
    /// ends no later.
    fn of(stretch: Stretch, start: u64, end: u64) -> Progression {
        let Stretch { start: origin, edge, .. } = stretch;
        let past = (end - 1 - origin) / edge;
        let before = (start - origin).div_ceil(edge);
        // If there is none, `first` may lie past the segment, and is not used.
        let first = origin.saturating_add(before.saturating_mul(edge));
        Progression { first, edge, count: (past + 1).saturating_sub(before) }
    }

    fn last(&self) -> u64 {
        self.first + (self.count - 1) * self.edge
    }

    fn contains(&self, bound: u64) -> bool {
        self.count > 0
            && (self.first..=self.last()).contains(&bound)
            && (bound - self.first).is_multiple_of(self.edge)
    }
}

impl Iterator for Segments<'_> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        if self.at >= self.extent {
            return None;
        }
        let (left, right) = (*self.left.peek()?, *self.right.peek()?);
        let (start, end) = (self.at, left.end().min(right.end()).min(self.extent));
        self.left.next_if(|stretch| stretch.end() == end);
        self.right.next_if(|stretch| stretch.end() == end);
        self.at = end;
        Some(Segment {
            left: Progression::of(left, start, end),
            right: Progression::of(right, start, end),
        })
    }
}

/// The part that a chunk of one axis and a chunk of another axis share; see [`Axis::overlaps`].
///
/// # Examples
/// ```
/// use zarr_grid::Axis;
///
/// let (old, new) = (Axis::from_edges(10, [4, 6])?, Axis::regular(10, 5)?);
/// let overlap = old.overlaps(&new)?.nth(1).expect("the axes have an overlap at index 4");
/// assert_eq!((overlap.start, overlap.len), (4, 1));
/// assert_eq!((overlap.chunks, overlap.in_chunks), ([1, 0], [0, 4]));
/// # Ok::<(), zarr_grid::GridError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overlap {
    /// First index of the part.
    pub start: u64,
    /// Its length, at least 1.
    pub len: u64,
    /// The chunk of the first axis, and of the second.
    pub chunks: [u64; 2],
    /// The start of the part in each of the two chunks, in elements.
    pub in_chunks: [u64; 2],
}

/// The parts that chunks of two axes share, in order; see [`Axis::overlaps`].
#[derive(Debug, Clone)]
pub struct Overlaps<'a> {
    walks: [Walk<'a>; 2],
    /// Chunk, first index and end of the present chunk of each.
    now: [(u64, u64, u64); 2],
    at: u64,
    extent: u64,
}

impl Iterator for Overlaps<'_> {
    type Item = Overlap;

    fn next(&mut self) -> Option<Overlap> {
        if self.at >= self.extent {
            return None;
        }
        let start = self.at;
        for (walk, now) in self.walks.iter_mut().zip(&mut self.now) {
            if now.2 == start {
                let (chunk, first, edge) = walk.step();
                *now = (chunk, first, first + edge);
            }
        }
        let [left, right] = self.now;
        let end = left.2.min(right.2).min(self.extent);
        self.at = end;
        let chunks = [left.0, right.0];
        let in_chunks = [start - left.1, start - right.1];
        Some(Overlap { start, len: end - start, chunks, in_chunks })
    }
}

impl core::iter::FusedIterator for Overlaps<'_> {}

impl Axis {
    /// The overlaps of chunks of this axis and of another, in order: the parts that a copy moves. An
    /// iterator that takes constant time per part.
    ///
    /// # Errors
    /// [`GridErrorKind::ExtentMismatch`].
    ///
    /// # Examples
    /// ```
    /// let (a, b) = (zarr_grid::Axis::regular(7, 4)?, zarr_grid::Axis::regular(7, 3)?);
    /// let parts: Vec<_> = a.overlaps(&b)?.map(|part| (part.start, part.len, part.chunks)).collect();
    /// assert_eq!(parts, [(0, 3, [0, 0]), (3, 1, [0, 1]), (4, 2, [1, 1]), (6, 1, [1, 2])]);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn overlaps<'a>(&'a self, other: &'a Axis) -> Result<Overlaps<'a>, GridError> {
        same_extent(self, other)?;
        let walks = [self.walk(0), other.walk(0)];
        Ok(Overlaps { walks, now: [(0, 0, 0); 2], at: 0, extent: self.extent() })
    }

    /// Whether each occupied chunk of this axis is a union of chunks of `finer`, within the extent:
    /// every boundary of this axis is a boundary of `finer`.
    ///
    /// Takes one step per run of the two axes, however many chunks they have.
    ///
    /// # Errors
    /// [`GridErrorKind::ExtentMismatch`].
    ///
    /// # Examples
    /// ```
    /// let (a, b) = (zarr_grid::Axis::from_edges(10, [6, 4])?, zarr_grid::Axis::regular(10, 2)?);
    /// assert!(a.is_union_of(&b)?);
    /// assert!(!b.is_union_of(&a)?);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn is_union_of(&self, finer: &Axis) -> Result<bool, GridError> {
        Ok(Segments::new(self, finer)?.all(|Segment { left, right }| match left.count {
            0 => true,
            1 => right.contains(left.first),
            _ => {
                left.edge.is_multiple_of(right.edge)
                    && right.contains(left.first)
                    && right.contains(left.last())
            }
        }))
    }

    /// The finest axis with chunks that are unions of chunks of both: it has the boundaries that
    /// both have. Its last chunk reaches the end of the last occupied chunk of either. Two regular
    /// axes make a regular one, of their least common multiple.
    ///
    /// Takes one step per run of the two axes, and has at most about as many runs as both.
    ///
    /// # Errors
    /// [`GridErrorKind::ExtentMismatch`].
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::Axis;
    ///
    /// let coarse = Axis::regular(24, 6)?.common_coarsening(&Axis::regular(24, 4)?)?;
    /// assert_eq!(coarse, Axis::regular(24, 12)?);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn common_coarsening(&self, other: &Axis) -> Result<Axis, GridError> {
        if let Some(axis) = self.common_multiple(other) {
            return Ok(axis);
        }
        let mut builder = AxisBuilder::new();
        for Segment { left, right } in Segments::new(self, other)? {
            let (first, step, count) = shared(left, right);
            // Boundary 0 is there before any edge.
            match first {
                0 if count > 0 => builder.push_bounds(step, step, count - 1)?,
                _ => builder.push_bounds(first, step, count)?,
            }
        }
        builder.push_bound(self.occupied_end().max(other.occupied_end()))?;
        self.finish_with(other, builder)
    }

    /// The common coarsening of two regular axes where it has several chunks, and the last does
    /// not reach past `u64`.
    fn common_multiple(&self, other: &Axis) -> Option<Axis> {
        let (AxisKind::Regular { edge: left }, AxisKind::Regular { edge: right }) =
            (self.kind(), other.kind())
        else {
            return None;
        };
        let multiple = (left / gcd(left, right)).checked_mul(right)?;
        let fits = multiple < self.extent() && self.extent() == other.extent();
        if fits { Axis::regular(self.extent(), multiple).ok() } else { None }
    }

    /// The coarsest axis such that the chunks of both are unions of its chunks, within the extent: it
    /// has the boundaries of either. Its last chunk ends where the first of their last occupied
    /// chunks ends.
    ///
    /// Edges that do not fit one another give about one run per chunk, hence the limit `max_runs`.
    /// [`Axis::overlaps`] gives the same parts as an iterator. Time is proportional to the runs of
    /// the result.
    ///
    /// # Errors
    /// [`GridErrorKind::ExtentMismatch`]; [`GridErrorKind::TooManyRuns`] past `max_runs`.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::Axis;
    ///
    /// let finer = Axis::regular(8, 4)?.common_refinement(&Axis::regular(8, 3)?, 100)?;
    /// assert_eq!(finer, Axis::from_edges(8, [3, 1, 2, 2])?);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn common_refinement(&self, other: &Axis, max_runs: u64) -> Result<Axis, GridError> {
        let mut builder = AxisBuilder::new();
        for Segment { left, right } in Segments::new(self, other)? {
            merge(&mut builder, left, right, max_runs)?;
        }
        builder.push_bound(self.occupied_end().min(other.occupied_end()))?;
        within(&builder, max_runs)?;
        self.finish_with(other, builder)
    }

    /// Regular if both axes are declared as regular and the result is.
    fn finish_with(&self, other: &Axis, builder: AxisBuilder) -> Result<Axis, GridError> {
        let axis = builder.finish(self.extent())?;
        match (self.kind(), other.kind(), axis.regular_edge()) {
            (AxisKind::Regular { .. }, AxisKind::Regular { .. }, Some(edge)) => {
                Axis::regular(axis.extent(), edge)
            }
            // Without a chunk no edge shows, and either axis's will do.
            (AxisKind::Regular { .. }, AxisKind::Regular { .. }, None) if self.extent() == 0 => {
                Ok(self.clone())
            }
            _ => Ok(axis),
        }
    }
}

/// The boundaries that both progressions have: the first, the distance, the number.
fn shared(left: Progression, right: Progression) -> (u64, u64, u64) {
    if left.count == 0 || right.count == 0 {
        return (0, 0, 0);
    }
    // Solve first_l + i * edge_l = first_r + j * edge_r for the least i >= 0 with j >= 0.
    let divisor = gcd(left.edge, right.edge);
    let (from, to) = (left.first.max(right.first), left.last().min(right.last()));
    if from > to || !left.first.abs_diff(right.first).is_multiple_of(divisor) {
        return (0, 0, 0);
    }
    // All factors are below 2^64, so their products fit.
    let (edge, modulus) = (u128::from(left.edge), right.edge / divisor);
    let distance = (i128::from(right.first) - i128::from(left.first)) / i128::from(divisor);
    let distance = distance.rem_euclid(i128::from(modulus)).unsigned_abs();
    let inverse = inverse(left.edge / divisor, modulus);
    let least = distance * inverse % u128::from(modulus);
    let step = edge * u128::from(modulus);
    let bound = u128::from(left.first) + least * edge;
    // The first that is not before either's first.
    let behind = u128::from(from).saturating_sub(bound);
    let bound = bound.saturating_add(behind.div_ceil(step).saturating_mul(step));
    match (u64::try_from(bound), u64::try_from(step)) {
        (Ok(bound), Ok(step)) if bound <= to => (bound, step, (to - bound) / step + 1),
        (Ok(bound), Err(_)) if bound <= to => (bound, 0, 1),
        _ => (0, 0, 0),
    }
}

/// The inverse of `a` modulo `m`, which have no common divisor; 0 for `m` = 1.
fn inverse(a: u64, m: u64) -> u128 {
    let (mut r, mut next_r) = (i128::from(m), i128::from(a % m));
    let (mut t, mut next_t) = (0, 1);
    while next_r != 0 {
        let quotient = r / next_r;
        (r, next_r) = (next_r, r - quotient * next_r);
        (t, next_t) = (next_t, t - quotient * next_t);
    }
    t.rem_euclid(i128::from(m)).unsigned_abs()
}

fn within(builder: &AxisBuilder, limit: u64) -> Result<(), GridError> {
    if builder.merged_runs() > limit {
        Err(GridErrorKind::TooManyRuns { limit }.into())
    } else {
        Ok(())
    }
}

/// Appends the boundaries of both, each once.
fn merge(
    builder: &mut AxisBuilder,
    left: Progression,
    right: Progression,
    limit: u64,
) -> Result<(), GridError> {
    // The larger edge is walked; between its boundaries the smaller edge's go in at once.
    let (large, mut small) = if left.edge >= right.edge { (left, right) } else { (right, left) };
    let offset = large.first.abs_diff(small.first);
    if large.count == 0 || small.count == 0 {
        push_all(builder, large)?;
        push_all(builder, small)?;
    } else if large.edge.is_multiple_of(small.edge) && offset.is_multiple_of(small.edge) {
        // The first and last boundaries of the larger may be the only ones on their side.
        builder.push_bound(large.first.min(small.first))?;
        push_all(builder, small)?;
        builder.push_bound(large.last())?;
    } else if large.edge == small.edge && offset == large.edge - offset {
        // Half an edge apart: as one progression, since runs would merge without end.
        let first = large.first.min(small.first);
        let both = Progression { first, edge: offset, count: large.count + small.count };
        push_all(builder, both)?;
    } else {
        for number in 0..large.count {
            let bound = large.first + number * large.edge;
            push_before(builder, &mut small, bound)?;
            builder.push_bound(bound)?;
            within(builder, limit)?;
        }
        push_all(builder, small)?;
    }
    within(builder, limit)
}

/// Appends the boundaries before `bound`; the others remain.
fn push_before(
    builder: &mut AxisBuilder,
    bounds: &mut Progression,
    bound: u64,
) -> Result<(), GridError> {
    if bounds.count == 0 || bounds.first >= bound {
        return Ok(());
    }
    let count = ((bound - 1 - bounds.first) / bounds.edge + 1).min(bounds.count);
    push_all(builder, Progression { count, ..*bounds })?;
    bounds.count -= count;
    if bounds.count > 0 {
        bounds.first += count * bounds.edge;
    }
    Ok(())
}

fn push_all(builder: &mut AxisBuilder, bounds: Progression) -> Result<(), GridError> {
    let Progression { first, edge, count } = bounds;
    if count > 0 && first <= builder.end() {
        // The first is there already: 0, or a boundary of both.
        return builder.push_bounds(first.saturating_add(edge), edge, count - 1);
    }
    builder.push_bounds(first, edge, count)
}

impl Grid {
    /// Whether each chunk of this grid is a union of chunks of `finer`, within the array; see
    /// [`Axis::is_union_of`].
    ///
    /// # Errors
    /// [`GridErrorKind::Rank`]; [`GridErrorKind::ExtentMismatch`] on its axis.
    pub fn is_union_of(&self, finer: &Grid) -> Result<bool, GridError> {
        self.check_rank("axes", finer.rank())?;
        let mut all = true;
        for (d, (axis, finer)) in self.axes().iter().zip(finer.axes()).enumerate() {
            all &= axis.is_union_of(finer).map_err(|error| error.on_axis(d))?;
        }
        Ok(all)
    }

    /// The finest grid with chunks that are unions of chunks of both; see
    /// [`Axis::common_coarsening`].
    ///
    /// # Errors
    /// [`GridErrorKind::Rank`]; [`GridErrorKind::ExtentMismatch`] on its axis.
    pub fn common_coarsening(&self, other: &Grid) -> Result<Grid, GridError> {
        self.with_each(other, Axis::common_coarsening)
    }

    /// The coarsest grid such that the chunks of both are unions of its chunks; see
    /// [`Axis::common_refinement`].
    ///
    /// # Errors
    /// [`GridErrorKind::Rank`]; [`GridErrorKind::ExtentMismatch`] and [`GridErrorKind::TooManyRuns`] on their
    /// axis.
    pub fn common_refinement(&self, other: &Grid, max_runs: u64) -> Result<Grid, GridError> {
        self.with_each(other, |axis, other| axis.common_refinement(other, max_runs))
    }

    fn with_each(
        &self,
        other: &Grid,
        of: impl Fn(&Axis, &Axis) -> Result<Axis, GridError>,
    ) -> Result<Grid, GridError> {
        self.check_rank("axes", other.rank())?;
        let axes = self.axes().iter().zip(other.axes()).enumerate();
        axes.map(|(d, (a, b))| of(a, b).map_err(|error| error.on_axis(d))).collect()
    }
}
