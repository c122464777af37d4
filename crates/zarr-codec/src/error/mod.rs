//! Errors of a chain (when it is bound) and of a chunk (its bytes).

mod chunk;

use core::fmt;
use std::borrow::Cow;

use zarr_metadata::{Printable, Rule};

use crate::third_party::CodecError;

pub use chunk::{ChunkError, ChunkErrorKind};

/// An error and its codec.
#[derive(Clone, Debug, PartialEq, Eq)]
struct At<K> {
    /// The path of the codec in the metadata document.
    path: String,
    codec: String,
    kind: K,
}

/// A chain that does not fit its data type or its chunk shapes.
///
/// Displayed as one line: the path in the document, the codec, the found and the allowed
/// values.
#[derive(Clone, PartialEq, Eq)]
pub struct ChainError {
    // Boxed, so that results are no larger than their success values.
    inner: Box<At<ChainErrorKind>>,
}

/// As the text.
impl fmt::Debug for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl ChainError {
    pub(crate) fn new(path: &str, codec: &str, kind: ChainErrorKind) -> Self {
        let path = format!("{path}{}", kind.member());
        Self { inner: Box::new(At { path, codec: codec.to_owned(), kind }) }
    }

    /// The place in the metadata document, as a JSON path such as
    /// `$.codecs[1].configuration.shape[0]`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.inner.path
    }

    /// The codec's name.
    #[must_use]
    pub fn codec(&self) -> &str {
        &self.inner.codec
    }

    /// The found and the allowed values, without the place.
    #[must_use]
    pub fn reason(&self) -> impl fmt::Display {
        &self.inner.kind
    }

    /// The broken rule of the specifications; `None` if the codec is only unsupported here.
    #[must_use]
    pub fn rule(&self) -> Option<Rule> {
        self.inner.kind.rule()
    }

    /// Whether no codec of this name is known.
    #[must_use]
    pub fn is_unknown_codec(&self) -> bool {
        self.inner.kind == ChainErrorKind::Unsupported
    }

    /// Whether the codec can be read but not written here (SD-11, SD-42).
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.inner.kind == ChainErrorKind::ReadOnly
    }
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let At { path, codec, kind } = &*self.inner;
        write!(f, "{}", Printable(format_args!("{path}: codec {codec}: {kind}")))?;
        match kind {
            ChainErrorKind::Unsupported => zarr_metadata::Codec::nearest_name(codec)
                .map_or(Ok(()), |near| write!(f, "; did you mean {near}?")),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for ChainError {}

/// Kinds of faults of chains.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChainErrorKind {
    /// A rule of the specifications is broken.
    #[error("{reason}")]
    Broken {
        rule: Rule,
        /// The place of the fault within the codec, as the end of a JSON path.
        member: Cow<'static, str>,
        reason: Cow<'static, str>,
    },
    /// The codec is not known.
    #[error("not supported here")]
    Unsupported,
    /// The codec is known, but its feature is not compiled in.
    #[error("this build is without it; the feature `{feature}` adds it")]
    NotCompiled {
        /// The feature, of this crate and of the crates above it.
        feature: String,
    },
    /// The codec is known, but not all of its options are supported.
    #[error("{what} is not supported here")]
    NotHere {
        /// The unsupported feature.
        what: String,
    },
    /// A third-party codec that refuses its configuration or its data type.
    #[error("{reason}")]
    Other {
        /// The codec's own message.
        reason: String,
    },
    /// The data type has no fixed size, or the codec cannot encode it.
    #[error("cannot encode data type {data_type}")]
    DataType {
        /// The data type's name.
        data_type: String,
    },
    /// A dimension that has size 1 in some chunks and not in others.
    #[error(
        "dimension {axis}, {size}, would be removed from some chunks and not from others, which is \
             not supported"
    )]
    SqueezeVaries {
        /// The dimension.
        axis: usize,
        /// Its sizes.
        size: String,
    },
    /// The codec can be read but not written here (SD-11, SD-42).
    #[error("can be read here but not written")]
    ReadOnly,
    /// The machine's address space cannot hold a chunk.
    #[error("a chunk of shape {shape:?} does not fit the memory of this machine")]
    AddressSpace {
        /// The chunk's shape.
        shape: Vec<u64>,
    },
}

impl ChainErrorKind {
    /// Not an array-to-bytes codec where one is required, or the reverse.
    pub(crate) const ORDER: Self = Self::fixed(
        Rule::CHAIN_ORDER,
        "",
        "a chain is array-to-array codecs, then one array-to-bytes codec, then bytes-to-bytes codecs",
    );
    /// A shard index with an encoded length that depends on its content (SD-59).
    pub(crate) const INDEX_SIZE: Self = Self::fixed(
        Rule::SHARDING_INDEX_SIZE,
        "",
        "the encoded index must have a fixed size, as with bytes and crc32c",
    );
    /// The product of the sizes exceeds 64 bits (SD-23).
    pub(crate) const SIZE_OVERFLOW: Self = Self::fixed(
        Rule::RESHAPE_OVERFLOW,
        ".configuration.shape",
        "the sizes multiply to more than 2^64",
    );

    pub(crate) const fn fixed(rule: Rule, member: &'static str, reason: &'static str) -> Self {
        Self::Broken { rule, member: Cow::Borrowed(member), reason: Cow::Borrowed(reason) }
    }

    pub(crate) fn broken(rule: Rule, member: impl Into<Cow<'static, str>>, reason: String) -> Self {
        Self::Broken { rule, member: member.into(), reason: reason.into() }
    }

    /// The message of a third-party codec.
    pub(crate) fn other(error: CodecError) -> Self {
        Self::Other { reason: in_full(&*error) }
    }

    fn rule(&self) -> Option<Rule> {
        match self {
            Self::Broken { rule, .. } => Some(*rule),
            _ => None,
        }
    }

    /// The place of the error within the codec, as the end of a JSON path.
    fn member(&self) -> &str {
        match self {
            Self::Broken { member, .. } => member,
            _ => "",
        }
    }
}

/// The plural ending of a noun.
pub(crate) fn s(one: bool) -> &'static str {
    if one { "" } else { "s" }
}

/// An error with its causes, in one line.
pub(crate) fn in_full(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
