//! Kinds of elements: numbers, bytes, text, times and records.

use super::Struct;
use super::element_layout::{Component, ElementLayout};

/// The kind of an element.
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
    /// A 64-bit integer. The least value is "not a time".
    Time,
    /// UTF-32 code units, unused ones 0.
    Text {
        code_points: usize,
    },
    Struct(&'t Struct),
}

impl Kind<'_> {
    /// `None` for records: each field has its own.
    pub(super) fn layout(self) -> Option<ElementLayout> {
        let of_bytes = |bytes: usize| ElementLayout {
            component_bits: u32::try_from(bytes).unwrap_or(u32::MAX).saturating_mul(8),
            component_size: bytes,
            components: 1,
            signed: false,
            swap_unit: 1,
        };
        Some(match self {
            Kind::Numbers { component, components } => ElementLayout {
                component_bits: component.bits(),
                component_size: component.size(),
                components,
                signed: matches!(component, Component::Int { signed: true, .. }),
                swap_unit: component.size(),
            },
            Kind::RawBits { bytes } | Kind::Bytes { bytes, .. } => of_bytes(bytes),
            Kind::Time => ElementLayout {
                component_bits: 64,
                component_size: 8,
                components: 1,
                signed: true,
                swap_unit: 8,
            },
            Kind::Text { code_points } => ElementLayout {
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
