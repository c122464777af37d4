//! `zarrs.optional`: elements of another type that may be missing.

use super::DataType;
use crate::error::finding::Finding;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::extension::RawExtension;
use crate::json::write_string;

/// The name that betas of zarrs 0.23 gave the type.
pub(super) const EARLIER: &str = "optional";

/// A type of elements that may be missing. The type of existing elements may itself be optional.
///
/// In memory an element is of variable length: the byte 0 if it is missing, else the bytes of its
/// value and then the byte 1. As JSON it is `null` or an array of the value.
///
/// # Examples
/// ```
/// use zarr_metadata::{DataType, FillValue, Optional};
///
/// let optional = DataType::ZarrsOptional(Optional::new(DataType::Int16)?);
/// assert_eq!(FillValue::parse(&optional, "[-2]")?.bytes(), Some(&[0xfe, 0xff, 1][..]));
/// assert_eq!(FillValue::parse(&optional, "null")?.bytes(), Some(&[0][..]));
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// The documentation of zarrs, "The `optional` array to bytes codec".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Optional {
    inner: Box<DataType>,
}

impl Optional {
    /// Elements of this type that may be missing.
    ///
    /// # Errors
    /// If the type is not interpreted.
    pub fn new(inner: DataType) -> Result<Self> {
        if inner.size().is_none() && !inner.is_variable_length() {
            let found = format!("type {inner}");
            let error = MetadataError::unexpected(found, "a type with known elements");
            return Err(error.breaks(Rule::DATA_TYPE_CONFIGURATION).in_member("name"));
        }
        Ok(Self { inner: Box::new(inner) })
    }

    /// The type of existing elements.
    #[must_use]
    pub fn inner(&self) -> &DataType {
        &self.inner
    }

    /// `None` if the type of the elements is not known, which is among the findings then.
    pub(super) fn read(
        extension: &RawExtension<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<Option<Self>> {
        let raw = extension.configuration().ok_or_else(|| {
            MetadataError::missing("configuration", "the data type of the elements")
                .breaks(Rule::DATA_TYPE_CONFIGURATION)
        })?;
        let read = |findings: &mut Vec<Finding>| DataType::read(raw, findings);
        let inner = Finding::member(findings, "configuration", read);
        let inner = inner.breaks(Rule::DATA_TYPE_CONFIGURATION)?;
        if inner.is_unknown() {
            return Ok(None);
        }
        Self::new(inner).map(Some).member("configuration")
    }

    /// The JSON text of the configuration: an object with an inner configuration, even if it is
    /// empty, because zarrs refuses others.
    pub(super) fn write(&self, json: &mut String) {
        let inner = self.inner.to_json();
        if inner.starts_with('{') {
            return json.push_str(&inner);
        }
        json.push_str("{\"name\": ");
        write_string(&self.inner.name(), json);
        json.push_str(", \"configuration\": {}}");
    }
}
