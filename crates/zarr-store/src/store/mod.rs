//! The interface of stores, and its argument and result types.

pub(crate) mod api;
pub(crate) mod async_api;
pub(crate) mod ext;
pub(crate) mod layer;
pub(crate) mod listing;
pub(crate) mod put_from;
pub(crate) mod read_range;
pub(crate) mod rewriting;
pub(crate) mod session;
pub(crate) mod types;
