//! The meaning of the members' values, and whether they are equal: attributes, times, elements.

pub(crate) mod attributes;
pub(crate) mod equal;
pub(crate) mod times;
pub(crate) mod widened;
