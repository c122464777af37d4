use alloc::vec::Vec;
use core::ops::Range;

use super::CopyElement;
use super::instructions::Detected;
use super::nest::Nest;
use crate::CopyError;
use crate::InstructionSet;
use crate::view::{Dims, View};

/// A copy between two views, prepared once and run on many buffers.
///
/// # Examples
/// ```
/// use zarr_view::{CopyPlan, CopyElement, View};
///
/// let from = View::contiguous(&[2, 3])?.permute(&[1, 0])?;
/// let plan = CopyPlan::new(&from, &View::contiguous(&[3, 2])?, CopyElement::try_from(1)?)?;
/// let mut to = [0; 6];
/// plan.run(b"abcdef", &mut to, &[])?;
/// assert_eq!(&to, b"adbecf");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct CopyPlan {
    dst: View,
    element: CopyElement,
    /// Bytes that the buffer of each side must have.
    src_needed: usize,
    dst_needed: usize,
    /// The elements that have a source.
    body: Option<Nest>,
    /// The elements that get the fill value, in disjoint boxes around the body.
    margins: Vec<Nest>,
}

impl CopyPlan {
    /// Prepares a copy from `src` to `dst`; see [`copy`](crate::copy).
    ///
    /// # Errors
    /// [`CopyError::Shape`] if the shapes differ.
    pub fn new(src: &View, dst: &View, element: CopyElement) -> Result<Self, CopyError> {
        if src.shape() != dst.shape() {
            return Err(shape_error(src.shape(), dst.shape()));
        }
        let (src_span, dst_span) = (src.span(), dst.span());
        let fits = |span: &Range<usize>| {
            let bytes = span.len().checked_mul(element.size());
            bytes.is_some_and(|bytes| bytes <= isize::MAX.unsigned_abs())
        };
        let mut margins = Vec::new();
        let body = if dst.is_masked_out() || !fits(&src_span) || !fits(&dst_span) {
            // No buffer is large enough for such a view: every run is refused, so there is nothing
            // to prepare.
            None
        } else if src.mask().is_none() && dst.mask().is_none() {
            let start = |view: &View| view.offset().cast_unsigned();
            let (from, to) = ((start(src), src.strides()), (start(dst), dst.strides()));
            Some(Nest::new(src.shape(), from, to, element))
        } else {
            body(src, dst, element, &mut margins)
        };
        Ok(Self {
            dst: dst.clone(),
            element,
            src_needed: src_span.end.saturating_mul(element.size()),
            dst_needed: dst_span.end.saturating_mul(element.size()),
            body,
            margins,
        })
    }

    /// The same copy with the given instructions instead of the best ones.
    ///
    /// # Errors
    /// [`CopyError::InstructionSet`] if this processor does not have them.
    pub fn with_instruction_set(mut self, set: InstructionSet) -> Result<Self, CopyError> {
        let found = Detected::new(set).ok_or(CopyError::InstructionSet { set })?;
        let nests = self.body.iter_mut().chain(&mut self.margins);
        nests.for_each(|nest| nest.set_instructions(found));
        Ok(self)
    }

    /// The destination view.
    pub(super) const fn dst(&self) -> &View {
        &self.dst
    }

    /// The elements that are copied.
    #[must_use]
    pub const fn element(&self) -> CopyElement {
        self.element
    }

    /// Copies from `src` to `dst`, and writes `fill` where the source is masked.
    ///
    /// # Errors
    /// If a buffer is too short for its view, or the fill value is missing. Then nothing has been
    /// written.
    pub fn run(&self, src: &[u8], dst: &mut [u8], fill: &[u8]) -> Result<(), CopyError> {
        self.check(src, fill)?;
        if self.dst_needed > dst.len() {
            return Err(CopyError::Destination { needed: self.dst_needed, found: dst.len() });
        }
        #[expect(unsafe_code, reason = "runs a checked plan on its buffers")]
        // SAFETY: both views lie within their buffers, as `check` and the comparison above have
        // found, and `dst` is borrowed exclusively.
        unsafe {
            self.run_unchecked(src, dst.as_mut_ptr(), fill);
        }
        Ok(())
    }

    /// Checks everything except the destination.
    pub(super) fn check(&self, src: &[u8], fill: &[u8]) -> Result<(), CopyError> {
        if self.src_needed > src.len() {
            return Err(CopyError::Source { needed: self.src_needed, found: src.len() });
        }
        if self.margins.is_empty() { Ok(()) } else { check_fill_size(fill, self.element) }
    }

    /// Runs the loops.
    ///
    /// # Safety
    /// [`check`](Self::check) has passed. Every byte of every element of the destination view,
    /// counted from `dst`, is valid for writes, and nothing else accesses those bytes meanwhile.
    #[expect(unsafe_code, reason = "the caller proves the bounds of both buffers")]
    pub(super) unsafe fn run_unchecked(&self, src: &[u8], dst: *mut u8, fill: &[u8]) {
        if let Some(body) = &self.body {
            // SAFETY: the nest walks valid indices of both views only, and the source is one slice,
            // which `check` has proved to hold all of its view.
            unsafe { body.run(src.as_ptr(), dst) };
        }
        for margin in &self.margins {
            // SAFETY: the source strides are 0 and `fill` has been checked to be one element; the
            // destination as above.
            unsafe { margin.run(fill.as_ptr(), dst) };
        }
    }
}

/// The loops over the elements that are valid on both sides, if there are any. Adds those over the
/// elements that are valid in the destination only.
fn body(src: &View, dst: &View, element: CopyElement, margins: &mut Vec<Nest>) -> Option<Nest> {
    let nest = |area: &[(usize, usize)], filled: bool| {
        let lo: Dims<usize> = area.iter().map(|&(lo, _)| lo).collect();
        let sizes: Dims<usize> = area.iter().map(|&(lo, hi)| hi - lo).collect();
        let start = |view: &View| view.position(&lo).unwrap_or(0);
        let to = (start(dst), dst.strides());
        if filled {
            let none: Dims<isize> = Dims::repeat(0, sizes.len());
            Nest::new(&sizes, (0, &none), to, element.unswapped())
        } else {
            Nest::new(&sizes, (start(src), src.strides()), to, element)
        }
    };
    // First the indices that are written, then the indices among them that have a source.
    let mut area: Dims<(usize, usize)> = (0..dst.rank()).map(|axis| dst.valid(axis)).collect();
    for axis in 0..area.len() {
        let (lo, hi) = src.valid(axis);
        let (start, end) = area[axis];
        let (lo, hi) = (lo.clamp(start, end), hi.clamp(start, end).max(lo.clamp(start, end)));
        for margin in [(start, lo), (hi, end)] {
            if margin.0 < margin.1 {
                area[axis] = margin;
                margins.push(nest(&area, true));
            }
        }
        area[axis] = (lo, hi);
        if lo == hi {
            return None;
        }
    }
    Some(nest(&area, false))
}

fn shape_error(src: &[usize], dst: &[usize]) -> CopyError {
    let differ = |axis: &usize| src.get(*axis) != dst.get(*axis);
    let axis = (0..src.len().max(dst.len())).find(differ).unwrap_or(0);
    let size = |shape: &[usize]| shape.get(axis).copied().unwrap_or(0);
    CopyError::Shape { axis, src: size(src), dst: size(dst) }
}

pub(super) fn check_destination(
    view: &View,
    found: usize,
    element: CopyElement,
) -> Result<(), CopyError> {
    let needed = view.span().end.saturating_mul(element.size());
    if needed > found { Err(CopyError::Destination { needed, found }) } else { Ok(()) }
}

fn check_fill_size(fill: &[u8], element: CopyElement) -> Result<(), CopyError> {
    if fill.len() == element.size() {
        Ok(())
    } else {
        Err(CopyError::Fill { expected: element.size(), found: fill.len() })
    }
}
