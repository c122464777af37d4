#[cfg(all(feature = "aws", feature = "http"))]
mod blocking;
mod conformance;
mod fault;
#[cfg(all(unix, feature = "aws"))]
mod fork;
#[cfg(feature = "http")]
mod http;
mod key;
#[cfg(unix)]
mod leftovers;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod local;
#[cfg(feature = "aws")]
mod lost;
#[cfg(feature = "object_store")]
mod object;
#[cfg(unix)]
pub(crate) mod processes;
#[cfg(all(unix, feature = "aws"))]
mod s3;
#[cfg(all(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
mod secrets;
#[cfg(feature = "aws")]
mod server;
