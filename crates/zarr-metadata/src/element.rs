//! One element as JSON text and as bytes in memory, both ways.

use std::fmt::Write;

use crate::data_type::{Component, DataType};
use crate::error::{At, MetadataError};
use crate::float::{FloatFormat, OutOfRange, Value};
use crate::json::{Grammar, JsonType, Raw, read_elements};
use crate::rule::Rule;

type Result<T> = std::result::Result<T, MetadataError>;

/// Appends the bytes of an element, little-endian, for its JSON text as a fill value.
///
/// ```
/// use zarr_metadata::{DataType, parse_element};
///
/// let mut bytes = Vec::new();
/// parse_element(&DataType::Int16, "-2", &mut bytes)?;
/// parse_element(&DataType::Float32, "\"0x7fc00001\"", &mut bytes)?;
/// assert_eq!(bytes, [0xfe, 0xff, 0x01, 0x00, 0xc0, 0x7f]);
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
///
/// # Errors
/// As for [`FillValue::parse`](crate::FillValue::parse), and where the type is not interpreted.
/// Nothing has been appended then.
pub fn parse_element(data_type: &DataType, json: &str, out: &mut Vec<u8>) -> Result<()> {
    read(data_type, Raw::parse(json, Grammar::WithNotFinite)?, out)
}

/// Appends the canonical JSON text of the element with these bytes, little-endian.
///
/// Decimals of 16 bits and more are the shortest that read back; narrower floats are written
/// exactly. NaN with a payload is written in hex (SD-46). Upper bits of sub-byte types are
/// ignored (SD-18).
///
/// ```
/// use zarr_metadata::{DataType, format_element};
///
/// let mut text = String::new();
/// format_element(&DataType::Float16, &0x2e66_u16.to_le_bytes(), &mut text)?;
/// assert_eq!(text, "0.1");
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
///
/// # Errors
/// Unless `bytes` is one element of a type that is interpreted; a bool is 0 or 1 (SD-52). Nothing has
/// been appended then.
pub fn format_element(data_type: &DataType, bytes: &[u8], out: &mut String) -> Result<()> {
    let Some((component, components)) = data_type.component() else {
        return Err(not_interpreted(data_type));
    };
    let size = component.size();
    let fits = size.checked_mul(components) == Some(bytes.len());
    if !fits {
        let found = format!("{} bytes", bytes.len());
        let whole = size.saturating_mul(components);
        let allowed = format!("{whole}, the size of one {data_type}");
        return Err(MetadataError::unexpected(found, allowed));
    }
    if components == 1 {
        return format_component(component, bytes, out);
    }
    for (index, part) in bytes.chunks_exact(size).enumerate() {
        out.push_str(if index == 0 { "[" } else { ", " });
        format_component(component, part, out)?;
    }
    out.push(']');
    Ok(())
}

fn not_interpreted(data_type: &DataType) -> MetadataError {
    MetadataError::unexpected(
        format!("type {data_type}"),
        "a type of fixed size, whose elements are known",
    )
}

fn format_component(component: Component, bytes: &[u8], out: &mut String) -> Result<()> {
    let code = little_endian(bytes);
    // Writing to a `String` has no way to fail.
    let _infallible = match component {
        Component::Bool => match code {
            0 => out.write_str("false"),
            1 => out.write_str("true"),
            _ => {
                return Err(MetadataError::unexpected(format!("a bool of byte {code}"), "0 or 1"));
            }
        },
        Component::Int { bits, signed: true } => write!(out, "{}", sign_extended(code, bits)),
        Component::Int { bits, signed: false } => write!(out, "{}", code & low_bits(bits)),
        Component::Small(format) => format_small(format, code, out),
        Component::Float32 => {
            let x = f32::from_bits(u32::try_from(code).unwrap_or_default());
            match x.classify() {
                std::num::FpCategory::Nan if code == 0x7fc0_0000 => out.write_str("\"NaN\""),
                std::num::FpCategory::Nan => write!(out, "\"0x{code:08x}\""),
                std::num::FpCategory::Infinite => write_infinity(x.is_sign_negative(), out),
                _ => write!(out, "{x:?}"),
            }
        }
        Component::Float64 => {
            let x = f64::from_bits(code);
            match x.classify() {
                std::num::FpCategory::Nan if code == 0x7ff8_0000_0000_0000 => {
                    out.write_str("\"NaN\"")
                }
                std::num::FpCategory::Nan => write!(out, "\"0x{code:016x}\""),
                std::num::FpCategory::Infinite => write_infinity(x.is_sign_negative(), out),
                _ => write!(out, "{x:?}"),
            }
        }
        Component::Raw { .. } => {
            out.push('[');
            for (index, byte) in bytes.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                let _infallible = write!(out, "{byte}");
            }
            out.write_str("]")
        }
    };
    Ok(())
}

fn format_small(format: FloatFormat, code: u64, out: &mut String) -> std::fmt::Result {
    let code = u32::try_from(code & low_bits(format.bits())).unwrap_or_default();
    match format.decode(code) {
        // Up to 8 bits the exact value is as easy to read, and no reader can round it wrongly.
        Value::Finite(value) if format.bits() <= 8 => write!(out, "{value:?}"),
        Value::Finite(value) => write!(out, "{:?}", format.shortest(code, value)),
        Value::Infinity { negative } => write_infinity(negative, out),
        Value::Nan { canonical: true } => out.write_str("\"NaN\""),
        Value::Nan { canonical: false } => {
            let digits = usize::try_from(format.bits().div_ceil(4)).unwrap_or_default();
            write!(out, "\"0x{code:0digits$x}\"")
        }
    }
}

fn write_infinity(negative: bool, out: &mut String) -> std::fmt::Result {
    out.write_str(if negative { "\"-Infinity\"" } else { "\"Infinity\"" })
}

/// Appends the bytes of the element that `raw` stands for.
pub(crate) fn read(data_type: &DataType, raw: Raw<'_>, out: &mut Vec<u8>) -> Result<()> {
    let Some((component, components)) = data_type.component() else {
        return Err(not_interpreted(data_type));
    };
    match component {
        Component::Raw { bytes } => {
            return read_raw_bits(data_type, bytes, raw, out).breaks(Rule::FillValueRawBits);
        }
        _ if components == 1 => return read_component(data_type, component, raw, out),
        _ => {}
    }
    let allowed = || format!("[real, imaginary], a value of type {data_type}");
    let parts = read_elements(raw, allowed(), |part| {
        let mut bytes = Vec::new();
        read_component(data_type, component, part, &mut bytes).map(|()| bytes)
    });
    let parts = parts.breaks(Rule::FillValueComplex)?;
    if parts.len() != components {
        return Err(raw.expected(allowed()).breaks(Rule::FillValueComplex));
    }
    out.extend(parts.into_iter().flatten());
    Ok(())
}

fn read_component(
    data_type: &DataType,
    component: Component,
    raw: Raw<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let code = match component {
        Component::Bool => match raw.text() {
            "true" => 1,
            "false" => 0,
            _ => {
                let error = raw.expected("true or false, a value of type bool");
                return Err(error.breaks(Rule::FillValueKind));
            }
        },
        Component::Int { bits, signed } => read_integer(bits, signed, raw).ok_or_else(|| {
            let (least, most) = integer_range(bits, signed);
            // An integer with neither fraction nor exponent is written well.
            let integer =
                raw.json_type() == JsonType::Number && !raw.text().contains(['.', 'e', 'E']);
            raw.expected(format!("an integer from {least} to {most}, a value of type {data_type}"))
                .breaks(if integer { Rule::FillValueRange } else { Rule::FillValueKind })
        })?,
        _ => read_float(data_type, component, raw)?,
    };
    let size = component.size();
    out.extend(code.to_le_bytes().iter().take(size));
    Ok(())
}

fn integer_range(bits: u32, signed: bool) -> (i64, u64) {
    if signed {
        let most = low_bits(bits.saturating_sub(1));
        (most.cast_signed().saturating_neg().saturating_sub(1), most)
    } else {
        (0, low_bits(bits))
    }
}

/// The two's complement of an integer written without fraction or exponent (SD-55).
fn read_integer(bits: u32, signed: bool, raw: Raw<'_>) -> Option<u64> {
    let (least, most) = integer_range(bits, signed);
    match raw.natural() {
        Some(value) => (value <= most).then_some(value),
        None => {
            let value = raw.integer().filter(|value| *value >= least && *value <= 0)?;
            Some(value.cast_unsigned())
        }
    }
}

/// What the strings among fill values stand for.
enum Word {
    Nan,
    Infinity { negative: bool },
    Hex(u64),
}

fn read_float(data_type: &DataType, component: Component, raw: Raw<'_>) -> Result<u64> {
    let error = |why: &str| {
        let mut allowed = format!("a number{}, a value of type {data_type}", words(component));
        if !why.is_empty() {
            allowed = format!("{allowed}: {why}");
        }
        raw.expected(allowed)
    };
    match raw.json_type() {
        JsonType::Number => read_decimal(component, raw.text()).map_err(|why| {
            error(match why {
                OutOfRange::TooLarge => "it is too large",
                OutOfRange::TooSmall => "it is too small, and the type has no zero",
                OutOfRange::Negative => "the type has no negative numbers",
            })
            .breaks(Rule::FillValueRange)
        }),
        JsonType::String => {
            let text = raw.string("text")?;
            let word = match text.as_ref() {
                "NaN" => Word::Nan,
                "Infinity" => Word::Infinity { negative: false },
                "-Infinity" => Word::Infinity { negative: true },
                text => match text.strip_prefix("0x") {
                    Some(digits) => {
                        let bits = component.bits();
                        let digits = hex(digits, bits);
                        Word::Hex(digits.ok_or_else(|| error("").breaks(Rule::FillValueHex))?)
                    }
                    None => return Err(error("").breaks(Rule::FillValueKind)),
                },
            };
            word_code(component, &word).ok_or_else(|| error("").breaks(Rule::FillValueRange))
        }
        _ => Err(error("").breaks(Rule::FillValueKind)),
    }
}

fn read_decimal(component: Component, text: &str) -> std::result::Result<u64, OutOfRange> {
    match component {
        Component::Small(format) => format.parse(text).map(u64::from),
        Component::Float32 => {
            let x: f32 = text.parse().map_err(|_| OutOfRange::TooLarge)?;
            Ok(x.to_bits().into())
        }
        _ => {
            let x: f64 = text.parse().map_err(|_| OutOfRange::TooLarge)?;
            Ok(x.to_bits())
        }
    }
}

fn word_code(component: Component, word: &Word) -> Option<u64> {
    match (component, word) {
        (_, Word::Hex(code)) => Some(*code),
        (Component::Small(format), Word::Nan) => format.nan().map(u64::from),
        (Component::Small(format), Word::Infinity { negative }) => {
            format.signed_infinity(*negative).map(u64::from)
        }
        (Component::Float32, Word::Nan) => Some(0x7fc0_0000),
        (Component::Float32, Word::Infinity { negative: false }) => Some(0x7f80_0000),
        (Component::Float32, Word::Infinity { negative: true }) => Some(0xff80_0000),
        (_, Word::Nan) => Some(0x7ff8_0000_0000_0000),
        (_, Word::Infinity { negative }) => {
            let infinity = if *negative { f64::NEG_INFINITY } else { f64::INFINITY };
            Some(infinity.to_bits())
        }
    }
}

/// The strings that a float type takes, for messages.
fn words(component: Component) -> String {
    let mut words = String::new();
    for (name, word) in [
        ("NaN", Word::Nan),
        ("Infinity", Word::Infinity { negative: false }),
        ("-Infinity", Word::Infinity { negative: true }),
    ] {
        if word_code(component, &word).is_some() {
            let _infallible = write!(words, ", \"{name}\"");
        }
    }
    let digits = match component.bits().div_ceil(4) {
        1 => "1 or 2".to_owned(),
        digits => digits.to_string(),
    };
    let _infallible = write!(words, " or \"0x\" and {digits} hex digits");
    words
}

/// Exactly as many digits as the width needs, 2 also below a byte, and no bit above it (SD-46).
fn hex(digits: &str, bits: u32) -> Option<u64> {
    let wanted = usize::try_from(bits.div_ceil(4)).ok()?;
    let right = digits.len() == wanted || (bits < 8 && digits.len() == 2);
    if !right || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, 16).ok().filter(|code| *code <= low_bits(bits))
}

/// An array of the bytes, or base64 (SD-54).
fn read_raw_bits(
    data_type: &DataType,
    bytes: usize,
    raw: Raw<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    let allowed = || {
        format!("an array of {bytes} integers from 0 to 255 or base64, a value of type {data_type}")
    };
    let value = match raw.json_type() {
        JsonType::String => {
            base64(&raw.string(allowed())?).ok_or_else(|| raw.expected(allowed()))?
        }
        _ => read_elements(raw, allowed(), |byte| {
            byte.natural()
                .and_then(|n| u8::try_from(n).ok())
                .ok_or_else(|| byte.expected("an integer from 0 to 255"))
        })?,
    };
    if value.len() != bytes {
        return Err(raw.expected(allowed()));
    }
    out.extend(value);
    Ok(())
}

/// Standard base64 with its padding.
fn base64(text: &str) -> Option<Vec<u8>> {
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

/// Up to 8 bytes as a number.
fn little_endian(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(word)
}

fn low_bits(count: u32) -> u64 {
    1_u64.checked_shl(count).map_or(u64::MAX, |bit| bit.wrapping_sub(1))
}

fn sign_extended(code: u64, bits: u32) -> i64 {
    let unused = 64_u32.saturating_sub(bits);
    code.wrapping_shl(unused).cast_signed().wrapping_shr(unused)
}

impl DataType {
    /// Makes the bytes of an element, or of several one after the other, canonical: sub-byte
    /// components extended from their own bits (SD-18). Elements of other types stay as they are.
    pub fn canonicalize_element(&self, bytes: &mut [u8]) {
        let Some((component, _)) = self.component() else { return };
        for byte in bytes {
            let code = u64::from(*byte);
            let canonical = match component {
                Component::Int { bits, signed: true } if bits < 8 => {
                    sign_extended(code, bits).cast_unsigned()
                }
                Component::Int { bits, .. } if bits < 8 => code & low_bits(bits),
                Component::Small(format) if format.bits() < 8 => code & low_bits(format.bits()),
                _ => return,
            };
            let [first, ..] = canonical.to_le_bytes();
            *byte = first;
        }
    }
}

/// Reads a fill value as the member of a document.
pub(crate) fn read_member(data_type: &DataType, raw: Raw<'_>) -> Result<crate::FillValue> {
    crate::FillValue::read(data_type, raw).member("fill_value")
}
