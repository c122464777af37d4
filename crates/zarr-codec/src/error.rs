//! Errors of a chain (when it is bound) and of a chunk (its bytes).

use core::fmt;

use zarr_metadata::{Printable, Rule};

/// A fault and its codec.
#[derive(Clone, Debug, PartialEq, Eq)]
struct At<K> {
    /// The codec's place in the metadata document.
    path: String,
    codec: String,
    kind: K,
}

/// A chain that does not fit its data type or its chunk shapes.
///
/// Displayed as one line: where in the document, which codec, what was found, what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainError {
    // Boxed, so that results are no larger than what they hold when all is well.
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

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &ChainErrorKind {
        &self.inner.kind
    }
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let At { path, codec, kind } = &*self.inner;
        write!(f, "{}", Printable(format_args!("{path}: codec {codec}: {kind}")))
    }
}

impl std::error::Error for ChainError {}

/// What is wrong with a chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainErrorKind {
    /// The codec is not known.
    #[error("not supported here")]
    Unsupported,
    /// The codec is known, but its feature is not compiled in.
    #[error("this build is without it; the feature `{feature}` adds it")]
    NotCompiled {
        /// The feature, of this crate and of those above it.
        feature: String,
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
    /// `order` has another length than the codec's input has dimensions, or is not a permutation.
    #[error(
        "order {order:?} is not a permutation for what reaches the codec, an array of rank {rank}"
    )]
    TransposeOrder {
        /// The order as given.
        order: Vec<usize>,
        /// How many dimensions there are.
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
        /// What it names.
        input_dim: usize,
        /// How many dimensions the input has.
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
        /// What it names.
        input_dim: usize,
    },
    /// Sizes whose product is not the number of elements (SD-23, SD-24).
    #[error(
        "sizes multiply to {sizes}, but the input dimensions that no entry names multiply to {elements}"
    )]
    ReshapeElements {
        /// What the input dimensions multiply to.
        elements: String,
        /// What the sizes multiply to.
        sizes: String,
    },
    /// `-1` where the other sizes do not divide the number of elements (SD-23, SD-24).
    #[error(
        "-1 cannot be resolved: the sizes multiply to {divisor}, which does not always divide \
             {elements}, the product of the input dimensions that no entry names"
    )]
    ReshapeNotDivisible {
        /// What the sizes multiply to.
        divisor: u64,
        /// What the input dimensions multiply to.
        elements: String,
    },
    /// An entry whose place does not match that of its input dimensions (SD-20).
    #[error(
        "the sizes {side} shape[{axis}] multiply to {output}, but the input dimensions {side} \
             {input_dim} multiply to {input}"
    )]
    ReshapePlace {
        /// The entry of `shape`.
        axis: usize,
        /// Which side of it.
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
    /// An inner chunk shape of another rank than the array that reaches the codec.
    #[error("chunk_shape has {found} dimension{}, but what reaches the codec has {rank}", s(*found == 1))]
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
    /// A shard index whose encoded length depends on its content (SD-59).
    #[error("the encoded index must have a fixed size, as with bytes and crc32c")]
    IndexSize,
    /// A codec other than `bytes` after `numcodecs.packbits` (SD-11).
    #[error("only bytes is read directly after numcodecs.packbits")]
    AfterNumcodecs,
    /// A codec that is read here but not written (SD-11, SD-42).
    #[error("can be read here but not written")]
    ReadOnly,
    /// Sizes whose product passes 64 bits (SD-23).
    #[error("the sizes multiply to more than 2^64")]
    SizeOverflow,
    /// A chunk that the machine's address space cannot hold.
    #[error("a chunk of shape {shape:?} does not fit the memory of this machine")]
    AddressSpace {
        /// The chunk's shape.
        shape: Vec<u64>,
    },
}

impl ChainErrorKind {
    /// The rule of the specifications that is broken; `None` for what is no more than not done
    /// here.
    #[must_use]
    pub fn rule(&self) -> Option<Rule> {
        Some(match self {
            Self::Order => Rule::ChainOrder,
            Self::MissingEndian { .. } => Rule::BytesEndianMissing,
            Self::BitRange { .. } => Rule::PackbitsBitRange,
            Self::TransposeOrder { .. } => Rule::TransposePermutation,
            Self::ReshapeInputDim { .. } => Rule::ReshapeInputDim,
            Self::ReshapeOrder { .. } => Rule::ReshapeIncreasing,
            Self::ReshapeElements { .. } => Rule::ReshapeElements,
            Self::ReshapeNotDivisible { .. } => Rule::ReshapeDivides,
            Self::ReshapePlace { .. } => Rule::ReshapePlace,
            Self::SizeOverflow => Rule::ReshapeOverflow,
            Self::ChunkTooLarge { .. } => Rule::ChunkTooLarge,
            Self::ShardRank { .. } => Rule::ShardingRank,
            Self::ShardDivides { .. } => Rule::ShardingDivides,
            Self::IndexSize => Rule::ShardingIndexSize,
            Self::AfterNumcodecs => Rule::NumcodecsPackbits,
            Self::Unsupported
            | Self::NotCompiled { .. }
            | Self::DataType { .. }
            | Self::ReadOnly
            | Self::AddressSpace { .. } => return None,
        })
    }

    /// Where in the codec the fault is, as the end of a JSON path.
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

/// A chunk whose bytes do not decode, or that cannot be encoded.
///
/// Displayed as one line: which codec, in which inner chunk if in one of a shard, what was found,
/// what is allowed. The chunk's key is added by whoever knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkError {
    // Boxed, so that results are no larger than what they hold when all is well.
    inner: Box<(At<ChunkErrorKind>, Vec<Vec<usize>>)>,
}

impl ChunkError {
    pub(crate) fn new(path: &str, codec: &str, kind: ChunkErrorKind) -> Self {
        let at = At { path: path.to_owned(), codec: codec.to_owned(), kind };
        Self { inner: Box::new((at, Vec::new())) }
    }

    /// The error as one within an inner chunk of a shard.
    pub(crate) fn in_inner_chunk(mut self, chunk: &[usize]) -> Self {
        self.inner.1.insert(0, chunk.to_vec());
        self
    }

    /// The codec's place in the metadata document, as a JSON path such as `$.codecs[1]`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.inner.0.path
    }

    /// The codec's name.
    #[must_use]
    pub fn codec(&self) -> &str {
        &self.inner.0.codec
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &ChunkErrorKind {
        &self.inner.0.kind
    }

    /// Where in a shard: the number of the inner chunk on each axis of the encoded shape, and then
    /// the same for each shard further in. Empty for what is wrong outside inner chunks.
    #[must_use]
    pub fn inner_chunks(&self) -> &[Vec<usize>] {
        &self.inner.1
    }
}

impl fmt::Display for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (At { path, codec, kind }, chunks) = &*self.inner;
        write!(f, "{}", Printable(format_args!("codec {codec} ({path}): ")))?;
        for chunk in chunks {
            write!(f, "inner chunk {chunk:?}: ")?;
        }
        write!(f, "{}", Printable(kind))
    }
}

impl std::error::Error for ChunkError {}

/// What is wrong with a chunk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkErrorKind {
    /// Decoded to another length than the metadata says.
    #[error("decoded to {found} byte{}, expected {expected}", s(*found == 1))]
    DecodedLength {
        /// Bytes that came out.
        found: u64,
        /// Bytes that the metadata says.
        expected: u64,
    },
    /// Decodes to more bytes than the metadata says.
    #[error("decodes to more than the expected {expected} byte{}", s(*expected == 1))]
    DecodedTooLong {
        /// Bytes that the metadata says.
        expected: u64,
    },
    /// Too few bytes to decode to what the metadata says, whatever they are.
    #[error(
        "{encoded} byte{} cannot decode to the expected {expected} byte{}",
        s(*encoded == 1), s(*expected == 1)
    )]
    DecodedTooShort {
        /// Bytes that went in.
        encoded: u64,
        /// Bytes that the metadata says.
        expected: u64,
    },
    /// Decodes to more bytes than the limit, where the metadata says no length (SD-35).
    #[error("decodes to more than the limit of {limit} byte{}", s(*limit == 1))]
    DecodedLimit {
        /// The limit.
        limit: u64,
    },
    /// Decodes to far more bytes than the chunk's elements are encoded to by the codecs before it
    /// (SD-35).
    #[error("decodes to more than {limit} bytes, where the elements are encoded to {most} at most")]
    DecodedExcess {
        /// Where decoding stopped.
        limit: u64,
        /// What ordinary encoders make of the elements at most.
        most: u64,
    },
    /// Fewer encoded bytes than the codec always writes.
    #[error("{found} encoded byte{}, expected at least {least}", s(*found == 1))]
    EncodedLength {
        /// Bytes that went in.
        found: u64,
        /// The fewest there can be.
        least: u64,
    },
    /// Bytes that are not of the codec's format.
    #[error("corrupt: {reason}")]
    Corrupt {
        /// What the decoder says.
        reason: String,
    },
    /// A checksum that does not match.
    #[error("checksum {stored:#010x} stored, {computed:#010x} computed")]
    Checksum {
        /// The checksum as stored.
        stored: u32,
        /// The checksum of the bytes as they are.
        computed: u32,
    },
    /// A boolean byte that is neither 0 nor 1 (SD-52).
    #[error("element {element} is the boolean byte {value}; 0 and 1 are allowed")]
    Bool {
        /// The element, in C order of the array that reaches the codec.
        element: u64,
        /// The byte.
        value: u8,
    },
    /// Packed bits of a wrong length or padding.
    #[error(transparent)]
    Packed(#[from] zarr_packbits::Error),
    /// A value with bits outside `first_bit` to `last_bit`, where no loss is allowed (SD-49).
    #[error("element {element} has the bits {value}, some of which the packed form cannot keep")]
    Lost {
        /// The element, in C order of the array that reaches the codec.
        element: u64,
        /// Its bits in memory, hexadecimal.
        value: String,
    },
    /// A view or buffer of the caller's that does not fit the chunk.
    #[error(transparent)]
    Copy(#[from] zarr_view::CopyError),
    /// A codec that is read here but not written (SD-11, SD-42).
    #[error("can be read here but not written")]
    ReadOnly,
    /// Bytes for a region that has been decoded already.
    #[error("the region has been decoded, and needs no more bytes")]
    NothingNeeded,
    /// A shard index of another length than the number of inner chunks makes it.
    #[error("an index of {found} byte{}, expected {expected}", s(*found == 1))]
    IndexLength {
        /// Bytes given.
        found: u64,
        /// Bytes that the index has.
        expected: u64,
    },
    /// Half a sentinel in a shard index (SD-59).
    #[error(
        "offset {offset} and length {length} in the index; both are 2^64 - 1 for an inner chunk \
             that is not stored, or neither"
    )]
    IndexEntry {
        /// The offset.
        offset: u64,
        /// The length.
        length: u64,
    },
    /// An inner chunk outside the shard, or within its index (SD-59).
    #[error(
        "offset {offset} and length {length} in the index, but inner chunks lie within bytes \
             {start} to {end}"
    )]
    IndexRange {
        /// The offset, from the start of the shard.
        offset: u64,
        /// The length.
        length: u64,
        /// The first byte that may be an inner chunk's.
        start: u64,
        /// One past the last such byte.
        end: u64,
    },
    /// Inner chunks that share so many bytes of their shard that decoding them would take longer
    /// than its length accounts for.
    #[error(
        "inner chunks overlap: {total} bytes in all, but at most {most} can be right within \
             {stored} byte{}",
        s(*stored == 1)
    )]
    IndexOverlap {
        /// The sum of the lengths of the inner chunks.
        total: u64,
        /// What the sum may be: the bytes of the shard, and what each inner chunk may take anew,
        /// twice its elements in memory and 64 bytes; for an inner shard, what its own inner chunks
        /// come to in that way, and its index.
        most: u64,
        /// The bytes of the shard; where its length is not known, those up to the end of the last
        /// inner chunk, or those that were fetched.
        stored: u64,
    },
    /// The compressor failed.
    #[error("could not encode: {reason}")]
    Encode {
        /// What it says.
        reason: String,
    },
    /// No memory for the decoded chunk.
    #[error("no memory for {bytes} bytes")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
    },
}

/// What makes a noun a plural, unless there is one.
fn s(one: bool) -> &'static str {
    if one { "" } else { "s" }
}
