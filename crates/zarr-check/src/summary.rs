//! The counts of a check, during it and at the end.

use zarr_metadata::ArrayMetadata;
use zarr_store::Prefix;

/// The objects that a check examined.
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
pub struct CheckProgress {
    /// Chunks that have been read and decoded.
    pub done: u64,
    /// Chunks that are stored.
    pub total: u64,
    /// Bytes of the chunks that have been read.
    pub bytes: u64,
}

/// Events of a check, besides findings.
#[derive(Default)]
pub struct CheckWatch<'a> {
    /// Receives the progress of the array at a prefix after each decoded chunk, from several
    /// threads at once. To count the chunks first, each array is listed once more.
    pub progress: Option<Report<'a>>,
    /// Receives the document of each array of version 3, which the check has read.
    pub arrays: Option<&'a mut dyn FnMut(&ArrayMetadata)>,
}

/// Receives the progress of the array at a prefix, from several threads at once.
pub(crate) type Report<'a> = &'a (dyn Fn(&Prefix, CheckProgress) + Sync);
