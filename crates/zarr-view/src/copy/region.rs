//! The bytes that a copy may touch on each side, as kernels walk them.
//!
//! A place moves anywhere without being used, as pointers do. [`Source::bytes`] and
//! [`Target::bytes`] give its bytes. In debug builds they assert that these lie between the lowest
//! and the highest byte that the loops of the copy reach. So a kernel is safe if it asks only for
//! bytes of elements of its own loops, and moves them only within the bytes it asked for. Both can
//! be checked in its own file. Release builds have only the pointer.

use core::ops::Range;

use super::one_loop::Loop;
use crate::view::signed;

macro_rules! place {
    ($(#[$doc:meta])* $name:ident, $pointer:ty, $step:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(super) struct $name {
            at: $pointer,
            /// The lowest and the highest address that may be accessed.
            #[cfg(debug_assertions)]
            limits: (usize, usize),
        }

        impl $name {
            /// The first element of some loops, of `size` bytes each.
            #[inline(always)]
            pub(super) fn first(at: $pointer, loops: &[Loop], size: usize) -> Self {
                let steps = loops.iter().map(|each| (each.count, each.$step));
                Self::within(at, || reach(steps, size))
            }

            /// A place in the bytes that lie in this range from it.
            #[inline(always)]
            pub(super) fn within(at: $pointer, range: impl FnOnce() -> Range<isize>) -> Self {
                #[cfg(debug_assertions)]
                let limits = {
                    let range = range();
                    let limit = |by| at.addr().wrapping_add_signed(by);
                    (limit(range.start), limit(range.end))
                };
                #[cfg(not(debug_assertions))]
                let _ = range;
                Self {
                    at,
                    #[cfg(debug_assertions)]
                    limits,
                }
            }

            /// The place so many bytes on, which need not be in the region.
            #[inline(always)]
            pub(super) const fn offset(self, bytes: isize) -> Self {
                let mut place = self;
                place.at = self.at.wrapping_offset(bytes);
                place
            }

            /// As [`offset`](Self::offset), upwards.
            #[inline(always)]
            pub(super) const fn add(self, bytes: usize) -> Self {
                let mut place = self;
                place.at = self.at.wrapping_add(bytes);
                place
            }

            /// The next `count` bytes, all of them in the region.
            #[inline(always)]
            #[track_caller]
            pub(super) fn bytes(self, count: usize) -> $pointer {
                #[cfg(debug_assertions)]
                check(self.at.addr(), count, self.limits);
                #[cfg(not(debug_assertions))]
                let _ = count;
                self.at
            }

            /// The address for a prefetch, anywhere.
            #[inline(always)]
            pub(super) fn hint(self) -> *const u8 {
                self.at
            }

            /// As a number.
            #[inline(always)]
            pub(super) fn addr(self) -> usize {
                self.at.addr()
            }
        }
    };
}

place! {
    /// A place in the source.
    Source, *const u8, src
}

place! {
    /// A place in the destination, or in a buffer on the way there.
    Target, *mut u8, dst
}

#[cfg(debug_assertions)]
#[track_caller]
fn check(at: usize, count: usize, (low, high): (usize, usize)) {
    assert!(
        low <= at && at <= high && count <= high - at,
        "{count} bytes at {at:#x}, of those from {low:#x} to {high:#x}"
    );
}

/// How far loops reach from their first element, with the bytes of an element.
fn reach(steps: impl Iterator<Item = (usize, isize)>, size: usize) -> Range<isize> {
    steps.fold(0..signed(size), |reach, (count, step)| {
        let last = step * signed(count - 1);
        reach.start + last.min(0)..reach.end + last.max(0)
    })
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    const LOOPS: [Loop; 2] =
        [Loop { count: 3, src: -20, dst: 8 }, Loop { count: 2, src: 4, dst: 24 }];

    #[test]
    fn places_may_lie_anywhere() {
        let bytes = [0; 64];
        let first = Source::first(bytes.as_ptr().wrapping_add(40), &LOOPS, 4);
        assert_eq!(first.offset(-1000).add(1000).addr(), first.addr());
        assert_eq!(first.offset(-40).bytes(48), bytes.as_ptr());
        assert_eq!(first.offset(4).bytes(4), bytes.as_ptr().wrapping_add(44));
        assert_eq!(first.offset(8).bytes(0), bytes.as_ptr().wrapping_add(48));
    }

    #[test]
    #[should_panic(expected = "5 bytes at")]
    fn a_byte_behind_the_source_is_refused() {
        let bytes = [0; 64];
        Source::first(bytes.as_ptr().wrapping_add(40), &LOOPS, 4).offset(4).bytes(5);
    }

    #[test]
    #[should_panic(expected = "4 bytes at")]
    fn a_byte_before_the_destination_is_refused() {
        let mut bytes = [0; 64];
        Target::first(bytes.as_mut_ptr(), &LOOPS, 4).offset(-1).bytes(4);
    }
}
