//! Runs and undoes the bytes-to-bytes codecs of a chain.

use super::{ChunkCodec, chunk_error};
use crate::bytes_to_bytes::{BytesToBytes, check_encoded, ordinary};
use crate::codec_path::CodecPath;
use crate::error::{ChunkError, ChunkErrorKind};
use crate::length::widen;
use crate::scratch::{Buffer, Bytes, Pool};

/// A codec and its place.
type Codec<'a> = (&'a dyn BytesToBytes, &'a CodecPath);

impl ChunkCodec {
    /// The bytes-to-bytes codecs in order, for this shape.
    fn bytes_to_bytes(&self) -> impl DoubleEndedIterator<Item = Codec<'_>> + ExactSizeIterator {
        let codecs = self.bound.bytes_to_bytes.iter().enumerate();
        codecs.map(|(index, (codec, place))| match &self.shaped {
            Some(shaped) if index == 0 => (&**shaped, place),
            _ => (&**codec, place),
        })
    }

    /// Runs the bytes-to-bytes codecs in order.
    pub(super) fn encode_bytes(
        &self,
        mut bytes: Bytes<'_>,
        out: &mut Vec<u8>,
        pool: &mut Pool,
    ) -> Result<(), ChunkError> {
        let mut others = self.bytes_to_bytes().zip(self.lengths.iter().zip(&self.most));
        let Some(last) = others.next_back() else {
            let bytes = bytes.into_buffer(pool);
            let place = &self.bound.array_to_bytes_path;
            *out = bytes.map_err(|kind| chunk_error(place, kind))?.into_vec();
            return Ok(());
        };
        let encode = |bytes: &[u8], out: &mut Vec<u8>, codec: (Codec<'_>, (&Option<u64>, &u64))| {
            let ((codec, place), (decoded_len, most)) = codec;
            let limit = self.bound.options.unknown_decoded_len.min(ordinary(*most));
            let checked = match decoded_len {
                Some(_) => Ok(()),
                None => check_encoded(codec, bytes.len(), limit),
            };
            checked.and_then(|()| codec.encode(bytes, out)).map_err(|kind| chunk_error(place, kind))
        };
        for codec in others {
            let mut encoded = pool.take_empty();
            encode(&bytes, &mut encoded, codec)?;
            bytes.give_to(pool);
            bytes = Bytes::Taken(encoded.into());
        }
        if out.capacity() == 0 {
            *out = pool.take_empty();
        }
        out.clear();
        encode(&bytes, out, last)?;
        bytes.give_to(pool);
        Ok(())
    }

    /// Undoes the bytes-to-bytes codecs in reverse order.
    pub(super) fn decode_bytes<'a>(
        &self,
        bytes: Bytes<'a>,
        pool: &mut Pool,
    ) -> Result<Bytes<'a>, ChunkError> {
        self.decode_bytes_down_to(0, bytes, pool)
    }

    /// As [`decode_bytes`](ChunkCodec::decode_bytes), into `out`, which has the length of the
    /// stored bytes.
    pub(super) fn decode_bytes_to(
        &self,
        encoded: &[u8],
        out: &mut [u8],
        pool: &mut Pool,
    ) -> Result<(), ChunkError> {
        let bytes = self.decode_bytes_down_to(1, Bytes::Lent(encoded), pool)?;
        if let Some((codec, place)) = self.bytes_to_bytes().next() {
            codec
                .check_len(&bytes, out.len())
                .and_then(|()| codec.decode_to(&bytes, out))
                .map_err(|kind| chunk_error(place, kind))?;
        }
        bytes.give_to(pool);
        Ok(())
    }

    /// Undoes the bytes-to-bytes codecs, except for a given number of codecs at the start.
    fn decode_bytes_down_to<'a>(
        &self,
        first: usize,
        mut bytes: Bytes<'a>,
        pool: &mut Pool,
    ) -> Result<Bytes<'a>, ChunkError> {
        let lengths = self.lengths.iter().zip(&self.most);
        let codecs = self.bytes_to_bytes().zip(lengths).skip(first).rev();
        for ((codec, place), (decoded_len, most)) in codecs {
            let failed = |kind| chunk_error(place, kind);
            if let Some(prefix) = codec.decoded_prefix(&bytes) {
                let length = prefix.map_err(failed)?;
                if let Some(expected) = *decoded_len
                    && widen(length) != expected
                {
                    let found = widen(length);
                    return Err(failed(ChunkErrorKind::DecodedLength { found, expected }));
                }
                bytes.truncate(length);
                continue;
            }
            let decoded = match decoded_len {
                Some(length) => decode_exactly(codec, &bytes, *length, pool),
                None => {
                    let limit = self.bound.options.unknown_decoded_len;
                    let ordinary = ordinary(*most);
                    let decoded = decode_up_to(codec, &bytes, limit.min(ordinary), pool);
                    decoded.map_err(|kind| match kind {
                        ChunkErrorKind::DecodedLimit { .. } if ordinary < limit => {
                            ChunkErrorKind::DecodedExcess { limit: ordinary, most: *most }
                        }
                        kind => kind,
                    })
                }
            };
            let decoded = decoded.map_err(failed)?;
            bytes.give_to(pool);
            bytes = Bytes::Taken(decoded);
        }
        Ok(bytes)
    }
}

/// Decodes to a known length.
fn decode_exactly(
    codec: &dyn BytesToBytes,
    encoded: &[u8],
    length: u64,
    pool: &mut Pool,
) -> Result<Buffer, ChunkErrorKind> {
    // The length of the elements, which fit the address space, plus the bytes that codecs add.
    let expected =
        usize::try_from(length).map_err(|_| ChunkErrorKind::OutOfMemory { bytes: length })?;
    codec.check_len(encoded, expected)?;
    if let Some(decoded) = codec.decode_owned(encoded, expected) {
        return Ok(decoded?.into());
    }
    let mut decoded = pool.take(expected)?;
    codec.decode_to(encoded, &mut decoded)?;
    Ok(decoded)
}

/// Decodes to an unknown length.
pub(crate) fn decode_up_to(
    codec: &dyn BytesToBytes,
    encoded: &[u8],
    limit: u64,
    pool: &mut Pool,
) -> Result<Buffer, ChunkErrorKind> {
    let mut decoded = pool.take_empty();
    codec.decode_up_to(encoded, limit, &mut decoded)?;
    if widen(decoded.len()) > limit {
        return Err(ChunkErrorKind::DecodedLimit { limit });
    }
    Ok(decoded.into())
}
