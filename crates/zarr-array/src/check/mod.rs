//! Checks of whole hierarchies against the specifications.
//!
//! [`check`] examines a node and everything below it: documents, grids and codec chains, keys
//! and, on request, every chunk. It reports violations of rules, and content that is legal but
//! probably not intended, each with a stable id; [`rules`] lists them all.
//!
//! ```
//! use std::sync::Arc;
//! use zarr_array::check::{CheckOptions, check};
//! use zarr_array::store::{Key, MemoryStore, Prefix, Store, StoreExt};
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

mod chunks;
mod content;
mod finding;
mod hierarchy;
mod members;
mod rearranging;
mod variable;
mod version_2;

use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_codec::Codecs;

pub use finding::{Finding, Rule, Severity, rules};

use crate::error::ArrayError;
use crate::part::Part;
use crate::store::{Leftover, LeftoverKind, LocalStore, Prefix, Store, StoreError};

/// The extent of a check.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    data: bool,
    threads: NonZeroUsize,
    memory: u64,
    part: Option<Part>,
    codecs: Codecs,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl CheckOptions {
    /// Checks documents and keys only, with one thread per core and one gibibyte for elements.
    #[must_use]
    pub fn new() -> Self {
        let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self { data: false, threads, memory: 1 << 30, part: None, codecs: Codecs::new() }
    }

    /// Whether every stored chunk is read and decoded.
    #[must_use]
    pub fn data(mut self, data: bool) -> Self {
        self.data = data;
        self
    }

    /// The number of threads that decode chunks.
    #[must_use]
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = threads;
        self
    }

    /// The most bytes of elements that may be decoded at the same time. If necessary, fewer
    /// threads are used. A single chunk, or an inner chunk of a shard, that is larger is reported
    /// as not examined.
    ///
    /// In addition, each thread holds the stored bytes of a chunk, their decompressed form, and
    /// up to twice the elements for comparing them with what a writer should leave.
    ///
    /// A chunk of strings or byte strings may decompress to half of it.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Checks one part, while other processes check the others: each reads its chunks of every
    /// array, and the first part also checks everything else. So each finding is that of one part,
    /// and the numbers of the summaries add up to those of the whole.
    #[must_use]
    pub fn part(mut self, part: Part) -> Self {
        self.part = Some(part);
        self
    }

    /// Whether documents and keys are checked.
    fn is_first_part(&self) -> bool {
        self.part.is_none_or(|part| part.number() == 1)
    }

    /// The codecs of other authors, for chunks that are decoded.
    #[must_use]
    pub fn codecs(mut self, codecs: Codecs) -> Self {
        self.codecs = codecs;
        self
    }
}

/// What a check examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// Groups.
    pub groups: u64,
    /// Arrays.
    pub arrays: u64,
    /// Chunks that are stored.
    pub chunks: u64,
    /// Bytes of the chunks that were read.
    pub bytes: u64,
    /// Findings that are errors.
    pub errors: u64,
    /// Findings that are warnings.
    pub warnings: u64,
    /// Findings that are notes.
    pub notes: u64,
}

/// Progress within the chunks of one array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Chunks that have been read and decoded.
    pub done: u64,
    /// Chunks that are stored.
    pub total: u64,
    /// Bytes of the chunks that have been read.
    pub bytes: u64,
}

/// Receives the progress of the array at a prefix, from several threads at once.
type Report<'a> = &'a (dyn Fn(&Prefix, Progress) + Sync);

/// Checks the node at `prefix` and everything below it, and reports findings in the order of keys
/// within each node.
///
/// Time and memory follow what is stored, not the sizes that documents claim, except for the
/// elements of a chunk, which [`CheckOptions::memory`] bounds. Content that cannot be examined is
/// a finding too, and everything else is still checked.
///
/// # Errors
/// [`ArrayError::NotFound`] or [`ArrayError::Version2`] if there is no node at `prefix`; an error
/// of the store about `prefix` itself, or any error of a remote store. Faults of nodes and chunks
/// are findings, not errors, and so are nodes and chunks that cannot be read.
pub fn check(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    options: &CheckOptions,
    report: &mut dyn FnMut(Finding),
) -> Result<Summary, ArrayError> {
    hierarchy::Walk::new(store, options, report, None).run(prefix)
}

/// As [`check`], and reports the progress after each decoded chunk. The chunks of each array are
/// counted first, which takes one more listing.
///
/// # Errors
/// As [`check`].
pub fn check_with_progress(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    options: &CheckOptions,
    report: &mut dyn FnMut(Finding),
    progress: &(dyn Fn(&Prefix, Progress) + Sync),
) -> Result<Summary, ArrayError> {
    hierarchy::Walk::new(store, options, report, Some(progress)).run(prefix)
}

/// Reports the files of a local store that are not objects: files that killed writers left, and
/// names that no key can have. Files that a living process holds are not reported.
///
/// # Errors
/// An error of the store.
pub fn leftovers(store: &LocalStore, report: &mut dyn FnMut(Finding)) -> Result<(), ArrayError> {
    let mut found: Vec<Leftover> = Vec::new();
    let listed = store.leftovers(&Prefix::root()).try_for_each(|leftover| {
        found.extend(Some(leftover?).filter(|leftover| !leftover.in_use));
        Ok(())
    });
    found.sort_by(|a, b| a.path.cmp(&b.path));
    for leftover in found {
        let path = leftover.path.strip_prefix(store.root()).unwrap_or(&leftover.path);
        let (rule, message) = match leftover.kind {
            LeftoverKind::Temporary => {
                (finding::TEMPORARY, "a write that was never finished; may be removed")
            }
            LeftoverKind::Lock => (finding::LOCK, "a lock that nobody holds; may be removed"),
            LeftoverKind::Foreign => (finding::FOREIGN, "no object: no key can have this name"),
        };
        report(Finding::new(rule, message).with_key(path.display().to_string()));
    }
    match listed {
        Err(error) if is_of_one_object(&error) => {
            let message = format!("not examined: files that are not objects: {error}");
            report(Finding::new(finding::UNEXAMINED, message).with_key("/"));
            Ok(())
        }
        listed => listed.map_err(ArrayError::from),
    }
}

/// Whether an error concerns only one object or folder: permissions, links out of the store,
/// damaged files. An error of a server concerns all its objects, and requesting each of them
/// would take as many time-outs.
fn is_of_one_object(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Io { .. }
            | StoreError::Range { .. }
            | StoreError::TooLarge { .. }
            | StoreError::OutsideRoot { .. }
            | StoreError::Reserved { .. }
            | StoreError::Unsteady { .. }
    )
}
