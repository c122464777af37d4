//! Strings of `fixed_length_utf32`.

use crate::data_type::DataType;
use crate::error::{MetadataError, Result};
use crate::json::{Raw, write_string};

/// Appends the string of the code units, without the zeros at the end.
pub(super) fn format(bytes: &[u8], out: &mut String) -> Result<()> {
    let (units, _) = bytes.as_chunks::<4>();
    let units = units.iter().map(|unit| u32::from_le_bytes(*unit));
    let last = units.clone().rposition(|unit| unit != 0);
    let mut text = String::new();
    for unit in units.take(last.map_or(0, |last| last + 1)) {
        text.push(char::from_u32(unit).ok_or_else(|| {
            let found = format!("a code unit of 0x{unit:x}");
            MetadataError::unexpected(found, "0 to 0x10ffff without 0xd800 to 0xdfff")
        })?);
    }
    write_string(&text, out);
    Ok(())
}

/// A string of at most this many code points.
pub(super) fn read(
    data_type: &DataType,
    code_points: usize,
    raw: Raw<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let allowed =
        || format!("a string of at most {code_points} code points, a value of type {data_type}");
    let text = raw.string(allowed())?;
    let count = text.chars().count();
    let Some(padding) = code_points.checked_sub(count) else {
        return Err(raw.expected(allowed()));
    };
    out.extend(text.chars().flat_map(|c| u32::from(c).to_le_bytes()));
    out.extend(std::iter::repeat_n(0, padding.saturating_mul(4)));
    Ok(())
}
