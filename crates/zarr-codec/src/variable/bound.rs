//! The codecs of a chain for elements of variable length.

use std::sync::Arc;

use super::optional::Optional;
use super::shard::Shard;

/// The codecs of a chain, bound to a data type.
pub(super) type Bound = crate::bound::Bound<ArrayToBytes, VariableElement>;

/// The data type.
#[derive(Debug)]
pub(super) struct VariableElement {
    /// Whether elements are UTF-8.
    pub(super) text: bool,
    /// The element of inner chunks that are not stored.
    pub(super) zero: &'static [u8],
}

/// The array-to-bytes codec.
#[derive(Debug)]
pub(super) enum ArrayToBytes {
    /// `vlen-utf8` or `vlen-bytes`, which differ only in the type.
    Vlen,
    /// `numcodecs.json2`, which is only read.
    Json,
    Shard(Box<Shard>),
    Optional(Arc<Optional>),
}
