//! The public behaviour of `zarr-grid`, against a walk over every element and every chunk.

mod errors;
mod lookup;
mod naive;
mod regions;
