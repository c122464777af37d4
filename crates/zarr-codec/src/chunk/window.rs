//! The place and the copy of a part of a chunk, if the chunk's bytes are its elements in memory.
//!
//! Inner chunks of shards are read in this way. It gives the same elements as decoding the whole
//! chunk, from fewer bytes, and needs neither the views of a transform nor a plan of spans.

use std::ops::Range;

use zarr_view::{CopyError, Output, View};

use super::ChunkCodec;
use crate::length::widen;
use crate::per_axis::PerAxis;
use crate::transform::Slice;

impl ChunkCodec {
    /// The bytes that hold these elements, counted in C order, of an encoded chunk of this length.
    /// `None` if all of the chunk is needed: to decode it, to check it, or to say that its length
    /// is wrong.
    pub(crate) fn window(&self, elements: &Range<usize>, encoded_len: u64) -> Option<Range<u64>> {
        if !self.stores_memory() || self.encoded_len() != Some(encoded_len) {
            return None;
        }
        let position = |element: usize| element.checked_mul(self.element_size()).map(widen);
        Some(position(elements.start)?..position(elements.end)?)
    }

    /// Moves `region` to `out`, of its shape, from the bytes of the [`window`](Self::window) that
    /// begins with its first element.
    pub(crate) fn copy_window(
        &self,
        bytes: &[u8],
        region: &[Slice],
        out: &mut Output<'_>,
    ) -> Result<(), CopyError> {
        let mut stride = 1_usize;
        let mut strides = PerAxis::from_elem(0_isize, region.len());
        let axes = strides.iter_mut().zip(region).zip(self.shape());
        for ((slot, slice), size) in axes.rev() {
            // At most the elements of a chunk, which fit the address space, unless the axis has a
            // single index: its stride is never used.
            *slot = isize::try_from(stride.saturating_mul(slice.step)).unwrap_or(isize::MAX);
            stride = stride.saturating_mul(*size);
        }
        let view = View::new(out.view().shape(), &strides, 0)?;
        out.copy_from(&view, bytes, self.bound.element.moved(false), &[])
    }
}
