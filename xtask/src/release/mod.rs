//! What a release contains, and what it costs its users.

pub(crate) mod book;
pub(crate) mod dist;
pub(crate) mod notices;
pub(crate) mod packages;
mod page;
pub(crate) mod web;
pub(crate) mod wheels;
