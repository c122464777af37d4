//! The conversions between chunk numbers and positions in memory.

/// A position in a slice in memory, so it fits.
///
/// Saturates if `usize` is narrower; such a position fails the bounds check that follows.
#[inline]
pub(crate) fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// A length in memory as a count. No platform has a `usize` wider than 64 bits.
#[inline]
pub(crate) fn to_u64(value: usize) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

/// Greatest common divisor; `gcd(0, x)` is `x`.
pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
