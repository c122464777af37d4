//! Transposes, in blocks that fit the cache.

pub(super) mod block;
pub(super) mod block_layout;
pub(super) mod buffer;
pub(super) mod plane;
mod tile;
