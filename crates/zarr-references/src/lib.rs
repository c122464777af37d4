//! Stores of references to parts of other files, as kerchunk and `VirtualiZarr` write them.
//!
//! [`ReferenceStore`] opens a reference file. [`ReferenceOpener`] opens it by path or URL:
//! `refs.json/group`, and with the feature `parquet` also a folder of tables, `refs.parq/group`.
//! [`export`] writes the references of a store, such as a virtual join.
//!
//! # Non-goals
//! References are not generated from a rule (`gen`). The formats of the files that
//! references lead to are not read.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod export;
mod file;
mod form;
mod json;
mod opener;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod rows;
mod store;
#[cfg(feature = "parquet")]
mod table;
mod target;

pub use export::{Exported, export};
pub use opener::ReferenceOpener;
pub use store::ReferenceStore;

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
