//! State of the process as a whole: signals, progress, the number of writes.

pub(crate) mod progress;
pub(crate) mod signals;
pub(crate) mod writes;
