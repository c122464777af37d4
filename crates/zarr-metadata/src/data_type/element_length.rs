//! Sizes that a name or a configuration says.

// Lengths come from documents.
#![warn(clippy::arithmetic_side_effects)]

use crate::error::rule::Rule;
use crate::error::{At, MetadataError};
use crate::extension::RawExtension;
use crate::limits::{MAX_ELEMENT_SIZE, check_element_size};

/// The size of the raw bits type `r<N>`: from 1 byte to [`MAX_ELEMENT_SIZE`].
///
/// # Examples
/// ```
/// use zarr_metadata::{DataType, RawBits};
///
/// let bits = RawBits::new(2).map(DataType::RawBits);
/// assert_eq!(bits, Some(DataType::from_name("r16")?));
/// assert_eq!(RawBits::new(0), None);
/// # Ok::<(), zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawBits {
    bytes: usize,
}

impl RawBits {
    /// Raw bits of `bytes` bytes; `None` for 0, and for more than
    /// [`MAX_ELEMENT_SIZE`].
    #[must_use]
    pub fn new(bytes: usize) -> Option<Self> {
        (1..=MAX_ELEMENT_SIZE).contains(&bytes).then_some(RawBits { bytes })
    }

    /// Bytes of one element.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// `Some(Ok(None))` is a name that looks like raw bits but is invalid.
    pub(super) fn from_name(name: &str) -> Option<Result<Option<Self>, MetadataError>> {
        let number = name.strip_prefix('r')?;
        let digits = number.strip_prefix('-').unwrap_or(number);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let bits = number.parse::<usize>().ok().filter(|n| n % 8 == 0 && !digits.starts_with('0'));
        let bytes = bits.map(|bits| check_element_size(bits.div_ceil(8))).transpose();
        Some(bytes.map(|bytes| bytes.and_then(RawBits::new)))
    }
}

/// The `length_bytes` of `null_terminated_bytes` and `raw_bytes`: bytes of one element, from 1 to
/// [`MAX_ELEMENT_SIZE`].
///
/// # Examples
/// ```
/// use zarr_metadata::{ByteLength, DataType};
///
/// let names = ByteLength::new(8).map(DataType::NullTerminatedBytes);
/// assert_eq!(names.and_then(|names| names.size()), Some(8));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ByteLength {
    bytes: usize,
}

impl ByteLength {
    /// Elements of `bytes` bytes; `None` for 0, and for more than [`MAX_ELEMENT_SIZE`].
    #[must_use]
    pub fn new(bytes: usize) -> Option<Self> {
        (1..=MAX_ELEMENT_SIZE).contains(&bytes).then_some(ByteLength { bytes })
    }

    /// Bytes of one element.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn read(extension: &RawExtension<'_>) -> Result<Self, MetadataError> {
        Ok(ByteLength { bytes: length_bytes(extension, 1, "an integer of at least 1")? })
    }
}

/// The size of the strings of `fixed_length_utf32`: a positive number of code points, of at most
/// [`MAX_ELEMENT_SIZE`] bytes together.
///
/// # Examples
/// ```
/// use zarr_metadata::Utf32Length;
///
/// let five = Utf32Length::new(5).expect("not 0, and below the limit");
/// assert_eq!((five.code_points(), five.bytes()), (5, 20));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Utf32Length {
    code_points: usize,
}

impl Utf32Length {
    /// Strings of `code_points` code points; `None` for 0, and for more than [`MAX_ELEMENT_SIZE`]
    /// bytes.
    #[must_use]
    pub fn new(code_points: usize) -> Option<Self> {
        (1..=MAX_ELEMENT_SIZE / 4).contains(&code_points).then_some(Utf32Length { code_points })
    }

    /// Code points of the longest string.
    #[must_use]
    pub fn code_points(&self) -> usize {
        self.code_points
    }

    /// Bytes of one element: the `length_bytes` of the configuration.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.code_points.saturating_mul(4)
    }

    pub(super) fn read(extension: &RawExtension<'_>) -> Result<Self, MetadataError> {
        let bytes = length_bytes(extension, 4, "a positive multiple of 4")?;
        Ok(Utf32Length { code_points: bytes.div_ceil(4) })
    }
}

/// The one member of the configuration, a positive multiple of `unit`.
fn length_bytes(
    extension: &RawExtension<'_>,
    unit: usize,
    allowed: &'static str,
) -> Result<usize, MetadataError> {
    let mut members = extension.members()?;
    let mut read = || {
        members.check_known(&["length_bytes"])?;
        let raw = members.require("length_bytes", allowed)?;
        let bytes = raw.natural().and_then(|bytes| usize::try_from(bytes).ok());
        bytes
            .filter(|bytes| *bytes > 0 && bytes.is_multiple_of(unit))
            .ok_or_else(|| raw.expected(allowed))
            .and_then(check_element_size)
            .member("length_bytes")
    };
    read().member("configuration").breaks(Rule::DATA_TYPE_CONFIGURATION)
}
