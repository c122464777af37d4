//! Copies of arrays and hierarchies: into other chunks, other codecs, other stores.
//!
//! [`copy_array`] reads and writes by tasks that own whole chunks of the target, so that each of
//! those is encoded once and written once. Tasks are as large as the memory allows and end where
//! source chunks end wherever they can, so that few source chunks are decoded twice.
//! [`copy_tree`] does so for a whole hierarchy.
//!
//! # Interrupted copies
//! A copy first puts the object [`MARKER`] where the target's `zarr.json` will be, then all else,
//! then `zarr.json`, and removes the marker last; in a hierarchy, for each node in it. Until all of
//! a node is there it is thus no node, to any reader: opening it says
//! [`Unfinished`](crate::ArrayError::Unfinished). [`CopyOptions::resume`] goes on with it if the marker says that it is the
//! same copy: by where the source is, and by the documents of source and target. Nothing else is at
//! the target then but what the copy has put there, since it begins with nothing; so tasks whose
//! chunks are all there are skipped, the others are done again, and the result is the same, byte for
//! byte. That the source's chunks have not changed meanwhile is for the caller to know.
//!
//! # What is replaced
//! [`CopyOptions::overwrite`] removes the node at the target, or the chunks that are left of one,
//! and nothing else. From its first step on until the copy is finished there is a marker; documents
//! go before chunks, so that here, too, a document is always that of a whole node. Readers that
//! opened the old one before read fill values where its chunks have gone, and then those of the
//! new one. The consolidated metadata of groups above is brought up to date when the copy is
//! finished.

mod array;
mod begin;
mod endpoint;
mod error;
mod marker;
mod objects;
mod tree;

pub use array::copy_array;
pub use endpoint::Endpoint;
pub use error::TransferError;
pub use tree::copy_tree;

/// The object at a target while a copy to it is not finished, where its `zarr.json` will be.
pub const MARKER: &str = crate::unfinished::MARKER;

/// What a copy may take, and what it may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyOptions {
    memory: u64,
    resume: bool,
    overwrite: bool,
    verify: bool,
    allow_loss: bool,
}

impl Default for CopyOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl CopyOptions {
    /// Within 1 GiB of memory, to where nothing is; what was written is trusted, and values that
    /// the target's codecs would change are refused.
    #[must_use]
    pub fn new() -> Self {
        Self { memory: 1 << 30, resume: false, overwrite: false, verify: false, allow_loss: false }
    }

    /// Bytes that elements, encoded chunks and decode buffers may take together.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Whether an interrupted copy from the same source is continued.
    #[must_use]
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Whether the node at the target is removed first. Resuming goes before it.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Whether everything that was written is read again and compared.
    #[must_use]
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Whether the target loses what its `packbits` leaves out, so that values which have any of
    /// that become others; an error if this is not set (SD-49).
    #[must_use]
    pub fn allow_loss(mut self, allow: bool) -> Self {
        self.allow_loss = allow;
        self
    }
}

/// How far a copy is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes of elements (or of objects, where those are copied as they are) that are done,
    /// skipped ones included.
    pub done: u64,
    /// Bytes in all, where that is known.
    pub total: Option<u64>,
}

/// What a copy did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopySummary {
    /// Arrays, unfinished ones that were finished included.
    pub arrays: u64,
    /// Groups.
    pub groups: u64,
    /// Bytes of elements, or of objects that were copied as they are.
    pub bytes: u64,
    /// Tasks that an earlier, interrupted copy had done.
    pub skipped: u64,
    /// Tasks that were done.
    pub tasks: u64,
}

impl CopySummary {
    fn add(&mut self, other: Self) {
        self.arrays = self.arrays.saturating_add(other.arrays);
        self.groups = self.groups.saturating_add(other.groups);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.skipped = self.skipped.saturating_add(other.skipped);
        self.tasks = self.tasks.saturating_add(other.tasks);
    }
}
