//! `dtype` of version 2: NumPy's names with a byte order, and lists of the fields of records.

use super::writers::Writers;
use crate::codec::Endian;
use crate::data_type::{ByteLength, DataType, Struct, Utf32Length};
use crate::error::{At, Kind, MetadataError, Result};
use crate::json::{JsonType, Raw, read_elements};
use crate::limits::check_element_size;

/// A data type and the order of its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dtype {
    pub(super) data_type: DataType,
    /// `None` if no part of an element has a byte order.
    pub(super) order: Option<Endian>,
}

/// The content of `dtype`.
pub(super) enum ParsedDtype {
    Fixed(Dtype),
    /// `|O`: the codec of the objects gives their type.
    Objects,
}

const ALLOWED: &str = "a data type of NumPy with its byte order, such as \"<f4\", \"|b1\", \
    \"<M8[ns]\", \"|S8\" or \"<U8\", or a list of fields";
const FIELD: &str = "a pair of a name and a data type";

impl ParsedDtype {
    pub(super) fn read(raw: Raw<'_>, writers: &mut Writers) -> Result<Self> {
        if raw.json_type() == JsonType::String {
            let text = raw.string(ALLOWED)?;
            if text == "|O" {
                return Ok(ParsedDtype::Objects);
            }
            if let Some(data_type) = writers.data_type(&text) {
                let order = data_type.has_byte_order().then_some(Endian::Little);
                return Ok(ParsedDtype::Fixed(Dtype { data_type, order }));
            }
        }
        Dtype::read(raw).map(ParsedDtype::Fixed)
    }
}

impl Dtype {
    /// Calls itself for each level of nested records; the JSON reader has refused more than 128
    /// levels.
    pub(super) fn read(raw: Raw<'_>) -> Result<Self> {
        match raw.json_type() {
            JsonType::String => Self::plain(raw),
            JsonType::Array => Self::record(raw),
            _ => Err(raw.expected(ALLOWED)),
        }
    }

    fn plain(raw: Raw<'_>) -> Result<Self> {
        let text = raw.string(ALLOWED)?;
        let (order, letters) = match text.split_at_checked(1) {
            Some(("<", letters)) => (Some(Endian::Little), letters),
            Some((">", letters)) => (Some(Endian::Big), letters),
            Some(("|", letters)) => (None, letters),
            _ => return Err(raw.expected(ALLOWED)),
        };
        if letters == "O" {
            let allowed = "a type of fixed size: objects are read only as whole elements";
            return Err(raw.expected(allowed));
        }
        let data_type = match sized(letters) {
            Some(sized) => sized.map_err(|allowed| raw.expected(allowed))?,
            None => DataType::from_numpy(letters)
                .filter(|_| !letters.starts_with(['d', 't']))
                .ok_or_else(|| raw.expected(ALLOWED))?,
        };
        data_type.size().map_or(Ok(0), check_element_size)?;
        if !data_type.has_byte_order() {
            return Ok(Dtype { data_type, order: None });
        }
        match order {
            Some(_) => Ok(Dtype { data_type, order }),
            None => Err(raw.expected("< or > as the first character: little or big endian")),
        }
    }

    fn record(raw: Raw<'_>) -> Result<Self> {
        let mut fields: Vec<(String, DataType)> = Vec::new();
        let mut order = None;
        let _unit: Vec<()> = read_elements(raw, ALLOWED, |raw| {
            let (name, dtype) = field(raw, fields.len())?;
            if let (Some(order), Some(other)) = (order, dtype.order)
                && order != other
            {
                let allowed = "the byte order of the fields before it: version 3 has one byte \
                    order for a whole record";
                return Err(MetadataError::unexpected("another byte order", allowed).in_element(1));
            }
            order = order.or(dtype.order);
            fields.push((name, dtype.data_type));
            Ok(())
        })?;
        // The path of a field in version 3 is no path of this document.
        let record = Struct::new(fields).map_err(|error| {
            MetadataError::new(Kind::Reported { message: error.reason().to_string() })
        });
        Ok(Dtype { data_type: DataType::Struct(record?), order })
    }
}

/// Types with a length, the number after their letter; the error lists the allowed lengths.
fn sized(letters: &str) -> Option<std::result::Result<DataType, &'static str>> {
    let (letter, digits) = letters.split_at_checked(1)?;
    if !matches!(letter, "S" | "V" | "U") {
        return None;
    }
    let number = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok());
    let made = number.flatten().and_then(|length: usize| match letter {
        "S" => ByteLength::new(length).map(DataType::NullTerminatedBytes),
        "V" => ByteLength::new(length).map(DataType::RawBytes),
        _ => Utf32Length::new(length).map(DataType::FixedLengthUtf32),
    });
    Some(made.ok_or("a length from 1 byte to 1 MiB, such as \"|S8\", \"|V8\" or \"<U8\""))
}

/// A field of a record: `["name", "<f4"]`, or with a list of fields as its type.
fn field(raw: Raw<'_>, index: usize) -> Result<(String, Dtype)> {
    let parts = read_elements(raw, FIELD, Ok)?;
    let (name, dtype) = match parts.as_slice() {
        [name, dtype] => (name, dtype),
        [_, _, shape] => {
            let allowed = "no shape: version 3 has no arrays as fields of records";
            return Err(shape.expected(allowed).in_element(2));
        }
        _ => return Err(raw.expected(FIELD)),
    };
    let name = name.string("a name").element(0)?;
    // NumPy writes an empty name for padding, and then gives it this name.
    let name = if name.is_empty() { format!("f{index}") } else { name.into_owned() };
    Ok((name, Dtype::read(*dtype).element(1)?))
}
