//! To and from other ways to write a grid.

use crate::axis::storage::AxisStorage;
use crate::axis::{Axis, AxisKind};
use crate::error::{GridError, GridErrorKind};
use crate::grid::Grid;

impl Axis {
    /// The axis of a dask-style tuple of chunk lengths, which sum to the extent.
    ///
    /// It is regular if dask's own writer treats it as regular: all lengths are equal except the
    /// last, which may be less and is then padded in a store. [`Axis::from_edges`] keeps any list
    /// as it is, without padding. A tuple of no lengths is the empty list, and so is `(0,)`, which is
    /// what dask writes for an empty axis; no other list may hold a 0.
    ///
    /// # Errors
    /// [`GridErrorKind::ZeroEdge`], [`GridErrorKind::EdgeOverflow`].
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::Axis;
    ///
    /// assert_eq!(Axis::from_dask(&[4, 4, 2])?, Axis::regular(10, 4)?);
    /// assert_eq!(Axis::from_dask(&[4, 2, 4])?, Axis::from_edges(10, [4, 2, 4])?);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn from_dask(lengths: &[u64]) -> Result<Axis, GridError> {
        let lengths = if lengths == [0] { &[] } else { lengths };
        let sum = lengths.iter().try_fold(0_u64, |sum, &length| sum.checked_add(length));
        let extent = sum.ok_or(GridErrorKind::EdgeOverflow)?;
        let axis = Axis::from_edges(extent, lengths.iter().copied())?;
        match lengths {
            [edge, middle @ .., last]
                if middle.iter().all(|length| length == edge) && last <= edge =>
            {
                // Padding the last chunk may reach past `u64`; the list does not.
                Ok(Axis::regular(extent, *edge).unwrap_or(axis))
            }
            [edge] => Axis::regular(extent, *edge),
            _ => Ok(axis),
        }
    }

    /// The lengths of the occupied chunks, the last one clipped to the extent: what dask calls the
    /// chunks of the axis. They sum to the extent. An empty axis has one length, 0, as dask writes
    /// it. An iterator, since there may be as many as [`Axis::occupied`].
    ///
    /// # Examples
    /// ```
    /// let axis = zarr_grid::Axis::from_edges(6, [4, 4, 4])?;
    /// assert!(axis.dask_lengths().eq([4, 2]));
    /// assert!(zarr_grid::Axis::regular(0, 4)?.dask_lengths().eq([0]));
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn dask_lengths(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.occupied().max(1))
            .map(|chunk| self.clipped(chunk).map_or(0, |range| range.end - range.start))
    }

    /// The rectilinear axis that declares the same chunks; a rectilinear axis is returned unchanged.
    #[must_use]
    pub fn to_rectilinear(&self) -> Axis {
        match (self.kind(), self.layout()) {
            (AxisKind::Regular { .. }, layout) => {
                let layout = match (self.declared(), layout) {
                    (0, _) => AxisStorage::no_chunks(),
                    (_, layout) => layout.clone(),
                };
                let (declared, end) = (self.declared(), self.declared_end());
                Axis::from_parts(self.extent(), declared, end, layout, false)
            }
            _ => self.clone(),
        }
    }

    /// The regular axis that declares the same chunks, if there is one (SD-09). An empty list has
    /// none, as no edge is known.
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::Axis;
    ///
    /// let regular = Axis::regular(10, 4)?;
    /// assert_eq!(regular.to_rectilinear().to_regular(), Some(regular));
    /// assert_eq!(Axis::from_edges(6, [4, 4, 4])?.to_regular(), None);
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    #[must_use]
    pub fn to_regular(&self) -> Option<Axis> {
        Axis::regular(self.extent(), self.regular_edge()?).ok()
    }
}

impl Grid {
    /// The grid of dask-style tuples of chunk lengths, one per axis; see [`Axis::from_dask`].
    ///
    /// # Errors
    /// Those of [`Axis::from_dask`], on their axis.
    pub fn from_dask(chunks: &[impl AsRef<[u64]>]) -> Result<Grid, GridError> {
        chunks
            .iter()
            .enumerate()
            .map(|(d, lengths)| Axis::from_dask(lengths.as_ref()).map_err(|error| error.on_axis(d)))
            .collect()
    }

    /// The rectilinear grid that declares the same chunks.
    #[must_use]
    pub fn to_rectilinear(&self) -> Grid {
        self.axes().iter().map(Axis::to_rectilinear).collect()
    }

    /// The regular grid that declares the same chunks, if there is one (SD-09).
    #[must_use]
    pub fn to_regular(&self) -> Option<Grid> {
        self.axes().iter().map(Axis::to_regular).collect()
    }
}
