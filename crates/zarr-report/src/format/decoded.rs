//! Elements as their attributes mean them.

use zarr_array::Array;
use zarr_cf::{Decoder, has_bounds};
use zarr_metadata::ArrayMetadata;

use crate::ReportError;

/// The decoding of an array's elements by its attributes; of bounds, also by those of their
/// coordinate, which has the name of a dimension. `own_name` is the array's name in its group, and
/// `coordinate` opens an array of the group by name.
///
/// # Errors
/// [`ReportError::NotNumbers`]; [`ReportError::Times`] if the units are of a time and not understood.
///
/// # Examples
/// ```
/// use zarr_metadata::{ArrayBuilder, DataType};
/// use zarr_report::format::decoded::decoder;
///
/// let metadata = ArrayBuilder::new([2], DataType::Int8)
///     .attributes(r#"{"_Unsigned": "true", "scale_factor": 0.5}"#)
///     .build()?;
/// let decoder = decoder(&metadata, "v", |_| None)?;
/// assert_eq!(decoder.values(&[0xfe])?[..], 127.0_f64.to_le_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decoder(
    metadata: &ArrayMetadata,
    own_name: &str,
    coordinate: impl Fn(&str) -> Option<Array>,
) -> Result<Decoder, ReportError> {
    // Bounds have one axis more than their coordinate.
    let is_asked = metadata.shape().len() > 1
        && ["units", "calendar"].iter().any(|name| metadata.attribute(name).is_none());
    let names = metadata.dimension_names().unwrap_or_default().iter().flatten();
    let mut named = names.filter(|_| is_asked).filter_map(|name| coordinate(name));
    let bounded = named.find(|array| has_bounds(array.metadata(), own_name));
    Ok(Decoder::of(metadata, bounded.as_ref().map(Array::metadata))?)
}
