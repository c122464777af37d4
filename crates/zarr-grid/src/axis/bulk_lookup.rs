//! Many look-ups at once.

use core::ops::Range;

use crate::axis::Axis;
use crate::axis::storage::AxisStorage;
use crate::error::{GridError, GridErrorKind};

impl Axis {
    /// [`Axis::chunk_of`] for many indices, sorted or not.
    ///
    /// In a sorted list, all indices of one chunk together cost one search. In an unsorted list, the
    /// searches do not depend on one another and overlap.
    ///
    /// # Shapes and units
    /// `chunks` and `locals` are as long as `indices`.
    ///
    /// # Errors
    /// [`GridErrorKind::Length`]; [`GridErrorKind::IndexOutOfBounds`] for the first index past the extent,
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
        let outside = |index: u64| GridErrorKind::IndexOutOfBounds { index, extent };
        let sorted = indices.is_sorted();
        if let (AxisStorage::Explicit(boundaries), false) = (self.storage(), sorted) {
            let inside = indices.iter().take_while(|&&index| index < extent).count();
            boundaries.find_each(&indices[..inside], &mut chunks[..inside], &mut locals[..inside]);
            return indices.get(inside).map_or(Ok(()), |&index| Err(outside(index).into()));
        }
        let out = indices.iter().zip(chunks.iter_mut().zip(locals));
        if matches!(self.storage(), AxisStorage::Uniform { .. }) || !sorted {
            for (&index, (chunk, local)) in out {
                if index >= extent {
                    return Err(outside(index).into());
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
                    return Err(outside(index).into());
                }
                let (found, offset, edge) = self.find_edge(index);
                let start = index - offset;
                (here, number) = (start..extent.min(start + edge), found);
            }
            (*chunk, *local) = (number, index - here.start);
        }
        Ok(())
    }
}

fn same_length(what: &'static str, found: usize, expected: usize) -> Result<(), GridError> {
    if found == expected {
        Ok(())
    } else {
        Err(GridErrorKind::Length { what, found, expected }.into())
    }
}
