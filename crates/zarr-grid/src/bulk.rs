//! Many look-ups at once.

use core::ops::Range;

use crate::axis::{Axis, Layout};
use crate::error::GridError;

impl Axis {
    /// [`Axis::chunk_of`] for many indices, sorted or not.
    ///
    /// In a sorted list the indices of one chunk cost one search between them; in an unsorted one
    /// searches do not wait for one another.
    ///
    /// # Shapes and units
    /// `chunks` and `locals` are as long as `indices`.
    ///
    /// # Errors
    /// [`GridError::Length`]; [`GridError::IndexOutOfBounds`] for the first index past the extent,
    /// with the entries before it written.
    ///
    /// # Examples
    /// ```
    /// let axis = zarr_grid::Axis::from_edges(9, [2, 3, 4])?;
    /// let (mut chunks, mut locals) = ([0; 3], [0; 3]);
    /// axis.chunks_of(&[8, 2, 1], &mut chunks, &mut locals)?;
    /// assert_eq!((chunks, locals), ([2, 1, 0], [3, 0, 1]));
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn chunks_of(
        &self,
        indices: &[u64],
        chunks: &mut [u64],
        locals: &mut [u64],
    ) -> Result<(), GridError> {
        same_length("chunk numbers", chunks.len(), indices.len())?;
        same_length("local indices", locals.len(), indices.len())?;
        let extent = self.extent();
        let out = indices.iter().zip(chunks.iter_mut().zip(locals));
        if matches!(self.layout(), Layout::Uniform { .. }) || !indices.is_sorted() {
            for (&index, (chunk, local)) in out {
                if index >= extent {
                    return Err(GridError::IndexOutOfBounds { index, extent });
                }
                (*chunk, *local) = self.find(index);
            }
            return Ok(());
        }
        // In a sorted list the chunk found last is likely to hold the next index too.
        let (mut here, mut number): (Range<u64>, u64) = (0..0, 0);
        for (&index, (chunk, local)) in out {
            if !here.contains(&index) {
                if index >= extent {
                    return Err(GridError::IndexOutOfBounds { index, extent });
                }
                let (found, offset, edge) = self.find_edge(index);
                let start = index - offset;
                (here, number) = (start..extent.min(start + edge), found);
            }
            (*chunk, *local) = (number, index - here.start);
        }
        Ok(())
    }

    /// [`Axis::start`] and [`Axis::edge`] for many declared chunks, sorted or not.
    ///
    /// # Shapes and units
    /// `starts` and `edges` are as long as `chunks`.
    ///
    /// # Errors
    /// [`GridError::Length`]; [`GridError::ChunkOutOfBounds`] for the first chunk that is not
    /// declared, with the entries before it written.
    ///
    /// # Examples
    /// ```
    /// let axis = zarr_grid::Axis::from_edges(9, [2, 3, 4])?;
    /// let (mut starts, mut edges) = ([0; 2], [0; 2]);
    /// axis.spans_of(&[2, 0], &mut starts, &mut edges)?;
    /// assert_eq!((starts, edges), ([5, 0], [4, 2]));
    /// # Ok::<(), zarr_grid::GridError>(())
    /// ```
    pub fn spans_of(
        &self,
        chunks: &[u64],
        starts: &mut [u64],
        edges: &mut [u64],
    ) -> Result<(), GridError> {
        same_length("starts", starts.len(), chunks.len())?;
        same_length("edges", edges.len(), chunks.len())?;
        let declared = self.declared();
        for (&chunk, (start, edge)) in chunks.iter().zip(starts.iter_mut().zip(edges)) {
            if chunk >= declared {
                return Err(GridError::ChunkOutOfBounds { chunk, declared });
            }
            (*start, *edge) = self.span(chunk);
        }
        Ok(())
    }
}

fn same_length(what: &'static str, found: usize, expected: usize) -> Result<(), GridError> {
    if found == expected { Ok(()) } else { Err(GridError::Length { what, found, expected }) }
}
