//! The attributes that give stored values their meaning.

use zarr_metadata::{ArrayMetadata, DataType, JsonTokens};

/// The attributes that change what stored numbers mean. Arrays that are joined must have equal ones.
///
/// Times are an exception: numbers with other `units` of one calendar are converted.
///
/// # Examples
/// ```
/// assert!(zarr_cf::MEANING.contains(&"_Unsigned"));
/// assert!(!zarr_cf::MEANING.contains(&"valid_range")); // it describes
/// ```
pub const MEANING: [&str; 11] = [
    "units",
    "calendar",
    "scale_factor",
    "add_offset",
    "_FillValue",
    "missing_value",
    "_Unsigned",
    // Xarray writes truth values and durations as numbers, and their type into this attribute.
    "dtype",
    "flag_values",
    "flag_masks",
    "flag_meanings",
];

/// Those of [`MEANING`] without which stored numbers have other values: packing and missing values.
pub const PACKING: [&str; 5] =
    ["scale_factor", "add_offset", "_FillValue", "missing_value", "_Unsigned"];

/// Attributes that describe values and change none: members of a join may differ in them, and the
/// rule for attributes combines them.
///
/// # Examples
/// ```
/// assert!(zarr_cf::DESCRIBING.iter().all(|name| !zarr_cf::MEANING.contains(name)));
/// ```
pub const DESCRIBING: [&str; 10] = [
    "valid_range",
    "valid_min",
    "valid_max",
    "actual_range",
    "bounds",
    "climatology",
    "long_name",
    "standard_name",
    "cell_methods",
    "comment",
];

/// Those of [`DESCRIBING`] that netCDF4 masks elements by, and Xarray does not.
pub(crate) const VALID: [&str; 3] = ["valid_range", "valid_min", "valid_max"];

/// An attribute, if it is a text.
///
/// # Examples
/// ```
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// let array = ArrayBuilder::new([2], DataType::Int8).attributes(r#"{"units": "m"}"#).build()?;
/// assert_eq!(zarr_cf::text(&array, "units").as_deref(), Some("m"));
/// assert_eq!(zarr_cf::text(&array, "calendar"), None);
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[must_use]
pub fn text(metadata: &ArrayMetadata, name: &str) -> Option<String> {
    serde_json::from_str(metadata.attribute(name)?).ok()
}

/// The JSON texts in an attribute: one, or those of a list. All attributes of NetCDF are lists, and
/// some programs write a list of one number.
pub(crate) fn values(json: &str) -> impl Iterator<Item = &str> {
    JsonTokens::new(json).filter(|token| !matches!(*token, "[" | "]" | ","))
}

/// The type of the elements by the attribute `_Unsigned`: the unsigned integers of the same bytes if it
/// is `"true"`, the signed ones if it is `"false"`.
///
/// # Examples
/// ```
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// let bytes = ArrayBuilder::new([2], DataType::Int8).attributes(r#"{"_Unsigned": "true"}"#);
/// assert_eq!(zarr_cf::element_type(&bytes.build()?), DataType::Uint8);
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[must_use]
pub fn element_type(metadata: &ArrayMetadata) -> DataType {
    let stored = metadata.data_type();
    match (text(metadata, "_Unsigned").as_deref(), stored) {
        (Some("true"), DataType::Int8) => DataType::Uint8,
        (Some("true"), DataType::Int16) => DataType::Uint16,
        (Some("true"), DataType::Int32) => DataType::Uint32,
        (Some("true"), DataType::Int64) => DataType::Uint64,
        (Some("false"), DataType::Uint8) => DataType::Int8,
        (Some("false"), DataType::Uint16) => DataType::Int16,
        (Some("false"), DataType::Uint32) => DataType::Int32,
        (Some("false"), DataType::Uint64) => DataType::Int64,
        _ => stored.clone(),
    }
}
