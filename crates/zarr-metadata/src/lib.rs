//! The JSON documents of Zarr v3, typed and lossless.

#![forbid(unsafe_code)]
