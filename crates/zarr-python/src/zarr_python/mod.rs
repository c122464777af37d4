//! The functions that the codec pipeline for zarr-python calls.

mod batch;
pub(crate) mod codec;
pub(crate) mod pipeline;
