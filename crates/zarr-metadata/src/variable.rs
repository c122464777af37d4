//! One element of variable length as JSON text and as bytes in memory, both ways: `string`,
//! `bytes` and elements that may be missing. And bytes as a list or as base64, which raw bits are written as too.

use std::borrow::Cow;

use crate::codec::Endian;
use crate::data_type::DataType;
use crate::element::optional;
use crate::error::MetadataError;
use crate::json::{JsonType, Raw, read_elements, write_string};

type Result<T> = std::result::Result<T, MetadataError>;

/// Appends the canonical JSON text: a string, base64, or what an element that may be missing is.
pub(crate) fn format(data_type: &DataType, bytes: &[u8], out: &mut String) -> Result<()> {
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
            write_base64(bytes, out);
            out.push('"');
        }
    }
    Ok(())
}

/// Appends the bytes of the element that `raw` stands for.
///
/// `packed` is the byte order of records that are written as base64.
pub(crate) fn read(
    data_type: &DataType,
    raw: Raw<'_>,
    packed: Endian,
    out: &mut Vec<u8>,
) -> Result<()> {
    match data_type {
        DataType::ZarrsOptional(inner) => optional::read(inner, raw, packed, out)?,
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

/// Bytes as an array of integers, or as base64.
pub(crate) fn list_or_base64(
    raw: Raw<'_>,
    allowed: impl Into<Cow<'static, str>>,
) -> Result<Vec<u8>> {
    let allowed = allowed.into();
    match raw.json_type() {
        JsonType::String => {
            base64(&raw.string(allowed.clone())?).ok_or_else(|| raw.expected(allowed))
        }
        _ => read_elements(raw, allowed, |byte| {
            byte.natural()
                .and_then(|n| u8::try_from(n).ok())
                .ok_or_else(|| byte.expected("an integer from 0 to 255"))
        }),
    }
}

/// Appends standard base64 with its padding.
pub(crate) fn write_base64(bytes: &[u8], out: &mut String) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for group in bytes.chunks(3) {
        let mut word = [0; 4];
        word.iter_mut().skip(1).zip(group).for_each(|(to, from)| *to = *from);
        let word = u32::from_be_bytes(word);
        for (at, shift) in [18_u32, 12, 6, 0].into_iter().enumerate() {
            let digit = usize::try_from(word.wrapping_shr(shift) & 63).unwrap_or_default();
            let digit = DIGITS.get(digit).copied().unwrap_or_default();
            out.push(if at > group.len() { '=' } else { char::from(digit) });
        }
    }
}

/// Standard base64 with its padding.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let groups = text.as_bytes().chunks(4);
    let last = groups.len().checked_sub(1);
    for (index, group) in groups.enumerate() {
        let padding = group.iter().rev().take_while(|b| **b == b'=').count();
        if group.len() != 4 || padding > 2 || (padding > 0 && Some(index) != last) {
            return None;
        }
        let digits = group.len().saturating_sub(padding);
        let mut word = 0_u32;
        for &byte in group.iter().take(digits) {
            word = word.wrapping_shl(6) | base64_digit(byte)?;
        }
        let word = word.wrapping_shl(u32::try_from(padding).ok()?.wrapping_mul(6));
        let [_, bytes @ ..] = word.to_be_bytes();
        let (kept, dropped) = bytes.split_at_checked(3_usize.saturating_sub(padding))?;
        if dropped.iter().any(|b| *b != 0) {
            return None;
        }
        out.extend_from_slice(kept);
    }
    Some(out)
}

fn base64_digit(byte: u8) -> Option<u32> {
    let (first, base) = match byte {
        b'A'..=b'Z' => (b'A', 0),
        b'a'..=b'z' => (b'a', 26),
        b'0'..=b'9' => (b'0', 52),
        b'+' => (b'+', 62),
        b'/' => (b'/', 63),
        _ => return None,
    };
    Some(u32::from(byte.wrapping_sub(first)).saturating_add(base))
}
