//! One element of variable length as JSON text and as bytes in memory, both ways: `string`,
//! `bytes` and elements that may be missing.

use base64::prelude::*;

use super::bytes::list_or_base64;
use super::{Reading, optional};
use crate::data_type::DataType;
use crate::error::{MetadataError, Result};
use crate::json::{Raw, write_string};

/// Appends the canonical JSON text: a string, base64, or the text of an optional element.
pub(super) fn format(data_type: &DataType, bytes: &[u8], out: &mut String) -> Result<()> {
    match data_type {
        DataType::String => match std::str::from_utf8(bytes) {
            Ok(text) => write_string(text, out),
            Err(error) => {
                let found = format!("bytes that are no UTF-8 from byte {} on", error.valid_up_to());
                return Err(MetadataError::unexpected(found, "UTF-8, a value of type string"));
            }
        },
        DataType::ZarrsOptional(inner) => optional::format(inner, bytes, out)?,
        _ => {
            out.push('"');
            BASE64_STANDARD.encode_string(bytes, out);
            out.push('"');
        }
    }
    Ok(())
}

/// Appends the bytes of the element with the JSON text `raw`.
pub(super) fn read(
    data_type: &DataType,
    raw: Raw<'_>,
    how: Reading,
    out: &mut Vec<u8>,
) -> Result<()> {
    match data_type {
        DataType::ZarrsOptional(inner) => optional::read(inner, raw, how, out)?,
        DataType::String => {
            let text = raw.string("a string, a value of type string")?;
            out.extend_from_slice(text.as_bytes());
        }
        _ => {
            const ALLOWED: &str =
                "an array of integers from 0 to 255 or base64, a value of type bytes";
            out.extend(list_or_base64(raw, ALLOWED)?);
        }
    }
    Ok(())
}
