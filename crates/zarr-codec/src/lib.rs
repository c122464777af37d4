//! Zarr v3 codec chains, compiled to views.

#![forbid(unsafe_code)]
