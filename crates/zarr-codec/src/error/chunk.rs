//! Errors of a chunk: of its bytes, or of the elements that are to be stored.

use core::fmt;

use zarr_metadata::Printable;

use super::{At, s};

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
    /// A value with bits outside `first_bit` to `last_bit`, or out of the range of its sub-byte type
    /// (SD-18), where no loss is allowed (SD-49).
    #[error("element {element} has the bits {value}, some of which the stored form cannot keep")]
    Lost {
        /// The element, in C order of the array that reaches the codec.
        element: u64,
        /// Its bits in memory, hexadecimal.
        value: String,
    },
    /// A value that a codec that changes values cannot store or read.
    #[error("element {element} has the bits {value}, {reason}")]
    Value {
        /// The element, in C order of the array that reaches the codec.
        element: u64,
        /// Its bits, hexadecimal.
        value: String,
        /// What is wrong with it.
        reason: String,
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
    /// Another number of elements of variable length than the chunk's shape says.
    #[error("{found} element{}, expected {expected}", s(*found == 1))]
    ElementCount {
        /// Elements that the chunk says it has, or that were given.
        found: u64,
        /// Elements of the chunk's shape.
        expected: u64,
    },
    /// An element of variable length that does not end within the chunk.
    #[error(
        "element {element} needs {}, but {left} byte{} follow{}",
        match length {
            Some(length) => format!("{length} byte{}", s(*length == 1)),
            None => "4 bytes for its length".to_owned(),
        },
        s(*left == 1),
        if *left == 1 { "s" } else { "" }
    )]
    ElementLength {
        /// Its number, in C order of the array that reaches the codec.
        element: u64,
        /// The length that the chunk says, unless that itself is cut off.
        length: Option<u64>,
        /// Bytes that are left of the chunk.
        left: u64,
    },
    /// Bytes behind the last element of variable length.
    #[error("{count} byte{} behind the last element", s(*count == 1))]
    TrailingBytes {
        /// How many.
        count: u64,
    },
    /// A string that is no UTF-8.
    #[error("element {element} is no UTF-8 from byte {byte} on")]
    Utf8 {
        /// Its number, in C order of the array that reaches the codec.
        element: u64,
        /// The first of its bytes that is not.
        byte: u64,
    },
    /// An element of variable length that is too long to be written.
    #[error("element {element} has {length} bytes; less than 2^32 are allowed")]
    ElementTooLong {
        /// Its number, in C order of the array that reaches the codec.
        element: u64,
        /// Its bytes.
        length: u64,
    },
    /// More elements of variable length than a chunk can have.
    #[error("{elements} elements; less than 2^32 are allowed")]
    TooManyElements {
        /// How many the chunk has.
        elements: u64,
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
