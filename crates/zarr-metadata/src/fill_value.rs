//! Fill values: their JSON, and the bytes of their element.

use std::fmt;

use crate::codec::Endian;
use crate::data_type::DataType;
use crate::element::{self, Reading, format_element};
use crate::error::rule::Rule;
use crate::error::{MetadataError, Result};
use crate::json::{Grammar, JsonType, Outline, Raw, same};

/// The value of elements that were never written.
///
/// Two fill values are equal if the bytes of their elements are equal (SD-48), however they are
/// spelled in JSON. So `-0.0` differs from `0.0`, and NaNs differ by their payloads. For types that
/// are not interpreted, the JSON is compared, ignoring space between tokens.
///
/// # Examples
/// ```
/// use zarr_metadata::{DataType, FillValue};
///
/// let missing = FillValue::parse(&DataType::Int16, "-999")?;
/// assert_eq!(missing.bytes(), Some(&(-999_i16).to_le_bytes()[..]));
///
/// let nan = FillValue::parse(&DataType::Float32, "\"NaN\"")?;
/// assert_eq!(nan, FillValue::from_bytes(&DataType::Float32, &f32::NAN.to_le_bytes())?);
/// assert_ne!(nan, FillValue::parse(&DataType::Float32, "\"0x7fc00001\"")?);
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FillValue {
    json: Box<str>,
    bytes: Option<Box<[u8]>>,
}

impl FillValue {
    /// Reads the JSON text of a fill value.
    ///
    /// # Errors
    /// If the text is not a value of the type (SD-45, SD-46, SD-54, SD-55). For types that are not
    /// interpreted, any value except `null` is kept; for unknown types, `null` is kept as well.
    pub fn parse(data_type: &DataType, json: &str) -> Result<Self> {
        let outline = Outline::read(json, Grammar::WithNotFinite)?;
        Self::read(data_type, outline.root(), Endian::Little)
    }

    /// `packed` is the byte order of records that are written as base64.
    pub(crate) fn read(data_type: &DataType, raw: Raw<'_>, packed: Endian) -> Result<Self> {
        let how = Reading { packed, ..Reading::DOCUMENT };
        let bytes = match (data_type.size(), raw.json_type()) {
            (Some(size), _) => {
                let mut bytes = Vec::new();
                // A fill value of raw bits spells out each byte: do not trust the name alone.
                bytes.reserve_exact(size.min(raw.text().len().max(32)));
                element::read(data_type, raw, how, &mut bytes)?;
                Some(bytes.into_boxed_slice())
            }
            (None, _) if data_type.is_variable_length() => {
                let mut bytes = Vec::new();
                element::read(data_type, raw, how, &mut bytes)?;
                Some(bytes.into_boxed_slice())
            }
            // The values of an unknown type are unknown.
            (None, JsonType::Null) if data_type.is_unknown() => None,
            (None, JsonType::Null | JsonType::NotFinite) => {
                let error = raw.expected(format!("a fill value of type {data_type}"));
                return Err(error.breaks(Rule::FILL_VALUE_KIND));
            }
            (None, _) => None,
        };
        Ok(FillValue { json: raw.text().into(), bytes })
    }

    /// The fill value with these element bytes in memory, little-endian.
    ///
    /// # Errors
    /// Unless `bytes` is one element: its length, a bool other than 0 and 1, or a byte out of the
    /// range of a sub-byte type (SD-18). Types that are not interpreted have no bytes.
    pub fn from_bytes(data_type: &DataType, bytes: &[u8]) -> Result<Self> {
        let mut json = String::new();
        format_element(data_type, bytes, &mut json)?;
        let mut canonical = bytes.to_vec();
        data_type.canonicalize_element(&mut canonical);
        if canonical != bytes {
            let bits: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
            let found = format!("bits {}", bits.join(" "));
            let allowed = format!("the bits of a value of {data_type}: {json} is 0x");
            let allowed = canonical.iter().fold(allowed, |text, byte| format!("{text}{byte:02x}"));
            return Err(MetadataError::unexpected(found, allowed).breaks(Rule::FILL_VALUE_RANGE));
        }
        Self::parse(data_type, &json)
    }

    /// The default fill value of an array of this type: "NaT" for times and durations (0 is an
    /// ordinary value of these), NaN for `float8_e8m0fnu` and its complex numbers, which have no
    /// zero, else [`zero`](Self::zero).
    ///
    /// # Errors
    /// For types that are not interpreted.
    pub fn default_for(data_type: &DataType) -> Result<Self> {
        match data_type {
            DataType::NumpyDatetime64(_) | DataType::NumpyTimedelta64(_) => {
                Self::from_bytes(data_type, &i64::MIN.to_le_bytes())
            }
            DataType::Float8E8m0fnu => Self::from_bytes(data_type, &[0xff]),
            DataType::ComplexFloat8E8m0fnu => Self::from_bytes(data_type, &[0xff; 2]),
            _ => Self::zero(data_type),
        }
    }

    /// The element with all bits zero, the empty element of a type of variable length, or the missing
    /// element of an optional type; its JSON in canonical form.
    ///
    /// # Errors
    /// For types that are not interpreted.
    pub fn zero(data_type: &DataType) -> Result<Self> {
        let size = match data_type {
            DataType::ZarrsOptional(_) => 1,
            _ => data_type.size().unwrap_or_default(),
        };
        Self::from_bytes(data_type, &vec![0; size])
    }

    /// The bytes of one element in memory, little-endian; for a string, its UTF-8. `None` for types
    /// that are not interpreted.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// The JSON text, as written.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }
}

impl PartialEq for FillValue {
    fn eq(&self, other: &Self) -> bool {
        match (&self.bytes, &other.bytes) {
            (Some(a), Some(b)) => a == b,
            (None, None) => same(&self.json, &other.json),
            _ => false,
        }
    }
}

impl Eq for FillValue {}

impl fmt::Display for FillValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json)
    }
}
