//! Orthogonal selections: a range, a stepped range or a list of indices on each axis.

use zarr_codec::{Order, Slice};
use zarr_grid::{
    AxisPart, AxisSelection, ChunkPart, Grid, PartIndices, SelectedAxis, SelectedChunks,
};
use zarr_view::{CopyError, Output, View};

use super::Array;
use super::worker::Worker;
use super::written::Log;
use crate::error::ArrayError;
use crate::index_moves::{IndexMoves, Pair};
use crate::parallel;
use crate::transfer::{Part, bytes_of, check_length, narrow, room};

impl Array {
    /// Reads an orthogonal selection: the product of what is selected on each axis, in C order,
    /// lists in their order and with their repetitions. numpy's `a[np.ix_(...)]`, zarr-python's
    /// `oindex`.
    ///
    /// Each chunk that the selection meets is read once; of a chunk that can be read in part, the
    /// box around the selected elements.
    ///
    /// # Errors
    /// [`ArrayError`] names the axis and what was selected there, or the chunk that could not be
    /// read.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, Region};
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([4, 3], DataType::Uint8).chunk_shape([2, 2]).build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    /// array.write(&Region::whole(&[4, 3]), &[0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32])?;
    /// let rows = [3, 0, 3].into();
    /// assert_eq!(array.read_orthogonal(&[rows, (1..3).into()])?, [31, 32, 1, 2, 31, 32]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_orthogonal(&self, selects: &[AxisSelection<'_>]) -> Result<Vec<u8>, ArrayError> {
        let plan = Orthogonal::new(self, selects)?;
        let mut out = self.buffer(&plan)?;
        self.read_planned(&plan, &mut out)?;
        Ok(out)
    }

    /// As [`read_orthogonal`](Array::read_orthogonal), into the caller's bytes.
    ///
    /// # Errors
    /// As [`read_orthogonal`](Array::read_orthogonal), and [`ArrayError::BufferLength`] unless
    /// `out` is as long as the selection. `out` may be partly written.
    pub fn read_orthogonal_into(
        &self,
        selects: &[AxisSelection<'_>],
        out: &mut [u8],
    ) -> Result<(), ArrayError> {
        let plan = Orthogonal::new(self, selects)?;
        check_length(out.len(), plan.length)?;
        self.read_planned(&plan, out)
    }

    /// Writes an orthogonal selection from its elements in C order. Of an index that a list
    /// repeats, the last element stays.
    ///
    /// # Errors
    /// [`ArrayError`] as for [`write`](Array::write), and as for
    /// [`read_orthogonal`](Array::read_orthogonal) about the selection.
    pub fn write_orthogonal(
        &self,
        selects: &[AxisSelection<'_>],
        elements: &[u8],
    ) -> Result<(), ArrayError> {
        let key = self.prefix().key(crate::node::METADATA_KEY)?;
        let chain = |cause| ArrayError::Chain { key: key.to_string(), cause };
        self.chain().check_writable().map_err(chain)?;
        let plan = Orthogonal::new(self, selects)?;
        check_length(elements.len(), plan.length)?;
        let size = self.element_size();
        let total = plan.selection.len();
        let log = Log::default();
        parallel::for_each(
            total,
            self.threads_for(elements.len()),
            || Worker::new(self),
            |worker, range| {
                let mut done = log.start(range.start);
                let mut parts = plan.selection.parts().range(range);
                while let Some(part) = parts.next_part() {
                    let Worker { keys, codecs, buffers } = &mut *worker;
                    let (key, codec) = (keys.of(part.chunk())?, codecs.of(part.chunk_shape())?);
                    let pairs: Vec<Vec<Pair>> = part
                        .axes()
                        .iter()
                        .map(|axis| each(axis).map(|(chunk, selected)| (selected, chunk)).collect())
                        .collect();
                    let moves = IndexMoves::new(&pairs, &plan.shape, codec.shape(), size);
                    // In C order, which is what the moves are made for.
                    self.change_chunk(key, codec, Order::C, buffers, |_, decoded| {
                        moves.run(elements, decoded);
                        Ok(())
                    })?;
                    done.one_more();
                }
                Ok(())
            },
        )
        .map_err(|cause| {
            let cause = self.explain_loss(cause, elements, &plan.shape, |axis, at| {
                plan.index(self.grid(), axis, at).unwrap_or_default()
            });
            log.incomplete(plan.chunks(), total, cause)
        })
    }

    fn buffer(&self, plan: &Orthogonal<'_>) -> Result<Vec<u8>, ArrayError> {
        zarr_view::zeroed(plan.length).map_err(|_| plan.too_large(self.element_size()))
    }

    fn read_planned(&self, plan: &Orthogonal<'_>, out: &mut [u8]) -> Result<(), ArrayError> {
        let Some(order) = plan.order() else { return self.read_by_chunk(plan, out) };
        // Lists that go back and forth between chunks: first all in the order of the chunks.
        let mut by_chunk = self.buffer(plan)?;
        self.read_by_chunk(plan, &mut by_chunk)?;
        IndexMoves::new(&order, &plan.shape, &plan.shape, self.element_size()).run(&by_chunk, out);
        Ok(())
    }

    /// Reads the selection with every list in the order of the chunks.
    fn read_by_chunk(&self, plan: &Orthogonal<'_>, out: &mut [u8]) -> Result<(), ArrayError> {
        let size = self.element_size();
        let threads = self.threads_for(out.len());
        let view = View::contiguous(&plan.shape).map_err(CopyError::from)?;
        let cuts: Vec<&[usize]> = plan.axes.iter().map(|axis| &*axis.cuts).collect();
        let places = Output::new(out, &view, size)?.grid(&cuts)?;
        let state = || (Worker::new(self), Vec::new(), Vec::new());
        parallel::for_each(plan.selection.len(), threads, state, |state, range| {
            let mut parts = plan.selection.parts().range(range.clone());
            for linear in range {
                let part = parts.next_part().expect("as many parts as the selection says");
                let place = places.take(&plan.number(linear));
                let mut place =
                    place.expect("each part is visited once, so that its place is there");
                let (worker, around, gathered) = &mut *state;
                let whole = part.is_whole();
                let slices: Vec<Slice> = part.axes().iter().map(slice_around).collect();
                let shape: Vec<usize> = slices.iter().map(|slice| slice.count).collect();
                let boxed = Part::of_chunk(part.chunk(), part.chunk_shape(), &slices, whole);
                let Some(picks) = picks(part, boxed.in_chunk) else {
                    self.read_part(&boxed, &mut place, worker)?;
                    continue;
                };
                let bytes = |shape: &[usize]| bytes_of(shape, size);
                let counts: Vec<usize> = picks.iter().map(Vec::len).collect();
                let (Some(around_len), Some(length)) = (bytes(&shape), bytes(&counts)) else {
                    return Err(plan.too_large(size));
                };
                let around = room(around, around_len)?;
                let view = View::contiguous(&shape).map_err(CopyError::from)?;
                self.read_part(&boxed, &mut Output::new(around, &view, size)?, worker)?;
                let gathered = room(gathered, length)?;
                IndexMoves::new(&picks, &shape, &counts, size).run(around, gathered);
                let view = View::contiguous(&counts).map_err(CopyError::from)?;
                place.copy_from(&view, gathered, place.element(), &[])?;
            }
            Ok(())
        })
    }
}

/// A selection against an array.
struct Orthogonal<'a> {
    selection: SelectedChunks<'a>,
    axes: Vec<Axis>,
    /// The selection's shape.
    shape: Vec<usize>,
    /// Bytes of its elements.
    length: usize,
}

/// What is selected on an axis, in the order of the chunks.
struct Axis {
    /// The chunks that it meets.
    chunks: Vec<u64>,
    /// Where each one's elements start, the first aside.
    cuts: Vec<usize>,
    /// For a list that is not in the order of the chunks: from which position in that order to
    /// which of the list.
    order: Option<Vec<Pair>>,
}

impl<'a> Orthogonal<'a> {
    fn new(array: &'a Array, selects: &[AxisSelection<'_>]) -> Result<Self, ArrayError> {
        let grid_error = |cause| ArrayError::Selection { cause };
        let selection = array.grid().select(selects).map_err(grid_error)?;
        let axes = selection.axes().iter().map(Axis::new).collect();
        let size = array.element_size();
        let shape: Vec<usize> = selection.shape().iter().map(|count| narrow(*count)).collect();
        let mut plan = Self { selection, axes, shape, length: 0 };
        plan.length = bytes_of(&plan.shape, size).ok_or_else(|| plan.too_large(size))?;
        Ok(plan)
    }

    fn too_large(&self, element_size: usize) -> ArrayError {
        let counts = self.selection.shape().iter();
        let elements = counts.fold(1_u128, |n, count| n.saturating_mul((*count).into()));
        ArrayError::RegionTooLarge { elements, element_size }
    }

    /// From the order of the chunks to the selection's own, on each axis; `None` if they are one.
    fn order(&self) -> Option<Vec<Vec<Pair>>> {
        self.axes.iter().any(|axis| axis.order.is_some()).then(|| {
            let axes = self.axes.iter().zip(&self.shape);
            let same = |count: usize| (0..count).map(|at| (at, at)).collect();
            axes.map(|(axis, count)| axis.order.clone().unwrap_or_else(|| same(*count))).collect()
        })
    }

    /// The index in the array at a position of the selection on an axis.
    fn index(&self, grid: &Grid, axis: usize, at: usize) -> Option<u64> {
        let at = u64::try_from(at).ok()?;
        self.selection.axes().get(axis)?.parts().find_map(|part| {
            let (in_chunk, _) = part.iter().find(|(_, position)| *position == at)?;
            grid.axes().get(axis)?.start(part.chunk)?.checked_add(in_chunk)
        })
    }

    /// The numbers of the chunks on each axis.
    fn chunks(&self) -> Vec<Vec<u64>> {
        self.axes.iter().map(|axis| axis.chunks.clone()).collect()
    }

    /// The number on each axis of the part that is `linear` in C order.
    fn number(&self, linear: u64) -> Vec<usize> {
        let counts = self.axes.iter().map(|axis| axis.chunks.len());
        crate::transfer::number(linear, counts)
    }
}

impl Axis {
    fn new(selected: &SelectedAxis<'_>) -> Self {
        let (mut chunks, mut cuts, mut order) = (Vec::new(), Vec::new(), Vec::new());
        let mut done = 0_usize;
        for part in selected.parts() {
            if !chunks.is_empty() {
                cuts.push(done);
            }
            chunks.push(part.chunk);
            done = done.saturating_add(narrow(part.len()));
            if let PartIndices::List { in_selection, .. } = part.indices {
                for position in in_selection {
                    order.push((order.len(), narrow(*position)));
                }
            }
        }
        let sorted = order.iter().all(|(from, to)| from == to);
        Self { chunks, cuts, order: (!sorted).then_some(order) }
    }
}

/// The elements of a chunk that an axis selects: index in the chunk, position in the selection.
fn each(part: &AxisPart<'_>) -> impl Iterator<Item = Pair> {
    part.iter().map(|(index, position)| (narrow(index), narrow(position)))
}

/// The indices of a chunk that are to be read for what an axis selects: just these if they are
/// equally far apart and ascend, or else all from the first to the last.
fn slice_around(part: &AxisPart<'_>) -> Slice {
    match part.indices {
        PartIndices::Step { in_chunk, step, len, .. } => {
            Slice { start: narrow(in_chunk), count: narrow(len), step: narrow(step) }
        }
        PartIndices::List { in_chunk, .. } => {
            let around = part.in_chunk();
            let (start, end) = (narrow(around.start), narrow(around.end));
            let step = match in_chunk {
                [first, second, ..] => second.checked_sub(*first).filter(|step| *step > 0),
                _ => Some(1),
            };
            let even = |step: &u64| {
                in_chunk
                    .windows(2)
                    .all(|pair| matches!(pair, [a, b] if a.checked_add(*step) == Some(*b)))
            };
            match step.filter(even) {
                Some(step) => Slice { start, count: in_chunk.len(), step: narrow(step) },
                None => (start..end).into(),
            }
        }
    }
}

/// From which index of the slices that are read to which position in the part; `None` if they are
/// the part.
fn picks(part: &ChunkPart<'_>, slices: &[Slice]) -> Option<Vec<Vec<Pair>>> {
    let is_list = |axis: &AxisPart<'_>| matches!(axis.indices, PartIndices::List { .. });
    let mut same = true;
    let picks = part
        .axes()
        .iter()
        .zip(slices)
        .map(|(axis, slice)| {
            let uneven = is_list(axis) && slice.step == 1;
            let picks: Vec<Pair> = each(axis)
                .enumerate()
                .map(|(at, (index, _))| {
                    (if uneven { index.saturating_sub(slice.start) } else { at }, at)
                })
                .collect();
            same &= picks.len() == slice.count && picks.iter().all(|(from, to)| from == to);
            picks
        })
        .collect();
    (!same).then_some(picks)
}
