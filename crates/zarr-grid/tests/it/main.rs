//! The public behaviour of `zarr-grid`, against a walk over every element and every chunk.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as the tests do, by panicking")]

mod boxes;
mod change;
mod errors;
mod exchange;
mod lookup;
mod naive;
mod rearrange;
mod refine;
mod regions;
mod select;
mod traits;
