//! Arrays in stores that fail, hang, or are changed by several processes.
//!
//! What a store does by itself is tested in zarr-store.

#[cfg(all(feature = "aws", feature = "http"))]
mod blocking;
#[cfg(all(unix, feature = "aws"))]
mod fork;
#[cfg(feature = "http")]
mod http;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod local;
#[cfg(feature = "aws")]
mod lost;
pub(crate) mod processes;
#[cfg(all(unix, feature = "aws"))]
mod s3;
