mod conformance;
mod fault;
#[cfg(feature = "http")]
mod http;
mod key;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod local;
#[cfg(feature = "object_store")]
mod object;
#[cfg(unix)]
pub(crate) mod processes;
#[cfg(all(unix, feature = "aws"))]
mod s3;
