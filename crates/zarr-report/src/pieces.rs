//! The pieces in which the elements of an array are read.
//!
//! Of an array with far more chunks than objects, only tasks with stored chunks are read: all other
//! elements are the fill value.

use std::ops::Range;

use zarr_array::{Array, ArrayError, AxisSelection, Selection, StoredTasks};

use crate::{PIECE, ReportError};

/// Chunks of a task in an array that has few of them.
const CHUNKS_PER_TASK: u64 = 64;

/// Tasks that are known at a time, each some hundred bytes.
const MOST_TASKS: usize = 1 << 16;

/// The number of elements of a selection.
///
/// # Errors
/// [`ReportError::TooMany`].
pub(crate) fn elements(region: &Selection) -> Result<u64, ReportError> {
    region.elements().ok_or_else(|| ReportError::TooMany { shape: region.shape() })
}

/// The tasks with stored chunks of `array`, if it stores few of many chunks. Tasks are groups of
/// chunks of `grid_of`, an array of the same shape.
pub(crate) fn stored_tasks<'a>(
    array: &'a Array,
    grid_of: &Array,
    chunks: u64,
) -> Result<Option<StoredTasks<'a>>, ArrayError> {
    if !array.is_sparse(chunks) {
        return Ok(None);
    }
    let grid = grid_of.grid();
    let size = u64::try_from(array.element_size().max(1)).unwrap_or(u64::MAX);
    let most = grid.largest_chunk().saturating_mul(CHUNKS_PER_TASK).min(PIECE / size);
    let tasks = grid.grouped(most, None).map_err(|cause| ArrayError::Grid {
        key: zarr_array::node::metadata_key(array.prefix()),
        cause,
    })?;
    Ok(Some(StoredTasks::new(array, tasks, MOST_TASKS)))
}

/// The pieces of a region that may differ from the fill value, each element once; in C order of the
/// region unless the array stores few of its chunks.
pub(crate) fn pieces<'a>(
    array: &'a Array,
    region: &'a Selection,
) -> Result<Box<dyn Iterator<Item = Result<Selection, ArrayError>> + 'a>, ArrayError> {
    let chunks = array.layout().plan(region)?.len();
    // Lists of indices are as long as the caller made them.
    let is_regular =
        |axis: &AxisSelection| !matches!(axis, AxisSelection::Indices(_) | AxisSelection::Mask(_));
    if region.axes().iter().all(is_regular)
        && let Some(tasks) = stored_tasks(array, array, chunks)?
    {
        let in_region = tasks.filter_map(move |task| match task {
            Ok((_, task)) => within(region, &task).map(Ok),
            Err(error) => Some(Err(error)),
        });
        return Ok(Box::new(in_region.flat_map(|piece| {
            let batches = piece.and_then(|piece| array.batches(&piece, PIECE));
            let (batches, error) = match batches {
                Ok(batches) => (Some(batches), None),
                Err(error) => (None, Some(Err(error))),
            };
            batches.into_iter().flatten().map(Ok).chain(error)
        })));
    }
    Ok(Box::new(array.batches(region, PIECE)?.map(Ok)))
}

/// The part of a region in a box, ascending; `None` if there is none, or an axis is a list.
fn within(region: &Selection, task: &[Range<u64>]) -> Option<Selection> {
    let axes = region.axes().iter().zip(task).map(|(axis, task)| {
        let bounds = axis.bounds();
        let step = match axis {
            AxisSelection::Index(_) | AxisSelection::Range(_) => 1,
            AxisSelection::Step { step, .. } => step.unsigned_abs().max(1),
            _ => return None,
        };
        let skipped = task.start.saturating_sub(bounds.start).div_ceil(step);
        let start = bounds.start.saturating_add(skipped.saturating_mul(step));
        let range = start..bounds.end.min(task.end);
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        (!range.is_empty()).then_some(AxisSelection::Step { range, step })
    });
    Some(Selection::new(axes.collect::<Option<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every selection of few indices, against a loop over its indices.
    #[test]
    fn a_box_has_the_selected_indices_within_it() {
        let mut axes: Vec<AxisSelection> = (0..9).map(AxisSelection::Index).collect();
        for start in 0..9_u64 {
            for end in start..=9 {
                axes.push((start..end).into());
                for step in [1, 2, 3, 8, 20, -1, -2, -5, i64::MIN] {
                    axes.push(AxisSelection::Step { range: start..end, step });
                }
            }
        }
        let indices = |axis: &AxisSelection| {
            let mut all: Vec<u64> = axis.indices().collect();
            all.sort_unstable();
            all
        };
        for axis in axes {
            for (start, end) in [(0, 9), (0, 3), (3, 6), (6, 9), (4, 5)] {
                let region = Selection::new(vec![axis.clone()]);
                let found = within(&region, std::slice::from_ref(&(start..end)));
                let found = found.map_or_else(Vec::new, |found| indices(&found.axes()[0]));
                let mut expected = indices(&axis);
                expected.retain(|index| (start..end).contains(index));
                assert_eq!(found, expected, "{axis:?} in {start}..{end}");
            }
        }
    }
}
