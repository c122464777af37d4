//! Benchmarks and their charts.

pub(crate) mod bench;
mod headline;
pub(crate) mod plot;
mod records;
mod svg;
