//! `rectilinear` on zarr-grid.

use std::borrow::Cow;
use std::num::NonZeroU64;

use zarr_grid::{Axis, AxisKind, Grid, GridError, Run};
use zarr_metadata::ChunkEdges;
use zarrs_chunk_grid::{
    ArrayIndices, ArrayShape, ChunkGrid, ChunkGridTraits, ChunkShape,
    IncompatibleDimensionalityError,
};
use zarrs_metadata::Configuration;
use zarrs_metadata::v3::MetadataV3;
use zarrs_plugin::{ExtensionName, PluginCreateError, ZarrVersion};

use crate::{configuration, name_in, read};

/// The chunk grid `rectilinear`.
///
/// Its shape is the number of occupied chunks along each axis: chunks beyond the array are never
/// stored. An axis of length 0 with one chunk length goes on without end, as in zarrs' own grid.
#[derive(Debug, Clone)]
pub struct RectilinearGrid {
    grid: Grid,
    /// As written, so that an integer stays one.
    document: zarr_metadata::ChunkGrid,
}

impl RectilinearGrid {
    /// The name in documents.
    pub const NAME: &str = "rectilinear";

    /// The grid of a document, for an array of this shape.
    ///
    /// # Errors
    /// If zarr-metadata refuses the configuration, or the edges do not fit the shape.
    pub fn from_metadata(metadata: &MetadataV3, shape: &[u64]) -> Result<Self, PluginCreateError> {
        let document = read(metadata, zarr_metadata::ChunkGrid::from_json)?;
        let zarr_metadata::ChunkGrid::Rectilinear { chunk_shapes } = &document else {
            return Err(PluginCreateError::NameInvalid { name: metadata.name().to_owned() });
        };
        if chunk_shapes.len() != shape.len() {
            let (found, rank) = (chunk_shapes.len(), shape.len());
            let text = format!("{}: {found} axes of edges for {rank} dimensions", Self::NAME);
            return Err(PluginCreateError::Other(text));
        }
        let axes = chunk_shapes.iter().zip(shape).enumerate();
        let axes = axes
            .map(|(at, (edges, extent))| axis(*extent, edges).map_err(|error| error.on_axis(at)));
        let grid = axes.collect::<Result<Grid, GridError>>();
        let grid =
            grid.map_err(|error| PluginCreateError::Other(format!("{}: {error}", Self::NAME)))?;
        Ok(Self { grid, document })
    }

    /// What `of` gives for each axis, if it gives it for all.
    fn each<T>(
        &self,
        indices: &[u64],
        of: impl Fn(&Axis, u64) -> Option<T>,
    ) -> Result<Option<Vec<T>>, IncompatibleDimensionalityError> {
        let axes = self.grid.axes();
        if indices.len() != axes.len() {
            return Err(IncompatibleDimensionalityError::new(indices.len(), axes.len()));
        }
        Ok(axes.iter().zip(indices).map(|(axis, index)| of(axis, *index)).collect())
    }
}

fn axis(extent: u64, edges: &ChunkEdges) -> Result<Axis, GridError> {
    match edges {
        ChunkEdges::Regular(edge) => Axis::regular(extent, *edge),
        ChunkEdges::Runs(runs) => {
            let runs = runs.iter().map(|run| Run { edge: run.edge(), count: run.count() });
            Axis::from_runs(extent, runs)
        }
    }
}

/// The chunk length of an axis without end.
fn endless(axis: &Axis) -> Option<u64> {
    match axis.kind() {
        AxisKind::Regular { edge } if axis.extent() == 0 => Some(edge),
        _ => None,
    }
}

fn origin(axis: &Axis, chunk: u64) -> Option<u64> {
    match endless(axis) {
        Some(edge) => chunk.checked_mul(edge),
        None => axis.start(chunk),
    }
}

fn edge(axis: &Axis, chunk: u64) -> Option<u64> {
    endless(axis).or_else(|| axis.edge(chunk))
}

/// The chunk of an index, and the index within it.
fn locate(axis: &Axis, index: u64) -> Option<(u64, u64)> {
    match endless(axis) {
        Some(edge) => Some((index.checked_div(edge)?, index.checked_rem(edge)?)),
        None => axis.chunk_of(index),
    }
}

impl ExtensionName for RectilinearGrid {
    fn name(&self, version: ZarrVersion) -> Option<Cow<'static, str>> {
        name_in(version, Self::NAME)
    }
}

// SAFETY: chunks are disjoint, since along each axis a chunk starts where the one before it ends: an
// `Axis` of zarr-grid is a list of edges of at least 1 whose sums it has checked, and an axis without
// end has multiples of one edge. Every method that takes indices refuses those of another number of
// dimensions, and returns one number for each axis of the grid (`each`); shapes are those of the grid,
// whose axes are as many as the array's dimensions (`from_metadata`).
unsafe impl ChunkGridTraits for RectilinearGrid {
    fn create(
        metadata: &MetadataV3,
        array_shape: &ArrayShape,
    ) -> Result<ChunkGrid, PluginCreateError> {
        Ok(Self::from_metadata(metadata, array_shape)?.into())
    }

    fn configuration(&self) -> Configuration {
        configuration(&self.document.to_json())
    }

    fn dimensionality(&self) -> usize {
        self.grid.rank()
    }

    fn array_shape(&self) -> &[u64] {
        self.grid.shape()
    }

    fn grid_shape(&self) -> &[u64] {
        self.grid.occupied()
    }

    fn chunk_shape(
        &self,
        chunk: &[u64],
    ) -> Result<Option<ChunkShape>, IncompatibleDimensionalityError> {
        self.each(chunk, |axis, chunk| NonZeroU64::new(edge(axis, chunk)?))
    }

    fn chunk_shape_u64(
        &self,
        chunk: &[u64],
    ) -> Result<Option<ArrayShape>, IncompatibleDimensionalityError> {
        self.each(chunk, edge)
    }

    fn chunk_origin(
        &self,
        chunk: &[u64],
    ) -> Result<Option<ArrayIndices>, IncompatibleDimensionalityError> {
        self.each(chunk, origin)
    }

    fn chunk_indices(
        &self,
        index: &[u64],
    ) -> Result<Option<ArrayIndices>, IncompatibleDimensionalityError> {
        self.each(index, |axis, index| Some(locate(axis, index)?.0))
    }

    fn chunk_element_indices(
        &self,
        index: &[u64],
    ) -> Result<Option<ArrayIndices>, IncompatibleDimensionalityError> {
        self.each(index, |axis, index| Some(locate(axis, index)?.1))
    }
}
