//! Appending, also to stores without locks.

use zarr_kit::array::Cut;
use zarr_kit::grid::Run;
use zarr_kit::{Array, ArrayError, Selection};

/// Appends by `at_once`, which makes the new elements visible together. If the store has no locks,
/// as on object storage, the array grows first, on the condition that nobody else has changed it;
/// then `write` writes the new elements.
pub(crate) fn append(
    array: &Array,
    axis: usize,
    count: u64,
    edges: &[Run],
    at_once: impl FnOnce(&Array) -> Result<Array, ArrayError>,
    write: impl FnOnce(&Array, Selection) -> Result<(), ArrayError>,
) -> Result<Array, ArrayError> {
    match at_once(array) {
        Err(ArrayError::NoLock { .. }) => {}
        result => return result,
    }
    let (mut shape, mut added) = (array.shape().to_vec(), vec![Vec::new(); array.shape().len()]);
    let mut new: Vec<_> = shape.iter().map(|length| 0..*length).collect();
    let parts = (shape.get_mut(axis), new.get_mut(axis), added.get_mut(axis));
    let (Some(length), Some(range), Some(runs)) = parts else {
        return Err(ArrayError::Axis { axis, rank: array.shape().len() });
    };
    *range = *length..length.saturating_add(count);
    *length = range.end;
    *runs = edges.to_vec();
    let grown = array.resize(&shape, &added, Cut::Keep)?;
    write(&grown, Selection::from(new.as_slice()))?;
    Ok(grown)
}
