//! Errors that several modules find.

use zarr_grid::GridError;

use crate::counts::wide;
use crate::documents::metadata_key;
use crate::error::ArrayError;
use crate::store::Prefix;

/// The error of an array's chunk grid, at its document.
pub(crate) fn grid_error(prefix: &Prefix, cause: GridError) -> ArrayError {
    ArrayError::Grid { key: metadata_key(prefix), cause }
}

/// Refuses another number of elements than this shape has.
pub(crate) fn check_count(found: usize, shape: &[u64]) -> Result<(), ArrayError> {
    if wide(found) == shape.iter().copied().fold(1, u64::saturating_mul) {
        return Ok(());
    }
    Err(ArrayError::ElementCount { found: wide(found), expected: shape.to_vec() })
}
