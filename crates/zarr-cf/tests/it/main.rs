//! The public behaviour of `zarr-cf`.

mod golden;
