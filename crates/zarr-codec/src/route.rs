//! The way of elements between the leaf and the caller.
//!
//! Each array-to-array codec leads from one *level* to the next: level 0 has the chunk's own
//! shape, the last level the leaf's. From below, the leaf is a view in the last level's shape and
//! can be carried up, codec by codec, as long as one view holds it. From above, so can the
//! caller's view be carried down. Where both arrive at one level, every element moves once, from
//! the leaf to the caller; which level that is does not matter to the copy, which merges
//! dimensions anyway.
//!
//! A region of a chunk is a mask on the caller's view, so that a `reshape` that cuts through the
//! region shows as such: the masked view then has no single view in the reshaped form.
//!
//! Only where the two do not meet is there a stop between: the elements go through a buffer in C
//! order of the level that the caller's view got down to.

use std::ops::Range;

use zarr_view::{CopyError, Element, Output, View, ViewError, copy};

use crate::chain::Place;
use crate::compressor::reserve;
use crate::error::ChunkErrorKind;
use crate::moves::Move;

/// What the array-to-array codecs of a chain compiled to, for one chunk shape.
#[derive(Clone, Debug)]
pub struct Route {
    moves: Vec<Move>,
    /// The shape at each level.
    shapes: Vec<Vec<usize>>,
    /// The leaf in the shape of each level, where it is a single view there.
    leaf_views: Vec<Option<View>>,
}

impl Route {
    /// The route of one chunk shape; `shapes` has one more entry than there are moves. `None` if
    /// the address space cannot hold the chunk.
    pub(crate) fn new(moves: &[(Move, Place)], shapes: &[Vec<u64>]) -> Option<Self> {
        let shapes = shapes
            .iter()
            .map(|shape| shape.iter().map(|size| usize::try_from(*size).ok()).collect())
            .collect::<Option<Vec<Vec<usize>>>>()?;
        let moves: Vec<Move> = moves.iter().map(|(step, _)| step.clone()).collect();
        let mut view = Some(View::contiguous(shapes.last()?).ok()?);
        let mut leaf_views = vec![view.clone()];
        for (step, decoded_shape) in moves.iter().zip(&shapes).rev() {
            view = view.and_then(|view| step.decode_view(&view, decoded_shape));
            leaf_views.push(view.clone());
        }
        leaf_views.reverse();
        Some(Self { moves, shapes, leaf_views })
    }

    /// The leaf's positions in the chunk's own shape, if one strided view holds them.
    ///
    /// This is how a whole chain of `transpose` and `reshape` is one view; where it is not, parts
    /// of the chain are.
    #[must_use]
    pub fn view(&self) -> Option<&View> {
        self.leaf_views.first()?.as_ref()
    }

    /// The chunk's own shape.
    #[must_use]
    pub fn chunk_shape(&self) -> &[usize] {
        self.shapes.first().map_or(&[], Vec::as_slice)
    }

    /// The shape in which the leaf encodes the elements.
    #[must_use]
    pub fn leaf_shape(&self) -> &[usize] {
        self.shapes.last().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn elements(&self) -> usize {
        self.leaf_views.last().and_then(Option::as_ref).map_or(0, View::len)
    }

    /// Moves `region` of the chunk from the leaf's elements to `out`, which has its shape.
    pub(crate) fn decode(
        &self,
        leaf: &[u8],
        region: &[Slice],
        out: &mut Output<'_>,
        element: Element,
        buffers: &mut Vec<Vec<u8>>,
    ) -> Result<(), ChunkErrorKind> {
        let shape = self.chunk_shape();
        if region.len() != shape.len() {
            let (expected, found) = (shape.len(), region.len());
            return Err(CopyError::from(ViewError::Rank { expected, found }).into());
        }
        if region.iter().all(|slice| slice.step == 1 || slice.count <= 1) {
            let margins: Vec<(usize, usize)> = region
                .iter()
                .zip(shape)
                .map(|(slice, size)| {
                    (slice.start, size.saturating_sub(slice.start.saturating_add(slice.count)))
                })
                .collect();
            return self.down_to(0, leaf, &mut out.pad(&margins)?, element, buffers);
        }
        if let Some(view) = self.view() {
            return Ok(out.copy_from(&sliced(view, region)?, leaf, element, &[])?);
        }
        self.through_buffer(0, leaf, element, buffers, |whole, buffer, element| {
            out.copy_from(&sliced(whole, region)?, buffer, element, &[])
        })
    }

    /// Moves the elements from the leaf to `out`, which has the shape of `level`.
    fn down_to(
        &self,
        level: usize,
        leaf: &[u8],
        out: &mut Output<'_>,
        element: Element,
        buffers: &mut Vec<Vec<u8>>,
    ) -> Result<(), ChunkErrorKind> {
        if let Some(source) = self.leaf_views.get(level).and_then(Option::as_ref) {
            return Ok(out.copy_from(source, leaf, element, &[])?);
        }
        let next = level.saturating_add(1);
        if let (Some(step), Some(shape)) = (self.moves.get(level), self.shapes.get(next))
            && let Some(mut carried) = step.encode_output(out, shape)?
        {
            return self.down_to(next, leaf, &mut carried, element, buffers);
        }
        self.through_buffer(level, leaf, element, buffers, |whole, buffer, element| {
            out.copy_from(whole, buffer, element, &[])
        })
    }

    /// Moves all elements to a buffer in C order of `level`, and from there on with `finish`.
    fn through_buffer(
        &self,
        level: usize,
        leaf: &[u8],
        element: Element,
        buffers: &mut Vec<Vec<u8>>,
        finish: impl FnOnce(&View, &[u8], Element) -> Result<(), CopyError>,
    ) -> Result<(), ChunkErrorKind> {
        let whole = self.contiguous(level)?;
        let mut buffer = take_buffer(buffers, whole.len(), element)?;
        let mut out = Output::new(&mut buffer, &whole, element.size())?;
        let result = self
            .down_to(level, leaf, &mut out, element, buffers)
            .and_then(|()| Ok(finish(&whole, &buffer, element.unswapped())?));
        buffers.push(buffer);
        result
    }

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
        for unit in fill.chunks_exact_mut(element.unit().max(1)) {
            unit.reverse();
        }
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
    fn carry_down(&self, mut level: usize, mut view: View) -> (usize, View) {
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

    fn contiguous(&self, level: usize) -> Result<View, ChunkErrorKind> {
        let shape = self.shapes.get(level).map_or(&[][..], Vec::as_slice);
        Ok(View::contiguous(shape).map_err(CopyError::from)?)
    }
}

/// Some indices of one axis of a chunk: `start`, `start + step`, ..., `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The first index.
    pub start: usize,
    /// How many indices.
    pub count: usize,
    /// From one index to the next, at least 1.
    pub step: usize,
}

impl From<Range<usize>> for Slice {
    fn from(range: Range<usize>) -> Self {
        Self { start: range.start, count: range.end.saturating_sub(range.start), step: 1 }
    }
}

fn sliced(view: &View, region: &[Slice]) -> Result<View, CopyError> {
    let sliced = region.iter().enumerate().try_fold(view.clone(), |view, (axis, slice)| {
        let step = isize::try_from(slice.step).map_err(|_| ViewError::Offset)?;
        view.slice(axis, slice.start, step, slice.count)
    });
    Ok(sliced?)
}

/// A buffer for `elements` elements, with whatever it held before.
fn take_buffer(
    buffers: &mut Vec<Vec<u8>>,
    elements: usize,
    element: Element,
) -> Result<Vec<u8>, ChunkErrorKind> {
    let length = elements.saturating_mul(element.size());
    let mut buffer = buffers.pop().unwrap_or_default();
    if let Some(more) = length.checked_sub(buffer.len()) {
        reserve(&mut buffer, more)?;
    }
    buffer.resize(length, 0);
    Ok(buffer)
}
