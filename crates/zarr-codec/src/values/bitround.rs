//! `bitround`: keeps some bits of floats and integers, and rounds the last one.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "widths are at most 64 bits, and what is dropped is less"
)]

use super::number::Kind;

#[derive(Clone, Debug)]
pub(super) struct Bitround {
    pub(super) kind: Kind,
    pub(super) keepbits: u32,
}

impl Bitround {
    /// The element rounded to the nearest value, ties to even.
    ///
    /// NaN is unchanged: its mantissa is not a number, and rounding it up could turn it into one.
    /// As in zarrs, a signed integer is rounded as its two's complement bits, and a carry out of
    /// the integer is dropped.
    pub(super) fn encode(&self, code: u64) -> u64 {
        let (bits, dropped) = match self.kind {
            Kind::Float { exponent_bits, mantissa_bits } => {
                let is_nan = matches!(self.kind.decode(code), super::number::Number::Nan);
                let dropped = mantissa_bits.saturating_sub(self.keepbits);
                (1 + exponent_bits + mantissa_bits, if is_nan { 0 } else { dropped })
            }
            Kind::Int { bits, .. } => {
                let length = 64 - (code & ones(bits)).leading_zeros();
                (bits, length.saturating_sub(self.keepbits))
            }
        };
        if dropped == 0 {
            return code;
        }
        let code = code & ones(bits);
        let half = (1_u64 << (dropped - 1)) - 1;
        let last = code >> dropped & 1;
        let most = ones(bits);
        let sum = code.checked_add(last + half).filter(|sum| *sum <= most).unwrap_or(most);
        sum & !ones(dropped)
    }
}

/// A number of this many one bits.
fn ones(bits: u32) -> u64 {
    1_u64.checked_shl(bits).map_or(u64::MAX, |above| above - 1)
}
