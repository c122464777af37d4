//! Values that cannot be stored or read, and configurations that are not supported here.

use zarr_metadata::DataType;

use crate::error::ChainErrorKind;

/// Why a value cannot be stored or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// It is out of the range of the data type.
    OutOfRange,
    /// It, or a number computed from it, is out of the range of the codec's arithmetic.
    Overflow,
    /// It is infinite or not a number.
    NotFinite,
    /// It is not a multiple of the scale.
    Inexact,
    /// Rounded differences add up to another value.
    Rounded,
    /// What is stored for it could not be read.
    Unreadable,
}

impl Refused {
    /// The text after the value in a message; `target` is the data type of the conversion.
    pub(super) fn reason(self, target: &DataType) -> String {
        match self {
            Self::OutOfRange => format!("out of the range of {target}"),
            Self::Overflow => "which overflows in the arithmetic of the codec".to_owned(),
            Self::NotFinite => format!("not finite, for which {target} has no value"),
            Self::Inexact => format!("not a multiple of the scale, so that no {target} gives it"),
            Self::Rounded => format!("which its rounded difference does not restore as {target}"),
            Self::Unreadable => format!("which could not be read back from {target}"),
        }
    }
}

pub(super) fn not_here(what: String) -> ChainErrorKind {
    ChainErrorKind::NotHere { what }
}
