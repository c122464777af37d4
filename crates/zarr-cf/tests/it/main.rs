//! The public behaviour of `zarr-cf`.

mod conventions;
mod golden;
