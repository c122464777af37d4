//! Axes and grids made from others: resized, rearranged, grouped, refined, converted.

mod convert;
mod group;
mod rearrange;
pub(crate) mod refine;
pub(crate) mod resize;
