//! The codecs that change values: to differences, to other data types, to fewer digits.

use std::borrow::Cow;

use super::{integer, or};
use crate::codec::configuration::{Configuration, Context, Input, Members};
use crate::data_type::{DataType, numpy};
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::json::{JsonType, Object, Raw, write_string};

/// The configuration of `numcodecs.delta`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, DataType, Delta};
///
/// let json = br#"{"name": "numcodecs.delta", "configuration": {"dtype": "<i4"}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::NumcodecsDelta(Delta::new(DataType::Int32, None)));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delta {
    /// The decoded data type.
    pub dtype: DataType,
    /// The stored data type; `None` is the same.
    pub astype: Option<DataType>,
}

impl Delta {
    /// Differences of elements of type `dtype`, stored as `astype`.
    #[must_use]
    pub fn new(dtype: DataType, astype: Option<DataType>) -> Self {
        Delta { dtype, astype }
    }
}

impl Configuration for Delta {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["dtype", "astype"])?;
        Ok(Delta {
            dtype: required(members, "dtype", NUMPY, numpy_type)?,
            astype: or(members, "astype", None, |raw| numpy_type(raw).map(Some))?,
        })
    }

    fn write(&self, members: &mut Members<'_>) {
        write_type(members, "dtype", Some(&self.dtype));
        write_type(members, "astype", self.astype.as_ref());
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        check_type("dtype", Some(&self.dtype), input)
    }

    fn output<'a>(&'a self, input: Input<'a>) -> Input<'a> {
        Input { data_type: self.astype.as_ref().or(input.data_type), ..input }
    }
}

/// The configuration of `numcodecs.fixedscaleoffset`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FixedScaleOffset {
    /// The JSON number that is subtracted.
    pub offset: Box<str>,
    /// The JSON number by which the difference is multiplied.
    pub scale: Box<str>,
    /// The decoded data type; `None` is the codec's input.
    pub dtype: Option<DataType>,
    /// The stored data type; `None` is the same.
    pub astype: Option<DataType>,
}

impl Configuration for FixedScaleOffset {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["offset", "scale", "dtype", "astype"])?;
        let number = |raw: Raw<'_>| match raw.json_type() {
            JsonType::Number => Ok(raw.text().into()),
            _ => Err(raw.expected("a number")),
        };
        Ok(FixedScaleOffset {
            offset: required(members, "offset", "a number", number)?,
            scale: required(members, "scale", "a number", number)?,
            dtype: or(members, "dtype", None, |raw| numpy_type(raw).map(Some))?,
            astype: or(members, "astype", None, |raw| numpy_type(raw).map(Some))?,
        })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("offset", &self.offset);
        members.plain("scale", &self.scale);
        write_type(members, "dtype", self.dtype.as_ref());
        write_type(members, "astype", self.astype.as_ref());
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        check_type("dtype", self.dtype.as_ref(), input)
    }

    fn output<'a>(&'a self, input: Input<'a>) -> Input<'a> {
        Input { data_type: self.astype.as_ref().or(input.data_type), ..input }
    }
}

/// The configuration of `numcodecs.quantize`.
///
/// # Examples
/// ```
/// use zarr_metadata::{Codec, Quantize};
///
/// let json = br#"{"name": "numcodecs.quantize", "configuration": {"digits": 2}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::NumcodecsQuantize(Quantize::new(2)));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quantize {
    /// The decimal digits after the point that are kept.
    pub digits: i64,
    /// The decoded data type; `None` is the codec's input.
    pub dtype: Option<DataType>,
}

impl Quantize {
    /// Keeps this many decimal digits after the point.
    #[must_use]
    pub fn new(digits: i64) -> Self {
        Quantize { digits, dtype: None }
    }
}

impl Configuration for Quantize {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["digits", "dtype", "astype"])?;
        // Decimal digits of a float64, at most.
        let digits = |raw: Raw<'_>| integer(raw, -308, 308);
        let digits = required(members, "digits", "an integer", digits)?;
        let dtype = or(members, "dtype", None, |raw| numpy_type(raw).map(Some))?;
        let astype = or(members, "astype", None, |raw| numpy_type(raw).map(Some))?;
        // zarr-python writes elements of `astype` where it then reads ones of `dtype`.
        if let Some(found) = astype.filter(|astype| Some(astype) != dtype.as_ref()) {
            let allowed = "the same as dtype, without which what was written is not read again";
            let error = MetadataError::unexpected(format!("type {found}"), allowed);
            return Err(error.breaks(Rule::NUMCODECS_CONFIGURATION).in_member("astype"));
        }
        Ok(Quantize { digits, dtype })
    }

    fn write(&self, members: &mut Members<'_>) {
        members.plain("digits", self.digits);
        write_type(members, "dtype", self.dtype.as_ref());
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        check_type("dtype", self.dtype.as_ref(), input)
    }
}

/// The configuration of `numcodecs.astype`.
///
/// # Examples
/// ```
/// use zarr_metadata::{AsType, Codec, DataType};
///
/// let json = br#"{"name": "numcodecs.astype", "configuration": {"encode_dtype": "<f4"}}"#;
/// assert_eq!(Codec::from_json(json)?, Codec::NumcodecsAsType(AsType::new(DataType::Float32)));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AsType {
    /// The stored data type.
    pub encode_dtype: DataType,
    /// The decoded data type; `None` is the codec's input.
    pub decode_dtype: Option<DataType>,
}

impl AsType {
    /// Stores elements of this type.
    #[must_use]
    pub fn new(encode_dtype: DataType) -> Self {
        AsType { encode_dtype, decode_dtype: None }
    }
}

impl Configuration for AsType {
    fn read(members: &mut Object<'_>, _: &mut Context<'_>) -> Result<Self> {
        members.check_known(&["encode_dtype", "decode_dtype"])?;
        Ok(AsType {
            encode_dtype: required(members, "encode_dtype", NUMPY, numpy_type)?,
            decode_dtype: or(members, "decode_dtype", None, |raw| numpy_type(raw).map(Some))?,
        })
    }

    fn write(&self, members: &mut Members<'_>) {
        write_type(members, "encode_dtype", Some(&self.encode_dtype));
        write_type(members, "decode_dtype", self.decode_dtype.as_ref());
    }

    fn check(&self, input: Input<'_>) -> Result<()> {
        check_type("decode_dtype", self.decode_dtype.as_ref(), input)
    }

    fn output<'a>(&'a self, input: Input<'a>) -> Input<'a> {
        Input { data_type: Some(&self.encode_dtype), ..input }
    }
}

/// A member that numcodecs has no default for.
fn required<T>(
    members: &mut Object<'_>,
    key: &'static str,
    allowed: &'static str,
    read: impl FnOnce(Raw<'_>) -> Result<T>,
) -> Result<T> {
    let raw = members.require(key, allowed)?;
    read(raw).breaks(Rule::NUMCODECS_CONFIGURATION).member(key)
}

const NUMPY: &str = "a data type of NumPy in little endian, such as \"<f4\" or \"float32\"";

/// A data type as NumPy spells it: `<f4`, `|u1`, `int16`.
fn numpy_type(raw: Raw<'_>) -> Result<DataType> {
    let text: Cow<'_, str> = raw.string(NUMPY)?;
    // Bytes in memory are little-endian here, so that `=` is `<`.
    let letters = text.strip_prefix(['<', '=', '|']).unwrap_or(&text);
    let named = || (letters == text).then(|| numpy::from_name(letters)).flatten();
    DataType::from_numpy(letters).or_else(named).ok_or_else(|| raw.expected(NUMPY))
}

fn write_type(members: &mut Members<'_>, key: &'static str, data_type: Option<&DataType>) {
    let Some(data_type) = data_type else { return };
    let time = match data_type {
        DataType::NumpyDatetime64(step) => Some(("M8", step)),
        DataType::NumpyTimedelta64(step) => Some(("m8", step)),
        _ => None,
    };
    if let Some((name, step)) = time {
        let (scale, unit) = (step.scale_factor(), step.unit().name());
        let unit = match (unit, scale) {
            ("generic", _) => String::new(),
            (unit, 1) => format!("[{unit}]"),
            (unit, scale) => format!("[{scale}{unit}]"),
        };
        return write_string(&format!("<{name}{unit}"), members.begin(key));
    }
    let name = numpy::letters(data_type).unwrap_or_default();
    let order = if data_type.size() == Some(1) { '|' } else { '<' };
    write_string(&format!("{order}{name}"), members.begin(key));
}

/// The type in the codec's configuration is the type of its input.
///
/// numcodecs interprets any bytes as elements of that type. zarr-python does not read the result.
fn check_type(key: &'static str, said: Option<&DataType>, input: Input<'_>) -> Result<()> {
    match (said, input.data_type) {
        (Some(said), Some(found)) if said != found => {
            let allowed = format!("type {found}, which reaches the codec");
            let error = MetadataError::unexpected(format!("type {said}"), allowed);
            Err(error.breaks(Rule::NUMCODECS_CONFIGURATION).in_member(key))
        }
        _ => Ok(()),
    }
}
