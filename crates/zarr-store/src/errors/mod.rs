//! What can go wrong, and how it is told.

pub(crate) mod error;
pub(crate) mod full_message;
pub(crate) mod utc;
