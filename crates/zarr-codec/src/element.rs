//! Elements in memory: little-endian, one byte per component for sub-byte types.

use core::num::NonZeroUsize;
use core::ops::Range;

use zarr_metadata::DataType;
use zarr_packbits::Packing;
use zarr_view::CopyElement;

use crate::error::{ChainErrorKind, ChunkErrorKind};
use crate::length::widen;

/// The in-memory form of one element, as codecs need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ElementType {
    pub(crate) name: String,
    /// Bytes per element.
    size: NonZeroUsize,
    /// Bytes of a component in memory.
    pub(crate) component_size: usize,
    /// Components per element: 2 for complex types.
    pub(crate) components: usize,
    /// Bits of a component that hold its value.
    pub(crate) component_bits: u32,
    /// Whether those bits are sign-extended in memory.
    pub(crate) signed: bool,
    /// Bytes that byte order reverses; 1 if it does not matter, or is not the same in all fields.
    pub(crate) swap_unit: usize,
    /// Whether `packbits` supports the type.
    pub(crate) packable: bool,
    /// Which bits of a byte in memory carry the value of a sub-byte component, and the required
    /// value of the others.
    pub(crate) sub_byte: Option<Packing>,
    /// The fields of a record that are treated separately; empty for other types.
    fields: Fields,
}

/// The fields of a record that are treated separately.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Fields {
    /// The bytes of adjacent fields that byte order reverses in units of the given length, unless
    /// it reverses the whole record in one unit. Units of 1 are left out.
    swapped: Vec<(Range<usize>, usize)>,
    /// The bytes that are booleans.
    bools: Vec<usize>,
    /// The bytes of components of fewer than 8 bits, with the number of bits and whether they are
    /// signed.
    narrow: Vec<(Range<usize>, u32, bool)>,
}

impl Fields {
    /// The fields of a record, and the unit in which byte order reverses all of it, or 1.
    fn new(data_type: &DataType) -> (Self, usize) {
        let mut fields = Self::default();
        let parts = data_type.parts();
        for part in &parts {
            let layout = &part.layout;
            let bytes = part.offset..part.offset + layout.size();
            if part.data_type == DataType::Bool {
                fields.bools.push(part.offset);
            } else if part.data_type.is_sub_byte() {
                fields.narrow.push((bytes.clone(), layout.component_bits, layout.signed));
            }
            match fields.swapped.last_mut() {
                Some((before, unit)) if *unit == layout.swap_unit => before.end = bytes.end,
                _ => fields.swapped.push((bytes, layout.swap_unit)),
            }
        }
        let unit = match fields.swapped.as_slice() {
            [(_, unit)] => *unit,
            _ => 1,
        };
        if unit > 1 {
            fields.swapped.clear();
        }
        fields.swapped.retain(|(_, unit)| *unit > 1);
        (fields, unit)
    }
}

impl ElementType {
    pub(crate) fn new(data_type: &DataType) -> Result<Self, ChainErrorKind> {
        let name = data_type.name().into_owned();
        let Some(size) = data_type.size().and_then(NonZeroUsize::new) else {
            return Err(ChainErrorKind::DataType { data_type: name });
        };
        let Some(layout) = data_type.element_layout() else {
            let (fields, swap_unit) = Fields::new(data_type);
            return Ok(Self {
                name,
                size,
                component_size: size.get(),
                components: 1,
                component_bits: u32::try_from(size.get()).unwrap_or(u32::MAX).saturating_mul(8),
                signed: false,
                swap_unit,
                packable: false,
                sub_byte: None,
                fields,
            });
        };
        let sub_byte = match layout.component_bits < 8 && *data_type != DataType::Bool {
            true => u32::try_from(layout.components).ok().and_then(|components| {
                let packing = Packing::builder(layout.component_bits).components(components);
                packing.signed(layout.signed).build().ok()
            }),
            false => None,
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
            sub_byte,
            fields: Fields::default(),
        })
    }

    /// Bytes of one element.
    pub(crate) fn size(&self) -> usize {
        self.size.get()
    }

    /// The elements of a copy between storage and memory.
    pub(crate) fn moved(&self, swapped: bool) -> CopyElement {
        let plain = CopyElement::new(self.size);
        if swapped {
            CopyElement::swapped_in_units(self.size(), self.swap_unit).unwrap_or(plain)
        } else {
            plain
        }
    }

    pub(crate) fn is_bool(&self) -> bool {
        self.name == "bool"
    }

    /// Whether a component has fewer bits than its byte in memory; not true of booleans (SD-18).
    pub(crate) fn is_sub_byte(&self) -> bool {
        self.sub_byte.is_some() || !self.fields.narrow.is_empty()
    }

    /// Whether some bytes may only be 0 or 1 (SD-52).
    pub(crate) fn has_bools(&self) -> bool {
        self.is_bool() || !self.fields.bools.is_empty()
    }

    /// Whether byte order reverses the bytes of fields in units of different lengths, which
    /// [`moved`](ElementType::moved) cannot express.
    pub(crate) fn is_mixed(&self) -> bool {
        !self.fields.swapped.is_empty()
    }

    /// Whether byte order matters.
    pub(crate) fn has_byte_order(&self) -> bool {
        self.swap_unit > 1 || self.is_mixed()
    }

    /// Changes the byte order of fields that are swapped in units of different lengths.
    pub(crate) fn swap_fields(&self, elements: &mut [u8]) {
        if !self.is_mixed() {
            return;
        }
        for element in elements.chunks_exact_mut(self.size()) {
            for (bytes, unit) in &self.fields.swapped {
                let field = element.get_mut(bytes.clone()).unwrap_or_default();
                field.chunks_exact_mut(*unit).for_each(<[u8]>::reverse);
            }
        }
    }

    /// Refuses boolean bytes other than 0 and 1 (SD-52). `elements` holds whole elements.
    pub(crate) fn check(&self, elements: &[u8]) -> Result<(), ChunkErrorKind> {
        let wrong = |element, value| {
            let element = widen(element);
            Err(ChunkErrorKind::Bool { element, value })
        };
        if !self.is_bool() {
            if !self.fields.bools.is_empty() {
                for (number, element) in elements.chunks_exact(self.size()).enumerate() {
                    let mut bools = self.fields.bools.iter().filter_map(|at| element.get(*at));
                    if let Some(value) = bools.find(|value| **value > 1) {
                        return wrong(number, *value);
                    }
                }
            }
            return Ok(());
        }
        // One pass that vectorises; the position is searched only after an error.
        if elements.iter().fold(0, |seen, byte| seen | byte) <= 1 {
            return Ok(());
        }
        match elements.iter().enumerate().find(|(_, byte)| **byte > 1) {
            Some((element, value)) => wrong(element, *value),
            None => Ok(()),
        }
    }

    /// Refuses fields of records that are out of the range of their sub-byte type (SD-18).
    pub(crate) fn check_fields(&self, elements: &[u8]) -> Result<(), ChunkErrorKind> {
        if self.fields.narrow.is_empty() {
            return Ok(());
        }
        let mut canonical = elements.to_vec();
        self.canonicalise(&mut canonical);
        match elements.iter().zip(&canonical).position(|(byte, kept)| byte != kept) {
            None => Ok(()),
            Some(at) => {
                let value = elements[at];
                let element = widen(at.checked_div(self.size()).unwrap_or_default());
                Err(ChunkErrorKind::Lost { element, value: format!("0x{value:02x}") })
            }
        }
    }

    /// Extends sub-byte components from the bits that hold their value (SD-18).
    pub(crate) fn canonicalise(&self, elements: &mut [u8]) {
        if !self.is_sub_byte() {
            return;
        }
        if self.fields.narrow.is_empty() {
            return extend(elements, self.component_bits, self.signed);
        }
        for element in elements.chunks_exact_mut(self.size()) {
            for (bytes, bits, signed) in &self.fields.narrow {
                extend(element.get_mut(bytes.clone()).unwrap_or_default(), *bits, *signed);
            }
        }
    }
}

/// Reverses each unit of an element, if elements are swapped.
pub(crate) fn swap(value: &mut [u8], element: CopyElement) {
    for unit in value.chunks_exact_mut(element.unit().max(1)) {
        unit.reverse();
    }
}

/// Extends bytes from their lowest `bits` bits.
fn extend(bytes: &mut [u8], bits: u32, signed: bool) {
    let unused = 8_u32.saturating_sub(bits);
    if signed {
        for byte in bytes {
            *byte = ((*byte << unused).cast_signed() >> unused).cast_unsigned();
        }
    } else {
        for byte in bytes {
            *byte = (*byte << unused) >> unused;
        }
    }
}

impl ChunkErrorKind {
    /// The error, with the element number increased by `first`.
    pub(crate) fn further(mut self, first: usize) -> Self {
        if let Self::Bool { element, .. } | Self::Lost { element, .. } = &mut self {
            *element += widen(first);
        }
        self
    }
}
