//! Steps over a length that is not a multiple of theirs.

/// The starts of steps that cover `total`; the last step is moved back to end there.
///
/// Without the division of `step_by`, which takes longer than a small copy.
///
/// # Safety
/// `step` is at least 1 and at most `total`. Then each start and the `step` places behind it lie
/// within `total`; otherwise a start may be any number, and callers make pointers of it.
#[inline(always)]
pub(super) unsafe fn starts(total: usize, step: usize) -> impl Iterator<Item = usize> {
    debug_assert!((1..=total).contains(&step), "a step of {step} in {total}");
    let mut next = 0;
    core::iter::from_fn(move || {
        let at = next;
        next += step;
        (at < total).then(|| at.min(total - step))
    })
}
