//! Elements in memory: little-endian, one byte per component for sub-byte types.

use core::num::NonZeroUsize;

use zarr_metadata::DataType;
use zarr_view::Element;

use crate::error::{ChainErrorKind, ChunkErrorKind};

/// The in-memory form of one element, as the codecs need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ElementType {
    pub(crate) name: String,
    /// Bytes of an element.
    size: NonZeroUsize,
    /// Bytes of a component in memory.
    pub(crate) component_size: usize,
    /// Components of an element: 2 for complex types.
    pub(crate) components: usize,
    /// Bits of a component that hold its value.
    pub(crate) component_bits: u32,
    /// Whether those bits are sign-extended in memory.
    pub(crate) signed: bool,
    /// Bytes that byte order permutes; 1 if it does not matter.
    pub(crate) swap_unit: usize,
    /// Whether `packbits` supports the type.
    pub(crate) packable: bool,
}

impl ElementType {
    pub(crate) fn new(data_type: &DataType) -> Result<Self, ChainErrorKind> {
        let name = data_type.name();
        let Some(layout) = data_type.layout() else {
            return Err(ChainErrorKind::DataType { data_type: name });
        };
        let size = layout.component_size.saturating_mul(layout.components);
        let Some(size) = NonZeroUsize::new(size) else {
            return Err(ChainErrorKind::DataType { data_type: name });
        };
        Ok(Self {
            name,
            size,
            component_size: layout.component_size,
            components: layout.components,
            component_bits: layout.component_bits,
            signed: layout.signed,
            swap_unit: layout.swap_unit,
            packable: data_type.is_packable(),
        })
    }

    /// Bytes of one element.
    pub(crate) fn size(&self) -> usize {
        self.size.get()
    }

    /// How the elements move between storage and memory.
    pub(crate) fn moved(&self, swapped: bool) -> Element {
        let plain = Element::new(self.size);
        if swapped {
            Element::swapped_in_units(self.size(), self.swap_unit).unwrap_or(plain)
        } else {
            plain
        }
    }

    pub(crate) fn is_bool(&self) -> bool {
        self.name == "bool"
    }

    /// Whether a component has fewer bits than its byte in memory; not true of booleans (SD-18).
    pub(crate) fn is_sub_byte(&self) -> bool {
        self.component_bits < 8 && !self.is_bool()
    }

    /// Refuses boolean bytes other than 0 and 1 (SD-52). `elements` holds whole elements.
    pub(crate) fn check(&self, elements: &[u8]) -> Result<(), ChunkErrorKind> {
        if !self.is_bool() {
            return Ok(());
        }
        // One pass that vectorises; the position is searched only if there is a fault.
        if elements.iter().fold(0, |seen, byte| seen | byte) <= 1 {
            return Ok(());
        }
        match elements.iter().enumerate().find(|(_, byte)| **byte > 1) {
            Some((element, value)) => Err(ChunkErrorKind::Bool {
                element: crate::bytes_to_bytes::widen(element),
                value: *value,
            }),
            None => Ok(()),
        }
    }

    /// Extends sub-byte components from the bits that hold their value (SD-18).
    pub(crate) fn canonicalise(&self, elements: &mut [u8]) {
        if !self.is_sub_byte() {
            return;
        }
        let unused = 8_u32.saturating_sub(self.component_bits);
        if self.signed {
            for byte in elements {
                *byte = ((*byte << unused).cast_signed() >> unused).cast_unsigned();
            }
        } else {
            for byte in elements {
                *byte = (*byte << unused) >> unused;
            }
        }
    }
}

impl ChunkErrorKind {
    /// The fault of elements that are counted from the one of number `first`.
    pub(crate) fn further(mut self, first: usize) -> Self {
        if let Self::Bool { element, .. } | Self::Lost { element, .. } = &mut self {
            *element = element.saturating_add(crate::bytes_to_bytes::widen(first));
        }
        self
    }
}
