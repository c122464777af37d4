//! A copy as nested loops: the loops, their order, and the kernel inside them.

use super::CopyElement;
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
        element: CopyElement,
    ) -> Self {
        // Exact for strides and for the range they reach. The start may not fit: an output moves
        // its pointer back by the same amount.
        let bytes = |elements: isize| elements.wrapping_mul(signed(element.size()));
        let mut start = (bytes(signed(src.0)), bytes(signed(dst.0)));
        let mut loops = Dims::new();
        for ((&count, &src), &dst) in sizes.iter().zip(src.1).zip(dst.1) {
            if count > 1 {
                let new = Loop { count, src: bytes(src), dst: bytes(dst) };
                add(&mut loops, new, &mut start);
            }
        }
        merge(&mut loops);
        let kernel = Kernel::choose(&mut loops, element, Detected::best());
        Self { src: start.0, dst: start.1, loops, kernel }
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
        let (src, dst) =
            (self.kernel.source(&self.loops, src), self.kernel.target(&self.loops, dst));
        // SAFETY: the loops reach exactly the elements that the nest was made from: sorting,
        // merging and reversing them changes their order only.
        unsafe { self.kernel.run(&self.loops, src, dst) };
    }
}

/// Adds a loop that walks the destination upwards, in the order of its strides. Moves the start of
/// both sides where the loop walked it downwards.
fn add(loops: &mut Dims<Loop>, mut new: Loop, start: &mut (isize, isize)) {
    if new.dst <= 0 {
        // Backwards on both sides is the same copy. If all steps write the same destination,
        // only the last one counts.
        start.0 = start.0.wrapping_add(new.src.wrapping_mul(signed(new.count - 1)));
        start.1 = start.1.wrapping_add(new.dst.wrapping_mul(signed(new.count - 1)));
        if new.dst == 0 {
            return;
        }
        new.src = new.src.wrapping_neg();
        new.dst = new.dst.wrapping_neg();
    }
    let after = |old: &Loop| (old.dst, old.src.unsigned_abs()) < (new.dst, new.src.unsigned_abs());
    let place = loops.iter().position(after).unwrap_or(loops.len());
    loops.insert(place, new);
}

/// Merges neighbours where one continues the other on both sides.
fn merge(loops: &mut Dims<Loop>) {
    let mut last = 0;
    for at in 1..loops.len() {
        let (outer, inner) = (loops[last], loops[at]);
        let count = signed(inner.count);
        if outer.dst == inner.dst.wrapping_mul(count) && outer.src == inner.src.wrapping_mul(count)
        {
            loops[last] = Loop { count: outer.count * inner.count, ..inner };
        } else {
            last += 1;
            loops[last] = inner;
        }
    }
    loops.truncate(last + 1);
}
