//! Limits of this reader on the arrays that documents describe.
//!
//! A document of a megabyte has room for 500,000 dimensions and 100,000 codecs. No real array has
//! as many. With these limits, code for chains and grids may take more than linear time in the
//! rank, or keep a level per codec: no document can turn this into minutes or gigabytes.

use crate::error::MetadataError;
use crate::error::rule::Rule;

/// The most dimensions that an array may have, at any place of a codec chain.
///
/// More is an error that breaks the rule `too-many-dimensions`.
pub const MAX_RANK: usize = 1024;

/// The most codecs that one chain may have; chains within shards are counted separately.
///
/// More is an error that breaks the rule `too-many-codecs`.
pub const MAX_CODECS: usize = 1024;

/// Refuses an array of more dimensions than [`MAX_RANK`].
pub(crate) fn check_rank(rank: usize) -> Result<(), MetadataError> {
    if rank <= MAX_RANK {
        return Ok(());
    }
    let allowed = format!("at most {MAX_RANK}, the limit of this reader");
    Err(MetadataError::unexpected(format!("{rank} dimensions"), allowed)
        .breaks(Rule::TOO_MANY_DIMENSIONS))
}

/// Refuses a chain of more codecs than [`MAX_CODECS`].
pub(crate) fn check_codecs(codecs: usize) -> Result<(), MetadataError> {
    if codecs <= MAX_CODECS {
        return Ok(());
    }
    let allowed = format!("at most {MAX_CODECS}, the limit of this reader");
    Err(MetadataError::unexpected(format!("{codecs} codecs"), allowed)
        .breaks(Rule::TOO_MANY_CODECS))
}

/// The most bytes that an element of strings, bytes, raw bits or records may have: 1 MiB.
///
/// A few characters of a document declare the length of such an element, and its fill value is
/// kept in memory. More is an error that breaks the rule `element-too-large`.
pub const MAX_ELEMENT_SIZE: usize = 1 << 20;

/// Refuses an element of more bytes than [`MAX_ELEMENT_SIZE`].
pub(crate) fn check_element_size(bytes: usize) -> Result<usize, MetadataError> {
    if bytes <= MAX_ELEMENT_SIZE {
        return Ok(bytes);
    }
    let allowed = format!("at most {MAX_ELEMENT_SIZE} bytes, the limit of this reader");
    Err(MetadataError::unexpected(format!("an element of {bytes} bytes"), allowed)
        .breaks(Rule::ELEMENT_TOO_LARGE))
}
