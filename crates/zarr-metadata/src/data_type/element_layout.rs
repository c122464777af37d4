//! How an element lies in memory.

use crate::float::{FloatFormat, FloatSpecials};

/// The layout in memory of one element of a data type of fixed size, and the meaning of its bits.
///
/// Components of less than a byte take one byte each (SD-18). Bytes are little-endian, the real
/// part of a complex number first (SD-51), the first code unit of a string first.
///
/// # Examples
/// ```
/// use zarr_metadata::DataType;
///
/// let layout = DataType::Complex64.element_layout().ok_or("a layout")?;
/// assert_eq!((layout.components, layout.component_bits, layout.component_size), (2, 32, 4));
/// assert_eq!((layout.size(), layout.swap_unit), (8, 4));
///
/// let layout = DataType::Int4.element_layout().ok_or("a layout")?;
/// assert_eq!((layout.component_bits, layout.component_size, layout.signed), (4, 1, true));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ElementLayout {
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

impl ElementLayout {
    /// Bytes of one element in memory.
    #[must_use]
    pub fn size(&self) -> usize {
        self.component_size.saturating_mul(self.components)
    }
}

/// The kind of one component of a number.
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
    pub(crate) fn float_format(self) -> Option<FloatFormat> {
        match self {
            Component::Bool | Component::Int { .. } => None,
            Component::Small(format) => Some(format),
            Component::Float32 => Some(FLOAT32),
            Component::Float64 => Some(FLOAT64),
        }
    }

    /// Whether it takes one byte but needs only some of its bits. Bool does not count (SD-18).
    pub(crate) fn is_sub_byte(self) -> bool {
        self != Component::Bool && self.bits() < 8
    }
}

pub(crate) const FLOAT32: FloatFormat = FloatFormat::new(8, 23, 127, FloatSpecials::Ieee);
pub(crate) const FLOAT64: FloatFormat = FloatFormat::new(11, 52, 1023, FloatSpecials::Ieee);

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
