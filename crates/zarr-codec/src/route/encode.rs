//! The way of elements from the caller to the leaf.

use zarr_view::{Element, View, copy};

use super::{Route, take_buffer};
use crate::chunk::swap;
use crate::compressor::reserve;
use crate::error::ChunkErrorKind;

impl Route {
    /// Moves all elements of a chunk from `view` of `data` to `leaf`, in the leaf's order; the
    /// element `fill` where the view is masked out.
    pub(crate) fn encode(
        &self,
        data: &[u8],
        view: &View,
        leaf: &mut Vec<u8>,
        element: Element,
        fill: &[u8],
        buffers: &mut Vec<Vec<u8>>,
    ) -> Result<(), ChunkErrorKind> {
        let length = self.elements().saturating_mul(element.size());
        if let Some(more) = length.checked_sub(leaf.len()) {
            reserve(leaf, more)?;
        }
        leaf.resize(length, 0);
        // The copy writes the fill value as it is, so its bytes are put in the leaf's order here.
        let mut fill = fill.to_vec();
        swap(&mut fill, element);
        let (level, source) = self.carry_down(0, view.clone());
        if let Some(target) = self.leaf_views.get(level).and_then(Option::as_ref) {
            return Ok(copy(&source, data, target, leaf, element, &fill)?);
        }
        self.up_from(level, data, &source, leaf, element, &fill, buffers)
    }

    /// Moves elements that did not meet the leaf at `level` through a buffer in C order.
    #[expect(clippy::too_many_arguments, reason = "two buffers with a view each, and what moves")]
    fn up_from(
        &self,
        level: usize,
        data: &[u8],
        source: &View,
        leaf: &mut [u8],
        element: Element,
        fill: &[u8],
        buffers: &mut Vec<Vec<u8>>,
    ) -> Result<(), ChunkErrorKind> {
        let whole = self.contiguous(level)?;
        let mut buffer = take_buffer(buffers, whole.len(), element)?;
        // Swapped on the way in, so that the fill value, which is in the leaf's order, fits.
        let moved = copy(source, data, &whole, &mut buffer, element, fill);
        let (next, carried) = self.carry_down(level, whole);
        let result = match self.leaf_views.get(next).and_then(Option::as_ref) {
            _ if moved.is_err() => moved.map_err(ChunkErrorKind::from),
            Some(target) => copy(&carried, &buffer, target, leaf, element.unswapped(), &[])
                .map_err(ChunkErrorKind::from),
            None => self.up_from(next, &buffer, &carried, leaf, element.unswapped(), &[], buffers),
        };
        buffers.push(buffer);
        result
    }

    /// Carries a caller's view down to where the leaf is a single view, or as far as it goes.
    pub(super) fn carry_down(&self, mut level: usize, mut view: View) -> (usize, View) {
        while self.leaf_views.get(level).is_some_and(Option::is_none) {
            let (Some(step), Some(shape)) = (self.moves.get(level), self.shapes.get(level + 1))
            else {
                break;
            };
            match step.encode_view(&view, shape) {
                Some(carried) => view = carried,
                None => break,
            }
            level += 1;
        }
        (level, view)
    }
}
