//! The requirements on every store, as functions that test any store.
//!
//! A test of a store calls [`all`] with an empty store, or [`reads`] with a read-only store and its
//! known objects. The other functions test one subject each, for a store that is to be mended step
//! by step. A failed test panics with the key and the finding. Each uses keys below its own prefix,
//! and removes them at the end.
//!
//! They cannot test whether a lock excludes other processes, or whether a put is atomic while
//! others read: such tests need processes that end at any moment.
//!
//! # Examples
//! ```
//! use std::sync::Arc;
//! use zarr_store::{MemoryStore, Store, conformance};
//!
//! let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
//! conformance::all(&store);
//! ```

#![expect(clippy::panic, reason = "tests fail by panics")]

mod listings;
mod locks;
mod objects;
mod operations;
mod reading;
mod sessions;
mod updates;

use std::sync::Arc;

pub use self::listings::listings;
pub use self::locks::locks;
pub use self::objects::{pieces, versions, whole_objects};
pub use self::reading::{ranges, reads};
pub use self::sessions::sessions;
pub use self::updates::{concurrent_updates, conditional_puts, updates};

use self::operations::found;
use crate::{Prefix, Store};

/// Tests all requirements on a store that can be read and written. It must be empty, and is empty
/// afterwards.
///
/// # Panics
/// If the store breaks one of them.
pub fn all(store: &Arc<dyn Store>) {
    whole_objects(&**store);
    pieces(&**store);
    versions(&**store);
    ranges(&**store);
    conditional_puts(&**store);
    updates(&**store);
    concurrent_updates(&**store);
    locks(&**store);
    sessions(store);
    found("delete_prefix of the root", store.delete_prefix(&Prefix::root()));
    listings(&**store);
}
