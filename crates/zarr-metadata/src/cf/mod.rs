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

use crate::json::{Grammar, JsonType, Outline};
use crate::{ArrayMetadata, DataType, FillValue, format_element};

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

/// The elements that the attributes `_FillValue` and `missing_value` declare as missing. Of zero,
/// both zeros of a float.
#[must_use]
pub fn missing(metadata: &ArrayMetadata) -> Vec<Vec<u8>> {
    let data_type = metadata.data_type();
    let parse = |json: &str| {
        let value = FillValue::parse(data_type, json).ok()?;
        value.bytes().map(<[u8]>::to_vec)
    };
    let mut elements = Vec::new();
    let mut add = |json: &str| {
        let element = parse(json).or_else(|| parse(&whole(json)?));
        elements.extend(element.or_else(|| parse(&float_of_xarray(json)?)));
    };
    for json in ["_FillValue", "missing_value"].iter().filter_map(|name| metadata.attribute(name)) {
        match Outline::read(json, Grammar::WithNotFinite) {
            Ok(list) if list.root().json_type() == JsonType::Array => {
                list.root().elements().for_each(|value| add(value.text()));
            }
            _ => add(json),
        }
    }
    // Only floats have such elements.
    let zeros = ["0.0", "-0.0"].map(parse);
    if zeros.iter().flatten().any(|zero| elements.contains(zero)) {
        elements.extend(zeros.into_iter().flatten());
    }
    elements
}

/// A number without a fraction that is written like a float, as an integer: programs that know only
/// floats write it for integers, too.
fn whole(json: &str) -> Option<String> {
    let number = json.parse().ok().filter(|number: &f64| number.fract() == 0.0)?;
    Some(format!("{:.0}", number + 0.0))
}

/// A missing float as Xarray writes it in version 3, the base64 text of the bytes of a `float64`, as
/// a decimal.
fn float_of_xarray(json: &str) -> Option<String> {
    let text: String = serde_json::from_str(json).ok()?;
    let mut decimal = String::new();
    format_element(&DataType::Float64, &STANDARD.decode(text).ok()?, &mut decimal).ok()?;
    Some(decimal)
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
        assert_eq!(of(DataType::Float16, xarray), [0xe3ce_u16.to_le_bytes()]);
        assert!(of(DataType::Int16, xarray).is_empty());
        let both = r#"{"_FillValue": 3, "missing_value": [4, 300]}"#;
        assert_eq!(of(DataType::Int8, both), [[3], [4]]);
        let floats = r#"{"_FillValue": -9.0, "missing_value": [1e2, 0.5, -0.0]}"#;
        assert_eq!(of(DataType::Int8, floats), [[0xf7], [100], [0]]);
    }

    /// Python writes NaN so. It need not be declared.
    #[test]
    fn a_bare_nan_hides_no_other_missing_value() {
        let attributes = r#"{"missing_value": ["bare", -999.0]}"#;
        let array = ArrayBuilder::new([1], DataType::Float32).attributes(attributes).build();
        let json = array.expect("valid").json().replace("\"bare\"", "NaN");
        let array = ArrayMetadata::from_json(json.as_bytes()).expect("valid");
        assert_eq!(missing(&array), [(-999.0_f32).to_le_bytes()]);
    }

    #[test]
    fn both_zeros_are_missing_if_one_is() {
        for zero in ["0", "0.0", "-0.0", "[1, -0.0]"] {
            let array = ArrayBuilder::new([1], DataType::Float32).attribute("_FillValue", zero);
            let missing = missing(&array.build().expect("valid"));
            for element in [0.0_f32, -0.0].map(f32::to_le_bytes) {
                assert!(missing.iter().any(|missing| *missing == element), "{zero}");
            }
        }
    }
}
