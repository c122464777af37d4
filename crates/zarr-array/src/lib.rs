//! Zarr v3 arrays and groups in a store.

#![forbid(unsafe_code)]

pub mod store;
