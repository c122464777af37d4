//! Benchmarks beside other programs.

pub(crate) mod bench;
mod records;
