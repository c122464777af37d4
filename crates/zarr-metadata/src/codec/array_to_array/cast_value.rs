//! `cast_value`.

use crate::codec::configuration::{Configuration, Context, Input, Members, Names, read_named};
use crate::data_type::{self, DataType};
use crate::element::parse_element;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::json::{Object, Raw, read_elements};

/// The configuration of `cast_value`.
///
/// # Examples
/// ```
/// use zarr_metadata::{CastValue, Codec, DataType};
///
/// let json = br#"{"name": "cast_value", "configuration": {"data_type": "int16"}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::CastValue(CastValue::new(DataType::Int16)));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// zarr-extensions `codecs/cast_value`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CastValue {
    /// The stored data type.
    pub data_type: DataType,
    /// The rounding of values that the type does not have.
    pub rounding: Rounding,
    /// The rule for values outside the type's range; `None` refuses them.
    pub out_of_range: Option<OutOfRange>,
    /// Pairs of a value and its replacement, which take precedence over the rules above. Each is
    /// the JSON text of a fill value of its data type.
    pub encode_map: Vec<(Box<str>, Box<str>)>,
    /// As `encode_map`, for decoding.
    pub decode_map: Vec<(Box<str>, Box<str>)>,
}

impl CastValue {
    /// Casts to this type, to the nearest value; values outside its range are refused.
    #[must_use]
    pub fn new(data_type: DataType) -> Self {
        CastValue {
            data_type,
            rounding: Rounding::NearestEven,
            out_of_range: None,
            encode_map: Vec::new(),
            decode_map: Vec::new(),
        }
    }
}

/// The rounding of a value.
///
/// The enum is exhaustive. A reader that does not know a rounding would compute other values, so a
/// new rounding is a breaking change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rounding {
    /// To the nearest, ties to the even one.
    #[default]
    NearestEven,
    /// Towards zero.
    TowardsZero,
    /// Towards positive infinity.
    TowardsPositive,
    /// Towards negative infinity.
    TowardsNegative,
    /// To the nearest, ties away from zero.
    NearestAway,
}

/// The rule for values outside a type's range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutOfRange {
    /// The least or the greatest value of the type; infinity where it has one.
    Clamp,
    /// The value modulo two to the type's bits; for integers.
    Wrap,
}

const ROUNDINGS: Names<Rounding> = &[
    (Rounding::NearestEven, "nearest-even"),
    (Rounding::TowardsZero, "towards-zero"),
    (Rounding::TowardsPositive, "towards-positive"),
    (Rounding::TowardsNegative, "towards-negative"),
    (Rounding::NearestAway, "nearest-away"),
];

const OUT_OF_RANGE: Names<OutOfRange> = &[(OutOfRange::Clamp, "clamp"), (OutOfRange::Wrap, "wrap")];

impl Configuration for CastValue {
    fn read(members: &mut Object<'_>, context: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["data_type", "rounding", "out_of_range", "scalar_map"])?;
        let raw = members.require("data_type", "a data type")?;
        let data_type = data_type::DataType::read(raw, context.findings).member("data_type")?;
        let rounding = members.take("rounding").map(|raw| read_named(ROUNDINGS, raw));
        let rounding = rounding.transpose().breaks(Rule::CAST_VALUE_CONFIGURATION);
        let rounding = rounding.member("rounding")?.unwrap_or_default();
        let out_of_range = members.take("out_of_range").map(|raw| read_named(OUT_OF_RANGE, raw));
        let out_of_range = out_of_range.transpose().breaks(Rule::CAST_VALUE_CONFIGURATION);
        let out_of_range = out_of_range.member("out_of_range")?;
        let (encode_map, decode_map) = match members.take("scalar_map") {
            Some(raw) => read_maps(raw).breaks(Rule::CAST_VALUE_CONFIGURATION).member("scalar_map"),
            None => Ok((Vec::new(), Vec::new())),
        }?;
        Ok(CastValue { data_type, rounding, out_of_range, encode_map, decode_map })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.begin("data_type").push_str(&self.data_type.to_json());
        if self.rounding != Rounding::NearestEven {
            members.named("rounding", ROUNDINGS, &self.rounding);
        }
        if let Some(out_of_range) = &self.out_of_range {
            members.named("out_of_range", OUT_OF_RANGE, out_of_range);
        }
        if self.encode_map.is_empty() && self.decode_map.is_empty() {
            return;
        }
        let json = members.begin("scalar_map");
        json.push('{');
        for (name, map) in [("encode", &self.encode_map), ("decode", &self.decode_map)] {
            if map.is_empty() {
                continue;
            }
            json.push_str(if json.ends_with('{') { "" } else { ", " });
            json.push_str(&format!("\"{name}\": ["));
            let pairs: Vec<_> = map.iter().map(|(from, to)| format!("[{from}, {to}]")).collect();
            json.push_str(&pairs.join(", "));
            json.push(']');
        }
        json.push('}');
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        check_real(&self.data_type).breaks(Rule::CAST_VALUE_CONFIGURATION).member("data_type")?;
        if self.out_of_range == Some(OutOfRange::Wrap) && self.data_type.is_float() {
            let allowed = format!("\"clamp\", as {} has no values that wrap", self.data_type);
            let error = MetadataError::unexpected("\"wrap\"", allowed);
            return Err(error.breaks(Rule::CAST_VALUE_CONFIGURATION).in_member("out_of_range"));
        }
        let Some(input) = input.data_type else { return Ok(()) };
        check_real(input).breaks(Rule::CAST_VALUE_CONFIGURATION)?;
        for (name, map, from, to) in [
            ("encode", &self.encode_map, input, &self.data_type),
            ("decode", &self.decode_map, &self.data_type, input),
        ] {
            for (index, pair) in map.iter().enumerate() {
                check_scalar(from, &pair.0)
                    .element(0)
                    .and_then(|()| check_scalar(to, &pair.1).element(1))
                    .element(index)
                    .member(name)
                    .member("scalar_map")?;
            }
        }
        Ok(())
    }

    fn output<'a>(&'a self, input: Input<'a>) -> Input<'a> {
        Input { data_type: Some(&self.data_type), ..input }
    }
}

type Map = Vec<(Box<str>, Box<str>)>;

fn read_maps(raw: Raw<'_>) -> Result<(Map, Map)> {
    let mut members = Object::read(raw, "an object with encode and decode")?;
    members.check_known(&["encode", "decode"])?;
    let mut map = |key: &'static str| {
        let pairs = members.take(key).map(|raw| read_elements(raw, PAIRS, read_pair));
        pairs.transpose().member(key).map(Option::unwrap_or_default)
    };
    Ok((map("encode")?, map("decode")?))
}

const PAIRS: &str = "an array of pairs of values";

fn read_pair(raw: Raw<'_>) -> Result<(Box<str>, Box<str>)> {
    let mut texts = read_elements(raw, "[from, to]", |raw| Ok(raw.text().into()))?.into_iter();
    match (texts.next(), texts.next(), texts.next()) {
        (Some(from), Some(to), None) => Ok((from, to)),
        _ => Err(raw.expected("[from, to]")),
    }
}

/// The types that model real numbers.
pub(crate) fn check_real(data_type: &DataType) -> Result<()> {
    let is_real = data_type.is_packable() && !data_type.is_complex();
    if is_real && *data_type != DataType::Bool {
        return Ok(());
    }
    let found = format!("type {data_type}");
    Err(MetadataError::unexpected(found, "a type of integers or of floats, not complex"))
}

/// The text is a fill value of the type.
pub(crate) fn check_scalar(data_type: &DataType, json: &str) -> Result<()> {
    // As the document's own example has it.
    let json = if json == "\"+Infinity\"" { "\"Infinity\"" } else { json };
    parse_element(data_type, json, &mut Vec::new())
}
