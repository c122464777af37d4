//! Arrays and groups by path or URL, whatever is there.
//!
//! [`open`] opens a folder, a path in a bucket, a server of HTTP, a zip archive, a file of references
//! or a virtual join, or a node in one of these. The features say which kinds this build has.
//!
//! # Non-goals
//! It knows no format itself: each kind of place is a crate below.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "async")]
pub mod asynchronous;
mod error;
mod opened;
mod openers;
mod options;

pub use error::PlaceError;
pub use opened::{Opened, open};
pub use openers::OPENERS;
pub use options::PlaceOptions;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
