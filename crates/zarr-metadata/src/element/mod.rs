//! One element as JSON text and as bytes in memory, both ways.

mod bytes;
mod optional;
mod record;
mod text;
mod time;
mod value;
mod variable;

use std::fmt::Write;

use crate::data_type::{Component, DataType, ElementPart, FLOAT32, FLOAT64, Kind};
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::float::{FloatFormat, FloatValue, OutOfRange, low_bits};
use crate::json::{Grammar, JsonType, Outline, Raw, read_elements};

pub(crate) use self::value::Reading;
pub use self::value::{Loss, parse_value};

/// A byte order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endian {
    /// The least significant byte first.
    Little,
    /// The most significant byte first.
    Big,
}

/// Appends the bytes of an element, little-endian, for its JSON text as a fill value. The bytes of
/// a string are its UTF-8.
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
/// As for [`FillValue::parse`](crate::FillValue::parse), and if the type is not interpreted. After
/// an error, `out` is unchanged.
pub fn parse_element(data_type: &DataType, json: &str, out: &mut Vec<u8>) -> Result<()> {
    let outline = Outline::read(json, Grammar::WithNotFinite)?;
    read(data_type, outline.root(), Reading::DOCUMENT, out)
}

/// Appends the canonical JSON text of the element with these bytes, little-endian.
///
/// Decimals of 16 bits and more are the shortest that read back; narrower floats are written
/// exactly. NaN with a payload is written in hex (SD-46). Upper bits of sub-byte types are ignored
/// (SD-18). Times are numbers or `"NaT"`. Strings and bytes of fixed length lose the zeros at their
/// end. Bytes are base64, and records are objects.
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
/// Unless `bytes` is one element of an interpreted type. A bool must be 0 or 1 (SD-52); a string
/// must be UTF-8, or its code units Unicode scalar values. After an error, `out` is unchanged.
pub fn format_element(data_type: &DataType, bytes: &[u8], out: &mut String) -> Result<()> {
    if data_type.is_variable_length() {
        return variable::format(data_type, bytes, out);
    }
    let (Some(kind), Some(size)) = (data_type.kind(), data_type.size()) else {
        return Err(not_interpreted(data_type));
    };
    if bytes.len() != size {
        let found = format!("{} bytes", bytes.len());
        let allowed = format!("{size}, the size of one {data_type}");
        return Err(MetadataError::unexpected(found, allowed));
    }
    let start = out.len();
    let formatted = match kind {
        Kind::Numbers { component, components: 1 } => format_component(component, bytes, out),
        Kind::Numbers { component, .. } => format_pair(component, bytes, out),
        Kind::RawBits { .. } => {
            bytes::format_list(bytes, out);
            Ok(())
        }
        Kind::Bytes { null_terminated, .. } => {
            bytes::format_base64(bytes, null_terminated, out);
            Ok(())
        }
        Kind::Time => {
            time::format(little_endian(bytes).cast_signed(), out);
            Ok(())
        }
        Kind::Text { .. } => text::format(bytes, out),
        Kind::Struct(record) => record::format(record, bytes, out),
    };
    formatted.inspect_err(|_| out.truncate(start))
}

fn format_pair(component: Component, bytes: &[u8], out: &mut String) -> Result<()> {
    for (index, part) in bytes.chunks_exact(component.size()).enumerate() {
        out.push_str(if index == 0 { "[" } else { ", " });
        format_component(component, part, out)?;
    }
    out.push(']');
    Ok(())
}

fn not_interpreted(data_type: &DataType) -> MetadataError {
    MetadataError::unexpected(format!("type {data_type}"), "a type with known elements")
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
        Component::Float32 => match f32::from_bits(u32::try_from(code).unwrap_or_default()) {
            x if x.is_finite() => write!(out, "{x:?}"),
            _ => format_special(FLOAT32, code, out),
        },
        Component::Float64 => match f64::from_bits(code) {
            x if x.is_finite() => write!(out, "{x:?}"),
            _ => format_special(FLOAT64, code, out),
        },
    };
    Ok(())
}

fn format_small(format: FloatFormat, code: u64, out: &mut String) -> std::fmt::Result {
    let code = code & low_bits(format.bits());
    let value = format.value(code).to_f64();
    if !value.is_finite() {
        return format_special(format, code, out);
    }
    // Up to 8 bits the exact value is as easy to read, and no reader can round it wrongly.
    let shown = if format.bits() <= 8 { value } else { format.shortest(code, value) };
    write!(out, "{shown:?}")
}

/// An infinity or a NaN.
fn format_special(format: FloatFormat, code: u64, out: &mut String) -> std::fmt::Result {
    match format.value(code) {
        FloatValue::Infinite { negative: true } => out.write_str("\"-Infinity\""),
        FloatValue::Infinite { negative: false } => out.write_str("\"Infinity\""),
        _ if format.nan() == Some(code) => out.write_str("\"NaN\""),
        _ => {
            let digits = usize::try_from(format.bits().div_ceil(4)).unwrap_or_default();
            write!(out, "\"0x{code:0digits$x}\"")
        }
    }
}

/// Appends the bytes of the element with the JSON text `raw`; appends nothing after an error.
pub(crate) fn read(
    data_type: &DataType,
    raw: Raw<'_>,
    how: Reading,
    out: &mut Vec<u8>,
) -> Result<()> {
    if data_type.is_variable_length() {
        return variable::read(data_type, raw, how, out).breaks(Rule::FILL_VALUE_KIND);
    }
    match data_type.kind() {
        None => Err(not_interpreted(data_type)),
        Some(Kind::Numbers { component, components: 1 }) => {
            read_component(data_type, component, raw, how, out)
        }
        Some(Kind::Numbers { component, components }) => {
            read_pair(data_type, component, components, raw, how, out)
                .breaks(Rule::FILL_VALUE_COMPLEX)
        }
        Some(Kind::RawBits { bytes }) => {
            bytes::read_raw_bits(data_type, bytes, raw, out).breaks(Rule::FILL_VALUE_RAW_BITS)
        }
        Some(Kind::Bytes { bytes, null_terminated }) => {
            bytes::read_base64(data_type, bytes, null_terminated, raw, out)
                .breaks(Rule::FILL_VALUE_BYTES)
        }
        Some(Kind::Time) => time::read(data_type, raw, out).breaks(Rule::FILL_VALUE_KIND),
        Some(Kind::Text { code_points }) => {
            text::read(data_type, code_points, raw, out).breaks(Rule::FILL_VALUE_TEXT)
        }
        Some(Kind::Struct(record)) => {
            let start = out.len();
            let read = record::read(data_type, record, raw, how, out);
            read.inspect_err(|_| out.truncate(start)).breaks(Rule::FILL_VALUE_STRUCT)
        }
    }
}

fn read_pair(
    data_type: &DataType,
    component: Component,
    components: usize,
    raw: Raw<'_>,
    how: Reading,
    out: &mut Vec<u8>,
) -> Result<()> {
    let allowed = || format!("[real, imaginary], a value of type {data_type}");
    let parts = read_elements(raw, allowed(), |part| {
        let mut bytes = Vec::new();
        read_component(data_type, component, part, how, &mut bytes).map(|()| bytes)
    })?;
    if parts.len() != components {
        return Err(raw.expected(allowed()));
    }
    out.extend(parts.into_iter().flatten());
    Ok(())
}

fn read_component(
    data_type: &DataType,
    component: Component,
    raw: Raw<'_>,
    how: Reading,
    out: &mut Vec<u8>,
) -> Result<()> {
    let code = match component {
        Component::Bool => match raw.text() {
            "true" => 1,
            "false" => 0,
            _ => {
                let error = raw.expected("true or false, a value of type bool");
                return Err(error.breaks(Rule::FILL_VALUE_KIND));
            }
        },
        Component::Int { bits, signed } => read_integer(bits, signed, raw).ok_or_else(|| {
            let (least, most) = integer_range(bits, signed);
            // An integer with neither fraction nor exponent is written well.
            let integer =
                raw.json_type() == JsonType::Number && !raw.text().contains(['.', 'e', 'E']);
            raw.expected(format!("an integer from {least} to {most}, a value of type {data_type}"))
                .breaks(if integer { Rule::FILL_VALUE_RANGE } else { Rule::FILL_VALUE_KIND })
        })?,
        _ => {
            let code = read_float(data_type, component, raw)?;
            how.check(data_type, component, raw, code)?;
            code
        }
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

/// The values of the strings among fill values.
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
            .breaks(Rule::FILL_VALUE_RANGE)
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
                        Word::Hex(digits.ok_or_else(|| error("").breaks(Rule::FILL_VALUE_HEX))?)
                    }
                    None => return Err(error("").breaks(Rule::FILL_VALUE_KIND)),
                },
            };
            word_code(component, &word).ok_or_else(|| error("").breaks(Rule::FILL_VALUE_RANGE))
        }
        _ => Err(error("").breaks(Rule::FILL_VALUE_KIND)),
    }
}

fn read_decimal(component: Component, text: &str) -> std::result::Result<u64, OutOfRange> {
    match component {
        Component::Small(format) => format.parse(text),
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
    let format = component.float_format()?;
    match word {
        Word::Hex(code) => Some(*code),
        Word::Nan => format.nan(),
        Word::Infinity { negative: false } => format.infinity(),
        Word::Infinity { negative: true } => format.infinity().map(|code| format.sign_bit() | code),
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

/// Up to 8 bytes as a number.
pub(crate) fn little_endian(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    u64::from_le_bytes(word)
}

fn sign_extended(code: u64, bits: u32) -> i64 {
    let unused = 64_u32.saturating_sub(bits);
    code.wrapping_shl(unused).cast_signed().wrapping_shr(unused)
}

impl DataType {
    /// Makes the bytes of one or several elements canonical: extends sub-byte components from their
    /// own bits (SD-18). Elements of other types stay as they are. For an optional type, `bytes` is
    /// one element.
    pub fn canonicalize_element(&self, bytes: &mut [u8]) {
        if let DataType::ZarrsOptional(optional) = self {
            if let Some((_, value)) = bytes.split_last_mut() {
                optional.inner().canonicalize_element(value);
            }
            return;
        }
        if let Some(component) = self.component() {
            return canonicalize(component, bytes);
        }
        let parts = self.parts();
        let narrow = |part: &ElementPart| {
            let component = part.data_type.component().filter(|c| c.is_sub_byte())?;
            Some((part.clone(), component))
        };
        let narrow: Vec<_> = parts.iter().filter_map(narrow).collect();
        if narrow.is_empty() {
            return;
        }
        for element in bytes.chunks_exact_mut(self.size().unwrap_or(1).max(1)) {
            narrow.iter().for_each(|(part, component)| canonicalize(*component, part.of(element)));
        }
    }
}

fn canonicalize(component: Component, bytes: &mut [u8]) {
    if !component.is_sub_byte() {
        return;
    }
    for byte in bytes {
        let code = u64::from(*byte);
        let canonical = match component {
            Component::Int { bits, signed: true } => sign_extended(code, bits).cast_unsigned(),
            _ => code & low_bits(component.bits()),
        };
        let [first, ..] = canonical.to_le_bytes();
        *byte = first;
    }
}
