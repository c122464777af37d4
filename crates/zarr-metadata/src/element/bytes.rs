//! Bytes without meaning: lists of them, and base64.

use std::borrow::Cow;

use base64::prelude::*;

use crate::data_type::DataType;
use crate::error::Result;
use crate::json::{JsonType, Raw, read_elements, write_array, write_u64};

/// Appends `[1, 2]`.
pub(super) fn format_list(bytes: &[u8], out: &mut String) {
    write_array(bytes, out, |byte, out| write_u64(u64::from(*byte), out));
}

/// Appends the bytes in base64, without the zeros at the end if these only fill the element up.
pub(super) fn format_base64(bytes: &[u8], null_terminated: bool, out: &mut String) {
    let last = bytes.iter().rposition(|byte| *byte != 0);
    let kept = last.map_or(0, |last| last + 1);
    let bytes = if null_terminated { bytes.get(..kept).unwrap_or(bytes) } else { bytes };
    out.push('"');
    BASE64_STANDARD.encode_string(bytes, out);
    out.push('"');
}

/// Base64 of exactly `bytes` bytes; if they are null-terminated, of at most `bytes`.
pub(super) fn read_base64(
    data_type: &DataType,
    bytes: usize,
    null_terminated: bool,
    raw: Raw<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let allowed = || {
        let most = if null_terminated { "at most " } else { "" };
        format!("base64 of {most}{bytes} bytes, a value of type {data_type}")
    };
    let text = raw.string(allowed())?;
    let value = BASE64_STANDARD.decode(text.as_ref()).map_err(|_| raw.expected(allowed()))?;
    if value.len() > bytes || (value.len() < bytes && !null_terminated) {
        return Err(raw.expected(allowed()));
    }
    let padding = bytes.saturating_sub(value.len());
    out.extend(value);
    out.extend(std::iter::repeat_n(0, padding));
    Ok(())
}

/// An array of the bytes, or base64 (SD-54).
pub(super) fn read_raw_bits(
    data_type: &DataType,
    bytes: usize,
    raw: Raw<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let allowed = || {
        format!("an array of {bytes} integers from 0 to 255 or base64, a value of type {data_type}")
    };
    let value = list_or_base64(raw, allowed())?;
    if value.len() != bytes {
        return Err(raw.expected(allowed()));
    }
    out.extend(value);
    Ok(())
}

/// Bytes as an array of integers, or as base64.
pub(super) fn list_or_base64(
    raw: Raw<'_>,
    allowed: impl Into<Cow<'static, str>>,
) -> Result<Vec<u8>> {
    let allowed = allowed.into();
    match raw.json_type() {
        JsonType::String => {
            let text = raw.string(allowed.clone())?;
            BASE64_STANDARD.decode(text.as_ref()).map_err(|_| raw.expected(allowed))
        }
        _ => read_elements(raw, allowed, |byte| {
            byte.natural()
                .and_then(|n| u8::try_from(n).ok())
                .ok_or_else(|| byte.expected("an integer from 0 to 255"))
        }),
    }
}
