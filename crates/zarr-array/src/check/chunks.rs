//! The objects of one array: which of them are chunks, and what is in those.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use zarr_codec::{ChunkCodec, Scratch, Slice};
use zarr_view::{CopyError, Output, View};

use super::finding::{BITS, CLIPPED, FILL_ONLY, Finding, OUTSIDE, OVERFLOW, PAST, Rule, STRAY};
use super::hierarchy::{Walk, unfinished};
use super::shards::{Canonical, Content};
use super::{Progress, Report};
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
        let data = match self.options.data {
            true => Some(Decoder::new(array, self.progress)?),
            false => None,
        };
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
                findings.push(unfinished(&key, "array"));
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
    canonical: Option<Canonical>,
    progress: Option<Report<'a>>,
    /// Of the whole array, over all batches.
    so_far: Mutex<Progress>,
}

#[derive(Default)]
pub(super) struct Buffers {
    pub(super) encoded: Vec<u8>,
    pub(super) decoded: Vec<u8>,
    pub(super) again: Vec<u8>,
    pub(super) scratch: Scratch,
    pub(super) spare: Scratch,
}

impl<'a> Decoder<'a> {
    fn new(array: &'a Array, progress: Option<Report<'a>>) -> Result<Self, ArrayError> {
        let edges = occupied_edges(array.grid());
        let canonical = Canonical::new(array.metadata().codecs(), array.data_type(), &edges);
        let mut total = 0_u64;
        if progress.is_some() {
            array.stored_chunks(&mut |chunk| {
                total = total.saturating_add(chunk.occupied.into());
                ControlFlow::Continue(())
            })?;
        }
        let so_far = Mutex::new(Progress { total, ..Progress::default() });
        Ok(Self { array, canonical, progress, so_far })
    }

    /// A chunk of so many bytes is done.
    fn tell(&self, bytes: u64) {
        let Some(progress) = self.progress else { return };
        let so_far = {
            let mut so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
            so_far.done = so_far.done.saturating_add(1);
            so_far.bytes = so_far.bytes.saturating_add(bytes);
            *so_far
        };
        progress(self.array.prefix(), so_far);
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
                let findings = self.chunk(key, index, buffers)?;
                let read = u64::try_from(buffers.encoded.len()).unwrap_or(u64::MAX);
                {
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.1 = found.1.saturating_add(read);
                    found.0.extend(findings);
                }
                self.tell(read);
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
    ) -> Result<Vec<Finding>, ArrayError> {
        let array = self.array;
        if !array.store().get_into(key, &mut buffers.encoded)? {
            return Ok(Vec::new()); // removed since it was listed
        }
        let grid = |cause| ArrayError::Grid { key: key.to_string(), cause };
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
                return Ok(vec![CLIPPED.at(key.as_str(), message)]);
            }
            return match error {
                Decoding::Chunk(error) => {
                    let rule = Rule::of_chunk(error.kind());
                    Ok(vec![rule.at(key.as_str(), error.to_string())])
                }
                Decoding::Copy(error) => Err(error.into()),
            };
        }
        let mut found = Vec::new();
        if clipped != shape
            && let Some(at) = past_end(&buffers.decoded, codec.shape(), &clipped, array.fill())
        {
            let message = format!(
                "element {at:?} of the chunk is past the array's end, and not the fill value; it \
                 shows again when the array grows"
            );
            found.push(OVERFLOW.at(key.as_str(), message));
        }
        if let Some(canonical) = &self.canonical {
            found.extend(findings(key, canonical.inspect(array, &shape, &codec, buffers)?));
        }
        Ok(found)
    }
}

/// What a chunk's content comes to.
fn findings(key: &Key, content: Content) -> Vec<Finding> {
    match content {
        Content::Empty => {
            let message = "nothing but the fill value; it need not be stored";
            vec![FILL_ONLY.at(key.as_str(), message)]
        }
        Content::Bits(bits) => {
            vec![BITS.at(key.as_str(), format!("{bits}: bits beyond the elements' own"))]
        }
        Content::Shard { empty, bits } => {
            let more = |others: u64| match others {
                0 => String::new(),
                1 => ", and 1 more inner chunk".to_owned(),
                n => format!(", and {n} more inner chunks"),
            };
            let mut findings = Vec::new();
            if let Some((first, others)) = empty {
                let message = format!(
                    "inner chunk {first:?}{}: nothing but the fill value; need not be stored",
                    more(others)
                );
                findings.push(FILL_ONLY.at(key.as_str(), message));
            }
            if let Some(((first, found), others)) = bits {
                let message = format!(
                    "inner chunk {first:?}, {found}{}: bits beyond the elements' own",
                    more(others)
                );
                findings.push(BITS.at(key.as_str(), message));
            }
            findings
        }
        Content::Canonical => Vec::new(),
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

pub(super) enum Decoding {
    Chunk(zarr_codec::ChunkError),
    Copy(CopyError),
}

/// Decodes the whole chunk that is in the buffers.
pub(super) fn decode(
    array: &Array,
    codec: &ChunkCodec,
    buffers: &mut Buffers,
) -> Result<(), Decoding> {
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
