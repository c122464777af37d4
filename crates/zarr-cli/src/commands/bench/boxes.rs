//! Divides a selection into boxes of whole chunks that fit in memory.

use std::ops::Range;

use zarr_kit::grid::Grid;
use zarr_kit::{AxisSelection, Selection};

/// The most chunks of a box: the time that a user allows is looked at between boxes.
const MOST_CHUNKS: u64 = 4096;

/// A part of a selection.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChunkBox {
    pub(super) region: Selection,
    /// The chunks in it; a list of indices that returns to a chunk counts it again.
    pub(super) chunks: u64,
}

/// The boxes of a selection in C order. Each has at most the given number of elements, unless one
/// chunk has more, and at most [`MOST_CHUNKS`].
#[derive(Clone, Debug)]
pub(super) struct Boxes<'a> {
    grid: &'a Grid,
    axes: Vec<AxisSelection>,
    /// The most chunks of a box on each axis.
    most: Vec<u64>,
    /// The most elements that the selection has in one chunk.
    pub(super) largest: u64,
    /// The next box; `None` after the last one.
    next: Option<Vec<AxisRange>>,
}

/// Positions of the selection on an axis, and the chunks that hold them.
#[derive(Clone, Debug)]
struct AxisRange {
    positions: Range<u64>,
    chunks: u64,
}

impl<'a> Boxes<'a> {
    pub(super) fn new(grid: &'a Grid, selection: &Selection, elements: u64) -> Self {
        // A mask would be searched from its start for each box.
        let axes: Vec<AxisSelection> = selection
            .axes()
            .iter()
            .map(|axis| match axis {
                AxisSelection::Mask(_) => axis.slice(0..u64::MAX),
                axis => axis.clone(),
            })
            .collect();
        let edges = axes.iter().zip(grid.axes()).map(|(selection, axis)| {
            let length = selection.len().max(1);
            (axis.max_edge().clamp(1, length), length)
        });
        let edges: Vec<(u64, u64)> = edges.collect();
        let chunk = edges.iter().fold(1_u64, |all, (edge, _)| all.saturating_mul(*edge));
        let mut left = (elements / chunk.max(1)).clamp(1, MOST_CHUNKS);
        let mut most: Vec<u64> = edges
            .iter()
            .rev()
            .map(|(edge, length)| {
                let taken = left.min(length.div_ceil(*edge));
                left /= taken;
                taken
            })
            .collect();
        most.reverse();
        let largest = if axes.iter().any(AxisSelection::is_empty) { 0 } else { chunk };
        let mut boxes = Self { grid, axes, most, largest, next: None };
        let first = (0..boxes.axes.len()).map(|axis| boxes.cut(axis, 0));
        boxes.next = first.collect();
        boxes
    }

    /// The positions of an axis from `start` on that are in one box; `None` at its end.
    fn cut(&self, axis: usize, start: u64) -> Option<AxisRange> {
        let (selection, chunks) = (self.axes.get(axis)?, self.grid.axes().get(axis)?);
        let most = *self.most.get(axis)?;
        let mut cut = AxisRange { positions: start..start, chunks: 0 };
        while cut.chunks < most
            && let Some(end) = chunks.next_chunk_position(selection, cut.positions.end)
        {
            cut.positions.end = end.min(selection.len());
            cut.chunks += 1;
        }
        (cut.chunks > 0).then_some(cut)
    }
}

impl Iterator for Boxes<'_> {
    type Item = ChunkBox;

    fn next(&mut self) -> Option<ChunkBox> {
        let mut cuts = self.next.take()?;
        let region =
            self.axes.iter().zip(&cuts).map(|(axis, cut)| axis.slice(cut.positions.clone()));
        let chunks = cuts.iter().fold(1_u64, |all, cut| all.saturating_mul(cut.chunks));
        let part = ChunkBox { region: region.collect(), chunks };
        for axis in (0..cuts.len()).rev() {
            let end = cuts.get(axis)?.positions.end;
            if let Some(cut) = self.cut(axis, end) {
                *cuts.get_mut(axis)? = cut;
                self.next = Some(cuts);
                break;
            }
            *cuts.get_mut(axis)? = self.cut(axis, 0)?;
        }
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Boxes;
    use zarr_kit::Selection;
    use zarr_kit::grid::{Axis, Grid};

    fn grid(shape: &[u64], edges: &[&[u64]]) -> Grid {
        let axes = shape.iter().zip(edges);
        let axes = axes.map(|(length, edges)| Axis::from_edges(*length, edges.iter().copied()));
        Grid::new(axes.collect::<Result<Vec<_>, _>>().expect("a grid"))
    }

    /// Each element of a selection is in exactly one box, in order of each axis. No box has more
    /// elements than allowed, unless it is in one chunk.
    #[test]
    fn boxes_make_up_the_selection() {
        let grid = grid(&[7, 10], &[&[3, 1, 2, 4], &[4, 6]]);
        for text in ["", "1:6", "::-2", "0:0", ":,5:6", "2:7:3,9:0:-1", "[6,0,0,5],::3", "5", "3,4"]
        {
            let region = Selection::parse(text, &[7, 10]).expect("a region");
            let expected: Vec<Vec<u64>> = indices(&region);
            for most in [1, 7, 12, 30, 1000] {
                let mut found = Vec::new();
                for part in Boxes::new(&grid, &region, most) {
                    let elements = indices(&part.region);
                    let chunks: BTreeSet<_> = elements.iter().map(|at| chunk(&grid, at)).collect();
                    let listed = text.starts_with('[');
                    assert!(
                        listed || part.chunks == u64::try_from(chunks.len()).expect("few"),
                        "{text} {most}"
                    );
                    let count = u64::try_from(elements.len()).expect("few");
                    assert!(count <= most || part.chunks == 1, "{text} {most}: {part:?}");
                    found.extend(elements);
                }
                let sorted = |mut list: Vec<Vec<u64>>| {
                    list.sort();
                    list
                };
                assert_eq!(sorted(found), sorted(expected.clone()), "{text} {most}");
            }
        }
    }

    fn chunk(grid: &Grid, index: &[u64]) -> Vec<u64> {
        let axes = grid.axes().iter().zip(index);
        axes.map(|(axis, index)| axis.chunk_of(*index).expect("within").0).collect()
    }

    fn indices(region: &Selection) -> Vec<Vec<u64>> {
        let mut all = vec![Vec::new()];
        for axis in region.axes() {
            let indices: Vec<u64> = axis.indices().collect();
            all = all
                .iter()
                .flat_map(|start| indices.iter().map(|index| [&start[..], &[*index]].concat()))
                .collect();
        }
        all
    }

    #[test]
    fn tiny_chunks_are_several_boxes() {
        let axes = [Axis::regular(300, 2), Axis::regular(100, 1)];
        let grid = Grid::new(axes.into_iter().collect::<Result<Vec<_>, _>>().expect("a grid"));
        let region = Selection::whole(&[300, 100]);
        let boxes: Vec<u64> = Boxes::new(&grid, &region, 1 << 20).map(|part| part.chunks).collect();
        assert_eq!(boxes.iter().sum::<u64>(), 15_000);
        assert!(boxes.len() > 3 && boxes.iter().all(|chunks| *chunks <= 4096), "{boxes:?}");
    }

    #[test]
    fn a_single_element_is_one_box() {
        let grid = grid(&[], &[]);
        let region = Selection::parse("", &[]).expect("a region");
        let parts: Vec<u64> = Boxes::new(&grid, &region, 1).map(|part| part.chunks).collect();
        assert_eq!(parts, [1]);
    }
}
