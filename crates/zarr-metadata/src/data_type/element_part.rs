//! The parts of an element: each has components of one kind.

// Offsets and sizes come from documents.
#![warn(clippy::arithmetic_side_effects)]

use super::{DataType, ElementLayout};

/// A part of an element with components of one kind: a field of a record, or the whole element of
/// any other type.
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
pub struct ElementPart {
    /// The first byte, counted from the beginning of the element.
    pub offset: usize,
    /// The type of the part, which is not a record.
    pub data_type: DataType,
    /// The layout of the part in memory.
    pub layout: ElementLayout,
}

impl ElementPart {
    /// The bytes of the part in an element.
    pub(crate) fn of<'e>(&self, element: &'e mut [u8]) -> &'e mut [u8] {
        let end = self.offset.saturating_add(self.layout.size());
        element.get_mut(self.offset..end).unwrap_or_default()
    }
}

impl DataType {
    /// The parts of an element, each with components of one kind, in memory order and without gaps.
    /// For a record these are its fields and the fields of records within it; for another type, the
    /// whole element. None for types of variable length and for uninterpreted types.
    #[must_use]
    pub fn parts(&self) -> Vec<ElementPart> {
        let mut parts = Vec::new();
        self.push_parts(0, &mut parts);
        parts
    }

    fn push_parts(&self, offset: usize, parts: &mut Vec<ElementPart>) {
        if let DataType::Struct(record) = self {
            for field in record.fields() {
                field.data_type().push_parts(offset.saturating_add(field.offset()), parts);
            }
        } else if let Some(layout) = self.element_layout() {
            parts.push(ElementPart { offset, data_type: self.clone(), layout });
        }
    }
}
