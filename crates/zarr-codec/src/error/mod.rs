//! Errors of a chain (when it is bound) and of a chunk (its bytes).

mod chunk;

use core::fmt;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainError {
    // Boxed, so that results are no larger than their success values.
    inner: Box<At<ChainErrorKind>>,
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
    /// Not an array-to-bytes codec where one is required, or the reverse.
    #[error(
        "a chain is array-to-array codecs, then one array-to-bytes codec, then bytes-to-bytes codecs"
    )]
    Order,
    /// The data type has no fixed size, or the codec cannot encode it.
    #[error("cannot encode data type {data_type}")]
    DataType {
        /// The data type's name.
        data_type: String,
    },
    /// `bytes` without `endian` for a data type of more than one byte (SD-53).
    #[error("data type {data_type} needs `endian`, \"little\" or \"big\"")]
    MissingEndian {
        /// The data type's name.
        data_type: String,
    },
    /// `first_bit` or `last_bit` outside the data type's bits (SD-15).
    #[error(
        "bits {first} to {last} are not within the {bits} bits of a component of {data_type}; \
             first_bit <= last_bit < {bits} is allowed"
    )]
    BitRange {
        /// `first_bit`, or its default.
        first: u64,
        /// `last_bit`, or its default.
        last: u64,
        /// The bits of one component.
        bits: u32,
        /// The data type's name.
        data_type: String,
    },
    /// `order` is not a permutation of the dimensions of the codec's input.
    #[error(
        "order {order:?} is not a permutation of the dimensions of the codec's input, which has rank {rank}"
    )]
    TransposeOrder {
        /// The order as given.
        order: Vec<usize>,
        /// The number of dimensions.
        rank: usize,
    },
    /// An input dimension that does not exist (SD-20).
    #[error(
        "shape[{axis}] names input dimension {input_dim}, but the input has {rank} dimension{}",
        s(*rank == 1)
    )]
    ReshapeInputDim {
        /// The entry of `shape`.
        axis: usize,
        /// The input dimension that it names.
        input_dim: usize,
        /// The number of dimensions of the input.
        rank: usize,
    },
    /// Input dimensions that do not increase strictly over all entries (SD-21).
    #[error(
        "shape[{axis}] names input dimension {input_dim} after one not below it; \
             reshape never transposes, so input dimensions must rise strictly"
    )]
    ReshapeOrder {
        /// The entry of `shape`.
        axis: usize,
        /// The input dimension that it names.
        input_dim: usize,
    },
    /// The product of the sizes differs from the number of elements (SD-23, SD-24).
    #[error(
        "sizes multiply to {sizes}, but the input dimensions that no entry names multiply to {elements}"
    )]
    ReshapeElements {
        /// The product of the input dimensions.
        elements: String,
        /// The product of the sizes.
        sizes: String,
    },
    /// `-1`, but the other sizes do not divide the number of elements (SD-23, SD-24).
    #[error(
        "-1 cannot be resolved: the sizes multiply to {divisor}, which does not always divide \
             {elements}, the product of the input dimensions that no entry names"
    )]
    ReshapeNotDivisible {
        /// The product of the other sizes.
        divisor: u64,
        /// The product of the input dimensions.
        elements: String,
    },
    /// The position of an entry does not match its input dimensions (SD-20).
    #[error(
        "the sizes {side} shape[{axis}] multiply to {output}, but the input dimensions {side} \
             {input_dim} multiply to {input}"
    )]
    ReshapePlace {
        /// The entry of `shape`.
        axis: usize,
        /// The side of the entry that does not match.
        side: &'static str,
        /// The product on the output's side.
        output: String,
        /// The first or last input dimension of the entry.
        input_dim: usize,
        /// The product on the input's side.
        input: String,
    },
    /// The largest chunk has more elements than 64 bits count.
    #[error("a chunk of shape {shape:?} has more than 2^64 elements")]
    ChunkTooLarge {
        /// The longest edge of each axis.
        shape: Vec<u64>,
    },
    /// The rank of an inner chunk shape differs from the rank of the array that reaches the codec.
    #[error("chunk_shape has {found} dimension{}, but the array that reaches the codec has {rank}", s(*found == 1))]
    ShardRank {
        /// Dimensions of `chunk_shape`.
        found: usize,
        /// Dimensions that reach the codec.
        rank: usize,
    },
    /// An inner chunk shape that does not divide every chunk (SD-34).
    #[error(
        "chunk_shape[{axis}] is {inner}, which does not always divide {outer}, the length of that \
             dimension when it reaches the codec"
    )]
    ShardDivides {
        /// The dimension.
        axis: usize,
        /// The inner chunk's length.
        inner: u64,
        /// The lengths that reach the codec.
        outer: String,
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
    /// A shard index with an encoded length that depends on its content (SD-59).
    #[error("the encoded index must have a fixed size, as with bytes and crc32c")]
    IndexSize,
    /// A codec other than `bytes` follows `numcodecs.packbits` (SD-11).
    #[error("only bytes is read directly after numcodecs.packbits")]
    AfterNumcodecs,
    /// The codec can be read but not written here (SD-11, SD-42).
    #[error("can be read here but not written")]
    ReadOnly,
    /// The product of the sizes exceeds 64 bits (SD-23).
    #[error("the sizes multiply to more than 2^64")]
    SizeOverflow,
    /// The machine's address space cannot hold a chunk.
    #[error("a chunk of shape {shape:?} does not fit the memory of this machine")]
    AddressSpace {
        /// The chunk's shape.
        shape: Vec<u64>,
    },
}

impl ChainErrorKind {
    /// The message of a third-party codec.
    pub(crate) fn other(error: CodecError) -> Self {
        Self::Other { reason: in_full(&*error) }
    }

    fn rule(&self) -> Option<Rule> {
        Some(match self {
            Self::Order => Rule::CHAIN_ORDER,
            Self::MissingEndian { .. } => Rule::BYTES_ENDIAN_MISSING,
            Self::BitRange { .. } => Rule::PACKBITS_BIT_RANGE,
            Self::TransposeOrder { .. } => Rule::TRANSPOSE_PERMUTATION,
            Self::ReshapeInputDim { .. } => Rule::RESHAPE_INPUT_DIM,
            Self::ReshapeOrder { .. } => Rule::RESHAPE_INCREASING,
            Self::ReshapeElements { .. } => Rule::RESHAPE_ELEMENTS,
            Self::ReshapeNotDivisible { .. } => Rule::RESHAPE_DIVIDES,
            Self::ReshapePlace { .. } => Rule::RESHAPE_PLACE,
            Self::SizeOverflow => Rule::RESHAPE_OVERFLOW,
            Self::ChunkTooLarge { .. } => Rule::CHUNK_TOO_LARGE,
            Self::ShardRank { .. } => Rule::SHARDING_RANK,
            Self::ShardDivides { .. } => Rule::SHARDING_DIVIDES,
            Self::IndexSize => Rule::SHARDING_INDEX_SIZE,
            Self::AfterNumcodecs => Rule::NUMCODECS_PACKBITS,
            Self::Unsupported
            | Self::NotCompiled { .. }
            | Self::NotHere { .. }
            | Self::Other { .. }
            | Self::SqueezeVaries { .. }
            | Self::DataType { .. }
            | Self::ReadOnly
            | Self::AddressSpace { .. } => return None,
        })
    }

    /// The place of the error within the codec, as the end of a JSON path.
    fn member(&self) -> String {
        match self {
            Self::MissingEndian { .. } => String::from(".configuration.endian"),
            Self::BitRange { first, bits, .. } if *first >= u64::from(*bits) => {
                String::from(".configuration.first_bit")
            }
            Self::BitRange { .. } => String::from(".configuration.last_bit"),
            Self::TransposeOrder { .. } => String::from(".configuration.order"),
            Self::ReshapeInputDim { axis, .. }
            | Self::ReshapeOrder { axis, .. }
            | Self::ReshapePlace { axis, .. } => format!(".configuration.shape[{axis}]"),
            Self::ReshapeElements { .. }
            | Self::ReshapeNotDivisible { .. }
            | Self::SizeOverflow => String::from(".configuration.shape"),
            Self::ShardRank { .. } => String::from(".configuration.chunk_shape"),
            Self::ShardDivides { axis, .. } => format!(".configuration.chunk_shape[{axis}]"),
            _ => String::new(),
        }
    }
}

/// The plural ending of a noun.
fn s(one: bool) -> &'static str {
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
