//! `fill_value` of version 2.

use std::borrow::Cow;

use super::data_type::Dtype;
use super::writers::Writers;
use crate::codec::Endian;
use crate::data_type::{Component, DataType, Kind};
use crate::error::Result;
use crate::fill_value::FillValue;
use crate::json::{Grammar, JsonType, Outline, Raw, read_elements};

/// The fill value in version 3, in canonical form.
///
/// `null` says that elements which were never written are undefined; they read as zeros, as the
/// empty string, and as NaT. So does the number 0 of texts (SD-73).
pub(super) fn translate(raw: Raw<'_>, dtype: &Dtype, writers: &mut Writers) -> Result<FillValue> {
    let Dtype { data_type, order } = dtype;
    if raw.json_type() == JsonType::Null {
        return FillValue::default_for(data_type);
    }
    if raw.text() == "0" && (data_type.is_variable_length() || is_text(data_type)) {
        // zarr-python 2 writes 0 if the user gives no fill value.
        return FillValue::zero(data_type);
    }
    let json = spelled(raw, data_type, writers)?;
    let outline = Outline::read(&json, Grammar::WithNotFinite)?;
    let value = FillValue::read(data_type, outline.root(), order.unwrap_or(Endian::Little));
    // The value as this document has it, not as it was spelled for version 3.
    match value {
        Ok(value) => match value.bytes() {
            Some(bytes) => FillValue::from_bytes(data_type, bytes),
            None => Ok(value),
        },
        Err(_) if json != raw.text() => Err(raw.expected(format!("a value of type {data_type}"))),
        Err(error) => Err(error),
    }
}

/// The fill value of objects that are JSON text: its own text, since missing elements are read as this
/// value by zarr-python 2, and as `None` where it is `null`.
pub(super) fn as_json(raw: Raw<'_>) -> Result<FillValue> {
    FillValue::from_bytes(&DataType::String, raw.text().as_bytes())
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::FixedLengthUtf32(_) | DataType::NullTerminatedBytes(_))
}

/// The text as version 3 spells the value.
fn spelled<'a>(raw: Raw<'a>, data_type: &DataType, writers: &mut Writers) -> Result<Cow<'a, str>> {
    let Some(Kind::Numbers { component, components }) = data_type.kind() else {
        return Ok(Cow::Borrowed(raw.text()));
    };
    if components == 1 || raw.json_type() != JsonType::Array {
        let plain = writers.fill_value(raw);
        return match plain == raw.text() {
            true => Ok(number(raw, component)),
            // The same, of a number without its quotes.
            false => {
                let outline = Outline::read(&plain, Grammar::Json)?;
                Ok(Cow::Owned(number(outline.root(), component).into_owned()))
            }
        };
    }
    let parts = read_elements(raw, "[real, imaginary]", |raw| Ok(number(raw, component)))?;
    Ok(Cow::Owned(format!("[{}]", parts.join(", "))))
}

/// One component, as NumPy reads it: bare words for numbers that are not finite are put in quotes,
/// `0` and `1` are bools, and integers may have a fraction of zero.
fn number<'a>(raw: Raw<'a>, component: Component) -> Cow<'a, str> {
    match (component, raw.json_type()) {
        (_, JsonType::NotFinite) => Cow::Owned(format!("\"{}\"", raw.text())),
        (Component::Bool, JsonType::Number) => match raw.text() {
            "0" | "0.0" => Cow::Borrowed("false"),
            "1" | "1.0" => Cow::Borrowed("true"),
            other => Cow::Borrowed(other),
        },
        (Component::Int { .. }, JsonType::Number) => match raw.text().strip_suffix(".0") {
            Some(whole) if !whole.contains(['e', 'E']) => Cow::Borrowed(whole),
            _ => Cow::Borrowed(raw.text()),
        },
        _ => Cow::Borrowed(raw.text()),
    }
}
