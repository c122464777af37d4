//! Errors of a chunk: of its bytes, or of the elements to store.

use core::fmt;

use zarr_metadata::Printable;

use super::{At, s};

/// A chunk that cannot be decoded or encoded.
///
/// Displayed as one line: the codec, the inner chunk if it is in a shard, the found and the allowed
/// values. The caller adds the chunk's key.
#[derive(Clone, PartialEq, Eq)]
pub struct ChunkError {
    // Boxed, so that results are no larger than their success values.
    inner: Box<(At<ChunkErrorKind>, Vec<Vec<usize>>)>,
}

/// As the text.
impl fmt::Debug for ChunkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
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

    /// The path of the codec in the metadata document, as a JSON path such as `$.codecs[1]`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.inner.0.path
    }

    /// The codec's name.
    #[must_use]
    pub fn codec(&self) -> &str {
        &self.inner.0.codec
    }

    /// The kind of fault.
    #[must_use]
    pub fn kind(&self) -> &ChunkErrorKind {
        &self.inner.0.kind
    }

    /// The place in a shard: the number of the inner chunk on each axis of the encoded shape,
    /// then the same for each shard further in. Empty for errors outside inner chunks.
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

/// Kinds of faults of chunks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkErrorKind {
    /// The decoded length differs from the metadata's.
    #[error("decoded to {found} byte{}, expected {expected}", s(*found == 1))]
    DecodedLength {
        /// Bytes decoded.
        found: u64,
        /// Bytes expected from the metadata.
        expected: u64,
    },
    /// Decodes to more bytes than the metadata gives.
    #[error("decodes to more than the expected {expected} byte{}", s(*expected == 1))]
    DecodedTooLong {
        /// Bytes expected from the metadata.
        expected: u64,
    },
    /// The input is too short to decode to the expected length, for any content.
    #[error(
        "{encoded} byte{} cannot decode to the expected {expected} byte{}",
        s(*encoded == 1), s(*expected == 1)
    )]
    DecodedTooShort {
        /// Encoded bytes.
        encoded: u64,
        /// Bytes expected from the metadata.
        expected: u64,
    },
    /// Decodes to more bytes than the limit for lengths that the metadata does not give (SD-35).
    #[error("decodes to more than the limit of {limit} byte{}", s(*limit == 1))]
    DecodedLimit {
        /// The limit.
        limit: u64,
    },
    /// Decodes to far more bytes than the codecs before it produce from the chunk's elements
    /// (SD-35).
    #[error("decodes to more than {limit} bytes; the elements encode to at most {most}")]
    DecodedExcess {
        /// The limit at which decoding stopped.
        limit: u64,
        /// The most that ordinary encoders produce from the elements.
        most: u64,
    },
    /// The codecs before it encode to more bytes than decoding accepts for lengths that the metadata
    /// does not give (SD-35).
    #[error(
        "gets {found} bytes from the codecs before it, more than the {limit} that it may decode to"
    )]
    EncodedExcess {
        /// The bytes to encode.
        found: u64,
        /// The limit at which decoding stops.
        limit: u64,
    },
    /// Fewer encoded bytes than the codec always writes.
    #[error("{found} encoded byte{}, expected at least {least}", s(*found == 1))]
    EncodedLength {
        /// Encoded bytes.
        found: u64,
        /// The smallest possible number.
        least: u64,
    },
    /// The bytes are not in the codec's format.
    #[error("corrupt: {reason}")]
    Corrupt {
        /// The message of the decoder.
        reason: String,
    },
    /// A checksum does not match.
    #[error("checksum {stored:#010x} stored, {computed:#010x} computed")]
    Checksum {
        /// The checksum as stored.
        stored: u32,
        /// The checksum computed from the bytes.
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
    /// A value has bits that the codec does not store, and loss is not allowed (SD-49): bits outside
    /// `first_bit` to `last_bit`, or outside its sub-byte type (SD-18).
    #[error("element {element} has the bits {value}, and the codec would drop some of them")]
    Lost {
        /// The element, in C order of the array that reaches the codec.
        element: u64,
        /// Its bits in memory, hexadecimal.
        value: String,
    },
    /// A codec that changes values cannot store or read a value.
    #[error("element {element} has the bits {value}, {reason}")]
    Value {
        /// The element, in C order of the array that reaches the codec.
        element: u64,
        /// Its bits, hexadecimal.
        value: String,
        /// The fault.
        reason: String,
    },
    /// A view or buffer of the caller does not fit the chunk.
    #[error(transparent)]
    Copy(#[from] zarr_view::CopyError),
    /// The codec can be read but not written here (SD-11, SD-42).
    #[error("can be read here but not written")]
    ReadOnly,
    /// Bytes were supplied although the region has been decoded already.
    #[error("the region has been decoded, and needs no more bytes")]
    NothingNeeded,
    /// The length of a shard index does not match the number of inner chunks.
    #[error("an index of {found} byte{}, expected {expected}", s(*found == 1))]
    IndexLength {
        /// Bytes given.
        found: u64,
        /// Bytes that the index must have.
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
    /// An inner chunk is outside the shard, or within its index (SD-59).
    #[error(
        "offset {offset} and length {length} in the index, but inner chunks lie within bytes \
             {start} to {end}"
    )]
    IndexRange {
        /// The offset, from the start of the shard.
        offset: u64,
        /// The length.
        length: u64,
        /// The first byte that an inner chunk may use.
        start: u64,
        /// One past the last such byte.
        end: u64,
    },
    /// Inner chunks share so many bytes of their shard that decoding would take time out of
    /// proportion to its length.
    #[error(
        "inner chunks overlap: {total} bytes in all, but at most {most} can be right within \
             {stored} byte{}",
        s(*stored == 1)
    )]
    IndexOverlap {
        /// The sum of the lengths of the inner chunks.
        total: u64,
        /// The largest accepted sum: the bytes of the shard plus, for each inner chunk, twice its
        /// elements in memory and 64 bytes. For an inner shard: its index and the same for its own
        /// inner chunks.
        most: u64,
        /// The bytes of the shard. If its length is not known: the bytes up to the end of the last
        /// inner chunk, or the fetched bytes.
        stored: u64,
    },
    /// The number of elements of variable length differs from the chunk's shape.
    #[error("{found} element{}, expected {expected}", s(*found == 1))]
    ElementCount {
        /// Elements that the chunk states, or that the caller passed.
        found: u64,
        /// Elements of the chunk's shape.
        expected: u64,
    },
    /// An element of variable length does not end within the chunk.
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
        /// The length that the chunk states; `None` if the length itself is cut off.
        length: Option<u64>,
        /// Bytes left in the chunk.
        left: u64,
    },
    /// Bytes follow the last element of variable length.
    #[error("{count} byte{} after the last element", s(*count == 1))]
    TrailingBytes {
        /// Number of bytes.
        count: u64,
    },
    /// A string is not UTF-8.
    #[error("element {element} is not UTF-8 from byte {byte} on")]
    Utf8 {
        /// Its number, in C order of the array that reaches the codec.
        element: u64,
        /// The first invalid byte.
        byte: u64,
    },
    /// An element that may be missing is neither the byte 0 nor a value and the byte 1.
    #[error(
        "element {element} of {length} byte{} is neither the byte 0 nor a value of its type and \
             the byte 1",
        s(*length == 1)
    )]
    NotOptional {
        /// Its number, in C order of the array that reaches the codec.
        element: u64,
        /// Its bytes.
        length: u64,
    },
    /// An element of variable length is too long to be written.
    #[error("element {element} has {length} bytes; less than 2^32 are allowed")]
    ElementTooLong {
        /// Its number, in C order of the array that reaches the codec.
        element: u64,
        /// Its bytes.
        length: u64,
    },
    /// A chunk has too many elements of variable length.
    #[error("{elements} elements; less than 2^32 are allowed")]
    TooManyElements {
        /// The number of elements of the chunk.
        elements: u64,
    },
    /// The compressor failed.
    #[error("could not encode: {reason}")]
    Encode {
        /// The message of the compressor.
        reason: String,
    },
    /// Not enough memory for the decoded chunk.
    #[error("no memory for {bytes} bytes")]
    OutOfMemory {
        /// Requested bytes.
        bytes: u64,
    },
}
