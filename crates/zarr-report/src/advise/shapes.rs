//! Which chunks and shards suit the ways in which an array is read.
//!
//! All shapes are compared by the number of chunks that a read touches on average, which is a
//! product over the axes. The best ones are tried: elements of the array are encoded in chunks of the
//! shape, and the planner of reads says what it would request of such an array.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::time::Duration;

use serde_json::{Value, json};
use zarr_array::Array;
use zarr_metadata::{ArrayMetadata, ChunkGrid, Codec};

use super::AdviceOptions;
use super::encoded_chunk::EncodedChunk;
use super::expected;
use super::sample::Sample;
use super::trial::{self, Trial};
use crate::{ReportError, words};

/// The most lengths of chunks on all axes together that are compared.
const COMPARED: usize = 50_000;

/// Shapes of chunks that are tried on the data, and layouts for which reads are planned.
const TRIED: usize = 8;
const PLANNED: usize = 24;

/// The most chunks in a shard: its index has 16 bytes for each, and each read of a part reads it.
const IN_SHARD: u64 = 1 << 14;

/// The requests that are in flight at once to a remote store, and the time of one.
const FAR: (NonZeroUsize, Duration) =
    (NonZeroUsize::MIN.saturating_add(63), Duration::from_millis(20));

/// The time of a request to local files.
const NEAR: Duration = Duration::from_micros(100);

/// A request that takes this long is one to a remote store.
const FAR_FROM: Duration = Duration::from_millis(1);

/// Chunks and shards that were tried for the [reads](AdviceOptions::read) of an array.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shape {
    /// The lengths of a chunk.
    pub chunks: Vec<u64>,
    /// The lengths of a shard that holds such chunks; `None` if each chunk is an object.
    pub shards: Option<Vec<u64>>,
    /// Chunks or shards in the whole array.
    pub objects: u64,
    /// Bytes in memory of the elements of one object: a write of less rewrites the object.
    pub memory: u64,
    /// What each of the reads takes, in their order.
    pub reads: Vec<ShapeRead>,
    /// The time of the reads as multiples of the shortest of all shapes, on average.
    pub score: f64,
}

/// What a read takes on average, over places all over the array.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShapeRead {
    /// Requests, as `plan` counts them.
    pub requests: f64,
    /// Bytes that are read.
    pub bytes: f64,
    /// Seconds for requests, bytes and the decoding on one thread.
    pub seconds: f64,
}

/// The lengths of a read such as `lat=16,lon=16`: axes by name or number, the others whole. `whole`
/// is the whole array.
///
/// # Errors
/// [`ReportError::Region`] if an axis is unknown or given twice, or a length is not from 1 to the
/// length of the axis.
///
/// # Examples
/// ```
/// use zarr_metadata::{ArrayBuilder, DataType};
/// use zarr_report::advise::read_lengths;
///
/// let array = ArrayBuilder::new([365, 90, 180], DataType::Int16);
/// let array = array.dimension_names(["time", "lat", "lon"]).build()?;
/// assert_eq!(read_lengths("lat=16,lon=16", &array)?, [365, 16, 16]);
/// assert_eq!(read_lengths("whole", &array)?, [365, 90, 180]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_lengths(text: &str, metadata: &ArrayMetadata) -> Result<Vec<u64>, ReportError> {
    let wrong = |reason: String| Err(ReportError::Region(format!("reads {text:?}: {reason}")));
    let (shape, names) = (metadata.shape(), words::axis_names(metadata));
    let mut lengths: Vec<Option<u64>> = vec![None; shape.len()];
    for entry in text.split(',').filter(|_| text.trim() != "whole") {
        let Some((name, length)) = entry.split_once('=') else {
            return wrong(format!("{entry:?} is not of the form axis=length"));
        };
        let name = name.trim();
        let named: Vec<usize> = (0..names.len()).filter(|axis| names[*axis] == name).collect();
        let axis = match named.as_slice() {
            [axis] => Some(*axis),
            [] => name.parse().ok().filter(|axis| *axis < shape.len()),
            _ => return wrong(format!("several axes are named {name:?}: give a number")),
        };
        let Some(axis) = axis else {
            return wrong(format!("no axis is named {name:?}; the axes are {}", names.join(", ")));
        };
        let all = shape[axis];
        match length.trim().parse() {
            Ok(length) if (1..=all).contains(&length) => {
                if lengths[axis].replace(length).is_some() {
                    return wrong(format!("axis {name} is given twice"));
                }
            }
            _ => return wrong(format!("{name}={length}: a length from 1 to {all} is allowed")),
        }
    }
    Ok(lengths.into_iter().zip(shape).map(|(given, all)| given.unwrap_or(*all)).collect())
}

/// Numbers that are compared, and shown with three digits.
#[expect(clippy::cast_precision_loss, reason = "compared, and shown with three digits")]
pub(super) fn real(number: u64) -> f64 {
    number as f64
}

pub(super) fn product(lengths: &[u64]) -> u64 {
    lengths.iter().fold(1, |all, length| all.saturating_mul(*length))
}

pub(super) fn objects(shape: &[u64], lengths: &[u64]) -> u64 {
    shape.iter().zip(lengths).fold(1, |all, (axis, one)| all.saturating_mul(axis.div_ceil(*one)))
}

/// The chunks of these lengths that a read touches on average over all of its places.
pub(super) fn touched(shape: &[u64], chunk: &[u64], read: &[u64]) -> f64 {
    let axes = shape.iter().zip(chunk).zip(read);
    axes.map(|((all, chunk), read)| {
        // The sum of floor(n / chunk) for n below a number: below 2^128, as n times whole is.
        let sum = |n: u64| {
            let (whole, rest) = (u128::from(n / chunk), u128::from(n % chunk));
            u128::from(*chunk) * whole * whole.saturating_sub(1) / 2 + whole * rest
        };
        let (places, last) = (all - read + 1, read - 1);
        #[expect(clippy::cast_precision_loss, reason = "an average")]
        let more = (sum(*all) - sum(last) - sum(places)) as f64;
        1.0 + more / real(places)
    })
    .product()
}

/// What is compared: the array, its reads, and what a request, a byte and an element cost.
struct Costs<'a> {
    shape: &'a [u64],
    reads: &'a [Vec<u64>],
    latency: f64,
    in_flight: NonZeroUsize,
    rate: f64,
    /// Bytes of an element in memory, its stored bytes, and the seconds to decode it.
    element: f64,
    stored: f64,
    decode: f64,
    memory: u64,
}

impl Costs<'_> {
    /// Seconds until requests to so many objects are answered, with some requests to each in turn: the
    /// first one, and each further one by its share of those that are in flight.
    fn waiting(&self, objects: f64, requests: f64) -> f64 {
        let at_once = real(u64::try_from(self.in_flight.get()).unwrap_or(u64::MAX));
        let turns = 1.0 + (objects - 1.0).max(0.0) / at_once;
        if objects > 0.0 { self.latency * turns * requests / objects } else { 0.0 }
    }

    /// About the seconds of each read.
    fn about(&self, chunks: &[u64], shards: Option<&[u64]>) -> Vec<f64> {
        let elements = real(product(chunks));
        let of = |read: &Vec<u64>| {
            let chunks = touched(self.shape, chunks, read);
            let objects = shards.map_or(chunks, |shards| touched(self.shape, shards, read));
            let requests = if shards.is_some() { 2.0 * objects } else { objects };
            let index = shards.map_or(0.0, |shards| 16.0 * real(product(shards)) / elements);
            let bytes = chunks * elements * self.stored + objects * index;
            self.waiting(objects, requests) + bytes / self.rate + chunks * elements * self.decode
        };
        self.reads.iter().map(of).collect()
    }

    fn memory_of(&self, lengths: &[u64]) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let bytes = (real(product(lengths)) * self.element) as u64;
        bytes
    }

    /// Shards of such chunks: within the memory and a fourth, a sixteenth of it, as cubes and as rows
    /// along each axis.
    fn shards_of(&self, chunks: &[u64]) -> Vec<Vec<u64>> {
        let mut found: Vec<Vec<u64>> = Vec::new();
        for divisor in [1, 4, 16] {
            for first in std::iter::once(None).chain((0..chunks.len()).map(Some)) {
                let shard = self.shard_of(chunks, self.memory / divisor, first);
                if shard != chunks && !found.contains(&shard) {
                    found.push(shard);
                }
            }
        }
        found
    }

    /// The largest shard within the memory, doubled along `first` while it can be, then along the axis
    /// with the most shards.
    fn shard_of(&self, chunks: &[u64], memory: u64, first: Option<usize>) -> Vec<u64> {
        let mut shard = chunks.to_vec();
        loop {
            let left = |axis: &usize| self.shape[*axis].div_ceil(shard[*axis]);
            let can = |axis: &usize| {
                let mut more = shard.clone();
                more[*axis] = more[*axis].saturating_mul(2);
                left(axis) > 1
                    && self.memory_of(&more) <= memory
                    && objects(&more, chunks) <= IN_SHARD
            };
            let most = || (0..chunks.len()).filter(can).max_by_key(left);
            let Some(axis) = first.filter(can).or_else(most) else { return shard };
            shard[axis] *= 2;
        }
    }

    /// The lengths of chunks to compare: halves of each axis, the reads and their doubles, and those of
    /// the array. If these are too many, the axes with the most lengths lose some.
    fn chunks(&self, present: Option<&[u64]>) -> Vec<Vec<u64>> {
        // Steps of 2^16, 2^8, 2^4 before those between: the first ones are spread.
        let mut powers: Vec<u32> = (1..64).collect();
        powers.sort_by_key(|power| Reverse(power.trailing_zeros()));
        let lengths = |(axis, all): (usize, &u64)| {
            let reads = || self.reads.iter().map(move |read| read[axis]);
            let mut lengths = vec![1];
            lengths.extend(reads());
            lengths.push(*all);
            lengths.extend(present.map(|chunks| chunks[axis].min(*all)));
            for power in powers.iter().filter(|power| all >> **power > 0) {
                lengths.push(all.div_ceil(1 << power));
                lengths.extend(reads().filter_map(|read| read.checked_mul(1 << power)));
            }
            let mut seen = BTreeSet::new();
            lengths.retain(|length| length <= all && seen.insert(*length));
            lengths
        };
        let mut axes: Vec<Vec<u64>> = self.shape.iter().enumerate().map(lengths).collect();
        let count = |axes: &[Vec<u64>]| axes.iter().map(Vec::len).fold(1, usize::saturating_mul);
        while count(&axes) > COMPARED {
            let Some(longest) = axes.iter_mut().max_by_key(|axis| axis.len()) else { break };
            longest.pop();
        }
        axes.iter_mut().for_each(|axis| axis.sort_unstable());
        let mut all: Vec<Vec<u64>> = vec![Vec::new()];
        for axis in &axes {
            let with = |start: &Vec<u64>| {
                let start = start.clone();
                axis.iter().map(move |length| [&start[..], &[*length]].concat())
            };
            all = all.iter().flat_map(with).filter(|c| self.memory_of(c) <= self.memory).collect();
        }
        all
    }
}

/// The time of reads as multiples of the shortest ones, on average.
fn score(times: &[f64], shortest: &[f64]) -> f64 {
    let ratios = times.iter().zip(shortest).map(|(time, least)| time / least.max(1e-12));
    ratios.sum::<f64>() / real(u64::try_from(times.len()).unwrap_or(u64::MAX)).max(1.0)
}

fn shortest<'t>(all: impl Iterator<Item = &'t Vec<f64>>) -> Vec<f64> {
    let least =
        |one: Vec<f64>, other: &Vec<f64>| one.iter().zip(other).map(|(a, b)| a.min(*b)).collect();
    let mut all = all;
    let first = all.next().cloned().unwrap_or_default();
    all.fold(first, least)
}

/// The best of some layouts by about the time of their reads.
fn best_about<T: Clone>(all: Vec<(T, Vec<f64>)>, most: usize) -> Vec<T> {
    let least = shortest(all.iter().map(|(_, times)| times));
    let mut scored: Vec<(f64, T)> =
        all.into_iter().map(|(layout, times)| (score(&times, &least), layout)).collect();
    scored.sort_by(|one, other| one.0.total_cmp(&other.0));
    scored.into_iter().take(most).map(|(_, layout)| layout).collect()
}

/// A layout: chunks and shards.
type Layout = (Vec<u64>, Option<Vec<u64>>);

/// The chain of what is a chunk here: of the innermost chunks of shards.
pub(super) fn of_chunks(codecs: &[Codec]) -> &[Codec] {
    match codecs {
        [Codec::ShardingIndexed(sharding)] => of_chunks(&sharding.codecs),
        chain => chain,
    }
}

/// The chunks and shards of a document, if they have one length on each axis, and if a shard holds
/// chunks, as many as are compared at most.
pub(super) fn present(metadata: &ArrayMetadata) -> Option<Layout> {
    let ChunkGrid::Regular { chunk_shape: outer } = metadata.chunk_grid() else { return None };
    let (mut inner, mut codecs) = (None, metadata.codecs());
    if let [Codec::ShardingIndexed(sharding)] = codecs {
        (inner, codecs) = (Some(&sharding.chunk_shape), &sharding.codecs);
    }
    // A shard of shards is no layout that is compared.
    if matches!(codecs, [Codec::ShardingIndexed(_)]) {
        return None;
    }
    let Some(inner) = inner else { return Some((outer.clone(), None)) };
    // A document may declare any number of chunks in a shard.
    (objects(outer, inner) <= IN_SHARD).then(|| (inner.clone(), Some(outer.clone())))
}

/// The shapes that were tried, the advised one first: of those whose reads take at most a fifth longer
/// than the best, the one with the fewest objects, then the least memory.
pub(super) fn of(
    array: &Array,
    options: &AdviceOptions,
    best: &Trial,
    sample: &Sample,
) -> Result<Vec<Shape>, ReportError> {
    let metadata = array.metadata();
    if array.shape().is_empty() {
        return Err(ReportError::Nothing { what: "an array without axes has one chunk" });
    }
    for read in &options.reads {
        let axes = read.len() == array.shape().len();
        if !axes || read.iter().zip(array.shape()).any(|(one, all)| !(1..=*all).contains(one)) {
            let (read, shape) = (words::shape(read), words::shape(array.shape()));
            let reason = format!("a read of {read} is none of an array of {shape}");
            return Err(ReportError::Region(reason));
        }
    }
    let elements = sample.taken.iter().map(|(region, _)| region.elements().unwrap_or(u64::MAX));
    let (bytes, elements) = (real(sample.bytes()), real(elements.sum::<u64>().max(1)));
    let store = array.store().capabilities().requests_in_flight;
    let latency = options.latency.unwrap_or(if store.get() > 1 { FAR.1 } else { NEAR });
    let in_flight = match latency >= FAR_FROM {
        true if store.get() > 1 => store,
        true => FAR.0,
        false => NonZeroUsize::MIN,
    };
    let costs = Costs {
        shape: array.shape(),
        reads: &options.reads,
        latency: latency.as_secs_f64(),
        in_flight,
        rate: real(options.rate),
        element: bytes / elements,
        stored: real(best.bytes) / elements,
        decode: best.decode.as_secs_f64() / elements,
        memory: options.memory,
    };
    let layout = present(metadata);
    let codecs = of_chunks(&best.codecs);
    let chunks = costs.chunks(layout.as_ref().map(|(chunks, _)| &chunks[..]));
    let about = |chunks: Vec<u64>| {
        let shard = costs.shard_of(&chunks, costs.memory, None);
        let times = [costs.about(&chunks, None), costs.about(&chunks, Some(&shard))];
        let times = shortest(times.iter());
        (chunks, times)
    };
    let chunks = best_about(chunks.into_iter().map(about).collect(), TRIED);
    let mut layouts: Vec<(Layout, Vec<f64>)> = Vec::new();
    for chunks in chunks {
        let shards = costs.shards_of(&chunks);
        let all = std::iter::once(None).chain(shards.into_iter().map(Some));
        layouts.extend(all.map(|shards| {
            let times = costs.about(&chunks, shards.as_deref());
            ((chunks.clone(), shards), times)
        }));
    }
    let mut layouts = best_about(layouts, PLANNED);
    layouts.extend(layout.filter(|layout| !layouts.contains(layout)));
    // Each read of a chunk much larger than the sample takes all of it.
    let part = sample.is_part.then(|| trial::in_memory(sample, metadata)).flatten();
    let from = part.as_ref().unwrap_or(array);
    let mut known: Vec<(Vec<u64>, Option<EncodedChunk>)> = Vec::new();
    let mut found = Vec::new();
    for (chunks, shards) in layouts {
        let at = known.iter().position(|(of, _)| *of == chunks);
        let at = match at {
            Some(at) => at,
            None => {
                let (data, bytes) = (&sample.data, options.sample);
                let count = real(product(&chunks));
                // No object is shorter than a byte.
                let (encoded, decode) = ((costs.stored * count).max(1.0), costs.decode * count);
                let about = EncodedChunk { encoded, decode };
                let tried = EncodedChunk::tried(from, data, bytes, codecs, &chunks, about)?;
                known.push((chunks.clone(), tried));
                known.len() - 1
            }
        };
        let Some(chunk) = known[at].1 else { continue };
        let object = shards.as_ref().unwrap_or(&chunks);
        let mut shape = Shape {
            objects: objects(array.shape(), object),
            memory: costs.memory_of(object),
            chunks,
            shards,
            reads: Vec::new(),
            score: 0.0,
        };
        let unwritten = expected::array(metadata, codecs, &shape, chunk.encoded, in_flight);
        let Some(unwritten) = unwritten else {
            continue;
        };
        for read in &options.reads {
            let asked = expected::requests(&unwritten, read)?;
            let decode = asked.bytes / chunk.encoded * chunk.decode;
            let waiting = costs.waiting(asked.objects, asked.requests);
            let seconds = waiting + asked.bytes / costs.rate + decode;
            let (requests, bytes) = (asked.requests, asked.bytes);
            shape.reads.push(ShapeRead { requests, bytes, seconds });
        }
        found.push(shape);
    }
    let times = |shape: &Shape| shape.reads.iter().map(|read| read.seconds).collect::<Vec<_>>();
    let least = shortest(found.iter().map(times).collect::<Vec<_>>().iter());
    found.iter_mut().for_each(|shape| shape.score = score(&times(shape), &least));
    found.sort_by(|one, other| one.score.total_cmp(&other.score));
    // The present layout is compared, and may take more memory than is allowed.
    let allowed = || found.iter().enumerate().filter(|(_, shape)| shape.memory <= options.memory);
    let most = allowed().next().map_or(0.0, |(_, shape)| 1.2 * shape.score);
    let near = allowed().take_while(|(_, shape)| shape.score <= most);
    let advised = near.min_by_key(|(_, shape)| (shape.objects, shape.memory)).map(|(at, _)| at);
    match advised {
        Some(at) => found[..=at].rotate_right(1),
        None => {
            return Err(ReportError::Nothing {
                what: "no chunk of the codecs is within the memory",
            });
        }
    }
    Ok(found)
}

impl Shape {
    /// The cells of a line: chunks, shards, objects, memory, then each read; numbers as `copy` takes them.
    #[must_use]
    pub fn line(&self) -> Vec<String> {
        let lengths =
            |lengths: &[u64]| lengths.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let shards = self.shards.as_deref().map_or("-".to_owned(), lengths);
        let mut cells = vec![
            lengths(&self.chunks),
            shards,
            words::count(self.objects),
            words::bytes(self.memory.into()),
        ];
        cells.extend(self.reads.iter().map(|read| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
            let bytes = words::bytes(read.bytes.round() as u128);
            format!("{:.1} req, {bytes}, {:.1} ms", read.requests, 1e3 * read.seconds)
        }));
        cells
    }

    pub(super) fn json(&self) -> Value {
        let reads = self.reads.iter().map(
            |read| json!({"requests": read.requests, "bytes": read.bytes, "seconds": read.seconds}),
        );
        json!({
            "chunks": self.chunks, "shards": self.shards, "objects": self.objects,
            "memory": self.memory, "score": self.score, "reads": reads.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests;
