//! The values of the colours of a picture.

use zarr_cf::{Packing, element_type, text};
use zarr_metadata::ArrayMetadata;

use crate::stats::{number, short};

/// The share of values that are all equal.
pub(super) const MIDDLE: f64 = 0.5;

/// The range of the values in a picture.
pub(super) struct Colors {
    /// The least and the greatest value in words, decoded by the attributes.
    least: String,
    greatest: String,
    /// A space and the unit, or nothing.
    units: String,
    /// Whether all values are equal.
    is_one: bool,
}

impl Colors {
    pub(super) fn new(metadata: &ArrayMetadata, (least, greatest): (f64, f64)) -> Self {
        let (packing, data_type) = (Packing::of(metadata), element_type(metadata));
        let shown = |value: f64| match packing.is_identity() {
            true => number(&data_type, value).unwrap_or_else(|_| short(value)),
            false => short(packing.unpacked(value)),
        };
        let units = text(metadata, "units").map_or_else(String::new, |units| format!(" {units}"));
        let is_one = least == greatest;
        Self { least: shown(least), greatest: shown(greatest), units, is_one }
    }

    /// The labels of the colour bar: at the dark end and at the bright end. If all values are
    /// equal, there is only one.
    pub(super) fn labels(&self) -> (Option<&str>, String) {
        let greatest = format!("{}{}", self.greatest, self.units);
        ((!self.is_one).then_some(self.least.as_str()), greatest)
    }

    /// The share of the range to which a place of the colour bar belongs, from 0 to 1. If all values
    /// are equal, they have one colour.
    pub(super) fn share(&self, place: f64) -> f64 {
        if self.is_one { MIDDLE } else { place }
    }

    /// One line for places without the colours.
    pub(super) fn words(&self) -> String {
        let Self { least, greatest, units, is_one } = self;
        match is_one {
            true => format!("all values are {greatest}{units}"),
            false => format!("dark to bright: {least} to {greatest}{units}"),
        }
    }
}
