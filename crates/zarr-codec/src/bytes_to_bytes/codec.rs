//! The trait of bytes-to-bytes codecs.

use std::fmt;
use std::sync::Arc;

use crate::error::ChunkErrorKind;

/// One bytes-to-bytes codec, ready to run.
///
/// Methods that append to `out` receive it empty.
pub(crate) trait BytesToBytes: fmt::Debug + Send + Sync {
    /// The encoded length, if the decoded length determines it.
    fn encoded_len(&self, _decoded: Option<u64>) -> Option<u64> {
        None
    }

    /// The most bytes that ordinary encoders produce from `decoded` bytes: compressors add some to
    /// incompressible data.
    ///
    /// A format allows more than encoders use: blocks may be stored byte by byte, and frames may
    /// be skippable. [`ordinary`] gives the limit for those.
    fn most_encoded(&self, decoded: u64) -> u64 {
        self.encoded_len(Some(decoded)).unwrap_or_else(|| {
            // Stored blocks of at least 10 KB have headers of at most five bytes; a file, 32.
            decoded.saturating_add(decoded / 1024).saturating_add(1024)
        })
    }

    /// The offset of the input in the output, if it is there unchanged: then parts of it can be
    /// read alone.
    fn input_offset(&self) -> Option<u64> {
        None
    }

    /// For a codec with its input as a prefix of its output: the length of the prefix, after
    /// checks.
    ///
    /// Such a codec needs no buffer to decode into.
    fn decoded_prefix(&self, _encoded: &[u8]) -> Option<Result<usize, ChunkErrorKind>> {
        None
    }

    /// The codec for elements of an array of this shape, if it matters to it.
    fn for_shape(&self, _shape: &[usize]) -> Option<Arc<dyn BytesToBytes>> {
        None
    }

    /// As [`decode_to`](Self::decode_to) memory of the codec's own, if it decodes in no other way.
    fn decode_owned(
        &self,
        _encoded: &[u8],
        _expected: usize,
    ) -> Option<Result<Vec<u8>, ChunkErrorKind>> {
        None
    }

    /// Refuses `encoded` if it cannot decode to `expected` bytes, before memory is allocated.
    fn check_len(&self, encoded: &[u8], expected: usize) -> Result<(), ChunkErrorKind>;

    /// Decodes all of `encoded` to exactly the bytes of `out`.
    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind>;

    /// Decodes all of `encoded`, of unknown decoded length, to at most `limit + 1` bytes.
    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind>;

    /// Encodes all of `decoded`.
    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind>;
}

/// The most bytes that are accepted where encoders produce `most` bytes: twice that, and a
/// mebibyte (SD-35).
///
/// This is enough for writers of valid files that need more than
/// [`most_encoded`](BytesToBytes::most_encoded) (SD-61): gzip in members or stored blocks of a few
/// bytes, zstd with skippable frames, shards with gaps. Stacked compressors do not each get this
/// room: twenty of them, a few bytes each in a document, would multiply it by a million.
pub(crate) fn ordinary(most: u64) -> u64 {
    most.saturating_mul(2).saturating_add(1 << 20)
}
