//! Third-party codecs as codecs of a chain. Their results are checked here, and their errors
//! become errors of a chunk.

use std::fmt;
use std::sync::Arc;

use super::codec::BytesToBytes;
use super::limits::{check_decoded, check_limit};
use crate::error::{ChunkErrorKind, in_full};
use crate::length::widen;
use crate::third_party::{ArrayCodec, BytesCodec, CodecError, DecodedLength};

/// A third-party codec as one of a chain.
pub(crate) struct Other {
    codec: Box<dyn BytesCodec>,
    /// If it is an array-to-bytes codec, which gets the shape of its array later.
    array: Option<Arc<dyn ArrayCodec>>,
}

impl Other {
    pub(crate) fn new(codec: Box<dyn BytesCodec>) -> Self {
        Self { codec, array: None }
    }

    /// Of arrays of this shape.
    pub(crate) fn of_array(codec: Arc<dyn ArrayCodec>, shape: &[usize]) -> Self {
        let of_shape = OfArray { codec: Arc::clone(&codec), shape: shape.to_vec() };
        Self { codec: Box::new(of_shape), array: Some(codec) }
    }
}

impl fmt::Debug for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Other")
    }
}

/// An array-to-bytes codec, which gets elements in C order.
struct OfArray {
    codec: Arc<dyn ArrayCodec>,
    shape: Vec<usize>,
}

impl BytesCodec for OfArray {
    fn decode(&self, encoded: &[u8], _: DecodedLength) -> Result<Vec<u8>, CodecError> {
        self.codec.decode(encoded, &self.shape)
    }

    fn encode(&self, decoded: &[u8]) -> Result<Vec<u8>, CodecError> {
        self.codec.encode(decoded, &self.shape)
    }
}

impl BytesToBytes for Other {
    fn encoded_len(&self, decoded: Option<u64>) -> Option<u64> {
        self.codec.encoded_len(decoded?)
    }

    fn most_encoded(&self, decoded: u64) -> u64 {
        // The most that an unknown codec is assumed to add.
        let most = decoded.saturating_mul(2).saturating_add(1 << 16);
        self.codec.encoded_len(decoded).unwrap_or(most)
    }

    fn for_shape(&self, shape: &[usize]) -> Option<Arc<dyn BytesToBytes>> {
        let array = Arc::clone(self.array.as_ref()?);
        Some(Arc::new(Self::of_array(array, shape)))
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
        let decoded = self.codec.decode(encoded, DecodedLength::Exactly(widen(expected)));
        Some(decoded.map_err(corrupt).and_then(|decoded| {
            check_decoded(decoded.len(), expected)?;
            Ok(decoded)
        }))
    }

    fn decode_to(&self, encoded: &[u8], out: &mut [u8]) -> Result<(), ChunkErrorKind> {
        let decoded = self.codec.decode(encoded, DecodedLength::Exactly(widen(out.len())));
        let decoded = decoded.map_err(corrupt)?;
        check_decoded(decoded.len(), out.len())?;
        out.copy_from_slice(&decoded);
        Ok(())
    }

    fn decode_up_to(
        &self,
        encoded: &[u8],
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), ChunkErrorKind> {
        *out = self.codec.decode(encoded, DecodedLength::AtMost(limit)).map_err(corrupt)?;
        check_limit(out.len(), limit)
    }

    fn encode(&self, decoded: &[u8], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
        *out = self.codec.encode(decoded).map_err(refused)?;
        match self.codec.encoded_len(widen(decoded.len())) {
            Some(expected) if expected != widen(out.len()) => {
                let found = out.len();
                let reason = format!("{found} bytes, where the codec says {expected} of itself");
                Err(ChunkErrorKind::Encode { reason })
            }
            _ => Ok(()),
        }
    }
}

/// The error of a codec that cannot decode.
pub(crate) fn corrupt(error: CodecError) -> ChunkErrorKind {
    ChunkErrorKind::Corrupt { reason: in_full(&*error) }
}

/// The error of a codec that cannot encode.
pub(crate) fn refused(error: CodecError) -> ChunkErrorKind {
    ChunkErrorKind::Encode { reason: in_full(&*error) }
}
