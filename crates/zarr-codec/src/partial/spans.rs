//! Uncompressed elements: the positions of a region's elements are known.
//!
//! A view gives the positions of the region's elements in the stored array. Sorted by stride, its
//! dimensions nest:
//!
//! ```text
//! region of 2 x 3 of an array of rows of 8:   . . x x x . . .
//!                                             . . x x x . . .
//! innermost dimension: a span of 3 elements,  |---|
//! next one: 5 more to the next span           |---|       |---|
//! ```
//!
//! From the innermost dimension outwards, dimensions join the span as long as the gaps between
//! their elements are small; the others count the spans. The fetched bytes are the spans one after
//! the other. This only changes the strides of the counting dimensions, so one view describes their
//! elements.

use std::ops::Range;

use zarr_view::{Output, View};

use crate::chunk::ChunkCodec;
use crate::error::ChunkError;
use crate::length::widen;
use crate::per_axis::PerAxis;
use crate::scratch::Scratch;
use crate::transform::{CommonLevel, Slice};

/// More ranges than this cost more than reading the bytes between them.
const MOST_SPANS: usize = 1024;

/// Spans of a stored array to fetch.
#[derive(Debug)]
pub(super) struct Spans {
    common: CommonLevel,
    /// Maps the region's indices to the fetched elements.
    view: View,
    /// Elements of each span.
    len: usize,
    /// The first element of each span.
    starts: Vec<usize>,
    ranges: Vec<Range<u64>>,
}

impl Spans {
    /// The spans of `region`. `None` if its elements are not one view, or if reading the whole
    /// chunk is faster.
    pub(super) fn new(
        codec: &ChunkCodec,
        region: &[Slice],
        out: &View,
        range_cost: u64,
    ) -> Option<Self> {
        let common = codec.transform().meet(region, out)?;
        let stored = common.stored();
        if stored.is_empty() {
            return None;
        }
        let Nest { len, counting, strides } = Nest::new(stored, codec, range_cost)?;
        let view = View::new(stored.shape(), &strides, 0).ok()?;
        let mut starts = vec![stored.span().start];
        for (count, stride) in counting {
            let many = starts.len().checked_mul(count).filter(|many| *many <= MOST_SPANS)?;
            let before = std::mem::replace(&mut starts, Vec::with_capacity(many));
            for start in before {
                starts.extend((0..count).map(|n| start + n * stride));
            }
        }
        let mut ranges = Vec::with_capacity(starts.len());
        let mut cost = 0_u64;
        for start in &starts {
            let range: Range<u64> = codec.stored_bytes(*start, len)?.0;
            let range_len = range.end - range.start;
            cost = cost.saturating_add(range_len).saturating_add(range_cost);
            ranges.push(range);
        }
        let whole = codec.encoded_len()?.saturating_add(range_cost);
        (cost < whole).then_some(Self { common, view, len, starts, ranges })
    }

    pub(super) fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// Decodes the spans and moves their elements to `out`.
    pub(super) fn decode(
        &self,
        codec: &ChunkCodec,
        bytes: &[u8],
        region: &[Slice],
        out: &mut Output<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        codec.decode_spans(bytes, &self.starts, self.len, scratch, |elements, element| {
            codec.transform().finish(&self.common, &self.view, elements, element, region, out)
        })
    }
}

/// The dimensions of a view, split into dimensions within a span and dimensions that count the
/// spans.
struct Nest {
    /// Elements of a span.
    len: usize,
    /// Count and stride of each counting dimension, the outermost first.
    counting: PerAxis<(usize, usize)>,
    /// Strides of all dimensions within the fetched elements.
    strides: PerAxis<isize>,
}

impl Nest {
    /// `None` if the dimensions do not nest.
    fn new(view: &View, codec: &ChunkCodec, range_cost: u64) -> Option<Self> {
        let mut order: PerAxis<usize> = (0..view.rank()).collect();
        order.sort_by_key(|axis| view.strides().get(*axis).map(|stride| stride.unsigned_abs()));
        let mut strides = PerAxis::from_slice(view.strides());
        let mut counting = PerAxis::new();
        let mut len = 1_usize;
        let mut fetched = 1_usize;
        for axis in order {
            let (&size, &stride) = (view.shape().get(axis)?, view.strides().get(axis)?);
            if size <= 1 {
                continue;
            }
            let distance = usize::try_from(stride).ok()?;
            let gap = distance.checked_sub(len)?.checked_mul(codec.element_bits()?)? / 8;
            if counting.is_empty() && widen(gap) <= range_cost {
                let reach = size.saturating_sub(1).checked_mul(distance)?;
                len = reach.checked_add(len)?;
                fetched = len;
            } else {
                *strides.get_mut(axis)? = isize::try_from(fetched).ok()?;
                fetched = fetched.checked_mul(size)?;
                counting.push((size, distance));
            }
        }
        // Starts are listed with the outermost dimension slowest, as they are fetched.
        counting.reverse();
        Some(Self { len, counting, strides })
    }
}
