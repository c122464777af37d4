//! Records: objects of their fields, or the base64 that zarr-python 3.1 wrote.

use std::collections::{HashMap, HashSet};

use base64::prelude::*;

use super::{Reading, Result, format_element};
use crate::data_type::{DataType, Field, Struct};
use crate::element::Endian;
use crate::error::{At, MetadataError};
use crate::json::{JsonType, Object, Raw, write_string};

/// Appends `{"x": 1, "y": 2}`.
pub(super) fn format(record: &Struct, bytes: &[u8], out: &mut String) -> Result<()> {
    for (index, field) in record.fields().iter().enumerate() {
        out.push_str(if index == 0 { "{" } else { ", " });
        write_string(field.name(), out);
        out.push_str(": ");
        format_element(field.data_type(), field.bytes_of(bytes), out).member(field.name())?;
    }
    out.push('}');
    Ok(())
}

/// An object with a value for each field and nothing else, or base64 of the packed fields.
pub(super) fn read(
    data_type: &DataType,
    record: &Struct,
    raw: Raw<'_>,
    how: Reading,
    out: &mut Vec<u8>,
) -> Result<()> {
    if raw.json_type() == JsonType::String {
        return read_packed(data_type, record, raw, how, out);
    }
    let allowed = "an object with a value for each field";
    let members: Vec<_> = Object::read(raw, allowed)?.rest().collect();
    let values: HashMap<&str, Raw<'_>> =
        members.iter().map(|(name, raw)| (name.as_ref(), *raw)).collect();
    for field in record.fields() {
        let Some(raw) = values.get(field.name()) else {
            let error = MetadataError::unexpected("no value", "a value for each field");
            return Err(error.in_member(field.name()));
        };
        super::read(field.data_type(), *raw, how, out).member(field.name())?;
    }
    if members.len() == record.fields().len() {
        return Ok(());
    }
    let names: HashSet<_> = record.fields().iter().map(Field::name).collect();
    match members.iter().find(|(name, _)| !names.contains(name.as_ref())) {
        None => Ok(()),
        Some((name, _)) => {
            let found = "a value for a field that the record does not have";
            Err(MetadataError::unexpected(found, "a value for each field").in_member(name))
        }
    }
}

fn read_packed(
    data_type: &DataType,
    record: &Struct,
    raw: Raw<'_>,
    how: Reading,
    out: &mut Vec<u8>,
) -> Result<()> {
    let allowed =
        || format!("an object with a value for each field, or base64 of {} bytes", record.size());
    let value = BASE64_STANDARD.decode(raw.string(allowed())?.as_ref()).ok();
    let mut value = value
        .filter(|value| value.len() == record.size())
        .ok_or_else(|| raw.expected(allowed()))?;
    if how.packed == Endian::Big {
        data_type.swap_byte_order(&mut value);
    }
    out.extend(value);
    Ok(())
}
