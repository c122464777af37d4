//! Codecs that give bytes for arrays.

pub(super) mod bytes;
pub(super) mod optional;
pub(super) mod packbits;
pub(super) mod sharding;
pub(super) mod vlen;
pub(super) mod zfp;
