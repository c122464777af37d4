//! `.zattrs`: attributes of version 2, including Xarray's.

use base64::prelude::*;

use super::data_type::Dtype;
use super::writers::Writers;
use super::{fill_value, outline};
use crate::data_type::{Component, DataType};
use crate::documents::document::{NodeDocument, attribute};
use crate::documents::group::GroupMetadata;
use crate::element::little_endian;
use crate::error::MetadataError;
use crate::fill_value::FillValue;
use crate::json::{Grammar, JsonType, Key, Outline, Raw, members, read_elements, utf8};

/// The names of the dimensions, among the attributes.
const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// The value of missing elements, among the attributes.
const MISSING: &str = "_FillValue";

/// The attributes of a node of version 2.
pub(super) struct Attributes<'a> {
    json: Option<&'a str>,
}

/// The attributes of an array of version 3.
pub(super) struct OfArray {
    pub(super) json: Option<String>,
    pub(super) dimension_names: Option<Vec<String>>,
}

impl<'a> Attributes<'a> {
    /// Reads a document.
    pub(super) fn read(zattrs: Option<&'a [u8]>) -> Result<Self, MetadataError> {
        let Some(json) = zattrs else { return Ok(Attributes { json: None }) };
        Attributes::of(Some(outline(json)?.root()))?;
        Ok(Attributes { json: Some(utf8(json)?.trim_ascii()) })
    }

    /// The attributes of a value that is already parsed.
    pub(super) fn of(raw: Option<Raw<'a>>) -> Result<Self, MetadataError> {
        match raw.filter(|raw| raw.json_type() != JsonType::Object) {
            None => Ok(Attributes { json: raw.map(Raw::text) }),
            Some(raw) => Err(raw.expected("an object")),
        }
    }

    /// The text; `None` if there are none.
    pub(super) fn json(&self) -> Option<&'a str> {
        self.json.filter(|text| *text != "{}")
    }

    /// The document of a group in version 3, which has nothing but attributes.
    pub(super) fn group(&self) -> Result<GroupMetadata, MetadataError> {
        let mut members =
            vec![("zarr_format", "3".to_owned()), ("node_type", "\"group\"".to_owned())];
        members.extend(self.json().map(|json| ("attributes", json.to_owned())));
        let document = NodeDocument::new(&members);
        GroupMetadata::from_json(document.json().as_bytes()).map(GroupMetadata::of_version_2)
    }

    /// The attributes of an array of this rank. `fill` is the fill value, if the document has one.
    pub(super) fn of_array(&self, rank: usize, fill: Option<&FillValue>, dtype: &Dtype) -> OfArray {
        let kept = OfArray { json: self.json().map(str::to_owned), dimension_names: None };
        let Some(attributes) = self.json else { return kept };
        let Some(names) = dimension_names(attributes, rank) else { return kept };
        let Ok(members) = members(attributes) else { return kept };
        let mut json = "{".to_owned();
        let mut push = |key: Key<'_>, value: &str| {
            json.push_str(if json.len() > 1 { ", " } else { "" });
            json.push_str(&key.quoted());
            json.push_str(": ");
            json.push_str(value);
        };
        let mut is_said = false;
        let is_described = members.len() > 1;
        for (key, value) in members {
            if key.is(MISSING) {
                is_said = true;
                push(key, said(value, dtype).as_deref().unwrap_or(value));
            } else if !key.is(DIMENSIONS) {
                push(key, value);
            }
        }
        let fill = fill.filter(|fill| is_described || !is_default(fill, &dtype.data_type));
        if !is_said && let Some(value) = fill.and_then(|fill| missing(fill, &dtype.data_type)) {
            push(Key::new(MISSING), &value);
        }
        json.push('}');
        OfArray { json: Some(json).filter(|json| json != "{}"), dimension_names: Some(names) }
    }
}

/// Whether this is the 0 of integers or bools that programs write where nobody chose a fill value: in
/// an array without a description it is a value, such as black (SD-73).
fn is_default(fill: &FillValue, data_type: &DataType) -> bool {
    matches!(data_type.component(), Some(Component::Bool | Component::Int { .. }))
        && fill.bytes().is_some_and(|bytes| bytes.iter().all(|byte| *byte == 0))
}

/// The names, if there is one for each dimension.
fn dimension_names(attributes: &str, rank: usize) -> Option<Vec<String>> {
    let names = Outline::read(attribute(attributes, DIMENSIONS)?, Grammar::Json).ok()?;
    let name = |raw: Raw<'_>| raw.string("a name").map(Into::into);
    let names = read_elements(names.root(), "names", name).ok()?;
    (names.len() == rank).then_some(names)
}

/// The value of the attribute as Xarray writes it in version 3, if it is a value of the data type.
fn said(value: &str, dtype: &Dtype) -> Option<String> {
    let said = Outline::read(value, Grammar::WithNotFinite).ok()?;
    if said.root().json_type() == JsonType::Null {
        return None;
    }
    missing(
        &fill_value::translate(said.root(), dtype, &mut Writers::of(false, None)).ok()?,
        &dtype.data_type,
    )
}

/// A number or a bool as Xarray writes it among the attributes of version 3: for floats, the base64
/// of a 64-bit float; for complex numbers, a list of two of them.
fn missing(fill: &FillValue, data_type: &DataType) -> Option<String> {
    let component = data_type.component()?;
    if matches!(component, Component::Bool | Component::Int { .. }) {
        return Some(fill.json().to_owned());
    }
    let format = component.float_format()?;
    let quoted = |part| {
        let float = format.value(little_endian(part)).to_f64();
        format!("\"{}\"", BASE64_STANDARD.encode(float.to_le_bytes()))
    };
    let parts: Vec<String> = fill.bytes()?.chunks_exact(component.size()).map(quoted).collect();
    let parts = parts.join(", ");
    Some(if data_type.is_complex() { format!("[{parts}]") } else { parts })
}
