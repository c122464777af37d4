//! The product of the axes.

use alloc::vec::Vec;

use crate::axis::Axis;
use crate::error::{GridError, GridErrorKind};

/// The chunks of an array: one [`Axis`] per dimension.
///
/// A chunk is named by its number on each axis. All neighbours along an axis share its edges on the
/// other axes. A grid of rank 0 has one chunk, of one element.
///
/// # Examples
/// The specification's own example, with both axes named (SD-03): axis 0 has edges 24 and 14,
/// axis 1 has edges 16 and 10.
/// ```
/// use zarr_grid::{Axis, Grid};
///
/// let grid = Grid::new([Axis::from_edges(38, [24, 14])?, Axis::from_edges(26, [16, 10])?]);
/// let (mut chunk, mut local) = ([0; 2], [0; 2]);
/// grid.locate(&[36, 15], &mut chunk, &mut local)?;
/// assert_eq!((chunk, local), ([1, 0], [12, 15]));
/// # Ok::<(), zarr_grid::GridError>(())
/// ```
///
/// # Spec
/// zarr-extensions `chunk-grids/rectilinear`; Zarr core 3.1, "Regular grids".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    axes: Vec<Axis>,
    shape: Vec<u64>,
    occupied: Vec<u64>,
    declared: Vec<u64>,
}

impl Grid {
    /// The grid of these axes.
    #[must_use]
    pub fn new(axes: impl Into<Vec<Axis>>) -> Grid {
        let axes = axes.into();
        let each = |of: fn(&Axis) -> u64| axes.iter().map(of).collect();
        let (shape, occupied) = (each(Axis::extent), each(Axis::occupied));
        let declared = each(Axis::declared);
        Grid { axes, shape, occupied, declared }
    }

    /// The grid of equal chunks of shape `chunk_shape`.
    ///
    /// # Errors
    /// [`GridErrorKind::Rank`] unless the two are equally long; errors of [`Axis::regular`], with
    /// their axis.
    pub fn regular(shape: &[u64], chunk_shape: &[u64]) -> Result<Grid, GridError> {
        if shape.len() != chunk_shape.len() {
            let (found, rank) = (chunk_shape.len(), shape.len());
            return Err(GridErrorKind::Rank { what: "edges", found, rank }.into());
        }
        shape
            .iter()
            .zip(chunk_shape)
            .enumerate()
            .map(|(d, (&extent, &edge))| Axis::regular(extent, edge).map_err(|e| e.on_axis(d)))
            .collect()
    }

    /// Number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// The axes, in the order of the dimensions.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Shape of the array: the extent of each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Number of occupied chunks on each axis; only occupied chunks exist in a store (SD-05).
    #[must_use]
    pub fn occupied(&self) -> &[u64] {
        &self.occupied
    }

    /// Number of declared chunks on each axis (SD-05).
    #[must_use]
    pub fn declared(&self) -> &[u64] {
        &self.declared
    }

    /// Number of occupied chunks in all, `None` past `u64`.
    #[must_use]
    pub fn occupied_chunks(&self) -> Option<u64> {
        product(&self.occupied)
    }

    /// Number of declared chunks in all, `None` past `u64`.
    #[must_use]
    pub fn declared_chunks(&self) -> Option<u64> {
        product(&self.declared)
    }

    /// The number of elements of a chunk with the longest edge on each axis, which no occupied chunk
    /// exceeds: for bounds on memory. An axis without chunks counts as one element, and what does not
    /// fit as [`u64::MAX`].
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::{Axis, Grid};
    ///
    /// let months = Axis::from_edges(90, [31, 28, 31])?;
    /// assert_eq!(Grid::new([months, Axis::regular(100, 40)?]).largest_chunk(), 31 * 40);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn largest_chunk(&self) -> u64 {
        self.axes.iter().map(|axis| axis.max_edge().max(1)).fold(1, u64::saturating_mul)
    }

    /// Writes the numbers of the chunk with the element at `index` to `chunk`, and the element's
    /// index in the chunk to `local`. After an error their contents are unspecified.
    ///
    /// # Shapes and units
    /// All three slices have one entry for each axis; `chunk` in chunks, `local` in elements from
    /// the chunk's start.
    ///
    /// # Errors
    /// [`GridErrorKind::Rank`]; [`GridErrorKind::IndexOutOfBounds`] on its axis.
    #[inline]
    pub fn locate(
        &self,
        index: &[u64],
        chunk: &mut [u64],
        local: &mut [u64],
    ) -> Result<(), GridError> {
        self.check_rank("indices", index.len())?;
        self.check_rank("chunk numbers", chunk.len())?;
        self.check_rank("local indices", local.len())?;
        let out = chunk.iter_mut().zip(local);
        for (d, ((axis, &index), (chunk, local))) in
            self.axes.iter().zip(index).zip(out).enumerate()
        {
            match axis.chunk_of(index) {
                Some(found) => (*chunk, *local) = found,
                None => return Err(index_out_of_bounds(d, index, axis.extent())),
            }
        }
        Ok(())
    }

    /// Writes the shape at which a declared chunk is stored: its edges, never clipped (SD-05).
    ///
    /// # Errors
    /// [`GridErrorKind::Rank`]; [`GridErrorKind::ChunkOutOfBounds`] on its axis.
    pub fn chunk_shape(&self, chunk: &[u64], shape: &mut [u64]) -> Result<(), GridError> {
        self.for_chunk(chunk, shape, "edges", |axis, chunk| axis.span(chunk).1)
    }

    /// Writes the index in the array of a declared chunk's first element.
    ///
    /// # Errors
    /// [`GridErrorKind::Rank`]; [`GridErrorKind::ChunkOutOfBounds`] on its axis.
    pub fn chunk_origin(&self, chunk: &[u64], origin: &mut [u64]) -> Result<(), GridError> {
        self.for_chunk(chunk, origin, "indices", |axis, chunk| axis.span(chunk).0)
    }

    /// Writes the shape of the part of a declared chunk that lies within the array: 0 on axes where
    /// it is not occupied.
    ///
    /// # Errors
    /// [`GridErrorKind::Rank`]; [`GridErrorKind::ChunkOutOfBounds`] on its axis.
    ///
    /// # Examples
    /// ```
    /// let grid = zarr_grid::Grid::regular(&[10, 10], &[4, 4])?;
    /// let (mut stored, mut clipped) = ([0; 2], [0; 2]);
    /// grid.chunk_shape(&[2, 1], &mut stored)?;
    /// grid.clipped_shape(&[2, 1], &mut clipped)?;
    /// assert_eq!((stored, clipped), ([4, 4], [2, 4]));
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn clipped_shape(&self, chunk: &[u64], shape: &mut [u64]) -> Result<(), GridError> {
        self.for_chunk(chunk, shape, "extents", |axis, chunk| {
            axis.clipped(chunk).map_or(0, |range| range.end - range.start)
        })
    }

    fn for_chunk(
        &self,
        chunk: &[u64],
        out: &mut [u64],
        what: &'static str,
        of: impl Fn(&Axis, u64) -> u64,
    ) -> Result<(), GridError> {
        self.check_rank("chunk numbers", chunk.len())?;
        self.check_rank(what, out.len())?;
        for (d, ((axis, &chunk), out)) in self.axes.iter().zip(chunk).zip(out).enumerate() {
            let declared = axis.declared();
            if chunk >= declared {
                return Err(GridErrorKind::ChunkOutOfBounds { chunk, declared }.on_axis(d));
            }
            *out = of(axis, chunk);
        }
        Ok(())
    }

    pub(crate) fn check_rank(&self, what: &'static str, found: usize) -> Result<(), GridError> {
        let rank = self.rank();
        if found == rank { Ok(()) } else { Err(GridErrorKind::Rank { what, found, rank }.into()) }
    }
}

/// Axes in the order of the dimensions.
impl FromIterator<Axis> for Grid {
    fn from_iter<I: IntoIterator<Item = Axis>>(axes: I) -> Grid {
        Grid::new(axes.into_iter().collect::<Vec<_>>())
    }
}

/// The index of element `number` of a box of this shape, counted in C order. `None` if the box has
/// no more than `number` elements.
///
/// # Examples
/// ```
/// use zarr_grid::unravel;
///
/// assert_eq!(unravel(13, &[4, 3, 4]), Some(vec![1, 0, 1]));
/// assert_eq!(unravel(48, &[4, 3, 4]), None);
/// ```
#[must_use]
pub fn unravel(mut number: u64, shape: &[u64]) -> Option<Vec<u64>> {
    let mut index = alloc::vec![0; shape.len()];
    for (at, length) in index.iter_mut().zip(shape).rev() {
        *at = number.checked_rem(*length)?;
        number = number.checked_div(*length)?;
    }
    (number == 0).then_some(index)
}

#[cold]
fn index_out_of_bounds(axis: usize, index: u64, extent: u64) -> GridError {
    GridErrorKind::IndexOutOfBounds { index, extent }.on_axis(axis)
}

/// The product, which is 0 if any factor is, even if the others overflow.
pub(crate) fn product(factors: &[u64]) -> Option<u64> {
    if factors.contains(&0) {
        return Some(0);
    }
    factors.iter().try_fold(1_u64, |product, &factor| product.checked_mul(factor))
}
