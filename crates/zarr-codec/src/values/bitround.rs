//! `bitround`: the bits of floats and integers that are kept, the last one rounded.

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
    /// The element rounded to the nearest, ties to even.
    ///
    /// NaN stays as it is: its mantissa is no number, and rounding it up would make it one. As in
    /// zarrs, a signed integer's bits are those of its two's complement, and what rounding up would
    /// carry out of an integer is cut.
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

/// So many ones.
fn ones(bits: u32) -> u64 {
    1_u64.checked_shl(bits).map_or(u64::MAX, |above| above - 1)
}
