//! `zarr-kit bench`: the engine as it is, with a store and codecs that count.

mod boxes;
mod counts;
mod reading;
mod report;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use zarr_kit::codec::{Meter, Metered, Options};
use zarr_kit::{Array, ArrayError, Selection};

use self::boxes::{Boxes, ChunkBox};
use self::counts::Counts;
use self::reading::Reading;
use self::report::{Report, Stages};
use crate::args::Bench;
use crate::error::CliError;
use crate::notation::region::region;
use crate::output::print::Out;
use crate::output::progress::Bar;
use crate::stores::node_store::NodeStore;

/// Bytes of elements that are read at a time, unless one chunk has more.
const BOX: u64 = 16 << 20;

/// The most bytes of elements of one chunk: more may not fit in memory.
const LARGEST: u64 = 1 << 30;

/// The assumed bytes of an element of variable length.
const TYPICAL: u64 = 64;

/// Small arrays are read again and again for this part of the limit, so that the clock has something
/// to measure.
const LEAST: u32 = 6;

pub(super) fn run(args: &Bench) -> Result<(), CliError> {
    let begun = Instant::now();
    let (counts, meter) = (Arc::new(Counts::default()), Meter::new());
    let mut place = NodeStore::open(&args.array)?;
    place.watch(counts.clone());
    let array = place.array_with(Options::new().meter(meter.clone()))?;
    let opened = begun.elapsed();
    let array = array.with_threads(args.threads);
    let region = region(&place, array.metadata(), args.region.as_deref())?;
    let failed = |cause| place.failed(cause);
    let selected = array.grid().select(region.axes());
    let chunks = selected.map_err(|cause| failed(ArrayError::Selection { cause }))?.len();
    let size = match array.data_type().is_variable_length() {
        true => TYPICAL,
        false => u64::try_from(array.element_size()).unwrap_or(u64::MAX),
    };
    let boxes = Boxes::new(array.grid(), &region, BOX / size.max(1));
    let largest = boxes.largest.saturating_mul(size);
    if largest > LARGEST {
        return Err(CliError::LargeChunk { place: place.shown, bytes: largest, limit: LARGEST });
    }
    let bar = Bar::new();
    let mut bench = Reader { array: &array, counts: &counts, bar: &bar, buffer: Vec::new() };
    let limit = Duration::from_secs(args.seconds.into());
    // Reads of opening do not count.
    counts.take();
    let mut first = bench.read("first read", boxes.clone(), chunks, limit).map_err(failed)?;
    first.rounds = u64::from(first.boxes > 0);
    let boxes = boxes.take(first.boxes);
    let again = bench.read_rounds("reading again", &boxes, &first, limit).map_err(failed)?;
    let alone = array.clone().with_threads(NonZeroUsize::MIN);
    let mut bench = Reader { array: &alone, ..bench };
    let before = meter.codecs();
    let once_more = bench.read_rounds("one thread", &boxes, &first, limit).map_err(failed)?;
    let codecs = since(&before, meter.codecs());
    bar.clear();
    // Members of a virtual join have stores and codecs of their own, which do not count.
    let is_join = array.members().is_some();
    let stages = Stages::new(&once_more, codecs, array.metadata().codecs());
    let report = Report {
        place: &place.shown,
        array: &array,
        region: &region,
        chunks,
        threads: args.threads,
        opened,
        first,
        again,
        stages: (!is_join).then_some(stages),
    };
    let mut out = Out::stdout();
    match args.json {
        true => out.json(&report.document())?,
        false => report.print(&mut out)?,
    }
    out.finish()
}

/// The work of the codecs since an earlier time.
fn since(before: &[Metered], mut now: Vec<Metered>) -> Vec<Metered> {
    for (now, before) in now.iter_mut().zip(before) {
        now.time = now.time.saturating_sub(before.time);
        now.calls = now.calls.saturating_sub(before.calls);
        now.encoded = now.encoded.saturating_sub(before.encoded);
        now.decoded = now.decoded.saturating_sub(before.decoded);
    }
    now
}

/// Reads boxes of an array, one after another.
struct Reader<'a> {
    array: &'a Array,
    counts: &'a Counts,
    bar: &'a Bar,
    /// Elements are read to the same memory each time.
    buffer: Vec<u8>,
}

impl Reader<'_> {
    /// Reads boxes until the time is over; a part of `chunks` is shown as progress.
    fn read(
        &mut self,
        name: &str,
        boxes: impl Iterator<Item = ChunkBox>,
        chunks: u64,
        limit: Duration,
    ) -> Result<Reading, ArrayError> {
        let mut reading = Reading::default();
        let begun = Instant::now();
        for part in boxes {
            let begun_box = Instant::now();
            let bytes = self.read_box(&part.region)?;
            reading.time += begun_box.elapsed();
            reading.boxes += 1;
            reading.chunks = reading.chunks.saturating_add(part.chunks);
            reading.elements =
                reading.elements.saturating_add(part.region.elements().unwrap_or(u64::MAX));
            reading.bytes = reading.bytes.saturating_add(bytes);
            self.bar.chunks(name, reading.chunks, chunks, reading.bytes);
            if begun.elapsed() >= limit {
                break;
            }
        }
        reading.fetched = self.counts.take();
        Ok(reading)
    }

    /// Reads all that the first read reached, again and again for a while.
    fn read_rounds<'b>(
        &mut self,
        name: &str,
        boxes: &(impl Iterator<Item = ChunkBox> + Clone + 'b),
        first: &Reading,
        limit: Duration,
    ) -> Result<Reading, ArrayError> {
        let mut all = Reading::default();
        if first.boxes == 0 {
            return Ok(all);
        }
        let begun = Instant::now();
        while all.rounds == 0 || begun.elapsed() < limit / LEAST {
            let left = limit.saturating_sub(begun.elapsed());
            let one = self.read(name, boxes.clone(), first.chunks, left)?;
            all.time += one.time;
            all.rounds += u64::from(one.boxes == first.boxes);
            all.boxes += one.boxes;
            all.chunks = all.chunks.saturating_add(one.chunks);
            all.elements = all.elements.saturating_add(one.elements);
            all.bytes = all.bytes.saturating_add(one.bytes);
            all.fetched = all.fetched.and(one.fetched);
            if one.boxes < first.boxes {
                break;
            }
        }
        Ok(all)
    }

    /// Reads a box, and gives the bytes of its elements.
    fn read_box(&mut self, region: &Selection) -> Result<u64, ArrayError> {
        let wide = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        if self.array.data_type().is_variable_length() {
            return Ok(wide(self.array.read_as::<Vec<u8>>(region)?.bytes().len()));
        }
        let size = wide(self.array.element_size());
        let bytes = region.elements().and_then(|elements| elements.checked_mul(size));
        let length = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        match length {
            // No memory is as large: the engine says so.
            None => Ok(wide(self.array.read(region)?.len())),
            Some(length) if length > self.buffer.len() => {
                // An error rather than an abort, if there is no memory for a chunk.
                self.buffer = Vec::new();
                self.buffer = self.array.read(region)?;
                Ok(wide(length))
            }
            Some(length) => {
                let buffer = self.buffer.get_mut(..length).unwrap_or_default();
                self.array.read_into(region, buffer)?;
                Ok(wide(length))
            }
        }
    }
}
