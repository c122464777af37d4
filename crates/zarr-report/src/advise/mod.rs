//! Which codecs, chunks and shards store an array best: they are tried on sampled chunks, and nothing
//! is taken from a table of names.
//!
//! Sizes are exact for the sample. Speeds are measured on one thread of this machine at this
//! moment. A chain that stores fewer bits than the type has is tried with the bits that the sample
//! needs. A value outside the sample that needs more bits is refused when it is written.
//!
//! [Chunks and shards](Shape) are compared if [reads](AdviceOptions::read) are given.

mod candidates;
mod encoded_chunk;
mod expected;
mod goal;
mod sample;
#[cfg(test)]
mod shape_trials;
mod shapes;
mod short;
#[cfg(test)]
mod tests;
mod trial;

use std::time::Duration;

use serde_json::{Value, json};
use zarr_array::{Array, Selection};
use zarr_metadata::{ArrayMetadata, Codec, DataType};

pub use self::goal::Goal;
pub use self::shapes::{Shape, ShapeRead, read_lengths};
pub use self::short::short;
pub use self::trial::Trial;

use self::sample::Sample;
use crate::bits::Bits;
use crate::readers::Readers;
use crate::{ReportError, Table, words};

/// How chains are tried.
///
/// # Examples
/// ```
/// use zarr_report::advise::{AdviceOptions, Goal};
///
/// let options = AdviceOptions::new().goal(Goal::Size).sample(1 << 20);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct AdviceOptions {
    goal: Goal,
    sample: u64,
    rate: u64,
    reads: Vec<Vec<u64>>,
    latency: Option<Duration>,
    memory: u64,
}

impl Default for AdviceOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl AdviceOptions {
    /// By the time to store and to read once, on 4 MiB, with a store of 200 MB/s.
    pub fn new() -> Self {
        Self {
            goal: Goal::Both,
            sample: 4 << 20,
            rate: 200_000_000,
            reads: Vec::new(),
            latency: None,
            memory: 256 << 20,
        }
    }

    /// Sets the goal by which the chains are compared.
    pub fn goal(mut self, goal: Goal) -> Self {
        self.goal = goal;
        self
    }

    /// Sets the bytes of elements that are sampled; at least one chunk is, or a part of a chunk that
    /// is much larger.
    pub fn sample(mut self, bytes: u64) -> Self {
        self.sample = bytes;
        self
    }

    /// Sets the store's bytes per second: the slower the store, the more small chunks count.
    pub fn rate(mut self, bytes: u64) -> Self {
        self.rate = bytes.max(1);
        self
    }

    /// Adds a read of these lengths, at any place of the array: chunks and shards are then compared by
    /// the time of all reads that were added. Each read counts by its ratio to the shape that is the best
    /// for it alone. See [`read_lengths`].
    pub fn read(mut self, lengths: impl Into<Vec<u64>>) -> Self {
        self.reads.push(lengths.into());
        self
    }

    /// Sets the time of a request to the store. By default 0.1 ms, or 20 ms of a remote store. From 1 ms
    /// on, the store is taken as a remote one: it answers many requests at once, and bytes that lie
    /// near each other are read as one range.
    pub fn latency(mut self, time: Duration) -> Self {
        self.latency = Some(time);
        self
    }

    /// Sets the most bytes of the elements of a chunk or shard; 256 MiB by default.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }
}

/// The chains that were tried on a sample of an array, the best one first.
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, Selection};
/// # use zarr_array::store::{MemoryStore, Prefix};
/// # use zarr_metadata::{ArrayBuilder, Codec, DataType};
/// use zarr_report::advise::{Advice, AdviceOptions, Goal};
///
/// let metadata = ArrayBuilder::new([4096], DataType::Uint16).codecs([Codec::bytes()]).build()?;
/// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
/// let samples: Vec<u8> = (0..4096_u16).flat_map(|n| (n * 7 % 4096).to_le_bytes()).collect();
/// array.write(0..4096, &samples)?;
/// let options = AdviceOptions::new().goal(Goal::Size);
/// let advice = Advice::of(&array, &Selection::whole(&[4096]), &options, &mut |_done, _all| {})?;
/// let plain = advice.trials().iter().find(|trial| trial.codecs == [Codec::bytes()]);
/// assert!(advice.best().bytes < plain.expect("is always tried").bytes);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Advice {
    options: AdviceOptions,
    sample: Sample,
    bits: Option<Bits>,
    trials: Vec<Trial>,
    shapes: Vec<Shape>,
    metadata: ArrayMetadata,
}

impl Advice {
    /// Tries chains on sampled chunks of a region. `progress` is called with the bytes
    /// tried so far and the number of all chains.
    ///
    /// # Errors
    /// [`ReportError::Nothing`] if the region has no elements, or no chunk other than of fill values;
    /// the array's error while it is read.
    pub fn of(
        array: &Array,
        region: &Selection,
        options: &AdviceOptions,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Self, ReportError> {
        let sample = Sample::read(array, region, options.sample)?;
        let bits = sample.bits(array.data_type());
        let candidates = candidates::of(array.metadata(), bits.as_ref(), options.goal);
        let bytes = |chains: usize| {
            u64::try_from(chains).unwrap_or(u64::MAX).saturating_mul(sample.bytes())
        };
        let harder = if options.goal == Goal::Read { HARDER } else { 0 };
        let all = bytes(candidates.len().saturating_add(harder));
        let (mut trials, mut done) = (Vec::new(), 0);
        let mut attempt = |candidates: Vec<Vec<Codec>>, trials: &mut Vec<Trial>| {
            for candidate in candidates {
                progress(bytes(done), all);
                done += 1;
                // A chain that this build lacks, or that does not keep the values, is none.
                trials.extend(trial::run(&sample, array.metadata(), candidate, options.goal)?);
            }
            let cost = |trial: &Trial| trial.cost(options.goal, options.rate);
            trials.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
            Ok::<(), ReportError>(())
        };
        attempt(candidates, &mut trials)?;
        if harder > 0 {
            attempt(self::harder(&trials, options), &mut trials)?;
        }
        progress(all, all);
        let Some(best) = trials.first() else {
            return Err(ReportError::Nothing { what: "no chain of this build stores them" });
        };
        let shapes = match options.reads.is_empty() {
            true => Vec::new(),
            false => shapes::of(array, options, best, &sample)?,
        };
        let (options, metadata) = (options.clone(), array.metadata().clone());
        Ok(Self { options, sample, bits, trials, shapes, metadata })
    }

    /// The chunks and shards that were tried with the best chain for the [reads](AdviceOptions::read),
    /// the advised ones first; none without reads.
    ///
    /// Of shapes whose reads take at most a fifth longer than the best, the one with the fewest
    /// objects is advised, and of these the one with the least memory. Sizes are those of sampled
    /// chunks, requests are those of an array with each chunk stored, whose indices are not known yet.
    #[must_use]
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The best chain for what a shape calls a chunk: within shards if the array is sharded.
    #[must_use]
    pub fn chunk_codecs(&self) -> &[Codec] {
        shapes::of_chunks(&self.best().codecs)
    }

    /// A heading and one line for each of the first shapes, with what is [said](Shape::line) of it, and
    /// the present one.
    #[must_use]
    pub fn shape_lines(&self) -> Vec<Vec<String>> {
        const SHOWN: usize = 6;
        let names = words::axis_names(&self.metadata);
        let title = |read: &Vec<u64>| {
            let axes = names.iter().zip(read).zip(self.metadata.shape());
            let parts = axes.filter(|((_, one), all)| one != all);
            let parts: Vec<String> =
                parts.map(|((name, one), _)| format!("{name}={one}")).collect();
            if parts.is_empty() { "whole".to_owned() } else { parts.join(",") }
        };
        let mut heading = ["chunks", "shards", "objects", "memory"].map(str::to_owned).to_vec();
        heading.extend(self.options.reads.iter().map(title));
        heading.push(String::new());
        let present = shapes::present(&self.metadata);
        let is_present = |shape: &Shape| {
            present
                .as_ref()
                .is_some_and(|(chunks, shards)| (chunks, shards) == (&shape.chunks, &shape.shards))
        };
        let shown = self.shapes.iter().enumerate();
        let shown = shown.filter(|(at, shape)| *at < SHOWN || is_present(shape));
        let line = |(_, shape): (usize, &Shape)| {
            let remark = if is_present(shape) { "the present ones" } else { "" };
            [shape.line(), vec![remark.to_owned()]].concat()
        };
        std::iter::once(heading).chain(shown.map(line)).collect()
    }

    /// The chains that were tried, the best one for the goal first.
    #[must_use]
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// The type of the elements.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        self.metadata.data_type()
    }

    /// The best chain for the goal.
    ///
    /// # Panics
    /// Never: at least one chain was tried.
    #[must_use]
    pub fn best(&self) -> &Trial {
        &self.trials[0]
    }

    /// The chain that stores the fewest bytes, the chain that encodes fastest and the chain that decodes
    /// fastest.
    fn first_by<T: PartialOrd>(&self, of: impl Fn(&Trial) -> T) -> usize {
        let numbered = self.trials.iter().enumerate();
        let least = numbered.reduce(|one, other| if of(other.1) < of(one.1) { other } else { one });
        least.map_or(0, |(at, _)| at)
    }

    /// Facts about the sample: chunks, bits, distinct values.
    #[must_use]
    pub fn evidence(&self) -> Table {
        let mut table = Table::default();
        let sample = &self.sample;
        let of = words::counted(sample.of, "chunk");
        let part = if sample.is_part { ", a part of it" } else { "" };
        table.row(
            "sample",
            format_args!(
                "{} of {of}{part}: {} of {}",
                words::count(sample.chunks()),
                words::bytes(sample.bytes().into()),
                words::data_type(self.data_type())
            ),
        );
        if sample.empty > 0 {
            let empty = words::counted(sample.empty, "chunk");
            table.row("empty", format_args!("{empty} looked at that need not be stored"));
        }
        for (name, row) in self.bits.iter().flat_map(Bits::rows) {
            table.row(name, row);
        }
        table
    }

    /// One line for each chain: codecs, stored bytes, their share, speeds, remarks.
    #[must_use]
    pub fn lines(&self) -> Vec<[String; 6]> {
        let whole = self.sample.bytes().max(1);
        let marks = [
            (self.first_by(|trial| trial.bytes), "smallest"),
            (self.first_by(|trial| trial.encode), "fastest to write"),
            (self.first_by(|trial| trial.decode), "fastest to read"),
        ];
        let row = |(at, trial): (usize, &Trial)| {
            let mut remarks: Vec<&str> =
                marks.iter().filter(|mark| mark.0 == at).map(|mark| mark.1).collect();
            if trial.codecs == self.metadata.codecs() {
                remarks.push("the present codecs");
            }
            let mut remarks = remarks.join(", ");
            let lacking = self.readers(trial).map(|readers| readers.lacking());
            if let Some(lacking) = lacking.filter(|lacking| !lacking.is_empty()) {
                let separator = if remarks.is_empty() { "" } else { "; " };
                remarks.push_str(&format!("{separator}not read by {}", lacking.join(", ")));
            }
            [
                short(&trial.codecs, self.data_type()),
                words::bytes(trial.bytes.into()),
                format!("{}%", trial.bytes.saturating_mul(100).div_ceil(whole)),
                speed(whole, trial.encode),
                speed(whole, trial.decode),
                remarks,
            ]
        };
        self.trials.iter().enumerate().map(row).collect()
    }

    /// Which other programs read an array that is stored with a chain of the trials.
    #[must_use]
    pub fn readers(&self, trial: &Trial) -> Option<Readers> {
        let metadata = self.metadata.with_codecs(&trial.codecs).ok()?;
        Some(Readers::of(&metadata))
    }

    /// The advice as one JSON document; `name` is the name of the array in it.
    #[must_use]
    pub fn json(&self, name: &str) -> Value {
        let trials = self.trials.iter().map(|trial| {
            json!({
                "codecs": short(&trial.codecs, self.data_type()),
                "chain": trial.codecs.iter().map(|codec| parsed(&codec.to_json())).collect::<Vec<_>>(),
                "bytes": trial.bytes,
                "encode_seconds": trial.encode.as_secs_f64(),
                "decode_seconds": trial.decode.as_secs_f64(),
                "current": trial.codecs == self.metadata.codecs(),
                "read_by": self.readers(trial).map(|readers| readers.json()),
            })
        });
        json!({
            "array": name,
            "goal": format!("{:?}", self.options.goal).to_lowercase(),
            "rate": self.options.rate,
            "sample": {
                "chunks": self.sample.chunks(), "of": self.sample.of, "bytes": self.sample.bytes(),
                "is_part": self.sample.is_part, "empty": self.sample.empty,
            },
            "bits": self.bits.as_ref().map(Bits::json),
            "trials": trials.collect::<Vec<_>>(),
            "reads": self.options.reads,
            "shapes": self.shapes.iter().map(Shape::json).collect::<Vec<_>>(),
        })
    }
}

/// The most chains whose compressors are set to find the fewest bytes, which takes long.
const HARDER: usize = 3;

/// The best chains to read, with harder settings: the others would not be the best with them.
fn harder(trials: &[Trial], options: &AdviceOptions) -> Vec<Vec<Codec>> {
    let cost = |trial: &Trial| trial.cost(options.goal, options.rate);
    let least = trials.first().map_or(0.0, cost);
    let near = trials.iter().take_while(|trial| cost(trial) < 1.5 * least);
    let mut found: Vec<Vec<Codec>> = Vec::new();
    for chain in near.filter_map(|trial| candidates::harder(&trial.codecs)) {
        if found.len() < HARDER
            && !found.contains(&chain)
            && !trials.iter().any(|trial| trial.codecs == chain)
        {
            found.push(chain);
        }
    }
    found
}

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or(Value::Null)
}

/// Bytes per second in words.
fn speed(bytes: u64, time: Duration) -> String {
    let rate = u128::from(bytes).saturating_mul(1_000_000_000) / time.as_nanos().max(1);
    match rate {
        0..10_000_000 => format!("{}.{} MB/s", rate / 1_000_000, rate / 100_000 % 10),
        10_000_000..1_000_000_000 => format!("{} MB/s", rate / 1_000_000),
        _ => format!("{}.{} GB/s", rate / 1_000_000_000, rate / 100_000_000 % 10),
    }
}
