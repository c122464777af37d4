//! How arguments are written: regions and labels, chunks, codecs, data types, sizes.

pub(crate) mod chunks;
pub(crate) mod codecs;
pub(crate) mod data_type;
pub(crate) mod labels;
pub(crate) mod region;
pub(crate) mod size;
