//! Why elements have no meaning, or a meaning no element.

use zarr_metadata::{DataType, Printable};

/// Why elements cannot be decoded or encoded. Messages do not name the array: the caller knows its
/// name for the user.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CfError {
    /// The elements are not numbers.
    #[error("elements of type {data_type} are not real numbers or times")]
    NotNumbers {
        /// The data type.
        data_type: DataType,
    },
    /// The attributes mean times, and which times is not understood.
    #[error("{}", Printable(reason))]
    Units {
        /// The reason.
        reason: String,
    },
    /// The values have no such time.
    #[error("the time of {number} is out of the range of numpy's")]
    Range {
        /// The stored number, unpacked.
        number: String,
    },
}

/// As the text.
impl std::fmt::Debug for CfError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
