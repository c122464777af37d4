//! Reading and writing single elements, chunk by chunk.

mod read;
mod write;

use crate::array::Array;
use crate::counts::{narrow, wide};
use crate::error::ArrayError;
use crate::selection::Points;
use crate::selection::points::chunk_of;

/// The chunk of a group of points.
pub(super) struct PointChunk {
    pub(super) chunk: Vec<u64>,
    /// Its shape as it is stored.
    pub(super) shape: Vec<u64>,
    /// The index of its first element in the array.
    pub(super) origin: Vec<u64>,
}

impl PointChunk {
    /// The chunk of the point at this position, which lies within the array.
    pub(super) fn of(array: &Array, points: &Points, position: usize) -> Result<Self, ArrayError> {
        let (mut chunk, mut shape, mut origin) = (Vec::new(), Vec::new(), Vec::new());
        for (axis, index) in array.grid().axes().iter().zip(points.index(position)) {
            let (number, within) = chunk_of(axis, index)?;
            chunk.push(number);
            shape.push(axis.edge(number).expect("a chunk of the axis"));
            origin.push(index - within);
        }
        Ok(Self { chunk, shape, origin })
    }

    /// The index of a point within the chunk.
    fn within(&self, points: &Points, position: usize) -> impl Iterator<Item = usize> {
        let axes = points.index(position).zip(&self.origin);
        axes.map(|(index, origin)| narrow(index - origin))
    }

    /// The numbers of the points' elements in C order of a box of the chunk.
    fn in_box(
        &self,
        points: &Points,
        group: &[usize],
        start: &[usize],
        shape: &[usize],
    ) -> Vec<usize> {
        let mut numbers = vec![0_usize; group.len()];
        let axes = points.axes().iter().zip(&self.origin).zip(start.iter().zip(shape));
        // Axis by axis, which is a loop without branches for each.
        for ((indices, origin), (start, length)) in axes {
            let first = origin + wide(*start);
            for (number, position) in numbers.iter_mut().zip(group) {
                let within = narrow(indices[*position] - first);
                *number = *number * length + within;
            }
        }
        numbers
    }

    /// The indices of points within the chunk, on each axis.
    pub(super) fn indices(&self, points: &Points, group: &[usize]) -> Vec<Vec<u64>> {
        let axes = points.axes().iter().zip(&self.origin);
        axes.map(|(axis, origin)| group.iter().map(|position| axis[*position] - origin).collect())
            .collect()
    }

    /// The numbers of the points' elements in C order of the chunk.
    pub(super) fn elements(&self, points: &Points, group: &[usize]) -> Vec<usize> {
        let shape: Vec<usize> = self.shape.iter().map(|edge| narrow(*edge)).collect();
        self.in_box(points, group, &vec![0; shape.len()], &shape)
    }
}

impl Array {
    /// The approximate bytes to decode for so many groups of points, to choose a number of
    /// threads.
    pub(super) fn bytes_of_groups(&self, groups: usize, element_size: usize) -> usize {
        let elements = narrow(self.grid().largest_chunk());
        groups.saturating_mul(elements).saturating_mul(element_size)
    }
}
