//! A copy as nested loops: the loops, their order, and the kernel inside them.

use smallvec::SmallVec;

use super::Element;
use super::instructions::Detected;
use super::kernel::Kernel;
use super::one_loop::Loop;
use crate::view::{Dims, signed};

/// Nested loops over a box of elements that are valid on both sides.
#[derive(Debug, Clone)]
pub(super) struct Nest {
    src: isize,
    dst: isize,
    /// Outermost first; the last ones belong to the kernel.
    loops: Dims<Loop>,
    kernel: Kernel,
}

impl Nest {
    /// Orders and merges the loops over `sizes` (none of them 0), and picks a kernel. The first
    /// element and the strides of each side are in elements.
    ///
    /// The range that the loops reach on each side must fit an `isize` in bytes.
    pub(super) fn new(
        sizes: &[usize],
        src: (usize, &[isize]),
        dst: (usize, &[isize]),
        element: Element,
    ) -> Self {
        // Exact for strides and for the range they reach. The start may not fit: an output moves
        // its pointer back by the same amount.
        let bytes = |elements: isize| elements.wrapping_mul(signed(element.size()));
        let mut nest = Builder {
            src: bytes(signed(src.0)),
            dst: bytes(signed(dst.0)),
            loops: SmallVec::new(),
        };
        for ((&count, &src), &dst) in sizes.iter().zip(src.1).zip(dst.1) {
            if count > 1 {
                nest.add(Loop { count, src: bytes(src), dst: bytes(dst) });
            }
        }
        nest.merge();
        let Builder { src, dst, mut loops } = nest;
        let kernel = Kernel::choose(&mut loops, element, Detected::best());
        Self { src, dst, loops, kernel }
    }

    /// Uses other instructions for the same loops.
    pub(super) const fn set_instructions(&mut self, instructions: Detected) {
        self.kernel.set(instructions);
    }

    /// Runs the loops on a source and a destination.
    ///
    /// # Safety
    /// As [`Kernel::run`], for every element that the nest was made from.
    #[expect(unsafe_code, reason = "walks buffers whose bounds the caller has proved")]
    pub(super) unsafe fn run(&self, src: *const u8, dst: *mut u8) {
        // Both point to the first element of the loops. The start of an output may be moved
        // outside its buffer, by as much as the plan's view starts further on.
        let (src, dst) = (src.wrapping_offset(self.src), dst.wrapping_offset(self.dst));
        #[cfg(feature = "count")]
        super::count::add(self.kernel.bytes(&self.loops));
        // SAFETY: the loops reach exactly the elements that the nest was made from: sorting,
        // merging and reversing them changes their order only.
        unsafe { self.kernel.run(&self.loops, src, dst) };
    }
}

/// Loops under construction.
struct Builder {
    src: isize,
    dst: isize,
    loops: Dims<Loop>,
}

impl Builder {
    /// Adds a loop that walks the destination upwards, in the order of its strides.
    fn add(&mut self, mut new: Loop) {
        if new.dst <= 0 {
            // Backwards on both sides is the same copy. If all steps write the same destination,
            // only the last one counts.
            self.src = self.src.wrapping_add(new.src.wrapping_mul(signed(new.count - 1)));
            self.dst = self.dst.wrapping_add(new.dst.wrapping_mul(signed(new.count - 1)));
            if new.dst == 0 {
                return;
            }
            new.src = new.src.wrapping_neg();
            new.dst = new.dst.wrapping_neg();
        }
        let after =
            |old: &Loop| (old.dst, old.src.unsigned_abs()) < (new.dst, new.src.unsigned_abs());
        let place = self.loops.iter().position(after).unwrap_or(self.loops.len());
        self.loops.insert(place, new);
    }

    /// Merges neighbours where one continues the other on both sides.
    fn merge(&mut self) {
        let mut merged: Dims<Loop> = SmallVec::new();
        for &inner in &self.loops {
            let count = signed(inner.count);
            match merged.last_mut() {
                Some(outer)
                    if outer.dst == inner.dst.wrapping_mul(count)
                        && outer.src == inner.src.wrapping_mul(count) =>
                {
                    *outer = Loop { count: outer.count * inner.count, ..inner };
                }
                _ => merged.push(inner),
            }
        }
        self.loops = merged;
    }
}
