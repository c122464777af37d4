//! How an element lies in memory.

use super::{DataType, Struct};
use crate::float::{FloatFormat, FloatSpecials};

/// How one element of a data type of fixed size lies in memory, and what its bits are.
///
/// Components of less than a byte take one byte each (SD-18). Bytes are little-endian, the real
/// part of a complex number first (SD-51), the first code unit of a string first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Layout {
    /// Bits of one component: the `N` of the `packbits` document.
    pub component_bits: u32,
    /// Bytes of one component in memory.
    pub component_size: usize,
    /// 2 for complex types, the number of code units for strings, 1 for all others.
    pub components: usize,
    /// Two's complement: narrower values are sign-extended.
    pub signed: bool,
    /// Bytes that a change of byte order reverses at a time; 1 where order has no meaning.
    pub swap_unit: usize,
}

impl Layout {
    /// Bytes of one element in memory.
    #[must_use]
    pub fn size(&self) -> usize {
        self.component_size.saturating_mul(self.components)
    }
}

/// A part of an element whose components are all alike: a field of a record, or the whole element
/// of any other type.
///
/// # Examples
/// ```
/// use zarr_metadata::{DataType, Struct};
///
/// let point = Struct::new([("x", DataType::Float32), ("y", DataType::Float32)])?;
/// let sample = Struct::new([("place", DataType::Struct(point)), ("count", DataType::Uint16)])?;
/// let parts = DataType::Struct(sample).parts();
/// let places: Vec<_> = parts.iter().map(|part| (part.offset, part.layout.swap_unit)).collect();
/// assert_eq!(places, [(0, 4), (4, 4), (8, 2)]);
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// The first byte, counted from the beginning of the element.
    pub offset: usize,
    /// The type of the part, which is not a record.
    pub data_type: DataType,
    /// How the part lies in memory.
    pub layout: Layout,
}

impl Part {
    /// The bytes of the part in an element.
    pub(crate) fn of<'e>(&self, element: &'e mut [u8]) -> &'e mut [u8] {
        let end = self.offset.saturating_add(self.layout.size());
        element.get_mut(self.offset..end).unwrap_or_default()
    }
}

/// What an element is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind<'t> {
    Numbers {
        component: Component,
        components: usize,
    },
    /// `r<N>`: bytes without meaning.
    RawBits {
        bytes: usize,
    },
    /// Bytes that JSON has in base64.
    Bytes {
        bytes: usize,
        null_terminated: bool,
    },
    /// A 64-bit integer of which the least value is "not a time".
    Time,
    /// UTF-32 code units, unused ones 0.
    Text {
        code_points: usize,
    },
    Struct(&'t Struct),
}

impl Kind<'_> {
    /// `None` for records, whose fields each have their own.
    pub(super) fn layout(self) -> Option<Layout> {
        let of_bytes = |bytes: usize| Layout {
            component_bits: u32::try_from(bytes).unwrap_or(u32::MAX).saturating_mul(8),
            component_size: bytes,
            components: 1,
            signed: false,
            swap_unit: 1,
        };
        Some(match self {
            Kind::Numbers { component, components } => Layout {
                component_bits: component.bits(),
                component_size: component.size(),
                components,
                signed: matches!(component, Component::Int { signed: true, .. }),
                swap_unit: component.size(),
            },
            Kind::RawBits { bytes } | Kind::Bytes { bytes, .. } => of_bytes(bytes),
            Kind::Time => Layout {
                component_bits: 64,
                component_size: 8,
                components: 1,
                signed: true,
                swap_unit: 8,
            },
            Kind::Text { code_points } => Layout {
                component_bits: 32,
                component_size: 4,
                components: code_points,
                signed: false,
                swap_unit: 4,
            },
            Kind::Struct(_) => return None,
        })
    }
}

/// What one component of a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    Bool,
    Int {
        bits: u32,
        signed: bool,
    },
    /// At most 16 bits.
    Small(FloatFormat),
    Float32,
    Float64,
}

impl Component {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Component::Bool => 1,
            Component::Int { bits, .. } => bits,
            Component::Small(format) => format.bits(),
            Component::Float32 => 32,
            Component::Float64 => 64,
        }
    }

    pub(crate) fn size(self) -> usize {
        usize::try_from(self.bits().div_ceil(8)).unwrap_or(usize::MAX)
    }

    /// How the bits of a float are divided.
    pub(super) fn float_format(self) -> Option<FloatFormat> {
        match self {
            Component::Bool | Component::Int { .. } => None,
            Component::Small(format) => Some(format),
            Component::Float32 => Some(FloatFormat::new(8, 23, 127, FloatSpecials::Ieee)),
            Component::Float64 => Some(FloatFormat::new(11, 52, 1023, FloatSpecials::Ieee)),
        }
    }

    /// Whether it takes one byte but needs only some of its bits. Bool does not count (SD-18).
    pub(crate) fn is_sub_byte(self) -> bool {
        self != Component::Bool && self.bits() < 8
    }
}

pub(super) const fn int(bits: u32, signed: bool) -> Component {
    Component::Int { bits, signed }
}

pub(super) const fn small(
    exponent: u32,
    mantissa: u32,
    bias: i32,
    specials: FloatSpecials,
) -> Component {
    Component::Small(FloatFormat::new(exponent, mantissa, bias, specials))
}
