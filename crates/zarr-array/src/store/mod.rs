//! Where the bytes of arrays are kept.
//!
//! [`Store`] is what an array needs of its storage: objects by key, read whole or in ranges,
//! written whole, removed and listed. [`LocalStore`] keeps them in files, [`MemoryStore`] in
//! memory.
//!
//! # Changing shared objects
//! Part of a chunk is written by reading, changing and writing the whole. [`update`] does that
//! without losing what others write meanwhile, by the best mechanism that the store has.

mod api;
mod buffer;
mod error;
mod fault;
mod forward;
mod key;
mod local;
mod lock_table;
mod memory;
mod range;
mod update;

pub use self::api::{DirEntry, LockGuard, LockScope, ObjectMeta, PutOutcome, Store, Version};
pub use self::error::{Operation, StoreError};
pub use self::fault::{Fault, FaultStore};
pub use self::key::{Key, KeyError, MAX_KEY_LEN, Prefix};
pub use self::local::{Durability, Leftover, LeftoverKind, LocalStore};
pub use self::memory::MemoryStore;
pub use self::range::ByteRange;
pub use self::update::{Change, Current, UpdatePolicy, remove, replace, update};

use self::buffer::reserve;
