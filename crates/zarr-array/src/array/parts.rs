//! The regions of an array that one part of a job works on.

use super::Array;
use crate::error::ArrayError;
use crate::node;
use crate::part::Part;
use crate::selection::Selection;

impl Part {
    /// The regions of an array that are this part: whole chunks, in C order. There are at most two
    /// regions per axis, and none if the array has too few chunks.
    ///
    /// # Errors
    /// [`ArrayError::Grid`] if the array has more chunks than `u64` counts.
    pub fn regions(self, array: &Array) -> Result<Vec<Selection>, ArrayError> {
        let owned = self.chunks(array.grid(), array.prefix().as_str());
        let owned = owned.map_err(|cause| node::grid_error(array.prefix(), cause))?;
        let boxes = owned.regions(array.grid());
        Ok(boxes.iter().map(|region| Selection::from(region.as_slice())).collect())
    }
}
