//! State that belongs to one process, and its threads that may wait.

#[cfg(feature = "async")]
pub(crate) mod offload;
pub(crate) mod per_process;
#[cfg(feature = "async")]
pub(crate) mod runtime;
