//! Exact real numbers: read from the bits of one data type, and rounded to the bits of another.

// Overflow: widths are at most 64 bits, exponents those of float64, and sums are in 128 bits.

use std::cmp::Ordering;

use zarr_metadata::{DataType, FloatFormat, FloatSpecials, FloatValue, Rounding};

/// How the bits of a component represent a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An integer, in two's complement if it is signed.
    Int {
        bits: u32,
        signed: bool,
    },
    Float(FloatFormat),
}

pub(super) const FLOAT16: Kind = ieee(5, 10, 15);
pub(super) const FLOAT32: Kind = ieee(8, 23, 127);
pub(super) const FLOAT64: Kind = ieee(11, 52, 1023);

const fn ieee(exponent_bits: u32, mantissa_bits: u32, bias: i32) -> Kind {
    let specials = FloatSpecials::Ieee;
    Kind::Float(FloatFormat { exponent_bits, mantissa_bits, bias, specials })
}

/// A number, `significand * 2^exponent`, or a value that is not finite.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Finite { negative: bool, significand: u64, exponent: i32 },
    Infinite { negative: bool },
    Nan,
}

/// Why a kind cannot represent a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfit {
    /// It is below the least or above the greatest one.
    OutOfRange,
    /// It is infinite or not a number, and the kind has no such value.
    NotFinite,
}

impl Kind {
    /// The kind of a data type's components; `None` if they are neither integers nor floats.
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        if let Some(format) = data_type.float_format() {
            return Some(Self::Float(format));
        }
        let layout = data_type.element_layout()?;
        let is_integer = data_type.is_packable() && *data_type != DataType::Bool;
        let bits = Some(layout.component_bits).filter(|_| is_integer)?;
        Some(Self::Int { bits, signed: layout.signed })
    }

    /// Bits of a component.
    pub(super) fn bits(self) -> u32 {
        match self {
            Self::Int { bits, .. } => bits,
            Self::Float(format) => format.bits(),
        }
    }

    /// Bytes of a component in memory.
    pub(super) fn size(self) -> usize {
        usize::try_from(self.bits().div_ceil(8)).unwrap_or(usize::MAX)
    }

    /// The least and the greatest integer.
    pub(super) fn range(bits: u32, signed: bool) -> (i128, i128) {
        match signed {
            true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => (0, (1 << bits) - 1),
        }
    }

    /// The codes of the least and the greatest finite number, and of the values that are not finite.
    ///
    /// A conversion that keeps the order of numbers, and has a result for all of these, has one for
    /// every value.
    pub(super) fn ends(self) -> Vec<u64> {
        match self {
            Self::Int { bits, signed } => {
                let (least, most) = Self::range(bits, signed);
                vec![wrapped(least, bits, signed), wrapped(most, bits, signed)]
            }
            Self::Float(format) if format.specials == FloatSpecials::Power => {
                [0, format.largest()].into_iter().chain(format.nan()).collect()
            }
            Self::Float(format) => {
                let sizes = [Some(format.largest()), format.infinity()].into_iter().flatten();
                let both = sizes.flat_map(|size| [size, format.sign_bit() | size]);
                both.chain(format.nan()).collect()
            }
        }
    }

    /// The number that the bits of a component represent.
    pub(super) fn decode(self, code: u64) -> Number {
        match self {
            Self::Int { bits, signed } => {
                let value = integer(code, bits, signed);
                let significand = u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX);
                Number::Finite { negative: value < 0, significand, exponent: 0 }
            }
            Self::Float(format) => match format.value(code) {
                FloatValue::Finite { negative, significand, exponent } => {
                    Number::Finite { negative, significand, exponent }
                }
                FloatValue::Infinite { negative } => Number::Infinite { negative },
                FloatValue::Nan => Number::Nan,
            },
        }
    }

    /// The bits of the number, rounded.
    ///
    /// Keeps signed zero where there is one, and writes the canonical NaN. As in IEEE 754, a finite
    /// number is out of range if, rounded to the mantissa, it exceeds a float's greatest number.
    pub(super) fn encode(self, number: Number, rounding: Rounding) -> Result<u64, Misfit> {
        match self {
            Self::Int { bits, signed } => {
                let value = number.to_integer(rounding)?;
                let (least, most) = Self::range(bits, signed);
                let fits = value.filter(|value| (least..=most).contains(value));
                fits.map(|value| wrapped(value, bits, signed)).ok_or(Misfit::OutOfRange)
            }
            Self::Float(format) => encode_float(format, number, rounding),
        }
    }

    /// The bound to which a number out of range is clamped: infinity, or the least or greatest
    /// number of a kind without infinity.
    pub(super) fn clamped(self, number: Number) -> u64 {
        let negative = number.is_negative();
        match self {
            Self::Int { bits, signed } => {
                let (least, most) = Self::range(bits, signed);
                wrapped(if negative { least } else { most }, bits, signed)
            }
            Self::Float(format) if format.specials == FloatSpecials::Power => {
                if number.is_below_one() { 0 } else { format.largest() }
            }
            Self::Float(format) => {
                let magnitude = format.infinity().unwrap_or_else(|| format.largest());
                if negative { format.sign_bit() | magnitude } else { magnitude }
            }
        }
    }
}

impl Number {
    pub(super) fn is_finite(self) -> bool {
        matches!(self, Self::Finite { .. })
    }

    pub(super) fn is_negative(self) -> bool {
        match self {
            Self::Finite { negative, .. } | Self::Infinite { negative } => negative,
            Self::Nan => false,
        }
    }

    fn is_below_one(self) -> bool {
        match self {
            Self::Finite { negative, significand, exponent } => {
                let length = 64 - significand.leading_zeros().cast_signed();
                negative || significand == 0 || exponent + length <= 0
            }
            Self::Infinite { negative } => negative,
            Self::Nan => false,
        }
    }

    /// The integer that the number is rounded to; `None` if it has more than 127 bits.
    pub(super) fn to_integer(self, rounding: Rounding) -> Result<Option<i128>, Misfit> {
        let Self::Finite { negative, significand, exponent } = self else {
            return Err(Misfit::NotFinite);
        };
        let magnitude = if exponent >= 0 {
            let shift = u32::try_from(exponent).unwrap_or(u32::MAX);
            let room = u128::from(significand).leading_zeros();
            match significand {
                0 => Some(0),
                _ if shift < room.saturating_sub(1) => Some(u128::from(significand) << shift),
                _ => None,
            }
        } else {
            Some(shifted(significand, exponent.unsigned_abs(), negative, rounding).into())
        };
        let signed = |magnitude: u128| {
            let magnitude = i128::try_from(magnitude).unwrap_or(i128::MAX);
            if negative { -magnitude } else { magnitude }
        };
        Ok(magnitude.map(signed))
    }

    /// The integer that the number is rounded to, modulo 2^bits.
    pub(super) fn wrap(self, bits: u32, signed: bool, rounding: Rounding) -> Result<u64, Misfit> {
        // Above 127 bits, all of a float's lower bits are zero.
        Ok(wrapped(self.to_integer(rounding)?.unwrap_or(0), bits, signed))
    }

    /// Whether two numbers of any types have the same value. NaN equals NaN.
    pub(super) fn same_value(self, other: Self) -> bool {
        match (self, other) {
            (Self::Nan, Self::Nan) => true,
            (Self::Infinite { negative }, Self::Infinite { negative: other }) => negative == other,
            (
                Self::Finite { negative, significand, exponent },
                Self::Finite {
                    negative: their_sign,
                    significand: theirs,
                    exponent: their_exponent,
                },
            ) => {
                let reduced = |significand: u64, exponent: i32| {
                    let zeros = significand.trailing_zeros();
                    let exponent = exponent + zeros.try_into().unwrap_or(0);
                    (significand.checked_shr(zeros).unwrap_or(0), exponent)
                };
                significand == 0 && theirs == 0
                    || negative == their_sign
                        && significand != 0
                        && reduced(significand, exponent) == reduced(theirs, their_exponent)
            }
            _ => false,
        }
    }
}

fn encode_float(format: FloatFormat, number: Number, rounding: Rounding) -> Result<u64, Misfit> {
    let sign = if number.is_negative() { format.sign_bit() } else { 0 };
    let (negative, significand, exponent) = match number {
        Number::Nan => return format.nan().ok_or(Misfit::NotFinite),
        Number::Infinite { .. } => {
            return format.infinity().map(|code| sign | code).ok_or(Misfit::NotFinite);
        }
        Number::Finite { negative, significand, exponent } => (negative, significand, exponent),
    };
    let is_power = format.specials == FloatSpecials::Power;
    if is_power && (negative || significand == 0) {
        return Err(Misfit::OutOfRange);
    }
    let signed = |magnitude: u64| match format.specials {
        // The code of its negative zero is NaN.
        FloatSpecials::NegativeZeroNan if magnitude == 0 => 0,
        _ => sign | magnitude,
    };
    if significand == 0 {
        return Ok(signed(0));
    }
    // The exponents of the last place: of the least float, and of a float of this magnitude.
    let places = format.mantissa_bits.cast_signed();
    let least = format.least_exponent() - places;
    let length = 64 - significand.leading_zeros().cast_signed();
    let last = (exponent + length - 1 - places).max(least);
    // Where the last digit of all numbers is 1, none is even: IEEE 754 then takes the larger.
    let rounding = match rounding {
        Rounding::NearestEven if is_power => Rounding::NearestAway,
        rounding => rounding,
    };
    let mantissa = match last - exponent {
        up @ ..=0 => significand << up.unsigned_abs(),
        down => shifted(significand, down.unsigned_abs(), negative, rounding),
    };
    // One place further if rounding carries; then the exponent's field increases by itself.
    let field = u64::try_from(last - least).unwrap_or(0);
    let code = (field << format.mantissa_bits) + mantissa;
    // A power of two has no code for zero, so that its codes are one less.
    let code = if is_power { code.checked_sub(1).ok_or(Misfit::OutOfRange)? } else { code };
    if code > format.largest() { Err(Misfit::OutOfRange) } else { Ok(signed(code)) }
}

/// `magnitude / 2^places`, rounded.
fn shifted(magnitude: u64, places: u32, negative: bool, rounding: Rounding) -> u64 {
    let whole = magnitude.checked_shr(places).unwrap_or(0);
    let (half, rest) = match places {
        0 => return magnitude,
        1..=64 => (1_u128 << (places - 1), u128::from(magnitude) & ((1_u128 << places) - 1)),
        _ => (u128::MAX, magnitude.into()),
    };
    let up = match rounding {
        Rounding::TowardsZero => false,
        Rounding::TowardsPositive => rest > 0 && !negative,
        Rounding::TowardsNegative => rest > 0 && negative,
        Rounding::NearestAway => rest >= half,
        Rounding::NearestEven => match rest.cmp(&half) {
            Ordering::Less => false,
            Ordering::Equal => whole & 1 == 1,
            Ordering::Greater => true,
        },
    };
    whole + u64::from(up)
}

/// The integer in the low bits.
pub(super) fn integer(code: u64, bits: u32, signed: bool) -> i128 {
    let unused = 64_u32 - bits;
    let high = code << unused;
    if signed { (high.cast_signed() >> unused).into() } else { (high >> unused).into() }
}

/// The low bits of an integer, extended to the in-memory form of a value of this many bits.
pub(super) fn wrapped(value: i128, bits: u32, signed: bool) -> u64 {
    let low_bits = u64::try_from(value.cast_unsigned() & u128::from(u64::MAX)).unwrap_or_default();
    let value = integer(low_bits, bits, signed);
    u64::try_from(value.cast_unsigned() & u128::from(u64::MAX)).unwrap_or_default()
}

/// The bits of a component in memory.
pub(super) fn load(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |code, byte| code << 8 | u64::from(*byte))
}

/// Writes the bits of a component to memory.
pub(super) fn store(code: u64, bytes: &mut [u8]) {
    for (to, from) in bytes.iter_mut().zip(code.to_le_bytes()) {
        *to = from;
    }
}
