//! What would allow an operation that was refused.

use std::fmt;

/// What would allow an operation that was refused.
///
/// A message says what was found and what is allowed. What helps is a value, because each face has
/// its own words for it: the command an option, Python an argument. The text here names the methods
/// of Rust.
///
/// # Examples
/// ```
/// use zarr_store::{Remedy, StoreOptions};
///
/// let options = StoreOptions::new().only_targets(true);
/// let error = options.following("refs.json", "s3://theirs/x").expect_err("is no target");
/// assert_eq!(error.remedy(), Some(Remedy::Target));
/// assert_eq!(
///     format!("{error}; {}", Remedy::Target),
///     "cannot open \"s3://theirs/x\": a document leads to it, and only the named targets are allowed; \
///      if you trust the document, allow the place by StoreOptions::target",
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// To follow symbolic links that lead out of a local store.
    OutsideLinks,
    /// To read members of a virtual join that are not below its folder.
    OutsideMembers,
    /// To name the place as one to which documents may lead.
    Target,
    /// To allow longer documents.
    LongerDocuments,
    /// To join again, or to allow that the chunks of members change.
    ChangingChunks,
    /// To say that nobody else writes.
    SoleWriter,
    /// To convert numbers to a wider type.
    Promote,
    /// To join into a new array, where numbers are converted to a wider type.
    PromoteIntoNew,
    /// To join without a virtual join, which converts values.
    JoinOfCopies,
    /// To convert the numbers of a file.
    Cast,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutsideLinks => "StoreOptions::outside_links allows it",
            Self::OutsideMembers => "AllowedMembers::Anywhere allows it",
            Self::Target => "if you trust the document, allow the place by StoreOptions::target",
            Self::LongerDocuments => "if you trust it, allow more by StoreOptions::max_document",
            Self::ChangingChunks => {
                "join again, or allow that chunks change by Document::chunks_may_change"
            }
            Self::SoleWriter => {
                "UpdatePolicy::AcceptSingleProcess allows it while nobody else writes"
            }
            Self::Promote => "Join::promote converts them",
            Self::PromoteIntoNew => "a Join into a new array, with Join::promote, converts them",
            Self::JoinOfCopies => "a Join converts them, or write them with the same units",
            Self::Cast => "zarr_codec::convert converts numbers",
        })
    }
}
