//! Codecs that give arrays for arrays.

pub(super) mod bitround;
pub(super) mod cast_value;
pub(super) mod reshape;
pub(super) mod scale_offset;
pub(super) mod squeeze;
pub(super) mod transpose;
