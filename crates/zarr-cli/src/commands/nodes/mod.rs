//! Commands that create, change or delete a node.

pub(super) mod attrs;
pub(super) mod consolidate;
pub(super) mod create;
pub(super) mod delete;
pub(super) mod export;
pub(super) mod like;
pub(super) mod resize;
