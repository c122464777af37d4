//! The innermost loops.

#![expect(unsafe_code, reason = "moves bytes through pointers whose bounds the plan has proved")]

mod scalar;

use super::Element;
use super::nest::Loop;
use crate::view::Dims;

/// How the innermost loops of a nest are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kernel {
    /// Bytes that stay together on both sides, and the unit of the swap within them.
    size: usize,
    unit: usize,
}

impl Kernel {
    /// The kernel of a single element.
    pub(super) const fn element(element: Element) -> Self {
        Self { size: element.size(), unit: element.unit() }
    }

    /// Picks the kernel for sorted and merged loops, and hands it the loops it wants.
    pub(super) fn choose(loops: &mut Dims<Loop>, element: Element) -> Self {
        let _ = loops;
        Self::element(element)
    }

    /// The bytes that a run writes.
    #[cfg(feature = "count")]
    pub(super) fn bytes(&self, loops: &[Loop]) -> usize {
        loops.iter().map(|each| each.count).product::<usize>() * self.size
    }

    /// Runs all loops.
    ///
    /// # Safety
    /// As [`Nest::run`](super::nest::Nest::run), from the first element on both sides.
    pub(super) unsafe fn run(&self, loops: &[Loop], src: *const u8, dst: *mut u8) {
        match loops {
            // SAFETY: one element on both sides.
            [] => unsafe { scalar::element(src, dst, self.size, self.unit) },
            &[Loop { count, src: src_step, dst: dst_step }, ref inner @ ..] => {
                for i in 0..crate::view::signed(count) {
                    // SAFETY: step i of the loop is within both buffers.
                    unsafe { self.run(inner, src.offset(i * src_step), dst.offset(i * dst_step)) };
                }
            }
        }
    }
}
