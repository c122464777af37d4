//! `bitround`: keeps some bits of floats and integers, and rounds the last one.

// Overflow: widths are at most 64 bits, and what is dropped is less.

use zarr_metadata::FloatSpecials;

use super::number::{Kind, Number, integer, wrapped};
use super::refused::Refused;

#[derive(Clone, Debug)]
pub(super) struct Bitround {
    pub(super) kind: Kind,
    pub(super) keepbits: u32,
    /// Whether the integers are times, of which the least is NaT.
    pub(super) is_time: bool,
}

impl Bitround {
    /// The element rounded to the nearest value, ties to even.
    ///
    /// NaN is unchanged: its mantissa is not a number, and rounding it up could turn it into one.
    /// As in zarrs, a signed integer is rounded as its two's complement bits, and a carry out of
    /// the integer is dropped. A carry out of a float is infinity; floats without infinity are
    /// refused. Unless loss is allowed, so are infinity, a changed sign, and NaT.
    pub(super) fn encode(&self, code: u64, allow_loss: bool) -> Result<u64, Refused> {
        match self.kind {
            Kind::Float(format) => {
                if matches!(self.kind.decode(code), Number::Nan) {
                    return Ok(code);
                }
                let dropped = format.mantissa_bits.saturating_sub(self.keepbits);
                let magnitude = ones(format.exponent_bits + format.mantissa_bits);
                let (rounded, _) = round(code & magnitude, u64::MAX, dropped);
                let becomes_infinite = rounded > format.largest() && rounded != code & magnitude;
                if becomes_infinite && !(allow_loss && format.specials == FloatSpecials::Ieee) {
                    return Err(Refused::Overflow);
                }
                // The code of a negative zero is NaN where there is no such number.
                let has_sign = format.specials != FloatSpecials::NegativeZeroNan || rounded > 0;
                let sign = code & !magnitude & ones(format.bits());
                Ok(if has_sign { sign | rounded } else { 0 })
            }
            Kind::Int { bits, signed } => {
                let length = 64 - (code & ones(bits)).leading_zeros();
                let dropped = length.saturating_sub(self.keepbits);
                let (rounded, carries) = round(code & ones(bits), ones(bits), dropped);
                let rounded = wrapped(rounded.into(), bits, signed);
                let is_negative = |code| integer(code, bits, signed) < 0;
                // The carry of a negative integer would make it zero.
                let loses_sign = signed && carries || is_negative(code) != is_negative(rounded);
                let becomes_nat = self.is_time && rounded == 1 << 63 && rounded != code;
                match (loses_sign || becomes_nat) && !allow_loss {
                    true => Err(Refused::Overflow),
                    false => Ok(rounded),
                }
            }
        }
    }
}

/// The number without its lowest bits, rounded to the nearest, ties to even; at most `most`, and
/// whether it would have been more.
fn round(code: u64, most: u64, dropped: u32) -> (u64, bool) {
    if dropped == 0 {
        return (code, false);
    }
    let half = (1_u64 << (dropped - 1)) - 1;
    let last = code >> dropped & 1;
    let sum = code.checked_add(last + half).filter(|sum| *sum <= most);
    (sum.unwrap_or(most) & !ones(dropped), sum.is_none())
}

/// A number of this many one bits.
fn ones(bits: u32) -> u64 {
    1_u64.checked_shl(bits).map_or(u64::MAX, |above| above - 1)
}
