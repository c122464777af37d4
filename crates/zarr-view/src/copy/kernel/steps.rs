//! Steps over a length that is not a multiple of theirs.

/// The starts of steps that cover `total`; the last step is moved back to end there. A step is no
/// longer than the whole.
///
/// Without the division of `step_by`, which takes longer than a small copy.
#[inline(always)]
pub(super) fn starts(total: usize, step: usize) -> impl Iterator<Item = usize> {
    let mut next = 0;
    core::iter::from_fn(move || {
        let at = next;
        next += step;
        (at < total).then(|| at.min(total - step))
    })
}
