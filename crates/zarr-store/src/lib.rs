//! Stores of Zarr objects: files, memory and object storage, without lost updates.
//!
//! A [`Store`] holds objects by key: they are read whole or in ranges, written whole, deleted and
//! listed. [`LocalStore`] keeps them in files, [`MemoryStore`] in memory, and `RemoteStore`, with
//! the feature `object_store`, in S3 and other object storage. [`open_url`] opens the right one for
//! a path or URL. `FaultStore`, with the feature `test-util`, fails on purpose, and `conformance`
//! tests any store. The book's page on stores shows how to implement one.
//!
//! # Blocking and asynchronous
//! [`Store`] blocks. [`AsyncStore`] has its reads without blocking the thread: object storage
//! implements it ([`Store::asynchronous`]), and with the feature `async` any other store is read on
//! threads of this crate.
//!
//! # Changing shared objects
//! Part of a chunk is written by reading, changing and writing the whole chunk. [`update`] does
//! that without losing concurrent changes, by the best mechanism that the store has.
//!
//! # Non-goals
//! No caches, no encryption, and no knowledge of Zarr's documents, codecs or grids.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod api;
mod archive_url;
mod async_api;
mod below;
mod buffer;
mod cleaning;
#[cfg(feature = "test-util")]
pub mod conformance;
mod document;
mod error;
mod ext;
#[cfg(feature = "test-util")]
mod fault;
mod full_message;
mod hash;
mod key;
mod layer;
mod linking;
mod listing;
mod local;
mod location;
mod lock_table;
mod memory;
#[cfg(feature = "object_store")]
mod object;
#[cfg(feature = "async")]
mod offload;
mod open;
mod open_remote;
mod opener;
mod options;
mod per_process;
mod process_locks;
mod put_from;
mod read_range;
#[cfg(feature = "async")]
mod runtime;
mod scheme;
mod session;
mod shown;
#[cfg(feature = "simulation")]
pub mod simulation;
pub mod sorted;
mod types;
mod update;
mod url_names;
mod utc;
mod waiting;

pub use self::address::Address;
pub use self::api::Store;
pub use self::async_api::{AsyncStore, Object, StoreFuture};
pub use self::buffer::reserve;
pub use self::cleaning::Cleaning;
pub use self::document::DocumentLimit;
pub use self::error::{ModifiedObject, Operation, StoreError};
pub use self::ext::StoreExt;
#[cfg(feature = "test-util")]
pub use self::fault::{Fault, FaultStore};
pub use self::full_message::FullMessage;
pub use self::key::{Key, KeyError, MAX_KEY_LEN, Prefix};
pub use self::layer::Layer;
pub use self::linking::Linking;
pub use self::listing::{Listing, failed_listing, until_error};
pub use self::local::{Durability, Leftover, LeftoverKind, LocalStore, TemporaryFile};
pub use self::location::Location;
pub use self::memory::MemoryStore;
#[cfg(feature = "object_store")]
pub use self::object::{ConditionalPut, RemoteStore};
#[cfg(feature = "async")]
pub use self::offload::{Offload, run_blocking};
pub use self::open::{archive_of, local_path, open_url};
pub use self::opener::Opener;
pub use self::options::StoreOptions;
pub use self::per_process::PerProcess;
pub use self::process_locks::ProcessLocks;
pub use self::put_from::{ObjectFile, PutFrom, Sharing};
pub use self::read_range::ReadRange;
pub use self::scheme::scheme;
pub use self::session::Session;
pub use self::shown::{shown_url, without_secrets};
pub use self::types::{
    Capabilities, DirEntry, GetInto, Links, LockGuard, LockScope, ObjectMeta, PutMode, PutOutcome,
    Version,
};
pub use self::update::{Change, Current, UpdatePolicy, remove, replace, replace_vectored, update};
pub use self::url_names::{names_in, place_below};
pub use self::waiting::Waiting;

/// Marks a place that a simulation is to reach. Without the feature `simulation` it is nothing.
#[cfg(feature = "simulation")]
#[doc(hidden)]
#[macro_export]
macro_rules! reached {
    ($name:literal) => {
        $crate::simulation::reach($name)
    };
}

/// Marks a place that a simulation is to reach. Without the feature `simulation` it is nothing.
#[cfg(not(feature = "simulation"))]
#[doc(hidden)]
#[macro_export]
macro_rules! reached {
    ($name:literal) => {};
}
