//! Resizing, appending, shrinking and joining.
#![warn(clippy::arithmetic_side_effects)]

use alloc::vec::Vec;

use crate::axis::build::AxisBuilder;
use crate::axis::runs::Run;
use crate::axis::{Axis, AxisKind};
use crate::error::{GridError, GridErrorKind};
use crate::grid::Grid;

/// The edges of the added chunks when an axis grows past its declared edges (SD-08).
///
/// # Examples
/// ```
/// use zarr_grid::{Axis, Growth, Run};
///
/// let axis = Axis::from_edges(59, [31, 28])?;
/// let march = [Run { edge: 31, count: 1 }];
/// assert_eq!(axis.resized(90, Growth::Edges(&march))?.edge(2), Some(31));
/// assert_eq!(axis.resized(80, Growth::RepeatLast)?.edge(2), Some(28));
/// # Ok::<(), zarr_grid::GridError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Growth<'a> {
    /// The last edge is repeated as often as needed.
    #[default]
    RepeatLast,
    /// These edges are appended.
    Edges(&'a [Run]),
}

impl Axis {
    /// The axis with another extent.
    ///
    /// A regular axis stays regular and needs no edges. A rectilinear axis keeps its declared
    /// edges. Growth first fills the chunks that overflow the old extent and takes `growth` for the
    /// rest. Shrinking keeps all chunks declared, so growing back finds the same chunks.
    ///
    /// # Errors
    /// [`GridErrorKind::EdgesNotNeeded`] if edges are given and the declared ones suffice;
    /// [`GridErrorKind::EdgesOnRegular`]; [`GridErrorKind::NoEdgeToRepeat`]; errors of
    /// [`Axis::from_runs`], with positions among the new edges.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::{Axis, Growth, Run};
    ///
    /// let axis = Axis::from_edges(59, [31, 28])?;
    /// let spring = axis.resized(90, Growth::Edges(&[Run { edge: 31, count: 1 }]))?;
    /// assert_eq!(spring, Axis::from_edges(90, [31, 28, 31])?);
    /// assert_eq!(axis.resized(90, Growth::RepeatLast)?, Axis::from_edges(90, [31, 28, 28, 28])?);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn resized(&self, extent: u64, growth: Growth<'_>) -> Result<Axis, GridError> {
        let more = match growth {
            Growth::RepeatLast => &[],
            Growth::Edges(runs) => runs,
        };
        let end = self.declared_end();
        if let AxisKind::Regular { edge } = self.kind() {
            return match more {
                [] => Axis::regular(extent, edge),
                _ => Err(GridErrorKind::EdgesOnRegular { edge }.into()),
            };
        }
        if extent <= end && !more.is_empty() {
            return Err(GridErrorKind::EdgesNotNeeded { end, extent }.into());
        }
        // Checked alone first, so that an error names the position among the new edges.
        let mut added = AxisBuilder::new();
        more.iter().try_for_each(|&run| added.push(run))?;
        let mut builder = AxisBuilder::new();
        builder.push_all(self.runs())?;
        builder.push_all(more.iter().copied())?;
        if let (Growth::RepeatLast, Some(missing @ 1..)) = (growth, extent.checked_sub(end)) {
            let last = self.declared().checked_sub(1).and_then(|last| self.edge(last));
            let edge = last.ok_or(GridErrorKind::NoEdgeToRepeat)?;
            builder.push(Run { edge, count: missing.div_ceil(edge) })?;
        }
        builder.finish(extent)
    }

    /// Joins axes end to end, as ragged files are joined.
    ///
    /// Chunk `c` of a member becomes chunk `c` plus the occupied chunks of all members before it.
    /// Members that are regular with the same edge stay regular; anything else becomes a list.
    /// Declared chunks that are not occupied are dropped, except in the last member.
    ///
    /// # Errors
    /// [`GridErrorKind::NothingToConcat`]; [`GridErrorKind::ClippedAxis`] if a member other than
    /// the last ends inside a chunk (the chunk is stored at its full length and would have to be
    /// rewritten); [`GridErrorKind::EdgeOverflow`].
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::Axis;
    ///
    /// let joined = Axis::concat(&[&Axis::regular(8, 4)?, &Axis::regular(6, 3)?])?;
    /// assert_eq!(joined, Axis::from_edges(14, [4, 4, 3, 3])?);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn concat(members: &[&Axis]) -> Result<Axis, GridError> {
        let (last, before) = members.split_last().ok_or(GridErrorKind::NothingToConcat)?;
        let mut builder = AxisBuilder::new();
        let mut extent = last.extent();
        for (member, axis) in before.iter().enumerate() {
            let end = axis.occupied_end();
            if end != axis.extent() {
                return Err(
                    GridErrorKind::ClippedAxis { member, extent: axis.extent(), end }.into()
                );
            }
            builder.push_all(axis.occupied_runs())?;
            extent = extent.checked_add(end).ok_or(GridErrorKind::EdgeOverflow)?;
        }
        if let AxisKind::Regular { edge } = last.kind()
            && members.iter().all(|axis| axis.kind() == last.kind())
        {
            return Axis::regular(extent, edge);
        }
        builder.push_all(last.runs())?;
        builder.finish(extent)
    }
}

impl Grid {
    /// The grid with another shape, each axis [resized](Axis::resized).
    ///
    /// # Errors
    /// [`GridErrorKind::Rank`]; errors of [`Axis::resized`], with their axis.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::{Axis, Grid, Growth};
    ///
    /// let grid = Grid::new([Axis::from_edges(59, [31, 28])?, Axis::regular(8, 4)?]);
    /// let longer = grid.resized(&[87, 10], &[Growth::RepeatLast, Growth::RepeatLast])?;
    /// assert_eq!(longer.declared(), [3, 3]);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn resized(&self, shape: &[u64], growth: &[Growth<'_>]) -> Result<Grid, GridError> {
        self.check_rank("extents", shape.len())?;
        self.check_rank("growths", growth.len())?;
        let mut axes = Vec::with_capacity(self.rank());
        for (d, (axis, (&extent, &growth))) in
            self.axes().iter().zip(shape.iter().zip(growth)).enumerate()
        {
            axes.push(axis.resized(extent, growth).map_err(|error| error.on_axis(d))?);
        }
        Ok(Grid::new(axes))
    }
}
