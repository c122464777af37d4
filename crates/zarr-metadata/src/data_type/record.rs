//! `struct`: named fields, one after another without gaps.

// Offsets and sizes come from documents.
#![warn(clippy::arithmetic_side_effects)]

use std::collections::HashSet;
use std::fmt;

use super::DataType;
use crate::error::finding::Finding;
use crate::error::printable::Printable;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::extension::RawExtension;
use crate::json::{JsonType, Object, Raw, read_elements, write_string};
use crate::limits::check_element_size;

/// The fields of a record.
///
/// Fields lie one after another in declaration order, without gaps. So a `#[repr(C)]` type has the
/// same memory only if it has no padding.
///
/// # Examples
/// ```
/// use zarr_metadata::{DataType, FillValue, Struct};
///
/// let sample = Struct::new([("id", DataType::Int32), ("valid", DataType::Bool)])?;
/// assert_eq!((sample.size(), sample.fields()[1].offset()), (5, 4));
/// let sample = DataType::Struct(sample);
/// let fill = FillValue::parse(&sample, r#"{"valid": true, "id": -1}"#)?;
/// assert_eq!(fill.bytes(), Some(&[0xff, 0xff, 0xff, 0xff, 1][..]));
/// assert!(FillValue::parse(&sample, r#"{"id": -1}"#).is_err());
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// zarr-extensions `data-types/struct`; `data-types/structured` is the name that zarr-python 3.1
/// gave it, and is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Struct {
    fields: Vec<Field>,
    size: usize,
}

/// A field of a record.
///
/// # Examples
/// ```
/// use zarr_metadata::{DataType, Struct};
///
/// let record = Struct::new([("id", DataType::Uint16), ("flag", DataType::Bool)])?;
/// let flag = &record.fields()[1];
/// assert_eq!((flag.name(), flag.offset(), flag.bytes_of(&[7, 0, 1])), ("flag", 2, &[1][..]));
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    name: Box<str>,
    data_type: DataType,
    offset: usize,
}

impl Field {
    /// The name, unique within its record.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The field's data type: a type of fixed size, perhaps another record.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The first byte in memory, counted from the beginning of the record.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The bytes of the field, a part of the bytes of `record`.
    #[must_use]
    pub fn bytes_of<'r>(&self, record: &'r [u8]) -> &'r [u8] {
        let end = self.offset.saturating_add(self.data_type.size().unwrap_or_default());
        record.get(self.offset..end).unwrap_or_default()
    }
}

const FIELDS: &str = "an array of fields, each an object of \"name\" and \"data_type\"";

impl Struct {
    /// A record of these fields.
    ///
    /// # Errors
    /// If there are no fields, a name is empty or occurs twice, a type has no fixed size, or the
    /// record is larger than [`MAX_ELEMENT_SIZE`](crate::MAX_ELEMENT_SIZE).
    pub fn new<N: Into<String>>(fields: impl IntoIterator<Item = (N, DataType)>) -> Result<Self> {
        Self::of(fields).member("fields").breaks(Rule::DATA_TYPE_CONFIGURATION)
    }

    /// The fields, as messages name them.
    pub(super) fn fmt_fields(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, field) in self.fields.iter().enumerate() {
            let before = if index == 0 { " (" } else { ", " };
            write!(f, "{before}{}: {}", Printable(&field.name), field.data_type)?;
        }
        f.write_str(")")
    }

    fn of<N: Into<String>>(given: impl IntoIterator<Item = (N, DataType)>) -> Result<Self> {
        let mut fields = Vec::new();
        let mut offset = 0_usize;
        for (index, (name, data_type)) in given.into_iter().enumerate() {
            let name: String = name.into();
            let Some(size) = data_type.size() else {
                let found = format!("type {data_type}");
                let error = MetadataError::unexpected(found, "a type of fixed size");
                return Err(error.in_member("data_type").in_element(index));
            };
            if name.is_empty() {
                let error = MetadataError::unexpected("\"\"", "a name of at least one character");
                return Err(error.in_member("name").in_element(index));
            }
            fields.push(Field { name: name.into(), data_type, offset });
            offset = check_element_size(offset.saturating_add(size)).element(index)?;
        }
        if fields.is_empty() {
            return Err(MetadataError::unexpected("no fields", "at least one field"));
        }
        let mut names = HashSet::new();
        for (index, field) in fields.iter().enumerate() {
            if !names.insert(field.name()) {
                let mut found = "another field of the name ".to_owned();
                write_string(field.name(), &mut found);
                let error = MetadataError::unexpected(found, "a name of its own for each field");
                return Err(error.in_member("name").in_element(index));
            }
        }
        Ok(Struct { fields, size: offset })
    }

    /// The fields, in memory order; at least one.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Bytes of one record in memory.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// `None` where a field is of a type that is not known, which is among the findings then.
    pub(super) fn read(
        extension: &RawExtension<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<Option<Self>> {
        let mut members = extension.members()?;
        let mut pairs = false;
        let mut read = |findings: &mut Vec<Finding>| {
            members.check_known(&["fields"])?;
            let raw = members.require("fields", FIELDS)?;
            let mut index = 0_usize;
            let fields = read_elements(raw, FIELDS, |raw| {
                let field = Finding::scope(
                    findings,
                    || format!(".configuration.fields[{index}]"),
                    |findings| read_field(raw, findings, &mut pairs),
                );
                index = index.saturating_add(1);
                field
            });
            let fields = fields.member("fields")?;
            if fields.iter().any(|(_, data_type)| data_type.is_unknown()) {
                return Ok(None);
            }
            Self::new(fields).map(Some)
        };
        let read = read(findings).member("configuration").breaks(Rule::DATA_TYPE_CONFIGURATION)?;
        if pairs || extension.name == LEGACY {
            let found = match extension.name == LEGACY {
                true => "\"structured\", an older name of \"struct\"",
                false => "fields of \"struct\" as pairs",
            };
            let allowed = "\"struct\" with fields that are objects of \"name\" and \"data_type\"";
            findings.push(Finding::in_document(Rule::LEGACY_STRUCT, found, allowed));
        }
        Ok(read)
    }

    /// The JSON text of the configuration.
    pub(super) fn write(&self, json: &mut String) {
        json.push_str("{\"fields\": [");
        for (index, field) in self.fields.iter().enumerate() {
            json.push_str(if index == 0 { "{\"name\": " } else { ", {\"name\": " });
            write_string(&field.name, json);
            json.push_str(", \"data_type\": ");
            json.push_str(&field.data_type.to_json());
            json.push('}');
        }
        json.push_str("]}");
    }
}

/// The name that zarr-python 3.1 wrote.
pub(super) const LEGACY: &str = "structured";

/// `{"name", "data_type"}`, or the pair of these that zarr-python 3.1 wrote.
fn read_field(
    raw: Raw<'_>,
    findings: &mut Vec<Finding>,
    pairs: &mut bool,
) -> Result<(String, DataType)> {
    const FIELD: &str = "an object of \"name\" and \"data_type\"";
    if raw.json_type() == JsonType::Array {
        *pairs = true;
        let parts = read_elements(raw, FIELD, Ok)?;
        let [name, data_type] = parts.as_slice() else { return Err(raw.expected(FIELD)) };
        let name = name.string("a name").element(0)?.into_owned();
        let read = Finding::scope(
            findings,
            || "[1]".to_owned(),
            |findings| DataType::read(*data_type, findings),
        );
        return Ok((name, read.element(1)?));
    }
    let mut members = Object::read(raw, FIELD)?;
    members.check_known(&["name", "data_type"])?;
    let name = members.require("name", "a name")?.string("a name").member("name")?.into_owned();
    let raw = members.require("data_type", "a data type")?;
    Ok((name, Finding::member(findings, "data_type", |findings| DataType::read(raw, findings))?))
}
