//! The objects of one array: which of them are chunks, and what is in those.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use zarr_codec::{Chain, ChunkCodec, Encoded, Options, Scratch, Slice};
use zarr_metadata::{Codec, CodecKind};
use zarr_view::{CopyError, Output, View};

use super::finding::{
    BITS, CLIPPED, DECODE, FILL_ONLY, Finding, OUTSIDE, OVERFLOW, PAST, STRAY, UNFINISHED,
};
use super::hierarchy::Walk;
use crate::array::Array;
use crate::copy::MARKER;
use crate::error::ArrayError;
use crate::grid::occupied_edges;
use crate::node::METADATA_KEY;
use crate::parallel;
use crate::store::Key;

/// Chunks that are decoded before the next are listed: memory does not grow with the array.
const BATCH: usize = 4096;

impl Walk<'_> {
    /// Goes through all objects below the array's prefix.
    pub(super) fn chunks(&mut self, array: &Array) -> Result<(), ArrayError> {
        let encoding = *array.metadata().chunk_key_encoding();
        let rank = array.shape().len();
        let data = self.options.data.then(|| Decoder::new(array));
        let mut batch: Vec<(Key, Vec<u64>)> = Vec::new();
        let mut findings = Vec::new();
        let mut failed = None;
        let mut chunks = 0_u64;
        let mut bytes = 0_u64;
        let mut decode = |batch: &mut Vec<(Key, Vec<u64>)>, findings: &mut Vec<Finding>| {
            let Some(decoder) = &data else { return Ok(()) };
            let read = decoder.run(batch, self.options, findings)?;
            bytes = bytes.saturating_add(read);
            batch.clear();
            Ok::<(), ArrayError>(())
        };
        array.store().list(array.prefix(), &mut |key| {
            let name = array.prefix().strip(&key).unwrap_or_default();
            if name == METADATA_KEY {
                return ControlFlow::Continue(());
            }
            if name == MARKER {
                let message = "a copy into this array was interrupted: resume it, or begin anew";
                findings.push(UNFINISHED.at(key.as_str(), message));
                return ControlFlow::Continue(());
            }
            let Some(index) = encoding.decode(name, rank) else {
                findings.push(STRAY.at(key.as_str(), "in an array, but no chunk's key"));
                return ControlFlow::Continue(());
            };
            chunks = chunks.saturating_add(1);
            let within = |counts: &[u64]| index.iter().zip(counts).all(|(chunk, n)| chunk < n);
            if !within(array.grid().declared()) {
                let message =
                    format!("chunk {index:?} of a grid of {:?} chunks", array.grid().declared());
                findings.push(OUTSIDE.at(key.as_str(), message));
            } else if !within(array.grid().occupied()) {
                let message = "wholly past the array's end; it shows again when the array grows";
                findings.push(PAST.at(key.as_str(), message));
            } else {
                batch.push((key, index));
            }
            if batch.len() >= BATCH
                && let Err(error) = decode(&mut batch, &mut findings)
            {
                failed = Some(error);
                return ControlFlow::Break(());
            }
            if data.is_none() {
                batch.clear();
            }
            ControlFlow::Continue(())
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        decode(&mut batch, &mut findings)?;
        self.summary.chunks = self.summary.chunks.saturating_add(chunks);
        self.summary.bytes = self.summary.bytes.saturating_add(bytes);
        findings.sort_by(|a, b| a.key.cmp(&b.key));
        findings.into_iter().for_each(|finding| self.found(finding));
        Ok(())
    }
}

/// Decodes the chunks of one array.
struct Decoder<'a> {
    array: &'a Array,
    /// The chain up to its array-to-bytes codec, to encode again what was decoded: what differs is
    /// not what a writer should have left. Shards may be laid out in many ways.
    canonical: Option<Chain>,
}

#[derive(Default)]
struct Buffers {
    encoded: Vec<u8>,
    decoded: Vec<u8>,
    again: Vec<u8>,
    scratch: Scratch,
    spare: Scratch,
}

impl<'a> Decoder<'a> {
    fn new(array: &'a Array) -> Self {
        let codecs = array.metadata().codecs();
        let leaf = codecs.iter().position(|codec| codec.kind() == Some(CodecKind::ArrayToBytes));
        let canonical = leaf.and_then(|leaf| {
            let codecs = codecs.get(..=leaf)?;
            let plain = !matches!(codecs.last(), Some(Codec::ShardingIndexed(_)) | None);
            let edges = occupied_edges(array.grid());
            let chain =
                Chain::bind_with(codecs, array.data_type(), &edges, Options::default()).ok()?;
            plain.then_some(chain)
        });
        Self { array, canonical }
    }

    /// Decodes a batch on several threads; the bytes that were read.
    fn run(
        &self,
        batch: &[(Key, Vec<u64>)],
        options: &super::CheckOptions,
        findings: &mut Vec<Finding>,
    ) -> Result<u64, ArrayError> {
        let found = Mutex::new((Vec::new(), 0_u64));
        let items = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        parallel::for_each(items, options.threads, Buffers::default, |buffers, range| {
            for item in range {
                let Some((key, index)) =
                    usize::try_from(item).ok().and_then(|item| batch.get(item))
                else {
                    continue;
                };
                let finding = self.chunk(key, index, buffers)?;
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                let read = u64::try_from(buffers.encoded.len()).unwrap_or(u64::MAX);
                found.1 = found.1.saturating_add(read);
                found.0.extend(finding);
            }
            Ok::<(), ArrayError>(())
        })?;
        let (more, bytes) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        findings.extend(more);
        Ok(bytes)
    }

    fn chunk(
        &self,
        key: &Key,
        index: &[u64],
        buffers: &mut Buffers,
    ) -> Result<Option<Finding>, ArrayError> {
        let array = self.array;
        if !array.store().get_into(key, &mut buffers.encoded)? {
            return Ok(None); // removed since it was listed
        }
        let grid = |source| ArrayError::Grid { key: key.to_string(), source };
        let mut shape = vec![0; index.len()];
        array.grid().chunk_shape(index, &mut shape).map_err(grid)?;
        let codec = array.chunk_codec(&shape)?;
        let mut clipped = vec![0; index.len()];
        array.grid().clipped_shape(index, &mut clipped).map_err(grid)?;
        if let Err(error) = decode(array, &codec, buffers) {
            if clipped != shape
                && let Ok(codec) = array.chain().for_shape(&clipped)
                && decode(array, &codec, buffers).is_ok()
            {
                let message = format!("stored as {clipped:?}, expected the full chunk {shape:?}");
                return Ok(Some(CLIPPED.at(key.as_str(), message)));
            }
            return match error {
                Decoding::Chunk(error) => Ok(Some(DECODE.at(key.as_str(), error.to_string()))),
                Decoding::Copy(error) => Err(error.into()),
            };
        }
        if clipped != shape
            && let Some(at) = past_end(&buffers.decoded, codec.shape(), &clipped, array.fill())
        {
            let message = format!(
                "element {at:?} of the chunk is past the array's end, and not the fill value; it \
                 shows again when the array grows"
            );
            return Ok(Some(OVERFLOW.at(key.as_str(), message)));
        }
        self.canonical(key, &shape, &codec, buffers)
    }

    /// Encodes the chunk again.
    fn canonical(
        &self,
        key: &Key,
        shape: &[u64],
        codec: &ChunkCodec,
        buffers: &mut Buffers,
    ) -> Result<Option<Finding>, ArrayError> {
        let Some(chain) = &self.canonical else { return Ok(None) };
        let Ok(plain) = chain.for_shape(shape) else { return Ok(None) };
        let Buffers { encoded, decoded, again, scratch, spare } = buffers;
        let whole = View::contiguous(codec.shape()).map_err(CopyError::from)?;
        // A chain that only reads has nothing to compare with.
        let Ok(content) = plain.encode(decoded, &whole, self.array.fill(), again, spare) else {
            return Ok(None);
        };
        if content == Encoded::Empty {
            let message = "nothing but the fill value; it need not be stored";
            return Ok(Some(FILL_ONLY.at(key.as_str(), message)));
        }
        let Ok(leaf) = codec.decompress(encoded, scratch) else { return Ok(None) };
        let differs = leaf.iter().zip(again.iter()).position(|(found, expected)| found != expected);
        Ok(differs.map(|byte| {
            let at = |bytes: &[u8]| bytes.get(byte).copied().unwrap_or_default();
            let message = format!(
                "byte {byte} is {:#04x}, expected {:#04x}: bits beyond the elements' own",
                at(leaf),
                at(again)
            );
            BITS.at(key.as_str(), message)
        }))
    }
}

/// The first element outside the box `clipped` at a chunk's start that is not the fill value.
fn past_end(elements: &[u8], shape: &[usize], clipped: &[u64], fill: &[u8]) -> Option<Vec<usize>> {
    let outer = shape.get(..shape.len().checked_sub(1)?)?;
    let is_past = |(at, end): (&usize, &u64)| u64::try_from(*at).is_ok_and(|at| at >= *end);
    let row = shape.last()?.checked_mul(fill.len())?;
    let within = usize::try_from(*clipped.last()?).ok()?;
    let mut index = vec![0; outer.len()];
    for row in elements.chunks_exact(row.max(1)) {
        let skipped = if index.iter().zip(clipped).any(is_past) { 0 } else { within };
        let mut row = row.chunks_exact(fill.len().max(1)).enumerate().skip(skipped);
        if let Some((at, _)) = row.find(|(_, element)| *element != fill) {
            index.push(at);
            return Some(index);
        }
        for (at, size) in index.iter_mut().zip(outer).rev() {
            *at = at.saturating_add(1);
            if *at < *size {
                break;
            }
            *at = 0;
        }
    }
    None
}

enum Decoding {
    Chunk(zarr_codec::ChunkError),
    Copy(CopyError),
}

/// Decodes the whole chunk that is in the buffers.
fn decode(array: &Array, codec: &ChunkCodec, buffers: &mut Buffers) -> Result<(), Decoding> {
    let copy = Decoding::Copy;
    let Buffers { encoded, decoded, scratch, .. } = buffers;
    let length = codec.elements().saturating_mul(array.element_size());
    if decoded.len() < length {
        *decoded = zarr_view::zeroed(length).map_err(copy)?;
    }
    decoded.truncate(length);
    let whole = View::contiguous(codec.shape()).map_err(|error| copy(error.into()))?;
    let everything: Vec<Slice> = codec.shape().iter().map(|size| (0..*size).into()).collect();
    let mut out = Output::new(decoded, &whole, array.element_size()).map_err(copy)?;
    codec.decode(encoded, &everything, &mut out, array.fill(), scratch).map_err(Decoding::Chunk)
}
