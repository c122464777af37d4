//! Virtual joins of Zarr v3 arrays: a document lists member arrays and their places, and opens as
//! one array.
//!
//! [`Document::of_join`] makes the document of a [`Join`](zarr_join::Join), and
//! [`Document::of_groups`] makes the document of a join of groups. No data of the members are
//! copied. Members may differ in lengths, chunks, codecs and fill values. [`open_store`] opens a
//! document (its name ends in [`.zjoin`](SUFFIX)) as a store with the joined arrays and groups. It
//! opens any other path or URL as [`open_url`](zarr_array::store::open_url) does.
//! [`StoredDocument`] removes, reorders and inserts members.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_array::Array;
//! use zarr_array::store::{LocalStore, Prefix, StoreOptions};
//! use zarr_join::{Arrangement, Join, Member};
//! use zarr_metadata::{ArrayBuilder, DataType};
//! use zarr_virtual_join::{Document, Missing, OpenOptions, open_store};
//!
//! # let folder = std::env::temp_dir().join(format!("virtual-join-{}", std::process::id()));
//! # let folder = folder.to_str().ok_or("UTF-8")?.to_owned();
//! let mut months = Vec::new();
//! for (name, days) in [("january", 31), ("february", 28)] {
//!     let path = format!("{folder}/{name}.zarr");
//!     let store = Arc::new(LocalStore::create(&path)?);
//!     let metadata = ArrayBuilder::new([days], DataType::Int16).chunk_shape([7]).build()?;
//!     let array = Array::create(store, &Prefix::root(), metadata)?;
//!     array.write_as::<i16>(0..1, &[12])?;
//!     months.push(Member::new(path, array));
//! }
//!
//! let place = format!("{folder}/both.zjoin");
//! let document = Document::of_join(Join::new(months, Arrangement::Along(0)), &place, Missing::Error)?;
//! document.write(&place, &StoreOptions::new())?;
//!
//! let both = Array::open(open_store(&place, &OpenOptions::new())?, &Prefix::root())?;
//! assert_eq!(both.read_as::<i16>(30..32)?, [0, 12]);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Non-goals
//! Joined arrays are not written. Members are not watched: a change since the join is found when
//! the changed part is read.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::as_conversions))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod document;
mod document_folder;
mod document_url;
mod document_version;
mod error;
mod grid;
mod group;
mod new_document;
mod one_state;
mod open;
mod options;
mod rearrange;
mod source;
mod store;
mod watched;

pub use document::{Document, MemberReference, Missing, SUFFIX};
pub use document_url::is_virtual_join;
pub use error::VirtualJoinError;
pub use open::open_store;
pub use options::{AllowedMembers, OpenOptions};
pub use rearrange::{AxisOf, MemberRearrangement, RearrangedMembers, StoredDocument};

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
