//! Numbers that are stored packed: `scale_factor` and `add_offset`.

use zarr_metadata::ArrayMetadata;

use crate::attributes::values;

/// The packing of numbers: the meant number is `stored * scale_factor + add_offset`.
///
/// # Examples
/// ```
/// use zarr_cf::Packing;
/// use zarr_metadata::{ArrayBuilder, DataType};
///
/// let attributes = r#"{"scale_factor": 0.5, "add_offset": 10}"#;
/// let array = ArrayBuilder::new([2], DataType::Int8).attributes(attributes).build()?;
/// assert_eq!(Packing::of(&array).unpacked(4.0), 12.0);
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Packing {
    scale: Option<f64>,
    offset: Option<f64>,
}

impl Packing {
    /// The packing by the attributes of an array. Attributes that are not one number are none.
    #[must_use]
    pub fn of(metadata: &ArrayMetadata) -> Self {
        let number = |name| Self::number(metadata.attribute(name)?);
        Self { scale: number("scale_factor"), offset: number("add_offset") }
    }

    /// The only number in an attribute.
    pub(crate) fn number(json: &str) -> Option<f64> {
        let mut values = values(json);
        let first = values.next().filter(|_| values.next().is_none())?;
        first.parse().ok()
    }

    /// Whether there is a scale or an offset, which may leave all numbers as they are.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.scale.is_some() || self.offset.is_some()
    }

    /// Whether all numbers are meant as they are stored.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.scale() == 1.0 && self.offset() == 0.0
    }

    /// Whether whole numbers stay whole.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.scale().fract() == 0.0 && self.offset().fract() == 0.0
    }

    /// The factor.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale.unwrap_or(1.0)
    }

    /// The number that is added.
    #[must_use]
    pub fn offset(&self) -> f64 {
        self.offset.unwrap_or(0.0)
    }

    /// The number that a stored one means. The product is rounded before the sum, as in other programs.
    #[must_use]
    pub fn unpacked(&self, stored: f64) -> f64 {
        let scaled = self.scale.map_or(stored, |scale| stored * scale);
        self.offset.map_or(scaled, |offset| scaled + offset)
    }

    /// The number to store for a meant one, which need not be whole.
    #[must_use]
    pub fn packed(&self, meant: f64) -> f64 {
        let moved = self.offset.map_or(meant, |offset| meant - offset);
        self.scale.map_or(moved, |scale| moved / scale)
    }
}
