//! Tests that `cargo test` does not run: other processors and compilers, all cases, servers, random ones.

pub(crate) mod earlier;
pub(crate) mod fuzz;
pub(crate) mod mutants;
pub(crate) mod optimised;
pub(crate) mod python;
pub(crate) mod s3;
pub(crate) mod simulate;
mod systems;
pub(crate) mod targets;
pub(crate) mod thorough;
