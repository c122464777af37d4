//! Codecs that give bytes for bytes.

pub(super) mod blosc;
pub(super) mod gzip;
pub(super) mod zstd;
