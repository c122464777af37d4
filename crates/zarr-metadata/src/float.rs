//! Binary floating point of every width in software, exact in both directions.
//!
//! # From a decimal, without rounding twice
//! The standard library rounds a decimal `x` to the nearest `f64`, `d`. Every point halfway between
//! two neighbours of a narrower format is itself an `f64`, and rounding is monotonic. If `d` is not
//! such a point, then `x` lies on the same side of each of them as `d`, and rounding `d` rounds
//! `x`. Only if `d` is a halfway point do the digits of `x` decide; then they are compared with the
//! digits of `d`, which has an exact and short decimal expansion.

use std::cmp::Ordering;

/// The codes of special values in a format of floats.
///
/// The enum is exhaustive. A reader that does not know a convention would decode other values, so a
/// new convention is a breaking change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FloatSpecials {
    /// IEEE 754: the largest exponent is infinity and NaN.
    Ieee,
    /// `fn`: no infinity; NaN is all ones below the sign.
    AllOnesNan,
    /// `fnuz`: no infinity and no negative zero; its code is the only NaN.
    NegativeZeroNan,
    /// `fn` of 4 and 6 bits: every code is a finite number.
    Finite,
    /// `e8m0fnu`: powers of two without sign and zero; all ones is NaN.
    Power,
}

/// The format of a float: from the highest bit on, the sign, the exponent, the mantissa.
///
/// # Examples
/// ```
/// use zarr_metadata::{DataType, FloatSpecials, FloatValue};
///
/// let format = DataType::Float8E5m2.float_format().expect("a float");
/// assert_eq!((format.exponent_bits, format.mantissa_bits, format.bias), (5, 2, 15));
/// assert_eq!(format.specials, FloatSpecials::Ieee);
/// assert_eq!((format.largest(), format.infinity()), (0x7b, Some(0x7c)));
/// // 5 / 4 = 1.25
/// let value = FloatValue::Finite { negative: false, significand: 5, exponent: -2 };
/// assert_eq!(format.value(0x3d), value);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FloatFormat {
    /// Bits of the exponent.
    pub exponent_bits: u32,
    /// Bits of the mantissa, without the leading bit, which is not stored.
    pub mantissa_bits: u32,
    /// The stored exponent of 1.0.
    pub bias: i32,
    /// The codes of infinity and NaN, if any. `Power` has no sign.
    pub specials: FloatSpecials,
}

/// What a code of a [`FloatFormat`] stands for.
///
/// The enum is exhaustive: a float has no other values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FloatValue {
    /// `significand * 2^exponent`.
    Finite {
        /// Whether the sign is set; zero can have it too.
        negative: bool,
        /// At most one bit more than the mantissa.
        significand: u64,
        /// The power of two of its last bit.
        exponent: i32,
    },
    /// Infinity.
    Infinite {
        /// Whether the sign is set.
        negative: bool,
    },
    /// NaN with any sign and payload.
    Nan,
}

impl FloatValue {
    /// The number as a `f64`. It is exact for the values of each [`FloatFormat`].
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::DataType;
    ///
    /// let format = DataType::Float16.float_format().expect("a float");
    /// assert_eq!(format.value(format.largest()).to_f64(), 65504.0);
    /// ```
    #[must_use]
    pub fn to_f64(self) -> f64 {
        let (negative, size) = match self {
            FloatValue::Finite { negative, significand, exponent } => {
                // No significand has more than 53 bits: the sum of its halves is exact.
                let [low, high] = [significand, significand >> 32]
                    .map(|bits| f64::from(u32::try_from(bits & 0xffff_ffff).unwrap_or_default()));
                let significand = high * 4_294_967_296.0 + low;
                // In two steps: a factor of the least `f64` is none itself.
                let half = exponent / 2;
                let rest = exponent.saturating_sub(half);
                (negative, significand * power_of_two(half) * power_of_two(rest))
            }
            FloatValue::Infinite { negative } => (negative, f64::INFINITY),
            FloatValue::Nan => return f64::NAN,
        };
        if negative { -size } else { size }
    }
}

/// Why a number has no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutOfRange {
    TooLarge,
    /// Below the least power of two, or zero, where there is no zero.
    TooSmall,
    Negative,
}

const F64_MANTISSA: u32 = 52;

impl FloatFormat {
    pub(crate) const fn new(
        exponent_bits: u32,
        mantissa_bits: u32,
        bias: i32,
        specials: FloatSpecials,
    ) -> Self {
        FloatFormat { exponent_bits, mantissa_bits, bias, specials }
    }

    /// Bits of a float: exponent, mantissa and, if there is one, the sign.
    #[must_use]
    pub fn bits(&self) -> u32 {
        let sign = u32::from(self.specials != FloatSpecials::Power);
        self.exponent_bits.saturating_add(self.mantissa_bits).saturating_add(sign)
    }

    /// The code of the sign alone; 0 where there is no sign.
    #[must_use]
    #[inline]
    pub fn sign_bit(&self) -> u64 {
        match self.specials {
            FloatSpecials::Power => 0,
            _ => 1_u64.wrapping_shl(self.bits().saturating_sub(1)),
        }
    }

    /// All ones below the sign.
    #[inline]
    fn ones(&self) -> u64 {
        low_bits(self.exponent_bits.saturating_add(self.mantissa_bits))
    }

    /// The code of positive infinity where the format has one.
    #[must_use]
    #[inline]
    pub fn infinity(&self) -> Option<u64> {
        (self.specials == FloatSpecials::Ieee).then(|| self.ones() & !low_bits(self.mantissa_bits))
    }

    /// The code of the largest finite number.
    #[must_use]
    #[inline]
    pub fn largest(&self) -> u64 {
        match self.specials {
            FloatSpecials::Ieee => self.infinity().unwrap_or_default().saturating_sub(1),
            FloatSpecials::AllOnesNan | FloatSpecials::Power => self.ones().saturating_sub(1),
            FloatSpecials::NegativeZeroNan | FloatSpecials::Finite => self.ones(),
        }
    }

    /// The exponent of the least normal number.
    #[must_use]
    #[inline]
    pub fn least_exponent(&self) -> i32 {
        match self.specials {
            FloatSpecials::Power => self.bias.saturating_neg(),
            _ => 1_i32.saturating_sub(self.bias),
        }
    }

    /// The code of `"NaN"` where the format has one: positive and quiet, without payload.
    #[must_use]
    #[inline]
    pub fn nan(&self) -> Option<u64> {
        match self.specials {
            FloatSpecials::Ieee => {
                let quiet = 1_u64.wrapping_shl(self.mantissa_bits.saturating_sub(1));
                self.infinity().map(|infinity| infinity | quiet)
            }
            FloatSpecials::AllOnesNan | FloatSpecials::Power => Some(self.ones()),
            FloatSpecials::NegativeZeroNan => Some(self.sign_bit()),
            FloatSpecials::Finite => None,
        }
    }

    /// The value of `code`; bits above the width are ignored.
    #[must_use]
    #[inline]
    pub fn value(&self, code: u64) -> FloatValue {
        let negative = code & self.sign_bit() != 0;
        let magnitude = code & self.ones();
        if self.infinity() == Some(magnitude) {
            return FloatValue::Infinite { negative };
        }
        let is_negative_zero = negative && magnitude == 0;
        if magnitude > self.largest()
            || is_negative_zero && self.specials == FloatSpecials::NegativeZeroNan
        {
            return FloatValue::Nan;
        }
        let exponent = magnitude.wrapping_shr(self.mantissa_bits);
        let fraction = magnitude & low_bits(self.mantissa_bits);
        let implicit = 1_u64.wrapping_shl(self.mantissa_bits);
        let (significand, steps) = match (self.specials, exponent) {
            (FloatSpecials::Power, _) => (1, exponent),
            (_, 0) => (fraction, 0),
            _ => (fraction | implicit, exponent.saturating_sub(1)),
        };
        let exponent = self
            .least_exponent()
            .saturating_sub(self.mantissa_bits.cast_signed())
            .saturating_add(i32::try_from(steps).unwrap_or(i32::MAX));
        FloatValue::Finite { negative, significand, exponent }
    }

    /// The code nearest to the decimal `text`, ties to the even code (SD-45). No number of
    /// `e8m0fnu` has an even last digit; there ties go to the larger, as in IEEE 754.
    ///
    /// `text` is a number by JSON's grammar.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, OutOfRange> {
        // `parse` accepts every JSON number.
        let nearest: f64 = text.parse().map_err(|_| OutOfRange::TooLarge)?;
        self.round(nearest, || compare_magnitude(text, nearest))
    }

    /// The code nearest to `x`. If `x` is halfway between two codes, `tie` says on which side of
    /// `x` the intended number lies: away from zero or toward it.
    fn round(&self, x: f64, tie: impl FnOnce() -> Ordering) -> Result<u64, OutOfRange> {
        let negative = x.is_sign_negative();
        if self.specials == FloatSpecials::Power && negative {
            return Err(OutOfRange::Negative);
        }
        let sign = if negative { self.sign_bit() } else { 0 };
        let magnitude = self.round_magnitude(x.abs(), tie)?;
        if magnitude == 0 && self.specials == FloatSpecials::NegativeZeroNan {
            return Ok(0);
        }
        Ok(sign | magnitude)
    }

    fn round_magnitude(&self, x: f64, tie: impl FnOnce() -> Ordering) -> Result<u64, OutOfRange> {
        let too_large = self.infinity().ok_or(OutOfRange::TooLarge);
        if x.is_infinite() {
            return too_large;
        }
        let bits = x.to_bits();
        let biased = bits.wrapping_shr(F64_MANTISSA);
        if biased == 0 {
            // Zero, or below 2^-1022: far less than half of any format's least number.
            return self.zero();
        }
        let implicit = 1_u64.wrapping_shl(F64_MANTISSA);
        let significand = (bits & implicit.wrapping_sub(1)) | implicit;
        let exponent = i32::try_from(biased).unwrap_or(i32::MAX).saturating_sub(1023);

        // `x` = significand * 2^(exponent - 52) is to become n * 2^(quantum).
        let least = self.least_exponent();
        let steps = exponent.saturating_sub(least);
        let below = steps.min(0).unsigned_abs();
        let drop = F64_MANTISSA.saturating_sub(self.mantissa_bits).saturating_add(below).min(60);
        let n = significand.wrapping_shr(drop);
        let rest = significand & 1_u64.wrapping_shl(drop).wrapping_sub(1);
        let half = 1_u64.wrapping_shl(drop.saturating_sub(1));

        // Codes follow the numbers: each step of the exponent is 2^mantissa_bits codes. The first
        // step holds the subnormal numbers, so a carry needs no separate case.
        let first = u64::from(steps.max(0).unsigned_abs()).wrapping_shl(self.mantissa_bits);
        let Some(code) = (match self.specials {
            FloatSpecials::Power => n.saturating_add(first).checked_sub(1),
            _ => Some(n.saturating_add(first)),
        }) else {
            // Between zero, which has no code, and the least power of two.
            let up = rest.cmp(&half).then_with(tie).is_ge();
            return if up { Ok(0) } else { Err(OutOfRange::TooSmall) };
        };
        let up = match rest.cmp(&half) {
            Ordering::Equal => match tie() {
                Ordering::Equal => self.specials == FloatSpecials::Power || code & 1 == 1,
                side => side.is_gt(),
            },
            side => side.is_gt(),
        };
        let code = code.saturating_add(u64::from(up));
        if code <= self.largest() { Ok(code) } else { too_large }
    }

    fn zero(&self) -> Result<u64, OutOfRange> {
        match self.specials {
            FloatSpecials::Power => Err(OutOfRange::TooSmall),
            _ => Ok(0),
        }
    }

    /// The shortest decimal that reads back as `code`; of several, the nearest. It is returned as
    /// the `f64` with the same shortest decimal.
    ///
    /// `value` is the value of `code`. A decimal with fewer digits than `value` is adjacent to it
    /// on one side or the other, so cutting the digits of `value` finds them all.
    pub(crate) fn shortest(&self, code: u64, value: f64) -> f64 {
        self.shorter(code, value).unwrap_or(value)
    }

    fn shorter(&self, code: u64, value: f64) -> Option<f64> {
        let text = format!("{:e}", value.abs());
        let (digits, exponent) = text.split_once('e')?;
        let digits = digits.replace('.', "");
        let all: u64 = digits.parse().ok()?;
        let mut exponent: i32 = exponent.parse().ok()?;
        let mut unit = 10_u64.checked_pow(u32::try_from(digits.len()).ok()?)?;
        exponent = exponent.checked_add(1)?;
        while unit > 10 {
            unit = unit.div_euclid(10);
            exponent = exponent.checked_sub(1)?;
            let below = all.div_euclid(unit);
            let above = below.checked_add(1)?;
            let up = all.rem_euclid(unit) >= unit.div_ceil(2);
            let nearest_first = if up { [above, below] } else { [below, above] };
            for digits in nearest_first {
                if let Some((read, decimal)) = self.read_scaled(digits, exponent, value)
                    && read == code
                {
                    return Some(decimal);
                }
            }
        }
        None
    }

    /// The code of the decimal `digits * 10^exponent` with the sign of `value`, and its `f64`.
    fn read_scaled(&self, digits: u64, exponent: i32, value: f64) -> Option<(u64, f64)> {
        let text = || format!("{digits}e{exponent}");
        let scale = TENS.get(usize::try_from(exponent.unsigned_abs()).ok()?);
        let size = match (u32::try_from(digits), scale) {
            // Both operands are exact, so that the one operation rounds correctly.
            (Ok(digits), Some(scale)) if exponent < 0 => f64::from(digits) / scale,
            (Ok(digits), Some(scale)) => f64::from(digits) * scale,
            _ => text().parse().ok()?,
        };
        let decimal = size.copysign(value);
        let code = self.round(decimal, || compare_magnitude(&text(), size)).ok()?;
        Some((code, decimal))
    }
}

/// The powers of ten that are exact.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// `count` ones.
#[inline]
pub(crate) fn low_bits(count: u32) -> u64 {
    1_u64.checked_shl(count).map_or(u64::MAX, |bit| bit.wrapping_sub(1))
}

/// 2^exponent for an exponent of a normal `f64`.
fn power_of_two(exponent: i32) -> f64 {
    let biased = u64::from(exponent.saturating_add(1023).unsigned_abs());
    f64::from_bits(biased.wrapping_shl(F64_MANTISSA))
}

/// Compares the magnitudes of the decimal `text` and of `x`, exactly.
fn compare_magnitude(text: &str, x: f64) -> Ordering {
    match (Digits::read(text), Digits::of(x.abs())) {
        (Some(a), Some(b)) => a.point.cmp(&b.point).then_with(|| a.digits.cmp(&b.digits)),
        _ => Ordering::Equal,
    }
}

/// The exact value of a decimal: 0.DIGITS * 10^point, the first digit and the last not 0.
#[derive(PartialEq)]
pub(crate) struct Digits {
    /// Never of zero.
    negative: bool,
    digits: String,
    point: i64,
}

impl Digits {
    /// The digits of a finite number, all of them.
    pub(crate) fn of(x: f64) -> Option<Self> {
        // 1074 places hold every `f64`.
        Self::read(&format!("{x:.1074}"))
    }

    /// Reads a JSON number; `None` if the exponent is far out of range.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let magnitude = number.trim_start_matches('-');
        let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
        let all = [whole, fraction].concat();
        let digits = all.trim_start_matches('0');
        let leading = all.len().saturating_sub(digits.len());
        let digits = digits.trim_end_matches('0');
        if digits.is_empty() {
            return Some(Digits { negative: false, digits: String::new(), point: 0 });
        }
        let point = i64::try_from(whole.len()).ok()?.checked_sub(i64::try_from(leading).ok()?)?;
        let point = point.checked_add(exponent.parse().ok()?)?;
        Some(Digits { negative: number.starts_with('-'), digits: digits.to_owned(), point })
    }
}
