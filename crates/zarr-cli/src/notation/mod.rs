//! How arguments are written: regions and labels, chunks, data types, sizes.

pub(crate) mod chunks;
pub(crate) mod data_type;
pub(crate) mod labels;
pub(crate) mod region;
pub(crate) mod size;
