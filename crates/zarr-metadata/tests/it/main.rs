//! The public behaviour of `zarr-metadata`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod builder;
mod codecs;
mod data_types;
mod documents;
mod elements;
mod errors;
mod extensions;
mod fixed_size;
mod fixtures;
mod floats;
mod grids;
mod hostile;
mod optional;
mod properties;
mod refusals;
mod reshape;
mod support;
mod traits;
mod variable;
mod version_2;
mod version_2_attributes;
mod version_2_writers;
mod zfp;
