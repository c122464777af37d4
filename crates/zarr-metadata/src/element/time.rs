//! Times and durations: integers. The least integer is "not a time".

use std::fmt::Write;

use crate::data_type::DataType;
use crate::error::Result;
use crate::json::{JsonType, Raw};

const NOT_A_TIME: i64 = i64::MIN;

pub(super) fn format(value: i64, out: &mut String) {
    // Writing to a `String` has no way to fail.
    let _infallible = match value {
        NOT_A_TIME => out.write_str("\"NaT\""),
        value => write!(out, "{value}"),
    };
}

/// An integer or `"NaT"`; -2^63 is "NaT" too.
pub(super) fn read(data_type: &DataType, raw: Raw<'_>, out: &mut Vec<u8>) -> Result<()> {
    let value = match raw.json_type() {
        JsonType::String if raw.string("text")? == "NaT" => Some(NOT_A_TIME),
        _ => raw.integer(),
    };
    let value = value.ok_or_else(|| {
        let (least, most) = (i64::MIN, i64::MAX);
        raw.expected(format!(
            "an integer from {least} to {most} or \"NaT\", a value of type {data_type}"
        ))
    })?;
    out.extend(value.to_le_bytes());
    Ok(())
}
