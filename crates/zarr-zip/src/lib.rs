//! Stores in zip archives: read in place, and written in sessions that commit at once.
//!
//! [`ZipStore`] opens an archive, and [`ZipOpener`] opens it by path or URL: `data/x.zip/group`.
//!
//! # Non-goals
//! Entries are neither deleted nor replaced, and added entries are not compressed. Encrypted
//! entries, other methods than deflate and archives of several files are not read.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod archive;
mod handle;
mod opener;
mod ozx;
mod read;
mod session;
mod source;
mod store;
mod turn;
mod write;

pub use handle::ZipStore;
pub use opener::ZipOpener;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
