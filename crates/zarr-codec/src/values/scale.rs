//! `scale_offset`, `numcodecs.fixedscaleoffset` and `numcodecs.quantize`: arithmetic on values.

// Overflow: integers of 64 bits are computed with in 128, and floats do not overflow.

use zarr_metadata::{DataType, FixedScaleOffset, Quantize, Rounding, ScaleOffset};

use super::cast::{Cast, scalar};
use super::number::{FLOAT16, FLOAT32, FLOAT64, Kind, Number, integer, wrapped};
use super::refused::{Refused, not_here};
use crate::error::ChainErrorKind;

/// A value during a computation.
#[derive(Clone, Copy, Debug)]
enum Value {
    /// Wraps at this many bits.
    Int {
        value: i128,
        bits: u32,
        signed: bool,
    },
    Float {
        value: f64,
        kind: Kind,
    },
}

impl Value {
    fn of(code: u64, kind: Kind) -> Self {
        match kind {
            Kind::Int { bits, signed } => {
                Self::Int { value: integer(code, bits, signed), bits, signed }
            }
            Kind::Float(_) => Self::Float { value: float(kind.decode(code)), kind },
        }
    }

    /// The result of an operation with a parameter. It is an integer if both are integers; else a
    /// float in the precision of the value, or in float64 if the value is an integer.
    ///
    /// `int` also returns whether its result wrapped. An integer that wraps and a finite value whose
    /// result is not finite are loss.
    fn with(
        self,
        parameter: Parameter,
        allow_loss: bool,
        int: impl FnOnce(i128, i128) -> (i128, bool),
        floats: impl FnOnce(f64, f64) -> f64,
    ) -> Result<Self, Refused> {
        let (result, lost) = match (self, parameter.int) {
            (Self::Int { value, bits, signed }, Some(other)) => {
                let (exact, is_wrapped) = int(value, other);
                let value = integer(wrapped(exact, bits, signed), bits, signed);
                (Self::Int { value, bits, signed }, is_wrapped || value != exact)
            }
            _ => {
                let (value, kind) = self.to_float();
                let result = rounded(floats(value, rounded(parameter.float, kind)), kind);
                let lost = value.is_finite() && !result.is_finite();
                (Self::Float { value: result, kind }, lost)
            }
        };
        if lost && !allow_loss { Err(Refused::Overflow) } else { Ok(result) }
    }

    fn to_float(self) -> (f64, Kind) {
        match self {
            Self::Int { value, .. } => (nearest(value), FLOAT64),
            Self::Float { value, kind } => (value, kind),
        }
    }

    /// The bits, and their kind.
    fn code(self) -> (u64, Kind) {
        match self {
            Self::Int { value, bits, signed } => {
                (wrapped(value, bits, signed), Kind::Int { bits, signed })
            }
            Self::Float { value, kind } => (bits_of(value, kind), kind),
        }
    }
}

/// A number of a document as NumPy reads it: an integer if it is written as one.
#[derive(Clone, Copy, Debug)]
struct Parameter {
    int: Option<i128>,
    float: f64,
}

impl Parameter {
    fn new(json: &str, kind: Kind) -> Result<Self, ChainErrorKind> {
        let float: f64 = json.parse().map_err(|_| not_here(format!("the number {json}")))?;
        let int: Option<i128> = json.parse().ok();
        if let (Kind::Int { bits, signed }, Some(int)) = (kind, int) {
            let (least, most) = Kind::range(bits, signed);
            if !(least..=most).contains(&int) {
                return Err(not_here(format!("{json}, out of the range of the elements,")));
            }
        }
        Ok(Self { int, float })
    }

    /// Whether it is zero in the arithmetic of these elements.
    fn is_zero(self, kind: Kind) -> bool {
        match kind {
            Kind::Int { .. } => self.float == 0.0,
            Kind::Float(_) => rounded(self.float, kind) == 0.0,
        }
    }
}

/// `numcodecs.fixedscaleoffset`.
#[derive(Clone, Debug)]
pub(super) struct Fixed {
    from: Kind,
    to: Kind,
    offset: Parameter,
    scale: Parameter,
}

impl Fixed {
    pub(super) fn new(
        codec: &FixedScaleOffset,
        from: Kind,
        to: Kind,
    ) -> Result<Self, ChainErrorKind> {
        let offset = Parameter::new(&codec.offset, from)?;
        let scale = Parameter::new(&codec.scale, from)?;
        if scale.is_zero(from) {
            return Err(not_here(format!("scale {}", codec.scale)));
        }
        Ok(Self { from, to, offset, scale })
    }

    /// Whether all that is stored can be read, and what is finite is read as finite.
    pub(super) fn is_readable(&self) -> bool {
        self.to.ends().into_iter().all(|stored| {
            let read = self.decode(stored);
            read.is_ok_and(|code| self.is_finite(code) || !self.to.decode(stored).is_finite())
        })
    }

    /// Refuses an element of which `stored` cannot be read, or is read as infinity.
    pub(super) fn check(&self, code: u64, stored: u64, allow_loss: bool) -> Result<(), Refused> {
        match self.decode(stored) {
            Ok(read) if allow_loss || self.is_finite(read) || !self.is_finite(code) => Ok(()),
            _ => Err(Refused::Unreadable),
        }
    }

    fn is_finite(&self, code: u64) -> bool {
        self.from.decode(code).is_finite()
    }

    pub(super) fn encode(&self, code: u64, allow_loss: bool) -> Result<u64, Refused> {
        let value = Value::of(code, self.from)
            .with(self.offset, allow_loss, i128::overflowing_sub, |a, b| a - b)?
            .with(self.scale, allow_loss, i128::overflowing_mul, |a, b| a * b)?;
        let (code, kind) = match value {
            Value::Float { value, kind } => {
                Value::Float { value: value.round_ties_even(), kind }.code()
            }
            value => value.code(),
        };
        Cast::numpy(kind, self.to).cast(code, allow_loss)
    }

    pub(super) fn decode(&self, code: u64) -> Result<u64, Refused> {
        // A quotient is a float, even if both numbers are integers.
        let (value, kind) = Value::of(code, self.to).to_float();
        let value = Value::Float { value, kind }
            .with(self.scale, true, i128::overflowing_mul, |a, b| a / b)?
            .with(self.offset, true, i128::overflowing_add, |a, b| a + b)?;
        let (code, kind) = value.code();
        Cast::numpy(kind, self.from).cast(code, true)
    }
}

/// `numcodecs.quantize`.
#[derive(Clone, Debug)]
pub(super) struct Digits {
    kind: Kind,
    /// The factor of elements before they are rounded to integers: a power of two.
    scale: f64,
}

impl Digits {
    pub(super) fn new(codec: &Quantize, kind: Kind) -> Result<Self, ChainErrorKind> {
        // The digits are small, so the conversion is exact.
        let digits = nearest(codec.digits.into());
        let exponent = 10_f64.powf(-digits).log10();
        let exponent = if exponent < 0.0 { exponent.floor() } else { exponent.ceil() };
        let scale = 10_f64.powf(-exponent).log2().ceil().exp2();
        if !scale.is_finite() || scale == 0.0 {
            return Err(not_here(format!("{} digits", codec.digits)));
        }
        Ok(Self { kind, scale })
    }

    /// The nearest value of so many digits; refused if it is infinite, unless loss is allowed.
    ///
    /// The factor is a power of two: until the result is rounded, float64 computes as exactly as
    /// the shorter floats, and what only the product would make infinite has no digits to lose.
    pub(super) fn encode(&self, code: u64, allow_loss: bool) -> Result<u64, Refused> {
        let value = float(self.kind.decode(code));
        let scaled = (value * self.scale).round_ties_even();
        if value.is_finite() && scaled.is_infinite() {
            return Ok(code);
        }
        let result = bits_of(scaled / self.scale, self.kind);
        let is_lost = value.is_finite() && !self.kind.decode(result).is_finite();
        if is_lost && !allow_loss { Err(Refused::Overflow) } else { Ok(result) }
    }
}

/// `scale_offset`, in the arithmetic of the data type.
#[derive(Clone, Debug)]
pub(super) enum Scale {
    Int { bits: u32, signed: bool, offset: i128, scale: i128 },
    Float { kind: Kind, offset: f64, scale: f64 },
}

impl Scale {
    pub(super) fn new(codec: &ScaleOffset, data_type: &DataType) -> Result<Self, ChainErrorKind> {
        let Some(kind) = Kind::of(data_type) else {
            return Err(not_here(format!("data type {data_type}")));
        };
        let bits_of = |value: &Option<Box<str>>| {
            value.as_deref().map(|value| scalar(data_type, value)).transpose()
        };
        let (offset, scale) = (bits_of(&codec.offset)?, bits_of(&codec.scale)?);
        if scale.is_some_and(|scale| {
            matches!(kind.decode(scale), Number::Finite { significand: 0, .. })
        }) {
            return Err(not_here(format!("scale {}", codec.scale.as_deref().unwrap_or_default())));
        }
        Ok(match kind {
            Kind::Int { bits, signed } => Self::Int {
                bits,
                signed,
                offset: offset.map_or(0, |offset| integer(offset, bits, signed)),
                scale: scale.map_or(1, |scale| integer(scale, bits, signed)),
            },
            // Some floats have no zero, but an absent number changes no value.
            Kind::Float(_) => Self::Float {
                kind,
                offset: offset.map_or(0.0, |offset| float(kind.decode(offset))),
                scale: scale.map_or(1.0, |scale| float(kind.decode(scale))),
            },
        })
    }

    /// Whether all that is stored can be read: it can if there is a result for every stored value,
    /// or for those of all elements.
    pub(super) fn is_readable(&self) -> bool {
        match self {
            // All steps of an integer are exact in both directions.
            Self::Int { .. } => true,
            Self::Float { kind, .. } => {
                let read = |stored: u64| self.decode(stored).is_ok();
                kind.ends().into_iter().all(read)
                    || kind.ends().into_iter().all(|code| self.encode(code).is_ok_and(read))
            }
        }
    }

    /// `(value - offset) * scale`
    pub(super) fn encode(&self, code: u64) -> Result<u64, Refused> {
        match *self {
            Self::Int { bits, signed, offset, scale } => {
                let value = integer(code, bits, signed) - offset;
                let value =
                    fits(value, bits, signed)?.checked_mul(scale).ok_or(Refused::OutOfRange)?;
                Ok(wrapped(fits(value, bits, signed)?, bits, signed))
            }
            Self::Float { kind, offset, scale } => {
                let value = float(kind.decode(code));
                let less = representable(value - offset, kind, &[value])?;
                let times = representable(less * scale, kind, &[less])?;
                Ok(bits_of(times, kind))
            }
        }
    }

    /// `value / scale + offset`
    pub(super) fn decode(&self, code: u64) -> Result<u64, Refused> {
        match *self {
            Self::Int { bits, signed, offset, scale } => {
                let value = integer(code, bits, signed);
                match (value.checked_rem(scale), value.checked_div(scale)) {
                    (Some(0), Some(quotient)) => {
                        let sum = fits(quotient, bits, signed)? + offset;
                        Ok(wrapped(fits(sum, bits, signed)?, bits, signed))
                    }
                    _ => Err(Refused::Inexact),
                }
            }
            Self::Float { kind, offset, scale } => {
                let value = float(kind.decode(code));
                let quotient = representable(value / scale, kind, &[value, scale])?;
                let sum = representable(quotient + offset, kind, &[quotient, offset])?;
                Ok(bits_of(sum, kind))
            }
        }
    }
}

/// The value, if it fits this many bits.
fn fits(value: i128, bits: u32, signed: bool) -> Result<i128, Refused> {
    let (least, most) = Kind::range(bits, signed);
    (least..=most).contains(&value).then_some(value).ok_or(Refused::OutOfRange)
}

/// The result of an operation, rounded; refused if the kind has no such value, or if it is infinite
/// or NaN although the operands are finite.
fn representable(value: f64, kind: Kind, of: &[f64]) -> Result<f64, Refused> {
    let fits = value.is_finite() || of.iter().any(|part| !part.is_finite());
    let number = FLOAT64.decode(value.to_bits());
    match kind.encode(number, Rounding::NearestEven) {
        Ok(_) if fits && kind == FLOAT64 => Ok(value),
        Ok(code) if fits => Ok(float(kind.decode(code))),
        _ => Err(Refused::OutOfRange),
    }
}

/// A number as float64, which has all values of the shorter floats.
fn float(number: Number) -> f64 {
    let code = FLOAT64.encode(number, Rounding::NearestEven);
    let infinity = f64::INFINITY.copysign(if number.is_negative() { -1.0 } else { 1.0 });
    code.map_or(infinity, f64::from_bits)
}

/// The float64 that is nearest to an integer of 64 bits.
fn nearest(value: i128) -> f64 {
    let significand = u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX);
    float(Number::Finite { negative: value < 0, significand, exponent: 0 })
}

/// The nearest value of a shorter float.
///
/// Sums, products and quotients of shorter floats can be rounded twice, first to float64, with the
/// same result: float64 has more than twice their digits, and two more.
fn rounded(value: f64, kind: Kind) -> f64 {
    match kind {
        FLOAT64 => value,
        _ => float(kind.decode(bits_of(value, kind))),
    }
}

/// The bits of the nearest value of a float; infinity if that is out of its range.
fn bits_of(value: f64, kind: Kind) -> u64 {
    if kind == FLOAT64 {
        return value.to_bits();
    }
    let number = FLOAT64.decode(value.to_bits());
    let code = kind.encode(number, Rounding::NearestEven);
    code.unwrap_or_else(|_| kind.clamped(number))
}

/// The floats in which NumPy computes.
pub(super) fn is_numpy_float(kind: Kind) -> bool {
    [FLOAT16, FLOAT32, FLOAT64].contains(&kind)
}

/// Sums of floats. Each sum is rounded to the one of two types that has more digits, as in
/// NumPy's `cumsum`.
pub(super) struct Sum {
    from: Kind,
    to: Kind,
    wider: Kind,
    /// `None` before the first element, so that its sign of zero is kept.
    sum: Option<f64>,
}

impl Sum {
    pub(super) fn new(from: Kind, to: Kind) -> Self {
        let wider = if from.bits() > to.bits() { from } else { to };
        Self { from, to, wider, sum: None }
    }

    pub(super) fn add(&mut self, code: u64) -> u64 {
        let value = float(self.from.decode(code));
        let sum = self.sum.map_or(value, |sum| rounded(sum + value, self.wider));
        self.sum = Some(sum);
        bits_of(sum, self.to)
    }
}

/// Differences of floats as numcodecs computes them: each rounded to one type, then to the other.
pub(super) struct Differences {
    from: Kind,
    to: Kind,
    /// `None` before the first element, which is stored itself.
    before: Option<f64>,
    sums: Sum,
}

impl Differences {
    pub(super) fn new(from: Kind, to: Kind) -> Self {
        Self { from, to, before: None, sums: Sum::new(to, from) }
    }

    /// The stored difference for the next element, and whether the element reads back unchanged:
    /// rounded differences may add up to another value.
    pub(super) fn next(&mut self, code: u64) -> (u64, bool) {
        let value = float(self.from.decode(code));
        let difference = self.before.map_or(value, |before| rounded(value - before, self.from));
        self.before = Some(value);
        let stored = bits_of(difference, self.to);
        (stored, self.sums.add(stored) == code)
    }
}
