//! `bitround`: keeps some bits of floats and integers, and rounds the last one.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "widths are at most 64 bits, and what is dropped is less"
)]

use zarr_metadata::FloatSpecials;

use super::number::{Kind, Number, greatest, wrapped};
use super::refused::Refused;

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
    /// the integer is dropped. A carry out of a float is infinity; floats without infinity are
    /// refused.
    pub(super) fn encode(&self, code: u64) -> Result<u64, Refused> {
        match self.kind {
            Kind::Float(format) => {
                if matches!(self.kind.decode(code), Number::Nan) {
                    return Ok(code);
                }
                let dropped = format.mantissa_bits.saturating_sub(self.keepbits);
                let magnitude = ones(format.exponent_bits + format.mantissa_bits);
                let rounded = round(code & magnitude, u64::MAX, dropped);
                if format.specials != FloatSpecials::Ieee && rounded > greatest(format) {
                    return Err(Refused::OutOfRange);
                }
                // The code of a negative zero is NaN where there is no such number.
                let has_sign = format.specials != FloatSpecials::NegativeZeroNan || rounded > 0;
                let sign = code & !magnitude & ones(format.bits());
                Ok(if has_sign { sign | rounded } else { 0 })
            }
            Kind::Int { bits, signed } => {
                let length = 64 - (code & ones(bits)).leading_zeros();
                let dropped = length.saturating_sub(self.keepbits);
                let rounded = round(code & ones(bits), ones(bits), dropped);
                Ok(wrapped(rounded.into(), bits, signed))
            }
        }
    }
}

/// The number without its lowest bits, rounded to the nearest, ties to even; at most `most`.
fn round(code: u64, most: u64, dropped: u32) -> u64 {
    if dropped == 0 {
        return code;
    }
    let half = (1_u64 << (dropped - 1)) - 1;
    let last = code >> dropped & 1;
    let sum = code.checked_add(last + half).filter(|sum| *sum <= most).unwrap_or(most);
    sum & !ones(dropped)
}

/// A number of this many one bits.
fn ones(bits: u32) -> u64 {
    1_u64.checked_shl(bits).map_or(u64::MAX, |above| above - 1)
}
