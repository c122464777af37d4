//! The location of an array's chunks, without their content.

mod batches;
mod chunk_keys;
pub(crate) mod grid;
mod part;
mod region_plan;

use std::ops::Range;
use std::sync::Arc;

use zarr_grid::{Grid, GridError, SelectedChunks};
use zarr_metadata::{ArrayMetadata, ChunkGrid, ChunkKeyEncoding};

use crate::documents::metadata_key;
use crate::error::{ArrayError, grid_error};
use crate::selection::Selection;
use crate::store::{Key, KeyError, Prefix};

pub use batches::Batches;
pub(crate) use chunk_keys::ChunkKeys;
pub(crate) use grid::occupied_edges;
pub use grid::{chunk_grid_of, edges_of, grid_of};
pub use part::{OwnedChunks, Part, PartError};
pub(crate) use region_plan::in_chunk;
pub use region_plan::{PlannedChunk, RegionPlan};

/// The location of an array's chunks: its prefix in the store, the encoding of its chunk keys,
/// and its chunk grid.
///
/// It is made from the metadata document alone and needs no codec. So arrays with an unsupported
/// data type or unsupported codecs have a layout as well. [`Array::layout`](crate::Array::layout)
/// returns the layout of an open array.
///
/// # Examples
/// ```
/// use zarr_array::ChunkLayout;
/// use zarr_array::store::{Key, Prefix};
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// let metadata = ArrayBuilder::new([10, 6], DataType::String).chunk_shape([4, 4]).build()?;
/// let layout = ChunkLayout::new(&Prefix::new("names")?, &metadata)?;
/// assert_eq!(layout.grid().occupied(), [3, 2]);
///
/// let (chunk, within) = layout.locate(&[9, 5])?;
/// assert_eq!((chunk.as_slice(), within.as_slice()), ([2, 1].as_slice(), [1, 1].as_slice()));
/// assert_eq!(layout.key(&chunk)?.as_str(), "names/c/2/1");
/// assert_eq!(layout.chunk_shape(&chunk)?, [4, 4]); // as it is stored
/// assert_eq!(layout.chunk_region(&chunk)?, [8..10, 4..6]); // clipped to the array
///
/// assert_eq!(layout.chunk_of_key(&Key::new("names/c/2/1")?), Some(chunk));
/// assert_eq!(layout.chunk_of_key(&Key::new("names/notes.txt")?), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Spec
/// Zarr core 3.1, "Chunk grids" and "Chunk key encoding"; zarr-extensions
/// `chunk-grids/rectilinear`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkLayout {
    prefix: Prefix,
    key_encoding: ChunkKeyEncoding,
    /// Shared by arrays that are alike.
    grid: Arc<Grid>,
}

impl ChunkLayout {
    /// The layout of the chunks of the array at `prefix` with this document. Does not access a
    /// store.
    ///
    /// # Errors
    /// [`ArrayError::Grid`] if the document's chunk grid does not fit its shape.
    /// [`ArrayError::Unknown`] if the grid or the encoding of chunk keys is not known here.
    pub fn new(prefix: &Prefix, metadata: &ArrayMetadata) -> Result<Self, ArrayError> {
        let unknown = |member, name: &str| ArrayError::Unknown {
            key: metadata_key(prefix),
            member,
            name: name.to_owned(),
        };
        if let ChunkGrid::Unknown(grid) = metadata.chunk_grid() {
            return Err(unknown("chunk_grid", grid.name()));
        }
        if let ChunkKeyEncoding::Unknown(encoding) = metadata.chunk_key_encoding() {
            return Err(unknown("chunk_key_encoding", encoding.name()));
        }
        let grid = grid_of(metadata.shape(), metadata.chunk_grid())
            .map_err(|cause| grid_error(prefix, cause))?;
        let key_encoding = metadata.chunk_key_encoding().clone();
        Ok(Self { prefix: prefix.clone(), key_encoding, grid: Arc::new(grid) })
    }

    /// The same chunks at another place.
    pub(crate) fn at(&self, prefix: &Prefix) -> Self {
        Self { prefix: prefix.clone(), ..self.clone() }
    }

    /// The path of the array in the store.
    #[must_use]
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The encoding of chunk keys below the prefix.
    #[must_use]
    pub fn key_encoding(&self) -> &ChunkKeyEncoding {
        &self.key_encoding
    }

    /// The chunk grid: the array's shape, and the numbers of declared and occupied chunks.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The key of a chunk: `c/0/1`, below the array's prefix. Does not check that the grid
    /// declares the chunk.
    ///
    /// # Errors
    /// [`KeyError`] if the key is too long.
    pub fn key(&self, chunk: &[u64]) -> Result<Key, KeyError> {
        // A separator and a few digits per axis.
        let length = chunk.len().saturating_mul(6).saturating_add(1);
        self.prefix.key_of(length, |text| self.key_encoding.encode_into(chunk, text))
    }

    /// The chunk with this key, whether or not the grid declares it; `None` if it is not the key
    /// of a chunk.
    #[must_use]
    pub fn chunk_of_key(&self, key: &Key) -> Option<Vec<u64>> {
        self.key_encoding.decode(self.prefix.strip(key)?, self.grid.rank())
    }

    /// Whether the grid declares a chunk of these numbers. It may lie past the array's end (SD-05).
    #[must_use]
    pub fn is_declared(&self, chunk: &[u64]) -> bool {
        is_within(chunk, self.grid.declared())
    }

    /// Whether the array has elements in the chunk of these numbers (SD-05).
    #[must_use]
    pub fn is_occupied(&self, chunk: &[u64]) -> bool {
        is_within(chunk, self.grid.occupied())
    }

    /// The chunk that holds an element of the array, and the element's index within the chunk.
    ///
    /// # Errors
    /// [`GridError`] for an index outside the array, or of another rank.
    pub fn locate(&self, index: &[u64]) -> Result<(Vec<u64>, Vec<u64>), GridError> {
        let (mut chunk, mut within) = (vec![0; self.grid.rank()], vec![0; self.grid.rank()]);
        self.grid.locate(index, &mut chunk, &mut within)?;
        Ok((chunk, within))
    }

    /// The chunks that a selection touches.
    pub(crate) fn select(&self, selection: &Selection) -> Result<SelectedChunks<'_>, ArrayError> {
        self.grid.select(selection.axes()).map_err(|cause| ArrayError::Selection { cause })
    }

    /// The shape at which a declared chunk is stored, which is never clipped (SD-05).
    ///
    /// # Errors
    /// [`GridError`] for a chunk that is not declared, or of another rank.
    pub fn chunk_shape(&self, chunk: &[u64]) -> Result<Vec<u64>, GridError> {
        let mut shape = vec![0; self.grid.rank()];
        self.grid.chunk_shape(chunk, &mut shape)?;
        Ok(shape)
    }

    /// The elements of the array in a declared chunk, as one range per axis: empty on an axis where
    /// the chunk lies past the array's end.
    ///
    /// # Errors
    /// [`GridError`] for a chunk that is not declared, or of another rank.
    pub fn chunk_region(&self, chunk: &[u64]) -> Result<Vec<Range<u64>>, GridError> {
        let rank = self.grid.rank();
        let (mut origin, mut clipped) = (vec![0; rank], vec![0; rank]);
        self.grid.chunk_origin(chunk, &mut origin)?;
        self.grid.clipped_shape(chunk, &mut clipped)?;
        let ends = origin.iter().zip(&clipped).zip(self.grid.shape());
        Ok(ends
            .map(|((start, length), extent)| {
                let start = *start.min(extent);
                start..start + length
            })
            .collect())
    }
}

fn is_within(chunk: &[u64], counts: &[u64]) -> bool {
    chunk.len() == counts.len() && chunk.iter().zip(counts).all(|(chunk, count)| chunk < count)
}
