//! Elements that may be missing as JSON: `null`, or an array of the value.

use super::{Reading, format_element, read as read_element};
use crate::data_type::Optional;
use crate::error::{At, MetadataError, Result};
use crate::json::{JsonType, Raw, read_elements};

/// Appends the JSON of an element.
pub(super) fn format(optional: &Optional, bytes: &[u8], out: &mut String) -> Result<()> {
    match bytes.split_last() {
        Some((0, [])) => out.push_str("null"),
        Some((1, value)) => {
            let start = out.len();
            out.push('[');
            let formatted = format_element(optional.inner(), value, out);
            formatted.inspect_err(|_| out.truncate(start))?;
            out.push(']');
        }
        last => {
            let found = match last {
                None => "no bytes".to_owned(),
                Some((0, value)) => format!("{} bytes before a byte 0", value.len()),
                Some((last, _)) => format!("{last} as the last byte"),
            };
            let allowed = "the byte 0 alone, or a value and the byte 1";
            return Err(MetadataError::unexpected(found, allowed));
        }
    }
    Ok(())
}

/// Appends the bytes of the element with the JSON text `raw`; appends nothing after an error.
pub(super) fn read(
    optional: &Optional,
    raw: Raw<'_>,
    how: Reading,
    out: &mut Vec<u8>,
) -> Result<()> {
    if raw.json_type() == JsonType::Null {
        out.push(0);
        return Ok(());
    }
    let inner = optional.inner();
    let allowed = || format!("null, or an array of one value of type {inner}");
    let values = read_elements(raw, allowed(), Ok)?;
    let [value] = values.as_slice() else { return Err(raw.expected(allowed())) };
    read_element(inner, *value, how, out).element(0)?;
    out.push(1);
    Ok(())
}
