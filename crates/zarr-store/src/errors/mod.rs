//! Errors and their messages.

pub(crate) mod error;
pub(crate) mod full_message;
pub(crate) mod remedy;
pub(crate) mod utc;
