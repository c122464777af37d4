//! Changes of existing arrays and groups: shape, appended elements, rearranged chunks, attributes.

mod append;
mod attributes;
mod consolidate;
mod delete;
mod document;
mod follow;
mod rearrange;
mod resize;

pub use delete::delete_node;
pub use follow::refresh_consolidated;
pub(crate) use follow::{Scope, follow};
pub use rearrange::{GroupMarker, Marker as RearrangeMarker, Step as RearrangeStep, away};
pub use rearrange::{
    GroupRearrangement, GroupSpan, MARKER as REARRANGE_MARKER, RearrangeCounts, RearrangeProgress,
    Rearrangement, Settled, Span,
};
pub use resize::Cut;
