//! Behaviour of the crate as its users see it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as the tests do")]

#[cfg(all(feature = "aws", feature = "http"))]
mod blocking;
mod conformance;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
mod encodings;
mod fault;
#[cfg(feature = "aws")]
mod folder_markers;
#[cfg(feature = "http")]
mod http;
mod key;
mod layer;
#[cfg(unix)]
mod leftovers;
#[cfg(unix)]
mod links;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
mod listings;
#[cfg(unix)]
mod local;
#[cfg(feature = "aws")]
mod lost;
mod modified;
#[cfg(feature = "object_store")]
mod object;
mod place;
mod processes;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
mod redirects;
#[cfg(all(unix, feature = "aws"))]
mod s3;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
mod secrets;
#[cfg(unix)]
mod share;
mod steps;
#[cfg(feature = "http")]
mod web;

use zarr_store_tests::required;
