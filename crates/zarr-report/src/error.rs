//! The reason why a report cannot be made.

use std::io;

use zarr_array::ArrayError;
use zarr_array::store::Remedy;
use zarr_cf::CfError;
use zarr_copy::TransferError;
use zarr_metadata::{MetadataError, Printable};

use crate::words;

/// The reason why a report cannot be made. Messages do not name the array: the caller knows its
/// name for the user.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The array or its store cannot be read.
    #[error("{0}")]
    Array(ArrayError),
    /// An element is not a value of its data type.
    #[error("element: {0}")]
    Element(MetadataError),
    /// The elements are not numbers.
    #[error("elements of type {data_type} are not real numbers or times")]
    NotNumbers {
        /// The data type in words.
        data_type: String,
    },
    /// Numbers are no times of numpy.
    #[error("{}", Printable(reason))]
    Times {
        /// The reason.
        reason: String,
    },
    /// More elements than a count of 64 bits holds.
    #[error(
        "a region of the shape {shape:?} has more than {} elements: give a smaller one",
        u64::MAX
    )]
    TooMany {
        /// The shape of the region.
        shape: Vec<u64>,
    },
    /// A picture of values needs a region with two axes.
    #[error(
        "values are drawn of two axes, and the selection has {axes}: give one index of the others"
    )]
    Plane {
        /// The axes of the region.
        axes: String,
        /// A region of one index on each axis too many.
        example: String,
    },
    /// A picture cannot be encoded.
    #[error("cannot encode the picture: {0}")]
    Png(io::Error),
    /// The report would be empty.
    #[error("{what}")]
    Nothing {
        /// The reason.
        what: &'static str,
    },
    /// A program lacks the data type of an array that all programs should read.
    #[error("elements of type {data_type} are not read by all programs: {readers}")]
    NotPortable {
        /// The data type.
        data_type: String,
        /// The programs that read the array.
        readers: String,
    },
    /// The region is not one of the array.
    #[error("{0}")]
    Region(String),
    /// Labels do not tell which elements are compared.
    #[error("{0}")]
    Labels(String),
    /// Elements that are kept until they are compared do not fit into a temporary file.
    #[error("cannot keep elements in a temporary file: {0}")]
    Temporary(io::Error),
    /// The objects that belong to no node are not all known.
    #[error("objects outside of nodes: {0}")]
    Objects(Box<TransferError>),
    /// Statistics of parts do not make up the whole.
    #[error("{0}")]
    Parts(String),
}

zarr_array::store::debug_as_text!(ReportError);

impl ReportError {
    /// What would allow the report, if the caller can.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Array(cause) => cause.remedy(),
            Self::Objects(cause) => cause.remedy(),
            _ => None,
        }
    }
}

impl From<ArrayError> for ReportError {
    fn from(cause: ArrayError) -> Self {
        Self::Array(cause)
    }
}

impl From<CfError> for ReportError {
    fn from(cause: CfError) -> Self {
        match cause {
            CfError::NotNumbers { data_type } => {
                Self::NotNumbers { data_type: words::data_type(&data_type) }
            }
            other => Self::Times { reason: other.to_string() },
        }
    }
}

impl From<MetadataError> for ReportError {
    fn from(cause: MetadataError) -> Self {
        Self::Element(cause)
    }
}
