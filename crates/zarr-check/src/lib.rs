//! Checks of whole hierarchies against the specifications.
//!
//! [`check`] examines a node and everything below it: documents, grids and codec chains, keys
//! and, on request, every chunk. It reports violations of rules, and content that is legal but
//! probably not intended, each with a stable id; [`rules`] lists them all.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_check::{CheckOptions, check};
//! use zarr_store::{Key, MemoryStore, Prefix, Store, StoreExt};
//!
//! let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
//! store.put(&Key::new("zarr.json")?, br#"{"zarr_format": 3, "node_type": "group"}"#)?;
//! store.put(&Key::new("notes.txt")?, b"?")?;
//! let mut findings = Vec::new();
//! let summary = check(&store, &Prefix::root(), &CheckOptions::new(), &mut |finding| {
//!     findings.push(finding.to_string());
//! })?;
//! assert_eq!(summary.groups, 1);
//! assert_eq!(findings, ["warning: notes.txt: belongs to no node [stray-object]"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Non-goals
//! It repairs nothing, and opens only nodes that [`zarr_array`] opens.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::as_conversions))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod absent;
mod ahead;
mod children;
mod chunks;
mod content;
mod conventions;
mod finding;
mod hierarchy;
mod inner;
mod leftovers;
mod members;
mod options;
mod past_end;
mod rearranging;
mod summary;
mod variable;
mod version_2;

pub use finding::{Finding, Rule, Severity, explanation, rules};
pub use leftovers::leftovers;
pub use options::CheckOptions;
pub use summary::{CheckProgress, CheckWatch, Summary};

use zarr_array::{ArrayError, Hierarchy};
use zarr_metadata::ArrayMetadata;
use zarr_store::Prefix;

/// Checks the node at `prefix` and everything below it, and reports findings in the order of keys
/// within each node.
///
/// Time and memory follow the stored bytes, not the sizes that documents claim. The exception is
/// the elements of a chunk, which [`CheckOptions::memory`] bounds. Content that cannot be examined
/// is a finding too, and everything else is still checked.
///
/// # Errors
/// [`ArrayError::NotFound`] or [`ArrayError::Version2`] if there is no node at `prefix`; an error
/// of the store about `prefix` itself, or any error of a remote store. Faults of nodes and chunks,
/// and nodes and chunks that cannot be read, are findings, not errors.
pub fn check(
    store: impl Into<Hierarchy>,
    prefix: &Prefix,
    options: &CheckOptions,
    report: &mut dyn FnMut(Finding),
) -> Result<Summary, ArrayError> {
    check_watched(store, prefix, options, report, CheckWatch::default())
}

/// As [`check`], but also reports the events of `watch`.
///
/// # Errors
/// As [`check`].
pub fn check_watched(
    store: impl Into<Hierarchy>,
    prefix: &Prefix,
    options: &CheckOptions,
    report: &mut dyn FnMut(Finding),
    watch: CheckWatch<'_>,
) -> Result<Summary, ArrayError> {
    let (store, CheckWatch { progress, arrays }) = (store.into(), watch);
    // The function lives longer than the store here.
    let arrays = arrays.map(|arrays| -> &mut dyn FnMut(&ArrayMetadata) { arrays });
    hierarchy::Walk::new(&store, options, report, CheckWatch { progress, arrays }).run(prefix)
}

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
