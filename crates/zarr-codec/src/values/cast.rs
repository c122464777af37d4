//! `cast_value` and `numcodecs.astype`: the same values in another data type.

use zarr_metadata::{CastValue, DataType, OutOfRange, Rounding, parse_element};

use super::number::{Kind, Misfit, Number, load};
use super::refused::{Refused, not_here};
use crate::error::ChainErrorKind;

/// One direction of a cast.
#[derive(Clone, Debug)]
pub(super) struct Cast {
    from: Kind,
    to: Kind,
    rounding: Rounding,
    out_of_range: Option<OutOfRange>,
    /// Whether the configuration names what becomes of values out of range.
    by_name: bool,
    /// Values that become these bits, regardless of the rules.
    map: Vec<(Number, u64)>,
    /// For booleans: every value other than zero becomes 1.
    truth: bool,
}

impl Cast {
    /// Both directions of `cast_value`: encoding, decoding.
    pub(super) fn both(
        configuration: &CastValue,
        input: &DataType,
    ) -> Result<[Self; 2], ChainErrorKind> {
        let output = &configuration.data_type;
        let (from, to) = (real(input)?, real(output)?);
        let CastValue { rounding, out_of_range, .. } = *configuration;
        let by_name = true;
        let way =
            |from, to, map| Self { from, to, rounding, out_of_range, by_name, map, truth: false };
        Ok([
            way(from, to, scalars(&configuration.encode_map, input, output)?),
            way(to, from, scalars(&configuration.decode_map, output, input)?),
        ])
    }

    /// Casts as NumPy's `astype` does: integers wrap, floats are truncated to integers, and
    /// floats that are too large become infinity. Unless loss is allowed, what would wrap or become
    /// infinite is refused.
    pub(super) fn numpy(from: Kind, to: Kind) -> Self {
        let rounding = match (from, to) {
            (Kind::Float(_), Kind::Int { .. }) => Rounding::TowardsZero,
            _ => Rounding::NearestEven,
        };
        let out_of_range = match (from, to) {
            (_, Kind::Float(_)) => Some(OutOfRange::Clamp),
            (Kind::Int { .. }, Kind::Int { .. }) => Some(OutOfRange::Wrap),
            // NumPy's result for such values depends on the processor.
            (Kind::Float(_), Kind::Int { .. }) => None,
        };
        Self { from, to, rounding, out_of_range, by_name: false, map: Vec::new(), truth: false }
    }

    /// For a cast to booleans: every value other than zero is true, as in NumPy. Values other than
    /// 0 and 1 are refused unless loss is allowed.
    pub(super) fn with_truth(self, is_bool: bool) -> Self {
        Self { truth: is_bool, ..self }
    }

    /// Whether all that is stored can be read: it can if `decode` has a result for every stored
    /// value, or for those of all elements.
    pub(super) fn is_readable(encode: &Self, decode: &Self) -> bool {
        let keeps_order = encode.out_of_range != Some(OutOfRange::Wrap) && !encode.truth;
        let read = |stored: u64| decode.convert(stored, true).is_ok();
        let stored = |code: u64| encode.convert(code, true);
        decode.truth
            || encode.to.ends().into_iter().all(read)
            || keeps_order
                && encode.from.ends().into_iter().all(|code| stored(code).is_ok_and(read))
                && encode.map.iter().all(|(_, code)| decode.cast(*code, true).is_ok())
    }

    fn truth(&self, code: u64, allow_loss: bool) -> Result<u64, Refused> {
        let one = Number::Finite { negative: false, significand: 1, exponent: 0 };
        let is_one = self.from.encode(one, Rounding::NearestEven) == Ok(code);
        match self.from.decode(code) {
            Number::Finite { significand: 0, .. } => Ok(0),
            _ if is_one || allow_loss => Ok(1),
            _ => Err(Refused::OutOfRange),
        }
    }

    /// The new bits of an element.
    pub(super) fn cast(&self, code: u64, allow_loss: bool) -> Result<u64, Refused> {
        if self.truth {
            return self.truth(code, allow_loss);
        }
        if !self.map.is_empty() {
            let number = self.from.decode(code);
            if let Some((_, code)) = self.map.iter().find(|(from, _)| from.same_value(number)) {
                return Ok(*code);
            }
        }
        self.convert(code, allow_loss)
    }

    /// The same, by the rules alone.
    fn convert(&self, code: u64, allow_loss: bool) -> Result<u64, Refused> {
        if self.from == self.to {
            return Ok(code);
        }
        let number = self.from.decode(code);
        let out_of_range = self.out_of_range.filter(|_| self.by_name || allow_loss);
        match (self.to.encode(number, self.rounding), out_of_range, self.to) {
            (Ok(code), _, _) => Ok(code),
            (Err(Misfit::OutOfRange), Some(OutOfRange::Wrap), Kind::Int { bits, signed }) => {
                number.wrap(bits, signed, self.rounding).map_err(|_| Refused::NotFinite)
            }
            (Err(Misfit::OutOfRange), Some(OutOfRange::Clamp), to) => Ok(to.clamped(number)),
            (Err(Misfit::OutOfRange), ..) => Err(Refused::OutOfRange),
            (Err(Misfit::NotFinite), ..) => Err(Refused::NotFinite),
        }
    }
}

fn real(data_type: &DataType) -> Result<Kind, ChainErrorKind> {
    Kind::of(data_type).ok_or_else(|| not_here(format!("data type {data_type}")))
}

/// The pairs of a map, as numbers and as the bits of their texts.
fn scalars(
    map: &[(Box<str>, Box<str>)],
    from: &DataType,
    to: &DataType,
) -> Result<Vec<(Number, u64)>, ChainErrorKind> {
    let kind = real(from)?;
    map.iter()
        .map(|(key, value)| Ok((kind.decode(scalar(from, key)?), scalar(to, value)?)))
        .collect()
}

/// The bits of a fill value.
pub(super) fn scalar(data_type: &DataType, json: &str) -> Result<u64, ChainErrorKind> {
    let mut bytes = Vec::new();
    // The document's own example is written like this.
    let json = if json == "\"+Infinity\"" { "\"Infinity\"" } else { json };
    parse_element(data_type, json, &mut bytes)
        .map_err(|_| not_here(format!("{json} as a value of type {data_type}")))?;
    Ok(load(&bytes))
}
