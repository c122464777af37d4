//! Attributes of the CF conventions that give stored values a meaning: times, calendars and missing
//! values.

// Years have at most nine digits, and numbers at most 64 bits: nothing here exceeds 128.
#![expect(clippy::arithmetic_side_effects, clippy::as_conversions, reason = "see above")]

mod calendar;
mod moment;
mod rebase;
mod time_axis;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::{ArrayMetadata, DataType, FillValue};

pub use calendar::{Calendar, Date, REFORM};
pub use moment::{DAY, Moment, SECOND, shown};
pub use rebase::Rebase;
pub use time_axis::TimeAxis;

/// An attribute, if it is a text.
///
/// # Examples
/// ```
/// use zarr_metadata::{ArrayBuilder, DataType, cf};
///
/// let array = ArrayBuilder::new([2], DataType::Int8).attributes(r#"{"units": "m"}"#).build()?;
/// assert_eq!(cf::text(&array, "units").as_deref(), Some("m"));
/// assert_eq!(cf::text(&array, "calendar"), None);
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[must_use]
pub fn text(metadata: &ArrayMetadata, name: &str) -> Option<String> {
    serde_json::from_str(metadata.attribute(name)?).ok()
}

/// The elements that the attributes `_FillValue` and `missing_value` declare as missing.
#[must_use]
pub fn missing(metadata: &ArrayMetadata) -> Vec<Vec<u8>> {
    use serde_json::Value;
    let data_type = metadata.data_type();
    let values = ["_FillValue", "missing_value"].into_iter();
    let values = values.filter_map(|name| metadata.attribute(name)).flat_map(|json| {
        match serde_json::from_str(json) {
            Ok(Value::Array(values)) => values.iter().map(ToString::to_string).collect(),
            _ => vec![json.to_owned()],
        }
    });
    let elements = values.filter_map(|json| match FillValue::parse(data_type, &json) {
        Ok(value) => value.bytes().map(<[u8]>::to_vec),
        Err(_) => float_of_xarray(data_type, &json),
    });
    elements.collect()
}

/// A missing float as Xarray writes it in version 3: the base64 text of the bytes of a `float64`.
#[expect(clippy::cast_possible_truncation, reason = "it was made of an element of this type")]
fn float_of_xarray(data_type: &DataType, json: &str) -> Option<Vec<u8>> {
    let text: String = serde_json::from_str(json).ok()?;
    let bytes: [u8; 8] = STANDARD.decode(text).ok()?.try_into().ok()?;
    match data_type {
        DataType::Float64 => Some(bytes.to_vec()),
        DataType::Float32 => Some((f64::from_le_bytes(bytes) as f32).to_le_bytes().to_vec()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ArrayBuilder;

    /// By Xarray 2025.11: `FillValueCoder.encode(-999.0, float)` is "AAAAAAA4j8A=".
    #[test]
    fn missing_values_as_attributes_and_as_xarray_writes_them() {
        let of = |data_type, attributes: &str| {
            let array = ArrayBuilder::new([1], data_type).attributes(attributes).build();
            missing(&array.expect("valid"))
        };
        let xarray = r#"{"_FillValue": "AAAAAAA4j8A="}"#;
        assert_eq!(of(DataType::Float64, xarray), [(-999.0_f64).to_le_bytes()]);
        assert_eq!(of(DataType::Float32, xarray), [(-999.0_f32).to_le_bytes()]);
        assert!(of(DataType::Int16, xarray).is_empty());
        let both = r#"{"_FillValue": 3, "missing_value": [4, 300]}"#;
        assert_eq!(of(DataType::Int8, both), [[3], [4]]);
    }
}
