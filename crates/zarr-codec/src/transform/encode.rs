//! Moves elements from the caller to stored order.

use std::ops::Range;

use zarr_view::{CopyElement, CopyError, View, copy};

use super::ArrayTransform;
use super::slabs::{Slabs, alone};
use super::unpack::SLAB;
use crate::element::swap;
use crate::error::ChunkErrorKind;
use crate::scratch::{Buffer, Bytes, Pool};

/// Bytes of elements that are packed at a time if rows of the caller are rows of the stored
/// array.
const ROWS: usize = 256 << 10;

/// The shortest row, in bytes, for which that pays off.
const LONG_ROW: usize = 1 << 10;

/// Elements that follow each other in the stored array.
pub(crate) enum Slab<'a> {
    /// In the caller's memory.
    Lent(&'a [u8]),
    /// In memory of the pool.
    Copied(&'a mut [u8]),
}

/// All stored elements as they lie in `data`, if that is in stored order and needs no swap.
fn in_order<'d>(
    data: &'d [u8],
    source: &View,
    stored: &View,
    element: CopyElement,
) -> Option<&'d [u8]> {
    let mut axes = stored.shape().iter().zip(stored.strides().iter().zip(source.strides()));
    let is_same = source.shape() == stored.shape()
        && source.mask().is_none()
        && element.unit() <= 1
        && axes.all(|(size, (stored, source))| *size <= 1 || stored == source);
    // The view maps to each element of the stored array once, so there are no others in between.
    let Range { start, end } = source.span();
    let (start, end) = (start.checked_mul(element.size())?, end.checked_mul(element.size())?);
    data.get(start..end).filter(|_| is_same)
}

impl ArrayTransform {
    /// All elements of a chunk from `view` of `data` in the order of the stored array. They stay in
    /// place if they lie in that order and need no swap; otherwise they are moved to memory of the
    /// pool. Uses the element `fill` where the view is masked out.
    pub(crate) fn encode<'d>(
        &self,
        data: &'d [u8],
        view: &View,
        element: CopyElement,
        fill: &[u8],
        pool: &mut Pool,
    ) -> Result<Bytes<'d>, ChunkErrorKind> {
        let (level, source) = self.carry_down(0, view.clone());
        let stored_view = self.stored_view_at(level);
        if let Some(elements) =
            stored_view.and_then(|stored| in_order(data, &source, stored, element))
        {
            return Ok(Bytes::Lent(elements));
        }
        // The copy does not swap the fill value, so its bytes are put in stored order here.
        let mut fill = fill.to_vec();
        swap(&mut fill, element);
        let len = self.elements() * element.size();
        if let Some(stored_view) = stored_view {
            let mut stored = pool.take(len)?;
            copy(&source, data, stored_view, &mut stored, element, &fill)?;
            return Ok(Bytes::Taken(stored));
        }
        // Moves through a buffer in C order of the level, and perhaps more buffers. Elements are
        // swapped on the way into the first, so that they match the fill value, which is in stored
        // order.
        let whole = self.contiguous(level)?;
        let mut between = pool.take(len)?;
        copy(&source, data, &whole, &mut between, element, &fill)?;
        self.encode_from(level, between, element.unswapped(), pool).map(Bytes::Taken)
    }

    /// Moves all elements of a chunk slab by slab to stored order. Passes on each slab, with the
    /// number of its first element, while it is in the cache. Elements that are in that order
    /// already are passed on as one slab. Returns `None`, having done nothing, if the elements do
    /// not correspond to the stored array as a single view. Otherwise as
    /// [`encode`](ArrayTransform::encode).
    pub(crate) fn encode_slabs(
        &self,
        data: &[u8],
        view: &View,
        element: CopyElement,
        fill: &[u8],
        pool: &mut Pool,
        mut each: impl FnMut(usize, Slab<'_>) -> Result<(), ChunkErrorKind>,
    ) -> Option<Result<(), ChunkErrorKind>> {
        let (level, source) = self.carry_down(0, view.clone());
        let stored = self.stored_view_at(level)?;
        if let Some(elements) = in_order(data, &source, stored, element) {
            return Some(each(0, Slab::Lent(elements)));
        }
        // Where rows stay rows, short slabs are copied within the cache. A transpose needs long
        // slabs, and so do rows in pieces.
        let strides = stored.strides().iter().zip(source.strides());
        let rows = strides
            .zip(stored.shape())
            .any(|(strides, size)| strides == (&1, &1) && size * element.size() >= LONG_ROW);
        let bytes = if rows { ROWS } else { SLAB };
        let most = bytes.checked_div(element.size()).unwrap_or(1).clamp(1, stored.len().max(1));
        let mut run = || {
            let mut buffer = pool.take(most * element.size())?;
            if most == stored.len() {
                // One slab: cutting would take as long as copying some KiB.
                copy(&source, data, stored, &mut buffer, element, fill)?;
                each(0, Slab::Copied(&mut buffer))?;
                pool.give(buffer);
                return Ok(());
            }
            for ranges in Slabs::new(stored, most) {
                let slab = stored.shrink(&ranges).map_err(CopyError::from)?;
                let source = source.shrink(&ranges).map_err(CopyError::from)?;
                let Range { start, end } = slab.span();
                let len = (end - start) * element.size();
                let elements = buffer.get_mut(..len).unwrap_or_default();
                copy(&source, data, &alone(&slab)?, elements, element, fill)?;
                each(start, Slab::Copied(elements))?;
            }
            pool.give(buffer);
            Ok(())
        };
        Some(run())
    }

    /// Moves all elements, in C order of a level, on to stored order. Returns each buffer to the
    /// pool as soon as it is empty, so that at most two are in use at a time.
    pub(crate) fn encode_from(
        &self,
        mut level: usize,
        mut elements: Buffer,
        mut element: CopyElement,
        pool: &mut Pool,
    ) -> Result<Buffer, ChunkErrorKind> {
        loop {
            let (next, source) = self.carry_down(level, self.contiguous(level)?);
            let stored_view = self.stored_view_at(next);
            let whole = self.contiguous(next)?;
            let mut moved = pool.take(elements.len())?;
            copy(&source, &elements, stored_view.unwrap_or(&whole), &mut moved, element, &[])?;
            pool.give(elements);
            if stored_view.is_some() {
                return Ok(moved);
            }
            (level, elements, element) = (next, moved, element.unswapped());
        }
    }

    /// Carries a caller's view down to the level where the stored array is a single view, or as
    /// far as possible.
    pub(super) fn carry_down(&self, level: usize, view: View) -> (usize, View) {
        self.carry(level, view, |level| self.stored_view_at(level).is_some())
    }

    /// Carries a view down to the first level that is `enough`, or as far as possible.
    pub(super) fn carry(
        &self,
        mut level: usize,
        mut view: View,
        enough: impl Fn(usize) -> bool,
    ) -> (usize, View) {
        while !enough(level) {
            let next = level + 1;
            let (Some(step), Some(shape)) = (self.codecs.get(level), self.shapes.get(next)) else {
                break;
            };
            match step.encode_view(&view, shape) {
                Some(carried) => (level, view) = (next, carried),
                None => break,
            }
        }
        (level, view)
    }
}
