//! Unpacks bits and moves their elements to the output, slab by slab.

use std::ops::Range;

use zarr_view::{CopyError, Output, View};

use super::nested_error::NestedError;
use super::slabs::{Slabs, alone};
use crate::array_to_bytes::packbits::Packed;
use crate::scratch::Pool;

/// Bytes of elements that are unpacked at a time: the smallest size for which the copy that
/// follows uses streaming stores.
pub(super) const SLAB: usize = 4 << 20;

impl Packed<'_> {
    /// Unpacks the elements that `stored` refers to into `out`, which has its shape and no mask.
    pub(super) fn unpack(
        &self,
        stored: &View,
        out: &mut Output<'_>,
        pool: &mut Pool,
    ) -> Result<(), NestedError> {
        let size = out.element_size();
        // If the elements keep their order, no copy is needed.
        if alone(stored)?.is_contiguous()
            && let Some(elements) = out.as_mut_slice()
        {
            return Ok(self.unpack_range(stored.span().start, elements)?);
        }
        let most = SLAB.checked_div(size).unwrap_or(1).max(1).min(stored.span().len());
        let mut buffer = pool.take(most * size)?;
        for ranges in Slabs::new(stored, most) {
            let slab = stored.shrink(&ranges).map_err(CopyError::from)?;
            let Range { start, end } = slab.span();
            let len = (end - start) * size;
            let elements = buffer.get_mut(..len).unwrap_or_default();
            self.unpack_range(start, elements)?;
            let element = out.element();
            out.shrink(&ranges)?.copy_from(&alone(&slab)?, elements, element, &[])?;
        }
        pool.give(buffer);
        Ok(())
    }
}
