//! One of the nested loops of a copy.

/// One loop: the number of steps, and the distance of each step on both sides, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) count: usize,
    pub(super) src: isize,
    pub(super) dst: isize,
}
