//! Grids in two levels: shards, and the inner chunks that divide them.

use alloc::vec::Vec;
use core::ops::Range;

use crate::axis::Axis;
use crate::chunks::Chunks;
use crate::error::GridError;
use crate::grid::Grid;

/// A grid of shards, each cut into inner chunks of one shape.
///
/// The inner edge divides the edge of every occupied shard on its axis, so that the inner chunks
/// of all shards together are a regular grid of the array: [`ShardGrid::chunks`]. Only edges that
/// exist in a store count (SD-05): after a resize that occupies more shards, make it anew.
///
/// Shards within shards are a `ShardGrid` whose shards are the inner chunks of another.
///
/// # Examples
/// ```
/// use zarr_grid::{Axis, Grid, ShardGrid};
///
/// let shards = Grid::new([Axis::from_edges(20, [4, 16])?]);
/// let grid = ShardGrid::new(shards, &[2])?;
/// let (mut shard, mut inner, mut local) = ([0], [0], [0]);
/// grid.locate(&[9], &mut shard, &mut inner, &mut local)?;
/// assert_eq!((shard, inner, local), ([1], [2], [1])); // 4 + 2 * 2 + 1
/// # Ok::<(), zarr_grid::GridError>(())
/// ```
///
/// # Spec
/// Zarr core 3.1, codec `sharding_indexed`, "chunk_shape"; SD-34.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardGrid {
    shards: Grid,
    chunks: Grid,
    inner: Vec<u64>,
}

impl ShardGrid {
    /// Shards of `shards`, cut into chunks of shape `inner`.
    ///
    /// Takes a step for each run of edges.
    ///
    /// # Errors
    /// [`GridError::Rank`]; on their axis [`GridError::ZeroEdge`] and [`GridError::InnerEdge`].
    pub fn new(shards: Grid, inner: &[u64]) -> Result<ShardGrid, GridError> {
        shards.check_rank("inner edges", inner.len())?;
        let mut axes = Vec::with_capacity(inner.len());
        for (d, (axis, &inner)) in shards.axes().iter().zip(inner).enumerate() {
            axes.push(inner_axis(axis, inner).map_err(|error| error.on_axis(d))?);
        }
        Ok(ShardGrid { shards, chunks: Grid::new(axes), inner: inner.to_vec() })
    }

    /// The grid of the shards.
    #[must_use]
    pub fn shards(&self) -> &Grid {
        &self.shards
    }

    /// The regular grid of all inner chunks of the array, whichever shards they are in.
    #[must_use]
    pub fn chunks(&self) -> &Grid {
        &self.chunks
    }

    /// Shape of the inner chunks.
    #[must_use]
    pub fn inner_shape(&self) -> &[u64] {
        &self.inner
    }

    /// Writes the shard that holds an element, the inner chunk of that shard, and where in the
    /// inner chunk the element is.
    ///
    /// # Shapes and units
    /// All four slices have one entry for each axis. `inner` counts from the shard's first chunk.
    ///
    /// # Errors
    /// [`GridError::Rank`]; [`GridError::IndexOutOfBounds`] on its axis.
    pub fn locate(
        &self,
        index: &[u64],
        shard: &mut [u64],
        inner: &mut [u64],
        local: &mut [u64],
    ) -> Result<(), GridError> {
        self.shards.check_rank("inner chunk numbers", inner.len())?;
        self.shards.locate(index, shard, local)?;
        for ((inner, local), edge) in inner.iter_mut().zip(local).zip(&self.inner) {
            (*inner, *local) = (*local / edge, *local % edge);
        }
        Ok(())
    }

    /// Writes how many inner chunks an occupied shard has on each axis.
    ///
    /// # Errors
    /// [`GridError::Rank`]; [`GridError::ChunkNotOccupied`] on its axis.
    pub fn inner_counts(&self, shard: &[u64], counts: &mut [u64]) -> Result<(), GridError> {
        self.check_occupied(shard)?;
        self.shards.chunk_shape(shard, counts)?;
        counts.iter_mut().zip(&self.inner).for_each(|(count, edge)| *count /= edge);
        Ok(())
    }

    /// Writes the number, among all inner chunks of the array, of an occupied shard's first one.
    ///
    /// # Errors
    /// [`GridError::Rank`]; [`GridError::ChunkNotOccupied`] on its axis.
    pub fn first_chunk(&self, shard: &[u64], first: &mut [u64]) -> Result<(), GridError> {
        self.check_occupied(shard)?;
        self.shards.chunk_origin(shard, first)?;
        first.iter_mut().zip(&self.inner).for_each(|(first, edge)| *first /= edge);
        Ok(())
    }

    /// Only shards that are occupied are known to be whole inner chunks.
    fn check_occupied(&self, shard: &[u64]) -> Result<(), GridError> {
        self.shards.check_rank("chunk numbers", shard.len())?;
        for (d, (&chunk, &occupied)) in shard.iter().zip(self.shards.occupied()).enumerate() {
            if chunk >= occupied {
                return Err(GridError::ChunkNotOccupied { chunk, occupied }.on_axis(d));
            }
        }
        Ok(())
    }

    /// The inner chunks of one occupied shard that a region touches, in C order: those of
    /// [`ShardGrid::chunks`], numbered as there and placed in the region as there.
    ///
    /// # Errors
    /// [`GridError::Rank`]; on their axis [`GridError::ChunkNotOccupied`],
    /// [`GridError::RangeOutOfBounds`]; [`GridError::TooManyChunks`].
    ///
    /// # Examples
    /// ```
    /// use zarr_grid::{Axis, Grid, ShardGrid};
    ///
    /// let grid = ShardGrid::new(Grid::new([Axis::from_edges(20, [4, 16])?]), &[2])?;
    /// let mut chunks = grid.chunks_in_shard(&[0], &[1..9])?;
    /// let first = chunks.next_part().unwrap();
    /// assert_eq!((first.chunk, first.in_chunk, first.in_region, first.shape), (&[0][..], &[1][..], &[0][..], &[1][..]));
    /// let second = chunks.next_part().unwrap();
    /// assert_eq!((second.chunk, second.in_region, second.shape), (&[1][..], &[1][..], &[2][..]));
    /// assert!(chunks.next_part().is_none());
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn chunks_in_shard(
        &self,
        shard: &[u64],
        region: &[Range<u64>],
    ) -> Result<Chunks<'_>, GridError> {
        self.shards.check_rank("chunk numbers", shard.len())?;
        self.shards.check_rank("ranges", region.len())?;
        let axes = self.shards.axes().iter().zip(self.chunks.axes());
        Chunks::new(axes.zip(shard.iter().zip(region).zip(&self.inner)).enumerate().map(
            |(d, ((shards, chunks), ((&shard, range), inner)))| {
                let within = shards.clipped(shard).ok_or_else(|| {
                    let occupied = shards.occupied();
                    GridError::ChunkNotOccupied { chunk: shard, occupied }.on_axis(d)
                })?;
                let mut cuts = chunks.cuts(range.clone()).map_err(|error| error.on_axis(d))?;
                cuts.limit(within.start / inner..within.end.div_ceil(*inner));
                Ok(cuts)
            },
        ))
    }
}

fn inner_axis(shards: &Axis, inner: u64) -> Result<Axis, GridError> {
    if inner == 0 {
        return Err(GridError::ZeroEdge { position: 0 });
    }
    let mut shard = 0;
    for run in shards.occupied_runs() {
        if run.edge % inner != 0 {
            return Err(GridError::InnerEdge { inner, edge: run.edge, shard });
        }
        shard += run.count;
    }
    Axis::regular(shards.extent(), inner)
}
