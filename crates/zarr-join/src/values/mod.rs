//! What the values of members mean and whether they are equal: attributes, times, elements.

pub(crate) mod attributes;
pub(crate) mod equal;
pub(crate) mod times;
