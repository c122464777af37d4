//! The objects of one array: which of them are chunks, and the content of those.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::ChunkLayout;
use zarr_array::OwnedChunks;
use zarr_array::node;
use zarr_array::parallel;
use zarr_array::unfinished::{MARKER, REARRANGE_MARKER, Unfinished};
use zarr_array::version_2;
use zarr_codec::{AnyChunkCodec, AxisEdges, VariableChunkCodec};
use zarr_metadata::{ChunkKeyEncoding, Codec, Separator};
use zarr_store::StoreExt as _;
use zarr_store::{Key, Links, Listing, MAX_KEY_LEN, ReadRange, Store, StoreError};

use crate::absent::{Sizes, Stored};
use crate::content::{ExamineError, Examiner, ExaminerBuffers};
use crate::finding::{
    CLIPPED, Finding, HIDDEN, MEMBER, OUTSIDE, PAST, STRAY, TEXT, UNEXAMINED, leads_nowhere,
    migrated, rule_of_chunk, shows_again, unexamined, unreadable,
};
use crate::hierarchy::{Walk, unfinished};
use crate::inner::InnerChunks;
use crate::options::CheckOptions;
use crate::rearranging::array_of;
use crate::summary::{CheckProgress, Report};
use crate::variable::examine_variable;

/// Chunks that are decoded before more are listed, so that memory does not grow with the array.
const BATCH: usize = 4096;

impl Walk<'_> {
    /// Checks all objects in this store of the array with this layout, and returns the findings. If the
    /// array is not open, because its elements cannot be read, only the keys are checked.
    pub(crate) fn chunks(
        &mut self,
        store: &Arc<dyn Store>,
        layout: &ChunkLayout,
        array: Option<&Array>,
        is_version_2: bool,
    ) -> Result<Vec<Finding>, ArrayError> {
        if let Some(array) = array
            && let Some(members) = array.members()
        {
            return self.members(array, members);
        }
        let owned = self.options.part.map(|part| {
            let chunks = part.chunks(layout.grid(), layout.prefix().as_str());
            chunks.map_err(|cause| ArrayError::Grid {
                key: node::metadata_key(layout.prefix()),
                cause,
            })
        });
        let owned = owned.transpose()?;
        let data = match array.filter(|_| self.options.data) {
            Some(array) => {
                Some(Decoder::new(array, self.options, self.watch.progress, owned.as_ref())?)
            }
            None => None,
        };
        let mut batch: Vec<(Key, Vec<u64>)> = Vec::new();
        // Findings in chunks, and findings of keys.
        let (mut findings, mut of_keys) = (Vec::new(), Vec::from_iter(long_keys(layout)));
        let mut strays: Vec<Key> = Vec::new();
        let mut moving = None;
        let mut chunks = 0_u64;
        let mut bytes = 0_u64;
        let mut decode = |batch: &mut Vec<(Key, Vec<u64>)>, findings: &mut Vec<Finding>| {
            let Some(decoder) = &data else { return Ok(()) };
            let read = decoder.run(batch, findings)?;
            bytes += read;
            batch.clear();
            Ok::<(), ArrayError>(())
        };
        // Where an array is not decoded, sizes alone tell some damage.
        let mut sizes = array.filter(|_| data.is_none()).map(Sizes::new);
        let is_whole = self.options.part.is_none() && !is_version_2;
        let mut stored = Stored::new(layout);
        let mut inner = array
            .filter(|_| is_whole && self.options.complete)
            .and_then(|array| InnerChunks::new(array, self.options));
        let mut is_all = true;
        // Chunks that are decoded need no sizes, and one that cannot be looked up would end the listing.
        let listing: Listing<'_, (Key, Option<u64>)> = match data.is_some() && inner.is_none() {
            true => {
                let keys = store.list(layout.prefix(), Links::Follow);
                Box::new(keys.map(|key| key.map(|key| (key, None))))
            }
            false => store.list_sized(layout.prefix()),
        };
        for listed in listing {
            let (key, size) = match listed {
                Ok(listed) => listed,
                Err(error) if error.is_of_one_object() => {
                    let key = node::metadata_key(layout.prefix());
                    of_keys.push(unexamined(key, format_args!("further chunks: {error}")));
                    is_all = false;
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            let name = layout.prefix().strip(&key).unwrap_or_default();
            if node::is_of_array(name, is_version_2) {
                continue;
            }
            if !is_version_2 && version_2::NAMES.contains(&name) {
                of_keys.push(migrated(&key));
                continue;
            }
            if name == MARKER {
                zarr_store::reached!("check: the marker of a copy");
                let copy = Unfinished::at(&**store, layout.prefix())?;
                of_keys.extend(copy.map(|copy| unfinished(&key, "array", copy.work)));
                continue;
            }
            if name == REARRANGE_MARKER {
                // Its chunks with other keys may have been listed before.
                let (rearrangement, other) = array_of(&**store, layout, &key)?;
                moving = other;
                of_keys.push(rearrangement);
                continue;
            }
            let Some(index) = layout.chunk_of_key(&key) else {
                strays.push(key);
                continue;
            };
            // A chunk that is none of the array's is the first part's.
            let is_first = self.options.is_first_part();
            let is_owned = owned.as_ref().is_none_or(|it| it.contains(&index).unwrap_or(is_first));
            if !is_owned {
                continue;
            }
            chunks += 1;
            if !layout.is_declared(&index) {
                zarr_store::reached!("check: a chunk outside of the grid");
                let message = format!(
                    "chunk {index:?} of a grid of {:?} chunks; {}",
                    layout.grid().declared(),
                    shows_again(is_version_2)
                );
                of_keys.push(Finding::new(OUTSIDE, message).with_key(key.as_str()));
            } else if !layout.is_occupied(&index) {
                zarr_store::reached!("check: a chunk past the end");
                let again = shows_again(is_version_2);
                let message = format!("wholly past the array's end; {again}");
                of_keys.push(Finding::new(PAST, message).with_key(key.as_str()));
            } else {
                if is_whole {
                    stored.add(&index);
                }
                if let Some(inner) = &mut inner {
                    inner.add(&key, &index, size)?;
                }
                if let Some(sizes) = &mut sizes {
                    findings.extend(sizes.check(&**store, &key, &index, size)?);
                }
                batch.push((key, index));
            }
            if batch.len() >= BATCH {
                decode(&mut batch, &mut findings)?;
            }
            if data.is_none() {
                batch.clear();
            }
        }
        decode(&mut batch, &mut findings)?;
        strays.retain(|key| {
            let name = layout.prefix().strip(key).unwrap_or_default();
            moving.as_ref().is_none_or(|keys| keys.decode(name, layout.grid().rank()).is_none())
                && !leads_nowhere(&**store, key)
        });
        of_keys.extend(self.strays(&strays, layout, is_version_2));
        if is_whole && is_all && moving.is_none() {
            of_keys.extend(stored.findings(self.options.complete));
        }
        if let Some(inner) = inner {
            of_keys.extend(inner.findings()?);
        }
        self.summary.chunks += chunks;
        self.summary.bytes += bytes;
        if self.options.is_first_part() {
            findings.append(&mut of_keys);
        }
        findings.sort_by(|a, b| a.key().cmp(&b.key()));
        Ok(findings.into_iter().map(|finding| placed(finding, layout)).collect())
    }
}

impl Walk<'_> {
    /// What is known of objects in an array that are not its chunks.
    fn strays(&self, keys: &[Key], layout: &ChunkLayout, is_version_2: bool) -> Vec<Finding> {
        let (mut findings, mut hidden) = (Vec::new(), Vec::<Hidden>::new());
        let rank = layout.grid().rank();
        for key in keys {
            let name = layout.prefix().strip(key).unwrap_or_default();
            let has = |index: &[u64]| layout.is_declared(index);
            let Some(encoding) = layout.key_encoding().other_with(name, rank, has) else {
                let message = "in an array, but no chunk's key";
                findings.push(Finding::new(STRAY, message).with_key(key.as_str()));
                continue;
            };
            match hidden.iter_mut().find(|known| known.encoding == encoding) {
                Some(known) => {
                    known.count += 1;
                    // Stores list in any order.
                    known.first = known.first.min(key);
                }
                None => hidden.push(Hidden { encoding, count: 1, first: key }),
            }
        }
        findings.extend(hidden.iter().map(|hidden| hidden.finding(is_version_2)));
        findings
    }
}

/// Chunks under keys of another encoding.
struct Hidden<'k> {
    encoding: ChunkKeyEncoding,
    count: u64,
    first: &'k Key,
}

impl Hidden<'_> {
    fn finding(&self, is_version_2: bool) -> Finding {
        let line = match self.encoding {
            ChunkKeyEncoding::V2 { separator } if is_version_2 => {
                let separator = if separator == Separator::Slash { "/" } else { "." };
                format!("\"dimension_separator\": \"{separator}\" in .zarray")
            }
            ref encoding => format!("\"chunk_key_encoding\": {} in zarr.json", encoding.to_json()),
        };
        let chunks = match self.count {
            1 => "a chunk under a key".to_owned(),
            count => format!("the first of {count} chunks under keys"),
        };
        let message = format!(
            "{chunks} of another encoding than the document's: they read as the fill value; {line} \
             makes them visible"
        );
        Finding::new(HIDDEN, message).with_key(self.first.as_str())
    }
}

/// Chunks with keys that are too long for any store do not exist for readers.
fn long_keys(layout: &ChunkLayout) -> Option<Finding> {
    let occupied = layout.grid().occupied();
    if occupied.contains(&0) {
        return None;
    }
    let last: Vec<u64> = occupied.iter().map(|count| count.saturating_sub(1)).collect();
    let name = layout.key_encoding().encode(&last);
    let slash = usize::from(!layout.prefix().is_root());
    let length = layout.prefix().as_str().len() + slash + name.len();
    let message = format!(
        "keys of chunks have up to {length} bytes; keys longer than {MAX_KEY_LEN} are not examined"
    );
    let finding = Finding::new(UNEXAMINED, message).with_key(node::metadata_key(layout.prefix()));
    (length > MAX_KEY_LEN).then_some(finding)
}

/// A finding, with the elements that its object holds if it is a chunk.
fn placed(finding: Finding, layout: &ChunkLayout) -> Finding {
    let region = || {
        let key = Key::new(finding.key()?).ok()?;
        let index = layout.chunk_of_key(&key).filter(|index| layout.is_occupied(index))?;
        let axes = layout.grid().axes().iter().zip(&index);
        axes.map(|(axis, chunk)| axis.clipped(*chunk)).collect::<Option<Vec<_>>>()
    };
    match region().filter(|_| finding.region().is_none()) {
        Some(region) => finding.with_region(layout.prefix().as_str(), region),
        None => finding,
    }
}

/// Decodes the chunks of one array.
struct Decoder<'a> {
    array: &'a Array,
    examiner: Examiner<'a>,
    options: &'a CheckOptions,
    progress: Option<Report<'a>>,
    /// Progress of the whole array, over all batches.
    so_far: Mutex<CheckProgress>,
    /// Locked while a chunk is examined that takes more memory than the part of one thread.
    large: Mutex<()>,
}

impl<'a> Decoder<'a> {
    fn new(
        array: &'a Array,
        options: &'a CheckOptions,
        progress: Option<Report<'a>>,
        owned: Option<&OwnedChunks>,
    ) -> Result<Self, ArrayError> {
        let axes = array.grid().axes().iter();
        let edges: Vec<_> = axes.map(|axis| AxisEdges::of(axis.distinct_edges())).collect();
        let examiner = Examiner::new(array, &edges, options.memory);
        let mut total = 0_u64;
        if progress.is_some() {
            for chunk in array.stored_chunks() {
                let chunk = chunk?;
                let is_owned = owned.is_none_or(|it| it.contains(&chunk.index) == Some(true));
                total += u64::from(chunk.occupied && is_owned);
            }
        }
        let so_far = Mutex::new(CheckProgress { total, ..CheckProgress::default() });
        let large = Mutex::new(());
        Ok(Self { array, examiner, options, progress, large, so_far })
    }

    /// The number of threads that can each hold the elements of one chunk of the batch.
    fn threads(&self, batch: &[(Key, Vec<u64>)]) -> NonZeroUsize {
        let memory = self.options.memory;
        let size = u64::try_from(self.array.element_size()).unwrap_or(u64::MAX);
        let bytes = |shape: &[u64]| shape.iter().fold(size, |n, size| n.saturating_mul(*size));
        // For a shard, count one inner chunk.
        let largest = match innermost(self.array.metadata().codecs()) {
            Some(shape) => bytes(shape),
            None => {
                let mut shape = vec![0; self.array.shape().len()];
                let chunks = batch.iter().filter_map(|(_, index)| {
                    self.array.grid().chunk_shape(index, &mut shape).ok()?;
                    Some(bytes(&shape)).filter(|bytes| *bytes <= memory)
                });
                chunks.max().unwrap_or(0)
            }
        };
        let most = memory.checked_div(largest).and_then(|most| usize::try_from(most).ok());
        let most = most.and_then(NonZeroUsize::new);
        // More threads than cores wait for a store that answers many requests at once.
        let in_flight = self.array.store().capabilities().requests_in_flight;
        let threads = self.options.threads.max(in_flight);
        // Larger than memory: not decoded, so a thread holds nothing.
        most.map_or(threads, |most| threads.min(most))
    }

    /// Reports that a chunk of this many bytes is done.
    fn tell(&self, bytes: u64) {
        let Some(progress) = self.progress else { return };
        let so_far = {
            let mut so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
            so_far.done += 1;
            so_far.bytes += bytes;
            *so_far
        };
        progress(self.array.prefix(), so_far);
    }

    /// Decodes a batch on several threads; returns the number of bytes read.
    fn run(
        &self,
        batch: &[(Key, Vec<u64>)],
        findings: &mut Vec<Finding>,
    ) -> Result<u64, ArrayError> {
        let found = Mutex::new((Vec::new(), 0_u64));
        let items = u64::try_from(batch.len()).unwrap_or(u64::MAX);
        let state = <(Vec<u8>, ExaminerBuffers)>::default;
        parallel::for_each(items, self.threads(batch), state, |(encoded, buffers), range| {
            for item in range {
                let Some((key, index)) =
                    usize::try_from(item).ok().and_then(|item| batch.get(item))
                else {
                    continue;
                };
                let findings = self.chunk(key, index, encoded, buffers)?;
                let read = u64::try_from(encoded.len()).unwrap_or(u64::MAX);
                {
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.1 += read;
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
        encoded: &mut Vec<u8>,
        buffers: &mut ExaminerBuffers,
    ) -> Result<Vec<Finding>, ArrayError> {
        let array = self.array;
        let grid = |cause| ArrayError::Grid { key: key.to_string(), cause };
        let mut shape = vec![0; index.len()];
        array.grid().chunk_shape(index, &mut shape).map_err(grid)?;
        let codec = match array.chunk_codec(&shape) {
            Ok(codec) => codec,
            Err(ArrayError::Chain { cause, .. }) => {
                encoded.clear();
                return Ok(vec![unexamined(key, cause.reason())]);
            }
            Err(error) => return Err(error),
        };
        match array.get_object(key, ReadRange::All, encoded) {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(Vec::new()), // removed since it was listed
            Err(ArrayError::Store(error @ StoreError::Modified(_))) => {
                encoded.clear();
                return Ok(vec![Finding::new(MEMBER, error.to_string()).with_key(key.as_str())]);
            }
            Err(ArrayError::Store(error)) if error.is_of_one_object() => {
                encoded.clear();
                return Ok(vec![unreadable(key, &error)]);
            }
            Err(error) => return Err(error),
        }
        let mut clipped = vec![0; index.len()];
        array.grid().clipped_shape(index, &mut clipped).map_err(grid)?;
        let codec = match codec {
            AnyChunkCodec::Fixed(codec) => codec,
            AnyChunkCodec::Variable(codec) => {
                return Ok(self.variable_chunk(key, encoded, &codec, &clipped));
            }
        };
        let end = (clipped != shape).then_some(clipped.as_slice());
        let found = |rule, message| Ok(vec![Finding::new(rule, message).with_key(key.as_str())]);
        match self.examiner.examine(&codec, encoded, end, buffers) {
            Ok(examined) => Ok(examined.findings(array, key)),
            Err(ExamineError::Unexamined(why)) => Ok(vec![unexamined(key, why)]),
            Err(ExamineError::Text(text)) => found(TEXT, text),
            Err(ExamineError::Chunk(error)) => {
                zarr_store::reached!("check: a damaged chunk");
                if end.is_some()
                    && let Ok(AnyChunkCodec::Fixed(codec)) = array.chunk_codec(&clipped)
                    && self.examiner.examine(&codec, encoded, None, buffers).is_ok()
                {
                    let message =
                        format!("stored as {clipped:?}, expected the full chunk {shape:?}");
                    return found(CLIPPED, message);
                }
                found(rule_of_chunk(error.kind()), error.to_string())
            }
        }
    }
}

impl Decoder<'_> {
    /// Examines a chunk of elements of variable length. Their memory is only known once they are
    /// decompressed. Each thread may use its part of one half of the memory, and one thread at a
    /// time the other half.
    fn variable_chunk(
        &self,
        key: &Key,
        encoded: &[u8],
        codec: &VariableChunkCodec,
        clipped: &[u64],
    ) -> Vec<Finding> {
        let half = self.options.memory / 2;
        let threads = u64::try_from(self.options.threads.get()).unwrap_or(u64::MAX);
        let part = half.checked_div(threads).unwrap_or(half);
        let examine = |limit| examine_variable(self.array, codec, key, encoded, clipped, limit);
        if let Some(findings) = examine(part) {
            return findings;
        }
        let _large = self.large.lock().unwrap_or_else(PoisonError::into_inner);
        examine(half)
            .unwrap_or_else(|| vec![unexamined(key, format!("elements of more than {half} bytes"))])
    }
}

/// The shape of the innermost chunks of shards.
fn innermost(codecs: &[Codec]) -> Option<&[u64]> {
    codecs.iter().find_map(|codec| match codec {
        Codec::ShardingIndexed(sharding) => {
            Some(innermost(&sharding.codecs).unwrap_or(&sharding.chunk_shape))
        }
        _ => None,
    })
}
