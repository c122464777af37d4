//! A region and the chunks that it touches: what moves from where to where.

use std::ops::Range;

use zarr_codec::Slice;
use zarr_grid::Chunks;
use zarr_view::{CopyError, Output, View};

use crate::array::Array;
use crate::error::ArrayError;
use crate::region::Region;

/// Bytes of a region's elements.
pub(crate) fn region_len(region: &Region, element_size: usize) -> Result<usize, ArrayError> {
    let length = region
        .elements()
        .and_then(|elements| usize::try_from(elements).ok()?.checked_mul(element_size));
    length
        .filter(|length| isize::try_from(*length).is_ok())
        .ok_or_else(|| too_large(region, element_size))
}

pub(crate) fn too_large(region: &Region, element_size: usize) -> ArrayError {
    let elements = region.axes().iter().fold(1_u128, |n, axis| n.saturating_mul(axis.count.into()));
    ArrayError::RegionTooLarge { elements, element_size }
}

/// The part of a region that lies in one chunk.
pub(crate) struct Part<'a> {
    /// Number of the chunk on each axis.
    pub(crate) chunk: &'a [u64],
    /// Its shape as it is stored.
    pub(crate) chunk_shape: &'a [u64],
    /// The part's indices within the chunk.
    pub(crate) in_chunk: Vec<Slice>,
    /// The part's place in the caller's elements, a box.
    pub(crate) in_region: Vec<Range<usize>>,
    /// Whether the part is all of the chunk that lies within the array.
    pub(crate) is_whole: bool,
}

impl Part<'_> {
    /// The part of the caller's elements that this part is written to.
    pub(crate) fn output<'o>(&self, whole: &'o mut Output<'_>) -> Result<Output<'o>, CopyError> {
        whole.shrink(&self.in_region)
    }
}

/// A region of an array against a buffer of the caller's.
pub(crate) struct Transfer<'a> {
    region: &'a Region,
    chunks: Chunks<'a>,
    view: View,
}

impl<'a> Transfer<'a> {
    /// Checks the region against the array, and the length of the buffer against the region.
    pub(crate) fn new(
        array: &'a Array,
        region: &'a Region,
        buffer_len: usize,
    ) -> Result<Self, ArrayError> {
        region.check(array.shape())?;
        let expected = region_len(region, array.element_size())?;
        if buffer_len != expected {
            let wide = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
            let (found, expected) = (wide(buffer_len), wide(expected));
            return Err(ArrayError::BufferLength { found, expected });
        }
        let count = |count: &u64| usize::try_from(*count).unwrap_or(usize::MAX);
        let counts: Vec<usize> = region.axes().iter().map(|axis| count(&axis.count)).collect();
        let mut view = View::contiguous(&counts).map_err(CopyError::from)?;
        for (axis, indices) in region.axes().iter().enumerate() {
            if indices.step < 0 {
                view = view.flip(axis).map_err(CopyError::from)?;
            }
        }
        let path = || array.prefix().as_str().to_owned();
        let chunks = array
            .grid()
            .chunks(&region.bounds())
            .map_err(|source| ArrayError::Grid { key: path(), source })?;
        Ok(Self { region, chunks, view })
    }

    /// The caller's elements in the array's direction: axes read backwards are flipped.
    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// Calls `visit` with the part of each chunk that holds any of the region's elements.
    pub(crate) fn for_each_part(
        &self,
        mut visit: impl FnMut(&Part<'_>) -> Result<(), ArrayError>,
    ) -> Result<(), ArrayError> {
        let mut chunks = self.chunks.clone();
        while let Some(found) = chunks.next_part() {
            let mut part = Part {
                chunk: found.chunk,
                chunk_shape: found.chunk_shape,
                in_chunk: Vec::with_capacity(found.chunk.len()),
                in_region: Vec::with_capacity(found.chunk.len()),
                is_whole: found.is_whole() && self.region.is_unit_step(),
            };
            let axes = self.region.axes().iter().zip(found.in_region).zip(found.in_chunk);
            for (((axis, in_region), in_chunk), length) in axes.zip(found.shape) {
                // Of the indices 0, step, 2 step, ... from the region's low end, those within the
                // chunk; a step longer than the chunk may leave none.
                let step = axis.step.unsigned_abs();
                let first = in_region.div_ceil(step);
                let end = in_region.saturating_add(*length).div_ceil(step);
                let ahead = first.saturating_mul(step).saturating_sub(*in_region);
                // All of these are within the caller's buffer or the chunk, whose codec has
                // checked that the address space holds it.
                let narrow = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
                part.in_chunk.push(Slice {
                    start: narrow(in_chunk.saturating_add(ahead)),
                    count: narrow(end.saturating_sub(first)),
                    step: narrow(step),
                });
                part.in_region.push(narrow(first)..narrow(end));
            }
            if part.in_chunk.iter().all(|slice| slice.count > 0) {
                visit(&part)?;
            }
        }
        Ok(())
    }
}
