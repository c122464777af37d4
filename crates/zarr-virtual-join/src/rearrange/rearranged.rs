//! The arrays of a document with their members in other places.

use std::fmt;
use std::ops::Range;

use zarr_array::{chunk_grid_of, grid_of};
use zarr_grid::{Axis, Grid, GridError, Run};
use zarr_join::JoinError;
use zarr_join::Member;
use zarr_join::rearrange::{Span, check_kept_once, whole_chunks};

use crate::document::{JoinedArray, MemberReference};
use crate::error::VirtualJoinError;
use crate::grid::{common, concatenated, occupied};
use crate::new_document::with_fitting_codecs;

/// Members that lie next to each other on the axis.
#[derive(Debug)]
pub(crate) enum Placed {
    /// The array's own.
    Own {
        /// Their numbers on the axis.
        members: Range<u64>,
        /// Their indices.
        indices: Range<u64>,
    },
    /// An inserted one.
    Inserted(Box<(Member, MemberReference)>),
}

fn unfit(place: String, reason: impl fmt::Display) -> VirtualJoinError {
    VirtualJoinError::Unfit { place, reason: reason.to_string() }
}

/// The members of spans.
pub(crate) fn place_spans(
    array: &JoinedArray,
    axis: usize,
    spans: Vec<Span<Box<(Member, MemberReference)>>>,
    place: &dyn Fn() -> String,
) -> Result<Vec<Placed>, VirtualJoinError> {
    let Some(own) = array.grid.axes().get(axis) else {
        return Err(VirtualJoinError::Axis { place: place(), axis, rank: array.grid.rank() });
    };
    let refused = |cause| unfit(place(), cause);
    let mut placed = Vec::new();
    for span in spans {
        match span {
            // A member without elements has no place in a grid.
            Span::Inserted(both) if both.0.array().shape().contains(&0) => {}
            Span::Inserted(both) => placed.push(Placed::Inserted(both)),
            Span::Kept(indices) => {
                let members = whole_chunks(own, axis, &indices, "member").map_err(refused)?;
                if !members.is_empty() {
                    placed.push(Placed::Own { members, indices });
                }
            }
        }
    }
    let kept = placed.iter().filter_map(|placed| match placed {
        Placed::Own { indices, .. } => Some(indices),
        Placed::Inserted(_) => None,
    });
    check_kept_once(axis, kept).map_err(refused)?;
    if placed.is_empty() {
        return Err(unfit(place(), format!("axis {axis}: no elements would remain")));
    }
    Ok(placed)
}

/// The new array, with counts of kept and inserted members.
pub(crate) struct RearrangedArray {
    pub(crate) array: JoinedArray,
    pub(crate) kept: usize,
    pub(crate) inserted: usize,
}

impl RearrangedArray {
    /// The array with an axis of these members.
    pub(crate) fn of(
        array: &JoinedArray,
        axis: usize,
        placed: &[Placed],
        place: &dyn Fn() -> String,
    ) -> Result<Self, VirtualJoinError> {
        let grid = |error: GridError| VirtualJoinError::from(JoinError::Grid(error.on_axis(axis)));
        let chunks = grid_of(array.metadata.shape(), array.metadata.chunk_grid());
        let chunks = chunks.map_err(JoinError::Grid)?;
        let chunk_axes = chunks.axes().iter().map(|axis| match axis.extent() {
            0 => Ok(axis.clone()),
            _ => occupied(axis),
        });
        let mut chunk_axes = chunk_axes.collect::<Result<Vec<_>, _>>().map_err(grid)?;
        let mut member_axes = array.grid.axes().to_vec();
        let mut members = Vec::new();
        let (mut member_runs, mut tiles) = (Vec::new(), Vec::new());
        let mut extent = 0_u64;
        let own = (member_axes.get(axis).cloned(), chunk_axes.get(axis).cloned());
        let (Some(own_members), Some(own_chunks)) = own else {
            return Err(VirtualJoinError::Axis { place: place(), axis, rank: member_axes.len() });
        };
        let (mut kept, mut inserted) = (0_usize, 0_usize);
        let (outer, inner) = around(&array.grid, axis);
        for placed in placed {
            let length = match placed {
                Placed::Own { members: numbers, indices } => {
                    let chunks = whole_chunks(&own_chunks, axis, indices, "member")
                        .map_err(|cause| unfit(place(), cause))?;
                    member_runs.extend(own_members.runs_of(numbers.clone()));
                    let length = indices.end - indices.start;
                    let runs = own_chunks.runs_of(chunks);
                    tiles.push(Axis::from_runs(length, runs).map_err(grid)?);
                    length
                }
                Placed::Inserted(both) => {
                    let found = both.0.array().grid().axes();
                    for (number, found) in found.iter().enumerate() {
                        // Where the axis of the member is in the array.
                        let at = match array.new_axis {
                            Some(new) if number >= new => number + 1,
                            _ => number,
                        };
                        if at == axis {
                            tiles.push(found.clone());
                        } else {
                            chunk_axes[at] = common(chunk_axes[at].clone(), found).map_err(grid)?;
                        }
                    }
                    let length = match array.new_axis {
                        Some(_) => {
                            tiles.push(Axis::regular(1, 1).map_err(grid)?);
                            1
                        }
                        None => both.0.array().shape()[axis],
                    };
                    member_runs.push(Run { edge: length, count: 1 });
                    length
                }
            };
            extent = extent.checked_add(length).ok_or_else(|| {
                let member = place().into();
                VirtualJoinError::from(JoinError::TooLong { member, axis })
            })?;
        }
        for outermost in 0..outer {
            for placed in placed {
                match placed {
                    Placed::Own { members: numbers, .. } => {
                        let row = outermost.saturating_mul(own_members.occupied());
                        let from = row.saturating_add(numbers.start).saturating_mul(inner);
                        let to = row.saturating_add(numbers.end).saturating_mul(inner);
                        let narrow = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
                        let found = &array.members[narrow(from)..narrow(to)];
                        kept += found.len();
                        members.extend_from_slice(found);
                    }
                    Placed::Inserted(both) => {
                        inserted += 1;
                        members.push(Some(both.1.clone()));
                    }
                }
            }
        }
        let of_members = Axis::from_runs(extent, member_runs).map_err(grid)?;
        let of_members = of_members.to_regular().unwrap_or(of_members);
        let of_chunks = concatenated(extent, &tiles).map_err(grid)?;
        member_axes[axis] = of_members;
        chunk_axes[axis] = of_chunks;
        let chunk_axes = chunk_axes.into_iter().map(|axis| axis.to_regular().unwrap_or(axis));
        let mut shape = array.metadata.shape().to_vec();
        shape[axis] = extent;
        let chunk_grid = chunk_grid_of(&Grid::new(chunk_axes.collect::<Vec<_>>()));
        let metadata = array.metadata.with_shape_and_grid(&shape, &chunk_grid);
        let metadata = with_fitting_codecs(metadata.map_err(JoinError::Metadata)?)?;
        let grid = Grid::new(member_axes);
        let (new_axis, missing) = (array.new_axis, array.missing);
        Ok(Self {
            array: JoinedArray { metadata, grid, new_axis, missing, members },
            kept,
            inserted,
        })
    }
}

/// The number of members on the axes before an axis, and on the axes after it. It is 0 on both
/// sides if one of these axes is empty: the document lists no members then, however many the others
/// claim.
fn around(grid: &Grid, axis: usize) -> (u64, u64) {
    let counts = grid.occupied();
    let product =
        |counts: &[u64]| counts.iter().fold(1_u64, |all, count| all.saturating_mul(*count));
    let (before, after) = (counts.get(..axis), counts.get(axis + 1..));
    let around = (product(before.unwrap_or_default()), product(after.unwrap_or_default()));
    if around.0 == 0 || around.1 == 0 { (0, 0) } else { around }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_axis_leaves_no_members_on_any_other() {
        let axis = |extent, edge| Axis::regular(extent, edge).expect("an axis");
        let grid = Grid::new([axis(1 << 60, 1), axis(3, 1), axis(0, 1)]);
        assert_eq!(around(&grid, 1), (0, 0));
        let grid = Grid::new([axis(4, 2), axis(3, 1), axis(5, 1)]);
        assert_eq!(around(&grid, 1), (2, 5));
        assert_eq!(around(&grid, 0), (1, 15));
    }
}
