//! Values that are to be stored: none becomes another one unless the caller allows it.

use crate::data_type::{Component, DataType};
use crate::element::Endian;
use crate::error::Result;
use crate::float::{Digits, FloatValue};
use crate::json::{Grammar, JsonType, Outline, Raw};

use super::{format_component, read};

/// Whether a value may become another one when it enters an array of another type.
///
/// A number keeps its value, with one exception: a fraction that enters a float is rounded to the
/// nearest one. So an integer is exact in every type, whether its type or its spelling says that it
/// is one. A finite number never becomes infinite or NaN. A fraction never enters an integer.
/// Documents are not concerned: their fill values are rounded as the specification says (SD-45).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Loss {
    /// Such a value is an error.
    Refuse,
    /// The nearest value of the type is stored, or what NumPy stores.
    Allow,
}

/// Appends the bytes of an element, little-endian, for the JSON text of a value that is to be stored.
///
/// The texts are those of [`parse_element`](super::parse_element). A number that is spelled without
/// fraction and exponent is an integer.
///
/// ```
/// use zarr_metadata::{DataType, Loss, parse_value};
///
/// let mut bytes = Vec::new();
/// parse_value(&DataType::Float32, "16777216", Loss::Refuse, &mut bytes)?;
/// parse_value(&DataType::Float32, "0.1", Loss::Refuse, &mut bytes)?;
/// assert!(parse_value(&DataType::Float32, "16777217", Loss::Refuse, &mut bytes).is_err());
/// assert!(parse_value(&DataType::Float32, "1e300", Loss::Refuse, &mut bytes).is_err());
/// parse_value(&DataType::Float32, "1e300", Loss::Allow, &mut bytes)?;
/// assert_eq!(bytes[8..], f32::INFINITY.to_le_bytes());
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
///
/// # Errors
/// As for [`parse_element`](super::parse_element), and unless `loss` is allowed, if the type has
/// another value in place of this one. After an error, `out` is unchanged.
pub fn parse_value(data_type: &DataType, json: &str, loss: Loss, out: &mut Vec<u8>) -> Result<()> {
    let outline = Outline::read(json, Grammar::WithNotFinite)?;
    read(data_type, outline.root(), Reading { loss, ..Reading::DOCUMENT }, out)
}

/// How the JSON of an element is read.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    /// The byte order of records that are written as base64.
    pub(crate) packed: Endian,
    /// Whether a number may become another one.
    pub(crate) loss: Loss,
}

impl Reading {
    /// A value in a document, little-endian.
    pub(crate) const DOCUMENT: Self = Self { packed: Endian::Little, loss: Loss::Allow };

    /// Refuses the code of a float that has another value than its text, unless that is allowed.
    pub(super) fn check(
        self,
        data_type: &DataType,
        component: Component,
        raw: Raw<'_>,
        code: u64,
    ) -> Result<()> {
        let format = component.float_format();
        let (Loss::Refuse, JsonType::Number, Some(format)) = (self.loss, raw.json_type(), format)
        else {
            return Ok(());
        };
        let is_integer = !raw.text().contains(['.', 'e', 'E']);
        let value = format.value(code);
        let is_kept = match value {
            // Every integer of 15 digits is a `f64`.
            FloatValue::Finite { .. } if is_integer && raw.text().len() <= 15 => {
                raw.text().parse() == Ok(value.to_f64())
            }
            FloatValue::Finite { .. } if is_integer => {
                Digits::read(raw.text()) == Digits::of(value.to_f64())
            }
            value => matches!(value, FloatValue::Finite { .. }),
        };
        if is_kept {
            return Ok(());
        }
        let mut stored = String::new();
        let bytes = code.to_le_bytes();
        format_component(component, bytes.get(..component.size()).unwrap_or(&bytes), &mut stored)?;
        let allowed = format!("a number that {data_type} does not change: it would be {stored}");
        Err(raw.expected(allowed))
    }
}
