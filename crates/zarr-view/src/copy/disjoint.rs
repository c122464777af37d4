//! Checks of views used as outputs: their parts, and that no two indices share a position.

use core::ops::Range;

use smallvec::SmallVec;

use crate::view::{Dims, View};
use crate::{CopyError, ViewError};

impl View {
    /// One axis restricted to a range within its size.
    pub(super) fn cut(&self, axis: usize, range: Range<usize>) -> Result<Self, ViewError> {
        let ranges: SmallVec<[Range<usize>; 6]> = self
            .shape()
            .iter()
            .enumerate()
            .map(|(other, &size)| if other == axis { range.clone() } else { 0..size })
            .collect();
        self.shrink(&ranges)
    }

    /// Refuses a view unless each stride exceeds the reach of the smaller ones.
    pub(super) fn check_injective(&self) -> Result<(), CopyError> {
        if self.is_masked_out() {
            return Ok(());
        }
        let mut steps: Dims<(usize, usize)> = (0..self.rank())
            .map(|axis| (self.strides()[axis].unsigned_abs(), self.valid(axis)))
            .map(|(stride, (lo, hi))| (stride, hi - lo))
            .filter(|&(_, extent)| extent > 1)
            .collect();
        steps.sort_unstable();
        // The reach stays below the span of the view.
        let mut reach = 0;
        for &(stride, extent) in &steps {
            if stride <= reach {
                return Err(CopyError::Overlap { stride, span: reach + 1 });
            }
            reach += stride * (extent - 1);
        }
        Ok(())
    }
}
