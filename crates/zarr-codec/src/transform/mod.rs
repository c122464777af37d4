//! Moves elements between the stored array and the caller.
//!
//! Each array-to-array codec leads from one *level* to the next. Level 0 has the chunk's own shape,
//! and the last level has the shape of the *stored array*, which the array-to-bytes codec encodes.
//! The stored array is a view in the last level's shape and is carried up, codec by codec, as long
//! as it stays a single view. The caller's view is carried down in the same way. If both reach the
//! same level, every element moves once, from the stored array to the caller. The level does not
//! matter to the copy, since it merges dimensions anyway.
//!
//! A region of a chunk is a mask on the caller's view. If a `reshape` cuts through the region, the
//! masked view is not a single view in the reshaped form.
//!
//! If they do not reach the same level, the elements go through a buffer in C order of the lowest
//! level that the caller's view reached.

mod encode;
mod nested_error;
mod slabs;
mod slice;
mod source;
mod unpack;

use std::borrow::Cow;

use zarr_view::{CopyElement, CopyError, Output, View, ViewError, copy};

use crate::array_to_array::ArrayToArray;
use crate::array_to_bytes::shard::unravel;
use crate::codec_path::CodecPath;
use crate::error::ChunkErrorKind;
use crate::length::widen;
use crate::scratch::{Buffer, Pool};

pub(crate) use encode::Slab;
pub(crate) use nested_error::NestedError;
pub(crate) use slice::check_shape;
use slice::is_box;
pub use slice::{Slice, margins, sliced};
pub(crate) use source::Source;

/// The compiled array-to-array codecs of a chain, for one chunk shape.
#[derive(Clone, Debug)]
pub struct ArrayTransform {
    codecs: Vec<ArrayToArray>,
    /// The shape at each level.
    shapes: Vec<Vec<usize>>,
    /// The stored array in the shape of each level, if it is a single view there.
    stored_views: Vec<Option<View>>,
    /// The order of the dimensions of the stored array, as dimensions of the chunk, if the codecs
    /// only reorder them.
    order: Option<Vec<usize>>,
    /// The most bytes of a buffer for elements that a shard may not have stored (SD-35).
    limit: u64,
}

impl ArrayTransform {
    /// The transform of one chunk shape; `shapes` has one more entry than there are codecs. `None`
    /// if the address space cannot hold the chunk.
    pub(crate) fn new(
        codecs: &[(ArrayToArray, CodecPath)],
        shapes: &[Vec<u64>],
        limit: u64,
    ) -> Option<Self> {
        let shapes = shapes
            .iter()
            .map(|shape| shape.iter().map(|size| usize::try_from(*size).ok()).collect())
            .collect::<Option<Vec<Vec<usize>>>>()?;
        let codecs: Vec<ArrayToArray> = codecs.iter().map(|(step, _)| step.clone()).collect();
        let mut view = Some(View::contiguous(shapes.last()?).ok()?);
        let mut stored_views = vec![view.clone()];
        for (step, decoded_shape) in codecs.iter().zip(&shapes).rev() {
            view = view.and_then(|view| step.decode_view(&view, decoded_shape));
            stored_views.push(view.clone());
        }
        stored_views.reverse();
        let order = permutation(&codecs, shapes.first()?.len());
        Some(Self { codecs, shapes, stored_views, order, limit })
    }

    /// The positions of the stored elements in the chunk's own shape, if one strided view holds
    /// them.
    ///
    /// A whole chain of `transpose` and `reshape` compiles to this view. If there is none, parts
    /// of the chain still compile to views.
    #[must_use]
    pub fn view(&self) -> Option<&View> {
        self.stored_views.first()?.as_ref()
    }

    /// For each dimension of the stored array, the corresponding dimension of the chunk, if the
    /// codecs only reorder them.
    #[must_use]
    pub fn order(&self) -> Option<&[usize]> {
        self.order.as_deref()
    }

    /// The chunk's own shape.
    #[must_use]
    pub fn chunk_shape(&self) -> &[usize] {
        self.shapes.first().map_or(&[], Vec::as_slice)
    }

    /// The shape of the stored array, which the array-to-bytes codec encodes.
    #[must_use]
    pub fn stored_shape(&self) -> &[usize] {
        self.shapes.last().map_or(&[], Vec::as_slice)
    }

    /// The number, in C order of the stored elements, of the element at `index` of the chunk;
    /// `None` if the chunk has no such element.
    #[must_use]
    pub fn stored_position(&self, index: &[usize]) -> Option<usize> {
        let number = |index: &[usize], shape: &[usize]| {
            let axes = index.iter().zip(shape);
            (index.len() == shape.len()).then_some(())?;
            axes.into_iter().try_fold(0_usize, |number, (index, size)| {
                (index < size).then_some(())?;
                number.checked_mul(*size)?.checked_add(*index)
            })
        };
        let mut position = number(index, self.chunk_shape())?;
        for (step, shapes) in self.codecs.iter().zip(self.shapes.windows(2)) {
            // A reshape keeps the order of the elements.
            if let (ArrayToArray::Transpose { order }, [decoded, encoded]) = (step, shapes) {
                let index = unravel(position, decoded);
                let moved: Option<Vec<usize>> =
                    order.iter().map(|axis| index.get(*axis).copied()).collect();
                position = number(&moved?, encoded)?;
            }
        }
        Some(position)
    }

    pub(crate) fn elements(&self) -> usize {
        self.stored_views.last().and_then(Option::as_ref).map_or(0, View::len)
    }

    /// Moves `region` of the chunk from the stored array to `out`, which has the region's shape.
    pub(crate) fn decode(
        &self,
        source: &mut Source<'_>,
        region: &[Slice],
        out: &mut Output<'_>,
        pool: &mut Pool,
    ) -> Result<(), NestedError> {
        let shape = self.chunk_shape();
        if region.len() != shape.len() {
            let (expected, found) = (shape.len(), region.len());
            return Err(CopyError::from(ViewError::Rank { expected, found }).into());
        }
        if let (Source::Shard(_) | Source::Part(..), Some(order)) = (&*source, &self.order) {
            check_shape(region, out)?;
            if self.codecs.is_empty() {
                return source.write_region(region, out);
            }
            let region: Vec<Slice> =
                order.iter().filter_map(|axis| region.get(*axis).copied()).collect();
            return source.write_region(&region, &mut out.permute(order)?);
        }
        match (&mut *source, self.view()) {
            (Source::Elements(bytes, element), Some(view)) => {
                Ok(out.copy_from(&sliced(view, region)?, bytes, *element, &[])?)
            }
            _ if is_box(region) => self.down(source, out.pad(&self.margins(region))?, pool),
            (Source::Packed(packed), Some(view)) => {
                check_shape(region, out)?;
                packed.unpack(&sliced(view, region)?, out, pool)
            }
            (Source::Elements(..) | Source::Packed(_), None) => {
                let element = out.element();
                let buffer = self.gather(0, source, element, pool)?;
                let view = sliced(&self.contiguous(0)?, region)?;
                out.copy_from(&view, &buffer, element, &[])?;
                pool.give(buffer);
                Ok(())
            }
            (Source::Shard(_) | Source::Part(..), _) => self.through_box(source, region, out, pool),
        }
    }

    /// The elements of `region` in C order, in memory of the pool.
    pub(crate) fn gather_region(
        &self,
        source: &mut Source<'_>,
        region: &[Slice],
        element: CopyElement,
        pool: &mut Pool,
    ) -> Result<Buffer, NestedError> {
        let whole = self.chunk_shape().iter().map(|size| Slice::from(0..*size));
        if whole.eq(region.iter().copied()) {
            return self.gather(0, source, element, pool);
        }
        let shape: Vec<usize> = region.iter().map(|slice| slice.count).collect();
        let view = View::contiguous(&shape).map_err(CopyError::from)?;
        let mut buffer = pool.take(view.len() * element.size())?;
        let mut out = Output::new(&mut buffer, &view, element.size())?;
        self.decode(source, region, &mut out, pool)?;
        source.give_to(pool);
        Ok(buffer)
    }

    /// The level at which `region`, for an output with this view, corresponds to the stored array
    /// as a single view. `None` if its elements must go through a buffer.
    pub(crate) fn meet(&self, region: &[Slice], out: &View) -> Option<CommonLevel> {
        match self.view() {
            // Masked elements of a box are left out below.
            Some(view) if out.mask().is_none() || !is_box(region) => {
                let stored = sliced(view, region).ok()?;
                return Some(CommonLevel { level: None, stored });
            }
            None if !is_box(region) => return None,
            _ => {}
        }
        let target = out.pad(&self.margins(region)).ok()?;
        let (level, target) = self.carry_down(0, target);
        let stored = self.stored_view_at(level)?.shrink(&target.valid_box()).ok()?;
        Some(CommonLevel { level: Some(level), stored })
    }

    /// Moves a region's elements to `out`: `view` gives their positions in `elements`.
    pub(crate) fn finish(
        &self,
        common: &CommonLevel,
        view: &View,
        elements: &[u8],
        element: CopyElement,
        region: &[Slice],
        out: &mut Output<'_>,
    ) -> Result<(), NestedError> {
        let Some(level) = common.level else {
            return Ok(out.copy_from(view, elements, element, &[])?);
        };
        let out = out.pad(&self.margins(region))?;
        let (_, mut out) = self.carry_output(out, |at| at >= level)?;
        let valid = out.view().valid_box();
        Ok(out.shrink(&valid)?.copy_from(view, elements, element, &[])?)
    }

    /// The region of the stored array that holds the elements of `region`, for an output with this
    /// view. `None` if the region is not a region there, or needs a buffer.
    pub(crate) fn stored_region<'r>(
        &self,
        region: &'r [Slice],
        out: &View,
    ) -> Option<Cow<'r, [Slice]>> {
        if self.codecs.is_empty() {
            return Some(region.into());
        }
        if let Some(order) = &self.order {
            return order.iter().map(|axis| region.get(*axis).copied()).collect();
        }
        if !is_box(region) {
            return None;
        }
        let target = self.stored_view(&out.pad(&self.margins(region)).ok()?)?;
        Some(target.valid_box().into_iter().map(Slice::from).collect())
    }

    /// The margins of the chunk around a box.
    fn margins(&self, region: &[Slice]) -> Vec<(usize, usize)> {
        margins(region, self.chunk_shape())
    }

    /// Moves the elements from the stored array to `out`, which has the chunk's shape.
    fn down(
        &self,
        source: &mut Source<'_>,
        out: Output<'_>,
        pool: &mut Pool,
    ) -> Result<(), NestedError> {
        let (level, mut out) = self.carry_output(out, |level| self.meets(source, level))?;
        if self.meets(source, level) {
            return self.take_from(source, level, &mut out, pool);
        }
        // All elements go to a buffer in C order of the level, and then to `out`.
        let element = out.element();
        self.check_limit(source, element)?;
        let buffer = self.gather(level, source, element, pool)?;
        out.copy_from(&self.contiguous(level)?, &buffer, element, &[])?;
        pool.give(buffer);
        Ok(())
    }

    /// As [`carry`](ArrayTransform::carry) from the chunk's own level, but for an output.
    fn carry_output<'o>(
        &self,
        mut out: Output<'o>,
        enough: impl Fn(usize) -> bool,
    ) -> Result<(usize, Output<'o>), NestedError> {
        let mut level = 0_usize;
        while !enough(level) {
            let next = level + 1;
            let (Some(step), Some(shape)) = (self.codecs.get(level), self.shapes.get(next)) else {
                break;
            };
            match step.encode_output(out, shape)? {
                Ok(carried) => (level, out) = (next, carried),
                Err(stuck) => {
                    out = stuck;
                    break;
                }
            }
        }
        Ok((level, out))
    }

    /// All elements in C order of a level, in memory of the pool. Returns their source to the
    /// pool as soon as they have been moved, so at most two buffers are in use at a time.
    pub(crate) fn gather(
        &self,
        level: usize,
        source: &mut Source<'_>,
        element: CopyElement,
        pool: &mut Pool,
    ) -> Result<Buffer, NestedError> {
        // The stops on the way down, each with the view of its elements at the next one. A chain
        // without any single view has a stop for each codec, so this is a list and not a
        // recursion.
        let mut stops = Vec::new();
        let mut level = level;
        let len = loop {
            let whole = self.contiguous(level)?;
            let len = whole.len() * element.size();
            let (next, target) = self.carry(level, whole, |level| self.meets(source, level));
            stops.push((next, target));
            if self.meets(source, next) {
                break len;
            }
            level = next;
        };
        let mut buffer = pool.take(len)?;
        if let Some((next, target)) = stops.pop() {
            let mut out = Output::new(&mut buffer, &target, element.size())?;
            self.take_from(source, next, &mut out, pool)?;
            source.give_to(pool);
        }
        while let Some((next, target)) = stops.pop() {
            let mut above = pool.take(len)?;
            copy(&self.contiguous(next)?, &buffer, &target, &mut above, element, &[])?;
            pool.give(std::mem::replace(&mut buffer, above));
        }
        Ok(buffer)
    }

    /// Whether the source provides elements in the shape of a level.
    fn meets(&self, source: &Source<'_>, level: usize) -> bool {
        match source {
            Source::Elements(..) | Source::Packed(_) => self.stored_view_at(level).is_some(),
            // Inner chunks are decoded one by one, directly to the stored shape.
            Source::Shard(_) | Source::Part(..) => level >= self.codecs.len(),
        }
    }

    /// Moves the elements to `out`, which has the shape of a level where they
    /// [meet](ArrayTransform::meets).
    fn take_from(
        &self,
        source: &mut Source<'_>,
        level: usize,
        out: &mut Output<'_>,
        pool: &mut Pool,
    ) -> Result<(), NestedError> {
        let stored = self.stored_view_at(level);
        if let (Source::Elements(bytes, element), Some(stored)) = (&*source, stored) {
            return Ok(out.copy_from(stored, bytes, *element, &[])?);
        }
        if out.view().is_masked_out() {
            return Ok(());
        }
        let valid = out.view().valid_box();
        let mut out = out.shrink(&valid)?;
        if let (Source::Packed(packed), Some(stored)) = (&*source, stored) {
            return packed.unpack(&stored.shrink(&valid).map_err(CopyError::from)?, &mut out, pool);
        }
        let region: Vec<Slice> = valid.into_iter().map(Slice::from).collect();
        source.write_region(&region, &mut out)
    }

    /// Moves a region with steps through a buffer that holds the box around it, so that only
    /// inner chunks that touch the box are decoded.
    fn through_box(
        &self,
        source: &mut Source<'_>,
        region: &[Slice],
        out: &mut Output<'_>,
        pool: &mut Pool,
    ) -> Result<(), NestedError> {
        check_shape(region, out)?;
        if region.iter().any(|slice| slice.count == 0) {
            return Ok(());
        }
        let mut shape = Vec::with_capacity(region.len());
        for ((axis, slice), size) in region.iter().enumerate().zip(self.chunk_shape()) {
            let reach = slice.count.saturating_sub(1).checked_mul(slice.step);
            let reach = reach.filter(|reach| size.saturating_sub(slice.start) > *reach);
            let Some(reach) = reach else {
                let Slice { start, count, step } = *slice;
                let step = isize::try_from(step).unwrap_or(isize::MAX);
                let error = ViewError::Slice { axis, start, step, count, size: *size };
                return Err(CopyError::from(error).into());
            };
            shape.push(reach + 1);
        }
        let around: Vec<Slice> = region
            .iter()
            .zip(&shape)
            .map(|(slice, count)| Slice { count: *count, step: 1, ..*slice })
            .collect();
        let inside: Vec<Slice> = region.iter().map(|slice| Slice { start: 0, ..*slice }).collect();
        let whole = View::contiguous(&shape).map_err(CopyError::from)?;
        let element = out.element();
        self.check_limit(source, element)?;
        let mut buffer = pool.take(whole.len() * element.size())?;
        let mut between = Output::new(&mut buffer, &whole, element.size())?;
        self.decode(source, &around, &mut between, pool)?;
        out.copy_from(&sliced(&whole, &inside)?, &buffer, element, &[])?;
        pool.give(buffer);
        Ok(())
    }

    /// Refuses too large a buffer for the elements of a shard: a few bytes may expand to any number
    /// of elements. Other codecs have checked the number of their bytes.
    fn check_limit(&self, source: &Source<'_>, element: CopyElement) -> Result<(), ChunkErrorKind> {
        let bytes = widen(self.elements() * element.size());
        match source {
            Source::Shard(_) if bytes > self.limit => {
                Err(ChunkErrorKind::DecodedLimit { limit: self.limit })
            }
            _ => Ok(()),
        }
    }

    /// Converts a view of the chunk's elements to the stored shape, if a single view can.
    pub(crate) fn stored_view(&self, view: &View) -> Option<View> {
        let steps = self.codecs.iter().zip(self.shapes.iter().skip(1));
        steps
            .into_iter()
            .try_fold(view.clone(), |view, (step, shape)| step.encode_view(&view, shape))
    }

    /// The stored array in the shape of a level, if it is a single view there.
    fn stored_view_at(&self, level: usize) -> Option<&View> {
        self.stored_views.get(level)?.as_ref()
    }

    fn contiguous(&self, level: usize) -> Result<View, ChunkErrorKind> {
        let shape = self.shapes.get(level).map_or(&[][..], Vec::as_slice);
        Ok(View::contiguous(shape).map_err(CopyError::from)?)
    }
}

/// The order of the dimensions of a stored array, as dimensions of its chunk, if the codecs only
/// reorder them.
fn permutation(codecs: &[ArrayToArray], rank: usize) -> Option<Vec<usize>> {
    codecs.iter().try_fold((0..rank).collect(), |order: Vec<usize>, step| match step {
        ArrayToArray::Transpose { order: step } => {
            step.iter().map(|axis| order.get(*axis).copied()).collect()
        }
        ArrayToArray::Reshape { .. } | ArrayToArray::Squeeze => None,
    })
}

/// The level at which one copy moves elements from the stored array to the caller's view.
#[derive(Clone, Debug)]
pub(crate) struct CommonLevel {
    /// The level, and the box of the region in it; `None` if the region was matched in its own
    /// shape.
    level: Option<usize>,
    /// The positions of the region's elements in the stored array.
    stored: View,
}

impl CommonLevel {
    pub(crate) fn stored(&self) -> &View {
        &self.stored
    }
}
