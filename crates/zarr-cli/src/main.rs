//! The `zarr-kit` command.

#![forbid(unsafe_code)]

fn main() {}
