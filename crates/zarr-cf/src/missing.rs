//! The elements that attributes declare as missing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarr_metadata::{ArrayMetadata, DataType, FillValue, Printable};

use crate::attributes::{element_type, values};
use crate::numbers::Numbers;

/// The elements that the attributes `_FillValue` and `missing_value` declare as missing. Of zero,
/// both zeros of a float.
///
/// An element is missing if its number equals a declared one, as in Xarray: no `float32` equals
/// 0.1. With `_Unsigned`, a `_FillValue` is a number of the stored type, and a `missing_value` one
/// of the type that is meant.
///
/// # Examples
/// ```
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// let attributes = r#"{"_FillValue": -1, "missing_value": [100, 300]}"#;
/// let array = ArrayBuilder::new([2], DataType::Int8).attributes(attributes).build()?;
/// assert_eq!(zarr_cf::missing(&array), [[0xff], [100]]);
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[must_use]
pub fn missing(metadata: &ArrayMetadata) -> Vec<Vec<u8>> {
    declared(metadata).elements
}

/// Missing elements, and what is declared and is no element.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub(crate) elements: Vec<Vec<u8>>,
    /// In words.
    pub(crate) notes: Vec<String>,
}

pub(crate) fn declared(metadata: &ArrayMetadata) -> Declared {
    let meant = element_type(metadata);
    let mut declared = Declared::default();
    for name in ["_FillValue", "missing_value"] {
        for json in metadata.attribute(name).into_iter().flat_map(values) {
            let element = match name {
                "_FillValue" => element(&meant, json, Some(metadata.data_type())),
                _ => element(&meant, json, None),
            };
            match element {
                Some(element) => declared.elements.push(element),
                None if is_nan(json) => {}
                None => declared.notes.push(format!(
                    "{name} {} is no value of {meant}, and marks no element",
                    Printable(json)
                )),
            }
        }
    }
    // Only floats have such elements.
    let zeros = [0.0, -0.0].map(|zero| float(&meant, zero));
    if zeros.iter().flatten().any(|zero| declared.elements.contains(zero)) {
        declared.elements.extend(zeros.into_iter().flatten());
    }
    declared
}

/// The element that a JSON text declares. Of a `_FillValue`, the stored type is given, too.
fn element(meant: &DataType, json: &str, fill_value_of: Option<&DataType>) -> Option<Vec<u8>> {
    if meant.is_float() {
        let number = match json.parse() {
            Ok(number) => number,
            Err(_) => fill_value_of.and_then(|_| float_of_xarray(json))?,
        };
        return float(meant, number);
    }
    let Some(layout) = meant.element_layout().filter(|_| is_integer(meant)) else {
        return FillValue::parse(meant, json).ok()?.bytes().map(<[u8]>::to_vec);
    };
    let number = whole(json)?;
    let fits = |signed: bool| {
        let bits = layout.component_bits;
        let (low, high) = match signed {
            true => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
            false => (0, (1_i128 << bits) - 1),
        };
        (low..=high).contains(&number)
    };
    let is_stored = fill_value_of.is_some_and(|stored| stored != meant) && fits(!layout.signed);
    (fits(layout.signed) || is_stored)
        .then(|| number.to_le_bytes().into_iter().take(layout.component_size).collect())
}

fn is_integer(data_type: &DataType) -> bool {
    !matches!(
        data_type,
        DataType::Bool | DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_)
    ) && Numbers::of(data_type).is_some_and(|numbers| numbers.are_whole())
}

/// A number without a fraction: programs that know only floats write integers with a point.
fn whole(json: &str) -> Option<i128> {
    if let Ok(number) = json.parse() {
        return Some(number);
    }
    let number = json.parse().ok().filter(|number: &f64| number.fract() == 0.0)?;
    #[expect(clippy::cast_possible_truncation, reason = "it saturates, beyond all types")]
    Some(number as i128)
}

/// The float of a type that equals a number; `None` of NaN, which need not be declared.
fn float(data_type: &DataType, number: f64) -> Option<Vec<u8>> {
    let json = match number {
        number if number.is_nan() => return None,
        f64::INFINITY => "\"Infinity\"".to_owned(),
        f64::NEG_INFINITY => "\"-Infinity\"".to_owned(),
        number => format!("{number:?}"),
    };
    let element = FillValue::parse(data_type, &json).ok()?.bytes()?.to_vec();
    let mut numbers = Vec::new();
    Numbers::of(data_type)?.list(&element, &mut numbers);
    (numbers == [number]).then_some(element)
}

/// A missing float as Xarray writes it in version 3: the base64 text of the bytes of a `float64`.
fn float_of_xarray(json: &str) -> Option<f64> {
    let text: String = serde_json::from_str(json).ok()?;
    if let "NaN" | "Infinity" | "-Infinity" = text.as_str() {
        return text.parse().ok();
    }
    Some(f64::from_le_bytes(STANDARD.decode(text).ok()?.try_into().ok()?))
}

fn is_nan(json: &str) -> bool {
    json.parse().or_else(|_| float_of_xarray(json).ok_or(())).is_ok_and(f64::is_nan)
}

#[cfg(test)]
mod tests {
    use zarr_metadata::ArrayBuilder;

    use super::*;

    fn of(data_type: DataType, attributes: &str) -> Vec<Vec<u8>> {
        let array = ArrayBuilder::new([1], data_type).attributes(attributes).build();
        missing(&array.expect("valid"))
    }

    /// By Xarray 2025.11: `FillValueCoder.encode(-999.0, float)` is "AAAAAAA4j8A=".
    #[test]
    fn missing_values_as_attributes_and_as_xarray_writes_them() {
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

    /// By Xarray 2026.9: `decode_cf_variable` of all values of the type.
    #[test]
    fn unsigned_integers_have_a_fill_value_of_the_stored_type() {
        let attributes = r#"{"_Unsigned": "true", "_FillValue": -1}"#;
        assert_eq!(of(DataType::Int8, attributes), [[0xff]]);
        let attributes = r#"{"_Unsigned": "true", "missing_value": [-1, 200]}"#;
        assert_eq!(of(DataType::Int8, attributes), [[200]]);
        let attributes = r#"{"_Unsigned": "false", "_FillValue": -1}"#;
        assert_eq!(of(DataType::Uint8, attributes), [[0xff]]);
        // Xarray fails; the stored type has it.
        let attributes = r#"{"_Unsigned": "false", "_FillValue": 255}"#;
        assert_eq!(of(DataType::Uint8, attributes), [[0xff]]);
        assert!(of(DataType::Int8, r#"{"_FillValue": 255}"#).is_empty());
    }

    #[test]
    fn what_no_element_equals_marks_none() {
        assert!(of(DataType::Float32, r#"{"_FillValue": 0.1}"#).is_empty());
        assert_eq!(of(DataType::Float32, r#"{"_FillValue": 0.5}"#), [0.5_f32.to_le_bytes()]);
        let words = |data_type, attributes: &str| {
            let array = ArrayBuilder::new([1], data_type).attributes(attributes).build();
            declared(&array.expect("valid")).notes.join("; ")
        };
        let attributes = r#"{"_FillValue": 0.1, "missing_value": [1, "none"]}"#;
        assert_eq!(
            words(DataType::Float32, attributes),
            "_FillValue 0.1 is no value of float32, and marks no element; missing_value \"none\" is \
             no value of float32, and marks no element"
        );
        assert_eq!(words(DataType::Float32, r#"{"_FillValue": "NaN"}"#), "");
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
