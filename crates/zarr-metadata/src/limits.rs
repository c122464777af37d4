//! Limits of this reader on what documents may ask of whoever works with them.
//!
//! A document of a megabyte has room for 500,000 dimensions and 100,000 codecs. No array has, and
//! what works with chains and grids need not be made for them: it may take more than linear time in
//! the rank, or keep a level of each codec, without a document making minutes or gigabytes of that.

use crate::error::MetadataError;
use crate::rule::Rule;

/// The most dimensions that an array may have, at any place of a codec chain.
///
/// More is an error that breaks [`Rule::TooManyDimensions`].
pub const MAX_RANK: usize = 1024;

/// The most codecs that one chain may have; the chains within shards count for themselves.
///
/// More is an error that breaks [`Rule::TooManyCodecs`].
pub const MAX_CODECS: usize = 1024;

/// Refuses an array of more dimensions than [`MAX_RANK`].
pub(crate) fn check_rank(rank: usize) -> Result<(), MetadataError> {
    if rank <= MAX_RANK {
        return Ok(());
    }
    let allowed = format!("at most {MAX_RANK}, the limit of this reader");
    Err(MetadataError::unexpected(format!("{rank} dimensions"), allowed)
        .breaks(Rule::TooManyDimensions))
}

/// Refuses a chain of more codecs than [`MAX_CODECS`].
pub(crate) fn check_codecs(codecs: usize) -> Result<(), MetadataError> {
    if codecs <= MAX_CODECS {
        return Ok(());
    }
    let allowed = format!("at most {MAX_CODECS}, the limit of this reader");
    Err(MetadataError::unexpected(format!("{codecs} codecs"), allowed).breaks(Rule::TooManyCodecs))
}
