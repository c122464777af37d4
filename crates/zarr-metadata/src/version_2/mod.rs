//! Documents of Zarr version 2, translated to version 3.
//!
//! A node of version 2 has its metadata in several documents: `.zarray` or `.zgroup`, `.zattrs`
//! beside them, and `.zmetadata` with copies of all that are below a group. Everything that version
//! 3 can express is translated; anything else is an error at its place in the old document.

mod array;
mod attributes;
mod codecs;
mod consolidated;
mod data_type;
mod fill_value;
mod group;
mod objects;
mod writers;

use std::fmt;

pub use objects::json2_elements;

use crate::error::MetadataError;
use crate::error::printable::Printable;
use crate::json::{Grammar, Object, Outline, Raw, utf8};

/// A document of Zarr version 2 that is wrong, or that version 3 cannot express.
///
/// ```
/// use zarr_metadata::ArrayMetadata;
///
/// let error = ArrayMetadata::from_version_2(br#"{"zarr_format": 2, "shape": 5}"#, None).unwrap_err();
/// assert_eq!((error.document(), error.cause().path()), (".zarray", "$.shape"));
/// assert_eq!(error.to_string(), ".zarray: $.shape: found 5, expected an array of lengths of at least 0");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Version2Error {
    document: &'static str,
    cause: MetadataError,
}

impl Version2Error {
    /// The name of the document: `.zarray`, `.zgroup`, `.zattrs` or `.zmetadata`.
    #[must_use]
    pub fn document(&self) -> &'static str {
        self.document
    }

    /// The fault, with its JSON path in the document.
    #[must_use]
    pub fn cause(&self) -> &MetadataError {
        &self.cause
    }
}

impl fmt::Display for Version2Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Printable(self.document), self.cause)
    }
}

/// As the text.
impl fmt::Debug for Version2Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Version2Error {}

/// Names the document in which an error is.
fn of(document: &'static str) -> impl Fn(MetadataError) -> Version2Error {
    move |cause| Version2Error { document, cause }
}

/// Reads a document. Documents of version 2 may have bare `NaN`, as Python writes it.
fn outline(json: &[u8]) -> Result<Outline<'_>, MetadataError> {
    Outline::read(utf8(json)?, Grammar::WithNotFinite)
}

/// The members of a document.
fn members(raw: Raw<'_>) -> Result<Object<'_>, MetadataError> {
    Object::read(raw, "a JSON object")
}

/// Takes the member `zarr_format`, which is the integer 2.
fn check_format(members: &mut Object<'_>) -> Result<(), MetadataError> {
    let raw = members.require("zarr_format", "2")?;
    match raw.text() {
        "2" => Ok(()),
        _ => Err(raw.expected("the integer 2").in_member("zarr_format")),
    }
}
