//! Zarr v3 with variable-length chunks, bit packing and virtual views.

#![forbid(unsafe_code)]
