//! Codecs of other authors as codecs of a chain. What they give back is checked here, and their
//! errors are those of a chunk.

use std::fmt;
use std::sync::Arc;

use super::{BytesToBytes, check_decoded, check_limit};
use crate::error::{ChunkErrorKind, in_full};
use crate::length::widen;
use crate::others::{ArrayCodec, BytesCodec, CodecError, DecodedLength};

/// A bytes-to-bytes codec.
pub(crate) struct OtherBytes(pub(crate) Box<dyn BytesCodec>);

impl fmt::Debug for OtherBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OtherBytes")
    }
}

impl BytesToBytes for OtherBytes {
    fn encoded_len(&self, decoded: Option<u64>) -> Option<u64> {
        self.0.encoded_len(decoded?)
    }

    fn most_encoded(&self, decoded: u64) -> u64 {
        self.0.encoded_len(decoded).unwrap_or_else(|| most(decoded))
    }

    fn check_len(&self, _: &[u8], _: usize) -> Result<(), ChunkErrorKind> {
        // How far the format expands is not known. Memory is taken by the codec itself.
        Ok(())
    }

    fn decode_owned(
        &self,
        encoded: &[u8],
        expected: usize,
    ) -> Option<Result<Vec<u8>, ChunkErrorKind>> {
        let decoded = self.0.decode(encoded, DecodedLength::Exactly(widen(expected)));
        Some(decoded.map_err(corrupt).and_then(|decoded| {
            check_decoded(decoded.len(), expected)?;
            Ok(decoded)
        }))
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        let decoded = self.0.decode(encoded, DecodedLength::Exactly(widen(out.len())));
        fill(out, &decoded.map_err(corrupt)?)
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        *out = self.0.decode(encoded, DecodedLength::AtMost(limit)).map_err(corrupt)?;
        check_limit(out.len(), limit)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        *out = self.0.encode(decoded).map_err(refused)?;
        match self.0.encoded_len(widen(decoded.len())) {
            Some(expected) if expected != widen(out.len()) => {
                let found = out.len();
                let reason = format!("{found} bytes, where the codec says {expected} of itself");
                Err(ChunkErrorKind::Encode { reason })
            }
            _ => Ok(()),
        }
    }
}

/// An array-to-bytes codec, which is given elements in C order.
#[derive(Clone)]
pub(crate) struct OtherArray {
    codec: Arc<dyn ArrayCodec>,
    shape: Vec<usize>,
}

impl OtherArray {
    /// Of no shape yet.
    pub(crate) fn new(codec: Arc<dyn ArrayCodec>) -> Self {
        Self { codec, shape: Vec::new() }
    }
}

impl fmt::Debug for OtherArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OtherArray({:?})", self.shape)
    }
}

impl BytesToBytes for OtherArray {
    fn for_shape(&self, shape: &[usize]) -> Option<Arc<dyn BytesToBytes>> {
        Some(Arc::new(Self { codec: Arc::clone(&self.codec), shape: shape.to_vec() }))
    }

    fn most_encoded(&self, decoded: u64) -> u64 {
        most(decoded)
    }

    fn check_len(&self, _: &[u8], _: usize) -> Result<(), ChunkErrorKind> {
        Ok(())
    }

    fn decode_owned(
        &self,
        encoded: &[u8],
        expected: usize,
    ) -> Option<Result<Vec<u8>, ChunkErrorKind>> {
        let decoded = self.codec.decode(encoded, &self.shape).map_err(corrupt);
        Some(decoded.and_then(|decoded| {
            check_decoded(decoded.len(), expected)?;
            Ok(decoded)
        }))
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        fill(out, &self.codec.decode(encoded, &self.shape).map_err(corrupt)?)
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        *out = self.codec.decode(encoded, &self.shape).map_err(corrupt)?;
        check_limit(out.len(), limit)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        *out = self.codec.encode(decoded, &self.shape).map_err(refused)?;
        Ok(())
    }
}

/// What a codec that is not known is taken to make of so many bytes at most.
fn most(decoded: u64) -> u64 {
    decoded.saturating_mul(2).saturating_add(1 << 16)
}

fn fill(out: &mut [u8], decoded: &[u8]) -> Result<(), ChunkErrorKind> {
    check_decoded(decoded.len(), out.len())?;
    out.copy_from_slice(decoded);
    Ok(())
}

/// What a codec says when it decodes.
pub(crate) fn corrupt(error: CodecError) -> ChunkErrorKind {
    ChunkErrorKind::Corrupt { reason: in_full(&*error) }
}

/// What a codec says when it encodes.
pub(crate) fn refused(error: CodecError) -> ChunkErrorKind {
    ChunkErrorKind::Encode { reason: in_full(&*error) }
}
