//! Bounds of cells, and climatologies.

use zarr_metadata::ArrayMetadata;

use crate::attributes::text;

/// Whether a coordinate names the array beside it as its `bounds` or `climatology`. These have the
/// coordinate's units, if they have none (CF conventions, 7.1 and 7.4).
///
/// # Examples
/// ```
/// use zarr_cf::has_bounds;
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// let attributes = r#"{"units": "days since 2000-01-01", "bounds": "time_bnds"}"#;
/// let time = ArrayBuilder::new([2], DataType::Int32).attributes(attributes).build()?;
/// assert!(has_bounds(&time, "time_bnds") && !has_bounds(&time, "time"));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[must_use]
pub fn has_bounds(coordinate: &ArrayMetadata, name: &str) -> bool {
    ["bounds", "climatology"].into_iter().any(|key| text(coordinate, key).as_deref() == Some(name))
}
