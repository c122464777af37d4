//! Values that cannot be stored or read, and configurations that are not supported here.

use zarr_metadata::DataType;

use crate::error::ChainErrorKind;

/// Why a value cannot be stored or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is out of the range of the data type.
    OutOfRange,
    /// It is infinite or not a number.
    NotFinite,
    /// It is not a multiple of the scale.
    Inexact,
    /// Rounded differences add up to another value.
    Rounded,
}

impl Refused {
    /// The text after the value in a message; `target` is the data type of the conversion.
    pub(super) fn reason(self, target: &DataType) -> String {
        match self {
            Self::OutOfRange => format!("out of the range of {target}"),
            Self::NotFinite => format!("not finite, for which {target} has no value"),
            Self::Inexact => format!("not a multiple of the scale, so that no {target} gives it"),
            Self::Rounded => format!("which its rounded difference does not restore as {target}"),
        }
    }
}

pub(super) fn not_here(what: String) -> ChainErrorKind {
    ChainErrorKind::NotHere { what }
}
