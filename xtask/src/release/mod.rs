//! What a release contains, and what it costs its users.

pub(crate) mod book;
pub(crate) mod minute;
pub(crate) mod notices;
pub(crate) mod packages;
pub(crate) mod sizes;
pub(crate) mod wheels;
