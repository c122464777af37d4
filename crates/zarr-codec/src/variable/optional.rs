//! `zarrs.optional`: which elements exist, then the values of the existing elements.
//!
//! ```text
//! mask length u64 | values length u64 | mask | values            all numbers little-endian
//! ```
//!
//! The mask is an array of `bool` of the chunk's shape, the values are an array of one dimension.
//! Each has a separate chain. No values are stored, not even encoded ones, if there are none.

// Lengths come from outside.
#![warn(clippy::arithmetic_side_effects)]

use zarr_metadata::{DataType, Optional as OptionalType, OptionalCodecs};
use zarr_view::View;

use super::ByteStrings;
use crate::bytes_to_bytes::{check_limit, reserve};
use crate::chain::Chain;
use crate::chunk::ChunkCodec;
use crate::codec_path::CodecPath;
use crate::error::{ChainError, ChunkError, ChunkErrorKind};
use crate::length::widen;
use crate::options::Options;
use crate::scratch::Scratch;
use crate::symbolic::{AxisEdges, Shape};
use crate::variable::any::AnyChain;

/// Bytes of each of the two lengths.
const LENGTH: usize = 8;

/// `zarrs.optional` over the chains of the mask and of the values.
#[derive(Debug)]
pub(super) struct Optional {
    mask: Chain,
    values: AnyChain,
}

impl Optional {
    /// Binds a configuration to every shape that reaches it.
    pub(super) fn bind(
        codecs: &OptionalCodecs,
        data_type: &OptionalType,
        shape: &Shape<'_>,
        place: &CodecPath,
        options: &Options,
    ) -> Result<Self, ChainError> {
        let path = |list: &str| format!("{}.configuration.{list}", place.path());
        let mask = path("mask_codecs").into();
        let mask =
            Chain::bind_shape(&mask, &codecs.mask_codecs, &DataType::Bool, shape.clone(), options)?;
        // Any number of values, from chunk to chunk.
        let edges = match shape.is_vacuous() {
            true => [AxisEdges::empty()],
            false => [AxisEdges::of([1, 2])],
        };
        let (path, inner) = (path("data_codecs"), data_type.inner());
        let values = AnyChain::bind_at(&path, &codecs.data_codecs, inner, &edges, options)?;
        Ok(Self { mask, values })
    }

    /// The first codec that can be read but not written, if there is one.
    pub(super) fn read_only(&self) -> Option<&CodecPath> {
        self.mask.read_only().or(self.values.read_only())
    }

    /// The codec of the mask of chunks of this shape.
    pub(super) fn mask_for(&self, shape: &[usize]) -> Result<ChunkCodec, ChainError> {
        let shape: Vec<u64> = shape.iter().map(|size| widen(*size)).collect();
        self.mask.for_shape(&shape)
    }

    /// All elements of a chunk in the order in which they are stored.
    /// The mask and the values take no more than `limit` bytes.
    pub(super) fn decode(
        &self,
        bytes: &[u8],
        mask: &ChunkCodec,
        limit: u64,
        place: &CodecPath,
    ) -> Result<ByteStrings, ChunkError> {
        let failed = |kind| place.chunk_error(kind);
        let (mask_bytes, value_bytes) = parts(bytes).map_err(failed)?;
        let mask = decode(mask, mask_bytes, 1, limit, place)?;
        let there = mask.iter().filter(|byte| **byte != 0).count();
        let missing = mask.len().saturating_sub(there);
        if there == 0 && !value_bytes.is_empty() {
            return Err(failed(ChunkErrorKind::TrailingBytes { count: widen(value_bytes.len()) }));
        }
        let (fixed, variable);
        let mut values: Box<dyn Iterator<Item = &[u8]>> = if there == 0 {
            Box::new(std::iter::empty())
        } else {
            match &self.values {
                AnyChain::Fixed(chain) => {
                    let codec = shaped(chain.for_shape(&[widen(there)]), place)?;
                    let size = chain.element_size();
                    fixed = decode(&codec, value_bytes, size, limit, place)?;
                    Box::new(fixed.chunks_exact(size.max(1)))
                }
                AnyChain::Variable(chain) => {
                    let codec = shaped(chain.for_shape(&[widen(there)]), place)?;
                    variable = codec.with_limit(limit).decode_all(value_bytes, chain.zero())?;
                    Box::new(variable.iter())
                }
            }
        };
        let mut elements = ByteStrings::with_room(mask.len(), missing).ok_or_else(|| {
            failed(ChunkErrorKind::OutOfMemory { bytes: widen(mask.len()).saturating_mul(8) })
        })?;
        let mut element = Vec::new();
        for byte in mask {
            element.clear();
            if byte != 0 {
                element.extend_from_slice(values.next().unwrap_or_default());
            }
            element.push(u8::from(byte != 0));
            elements.push(&element);
        }
        Ok(elements)
    }

    /// Encodes all elements of a chunk, in the order in which they are stored, into `out`, which is
    /// emptied first. Refuses a mask and values that [`decode`](Self::decode) would.
    pub(super) fn encode(
        &self,
        elements: &[&[u8]],
        mask: &ChunkCodec,
        limit: u64,
        out: &mut Vec<u8>,
        place: &CodecPath,
    ) -> Result<(), ChunkError> {
        let failed = |kind| place.chunk_error(kind);
        let (mut there, mut values): (Vec<u8>, Vec<&[u8]>) = (Vec::new(), Vec::new());
        reserve(&mut there, elements.len()).map_err(failed)?;
        for (number, element) in elements.iter().enumerate() {
            match element.split_last() {
                Some((0, [])) => there.push(0),
                Some((1, value))
                    if self.values.element_size().is_none_or(|size| size == value.len()) =>
                {
                    there.push(1);
                    values.push(value);
                }
                _ => {
                    let (element, length) = (widen(number), widen(element.len()));
                    return Err(failed(ChunkErrorKind::NotOptional { element, length }));
                }
            }
        }
        let (mut encoded_mask, mut encoded_values) = (Vec::new(), Vec::new());
        encode(mask, &there, &[0], limit, &mut encoded_mask, place)?;
        if !values.is_empty() {
            let shape = [widen(values.len())];
            match &self.values {
                AnyChain::Fixed(chain) => {
                    let codec = shaped(chain.for_shape(&shape), place)?;
                    let (values, fill) = (values.concat(), vec![0; chain.element_size()]);
                    encode(&codec, &values, &fill, limit, &mut encoded_values, place)?;
                }
                AnyChain::Variable(chain) => {
                    let codec = shaped(chain.for_shape(&shape), place)?.with_limit(limit);
                    codec.encode(&values, chain.zero(), &mut encoded_values)?;
                }
            }
        }
        out.clear();
        let bytes = encoded_mask.len().saturating_add(encoded_values.len());
        reserve(out, bytes.saturating_add(2 * LENGTH)).map_err(failed)?;
        out.extend_from_slice(&widen(encoded_mask.len()).to_le_bytes());
        out.extend_from_slice(&widen(encoded_values.len()).to_le_bytes());
        out.extend_from_slice(&encoded_mask);
        out.extend_from_slice(&encoded_values);
        Ok(())
    }
}

/// The codec of so many values. The chain was bound to any number of them, but their number comes
/// from the chunk: an error is one of the chunk.
fn shaped<C>(codec: Result<C, ChainError>, place: &CodecPath) -> Result<C, ChunkError> {
    codec.map_err(|error| place.chunk_error(ChunkErrorKind::Corrupt { reason: error.to_string() }))
}

/// The encoded mask and the encoded values.
fn parts(bytes: &[u8]) -> Result<(&[u8], &[u8]), ChunkErrorKind> {
    let found = widen(bytes.len());
    let too_short = |least| ChunkErrorKind::EncodedLength { found, least };
    let least = widen(2 * LENGTH);
    let (mask, rest) = bytes.split_first_chunk().ok_or_else(|| too_short(least))?;
    let (values, rest) = rest.split_first_chunk().ok_or_else(|| too_short(least))?;
    let (mask, values) = (u64::from_le_bytes(*mask), u64::from_le_bytes(*values));
    let least = least.saturating_add(mask).saturating_add(values);
    let split = usize::try_from(mask).ok().and_then(|mask| rest.split_at_checked(mask));
    let (mask, rest) = split.ok_or_else(|| too_short(least))?;
    match widen(rest.len()).checked_sub(values) {
        None => Err(too_short(least)),
        Some(0) => Ok((mask, rest)),
        Some(count) => Err(ChunkErrorKind::TrailingBytes { count }),
    }
}

/// All elements of an encoded array, in C order.
fn decode(
    codec: &ChunkCodec,
    encoded: &[u8],
    size: usize,
    limit: u64,
    place: &CodecPath,
) -> Result<Vec<u8>, ChunkError> {
    let failed = |kind| place.chunk_error(kind);
    let bytes = codec.elements().saturating_mul(size);
    check_limit(bytes, limit).map_err(failed)?;
    let found = widen(encoded.len());
    // Before memory is allocated.
    if let Some(least) = codec.encoded_len().filter(|least| found < *least) {
        return Err(failed(ChunkErrorKind::EncodedLength { found, least }));
    }
    let mut elements = Vec::new();
    reserve(&mut elements, bytes).map_err(failed)?;
    elements.resize(bytes, 0);
    codec.decode_whole(encoded, &mut elements, &vec![0; size], &mut Scratch::new())?;
    Ok(elements)
}

/// Encodes all elements of an array, in C order.
fn encode(
    codec: &ChunkCodec,
    elements: &[u8],
    fill: &[u8],
    limit: u64,
    out: &mut Vec<u8>,
    place: &CodecPath,
) -> Result<(), ChunkError> {
    check_limit(elements.len(), limit).map_err(|kind| place.chunk_error(kind))?;
    let view = View::contiguous(codec.shape());
    let view = view.map_err(|error| place.chunk_error(ChunkErrorKind::Copy(error.into())))?;
    codec.encode(elements, &view, fill, out, &mut Scratch::new()).map(drop)
}
