mod conformance;
mod fault;
mod key;
#[cfg(feature = "object_store")]
mod object;
