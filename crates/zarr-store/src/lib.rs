//! Stores of Zarr objects: files, memory and object storage, without lost updates.
//!
//! A [`Store`] holds objects by key: they are read whole or in ranges, written whole, deleted and
//! listed. [`LocalStore`] keeps them in files, [`MemoryStore`] in memory, and `RemoteStore`, with
//! the feature `object_store`, in S3 and other object storage. [`open_url`] opens the right one for
//! a path or URL. `FaultStore`, with the feature `test-util`, fails on purpose, and `conformance`
//! tests any store. The documentation of [`Store`] shows how to implement one.
//!
//! # Blocking and asynchronous
//! [`Store`] blocks. [`AsyncStore`] has its reads without blocking the thread. Object storage
//! implements it ([`Store::asynchronous`]); with the feature `async`, threads of this crate read
//! any other store.
//!
//! # Changing shared objects
//! Part of a chunk is written by reading, changing and writing the whole chunk. [`update`] does
//! that without losing concurrent changes, by the best mechanism that the store has.
//!
//! # Non-goals
//! No caches, no encryption, and no knowledge of Zarr's documents, codecs or grids. Stores in a
//! file have separate crates, which implement [`Opener`].

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod addresses;
mod buffer;
#[cfg(feature = "test-util")]
pub mod conformance;
mod document;
mod errors;
#[cfg(feature = "test-util")]
mod fault;
mod hash;
mod key;
mod local;
mod location;
mod locks;
mod memory;
#[cfg(feature = "object_store")]
mod object;
mod processes;
#[cfg(feature = "simulation")]
pub mod simulation;
pub mod sorted;
mod store;
mod update;
mod waiting;

pub use self::addresses::opener::Opener;
pub use self::addresses::options::StoreOptions;
pub use self::addresses::place::{Place, PlaceKind, archive_of, open_url};
pub use self::addresses::scheme::{Service, scheme};
pub use self::addresses::shown::{shown_url, without_secrets};
pub use self::addresses::trust::has_bucket_in_path;
pub use self::addresses::url_names::{names_in, place_below, place_beside};
pub use self::buffer::reserve;
pub use self::document::DocumentLimit;
pub use self::errors::error::{ModifiedObject, Operation, ServerFault, StoreError};
pub use self::errors::full_message::FullMessage;
#[doc(hidden)]
pub use self::errors::one_line;
pub use self::errors::remedy::Remedy;
#[cfg(feature = "test-util")]
pub use self::fault::{Fault, FaultStore};
pub use self::key::{AsPrefix, Key, KeyError, MAX_KEY_LEN, Prefix, path_below};
pub use self::local::{Durability, Leftover, LeftoverKind, LocalStore, TemporaryFile, real_path};
pub use self::location::Location;
pub use self::locks::interruption::{interruptible, is_interrupted};
pub use self::locks::process_locks::ProcessLocks;
pub use self::memory::MemoryStore;
#[cfg(feature = "object_store")]
pub use self::object::{ConditionalPut, RemoteStore};
#[cfg(feature = "async")]
pub use self::processes::offload::{Offload, run_blocking};
pub use self::processes::per_process::PerProcess;
pub use self::store::api::Store;
pub use self::store::async_api::{AsyncStore, Object, StoreFuture};
pub use self::store::ext::StoreExt;
pub use self::store::layer::Layer;
pub use self::store::listing::{Listing, failed_listing, until_error};
pub use self::store::put_from::{ObjectFile, ObjectSource, PutFrom, Sharing};
pub use self::store::read_range::ReadRange;
pub use self::store::rewriting::{PieceWriter, Rewrite, RewritePiece, put_by};
pub use self::store::session::Session;
pub use self::store::types::{
    Capabilities, DirEntry, GetInto, KeyFilter, Links, LockGuard, LockScope, ObjectMeta, PutMode,
    PutOutcome, Version,
};
pub use self::update::{
    Change, Current, Exclusion, UpdatePolicy, exclusively, remove, replace, replace_vectored,
    update,
};
pub use self::waiting::Waiting;

/// Marks a place that a simulation must reach. Without the feature `simulation` it does nothing.
#[cfg(feature = "simulation")]
#[doc(hidden)]
#[macro_export]
macro_rules! reached {
    ($name:literal) => {
        $crate::simulation::reach($name)
    };
}

/// Marks a place that a simulation must reach. Without the feature `simulation` it does nothing.
#[cfg(not(feature = "simulation"))]
#[doc(hidden)]
#[macro_export]
macro_rules! reached {
    ($name:literal) => {};
}

/// Whether a step of the protocol is taken: always, but in a simulation, which leaves one out. Each
/// step is in `docs/steps.md`.
#[cfg(feature = "simulation")]
#[doc(hidden)]
#[macro_export]
macro_rules! step {
    ($name:literal) => {
        $crate::simulation::takes($name)
    };
}

/// Whether a step of the protocol is taken: always, but in a simulation, which leaves one out. Each
/// step is in `docs/steps.md`.
#[cfg(not(feature = "simulation"))]
#[doc(hidden)]
#[macro_export]
macro_rules! step {
    ($name:literal) => {
        true
    };
}

/// A lock as a [`step!`]: left out, it is released at once.
#[cfg(feature = "simulation")]
#[doc(hidden)]
#[macro_export]
macro_rules! lock_step {
    ($name:literal, $lock:expr) => {
        $lock.map(|guard| $crate::simulation::held($name, guard))
    };
}

/// A lock as a [`step!`]: left out, it is released at once.
#[cfg(not(feature = "simulation"))]
#[doc(hidden)]
#[macro_export]
macro_rules! lock_step {
    ($name:literal, $lock:expr) => {
        $lock
    };
}

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
