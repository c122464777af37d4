//! Locks of keys among threads.

pub(crate) mod interruption;
pub(crate) mod lock_table;
pub(crate) mod process_locks;
