//! Comparisons with the specifications and with other programs.

pub(crate) mod fixtures;
pub(crate) mod interop;
pub(crate) mod requirements;
pub(crate) mod suite;
