//! `zarr-kit plan`.

use std::ops::Range;

use serde_json::json;
use zarr_kit::codec::Slice;
use zarr_kit::grid::{AxisPart, Select, SelectionPart};
use zarr_kit::{Array, ArrayError};

use super::fetch::Fetch;
use super::read::region;
use crate::args::Plan;
use crate::error::CliError;
use crate::place::Place;
use crate::print::Out;
use crate::words;

/// Chunks that are listed in words; --json lists all.
const SHOWN: u64 = 50;

/// Byte ranges of one chunk that are listed in words.
const RANGES: usize = 3;

pub(super) fn run(args: &Plan) -> Result<(), CliError> {
    let place = Place::open(&args.array)?;
    let array = place.array()?;
    let region = region(&array, args.region.as_deref())?;
    let size = u128::try_from(array.element_size()).unwrap_or(u128::MAX);
    let failed = |source| place.failed(ArrayError::Grid { key: "zarr.json".to_owned(), source });
    let mut out = Out::stdout();
    let selects: Vec<Select<'_>> = region
        .axes()
        .iter()
        .zip(region.bounds())
        .map(|(axis, range)| Select::Step { range, step: axis.step.unsigned_abs() })
        .collect();
    let selection = array.grid().select(&selects).map_err(failed)?;
    let total = selection.len();
    let elements = region.axes().iter().fold(1_u128, |n, axis| n.saturating_mul(axis.count.into()));
    if !args.json {
        out.line(format_args!(
            "{} of {}, {}, from {}",
            words::counted(elements, "element"),
            array.data_type(),
            words::bytes(elements.saturating_mul(size)),
            words::counted(total, "chunk"),
        ))?;
    }
    let mut rows = Vec::new();
    let mut sum = Sum::default();
    let mut shown = 0;
    let mut parts = selection.parts();
    while let Some(part) = parts.next_part() {
        if !args.json && shown == SHOWN {
            break;
        }
        shown += 1;
        let part = Part::new(&place, &array, &part)?;
        if args.json {
            out.line(part.json())?;
        } else {
            sum.add(&part);
            rows.push([part.key.clone(), part.in_words(), part.reads_in_words()]);
        }
    }
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    for [chunk, part, reads] in &rows {
        out.line(format_args!("  {chunk:first$}  {part:second$}  {reads}"))?;
    }
    if !args.json && total > shown {
        let more = words::counted(total - shown, "more chunk");
        out.line(format_args!("  ... and {more}; --json lists all"))?;
    }
    if sum.stored > 0 {
        let listed = if total > shown { " of the chunks listed" } else { "" };
        out.line(format_args!(
            "reads {} in {}, of {} stored{listed}",
            words::bytes(sum.read.into()),
            words::counted(sum.requests, "request"),
            words::bytes(sum.stored.into()),
        ))?;
    }
    out.finish()
}

/// What is read of one chunk.
struct Part {
    chunk: Vec<u64>,
    chunk_shape: Vec<u64>,
    key: String,
    in_chunk: Vec<Slice>,
    in_region: Vec<[u64; 2]>,
    whole: bool,
    /// Bytes of the object, and which of them are read; `None` if it is not stored.
    stored: Option<(u64, Fetch)>,
}

impl Part {
    fn new(place: &Place, array: &Array, part: &SelectionPart<'_>) -> Result<Self, CliError> {
        let failed = |source| place.failed(source);
        let key = array
            .chunk_key(part.chunk)
            .map_err(|source| CliError::Key { place: place.shown.clone(), source })?;
        let (mut in_chunk, mut in_region) = (Vec::new(), Vec::new());
        for axis in part.axes {
            // A region selects with steps only. The codec has checked that the address space
            // holds the chunk.
            if let AxisPart::Step { in_chunk: start, step, in_selection, len } = *axis {
                let narrow = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
                in_chunk.push(Slice {
                    start: narrow(start),
                    count: narrow(len),
                    step: narrow(step),
                });
                in_region.push([in_selection, in_selection.saturating_add(len)]);
            }
        }
        let codec = array.chunk_codec(part.chunk_shape).map_err(failed)?;
        let stored = match array.store().size(&key)? {
            None => None,
            Some(size) if part.is_whole() => Some((size, Fetch::whole(size))),
            Some(size) => {
                let cost = array.range_cost();
                let fetch = Fetch::of(array, (&key, size), &codec, &in_chunk, cost);
                Some((size, fetch.map_err(failed)?))
            }
        };
        Ok(Self {
            chunk: part.chunk.to_vec(),
            chunk_shape: part.chunk_shape.to_vec(),
            key: key.to_string(),
            in_chunk,
            in_region,
            whole: part.is_whole(),
            stored,
        })
    }

    fn json(&self) -> serde_json::Value {
        let pair = |range: &Range<u64>| [range.start, range.end];
        let in_chunk: Vec<[usize; 2]> =
            self.in_chunk.iter().map(|slice| [slice.start, end(slice)]).collect();
        let mut line = json!({
            "chunk": self.chunk, "key": self.key, "chunk_shape": self.chunk_shape,
            "in_chunk": in_chunk, "in_region": self.in_region, "whole": self.whole,
            "stored_bytes": self.stored.as_ref().map(|(size, _)| size),
        });
        if self.in_chunk.iter().any(|slice| slice.step > 1) {
            let steps: Vec<usize> = self.in_chunk.iter().map(|slice| slice.step).collect();
            line["steps"] = json!(steps);
        }
        if let Some((_, fetch)) = &self.stored {
            line["reads"] = json!(fetch.elements.iter().map(pair).collect::<Vec<_>>());
            if let Some(index) = &fetch.index {
                line["shard_index"] = json!(pair(index));
            }
        }
        line
    }

    /// `28:31, 1:3 of 31 x 4`.
    fn in_words(&self) -> String {
        let ranges: Vec<String> = self
            .in_chunk
            .iter()
            .map(|slice| match slice.step {
                1 => format!("{}:{}", slice.start, end(slice)),
                step => format!("{}:{}:{step}", slice.start, end(slice)),
            })
            .collect();
        match ranges.is_empty() {
            true => "its one element".to_owned(),
            false => format!("{} of {}", ranges.join(", "), words::shape(&self.chunk_shape)),
        }
    }

    fn reads_in_words(&self) -> String {
        let Some((size, fetch)) = &self.stored else { return "not stored".to_owned() };
        if let ([all], None) = (fetch.elements.as_slice(), &fetch.index)
            && *all == (0..*size)
        {
            return format!("all {}", words::bytes((*size).into()));
        }
        let mut words: Vec<String> =
            fetch.index.iter().map(|range| format!("index {}", range_in_words(range))).collect();
        let listed = fetch.elements.iter().take(RANGES).map(range_in_words);
        match fetch.elements.len() {
            0 => {}
            n => {
                let more =
                    if n > RANGES { format!(" and {} more", n - RANGES) } else { String::new() };
                let listed = listed.collect::<Vec<_>>().join(", ");
                words.push(format!("bytes {listed}{more}"));
            }
        }
        let left_out = if fetch.elements.is_empty() { "; inner chunks left out" } else { "" };
        format!("{} of {}{left_out}", words.join(", "), words::bytes((*size).into()))
    }
}

/// After the last index of a slice.
fn end(slice: &Slice) -> usize {
    let last = slice.count.saturating_sub(1).saturating_mul(slice.step);
    if slice.count == 0 { slice.start } else { slice.start.saturating_add(last).saturating_add(1) }
}

fn range_in_words(range: &Range<u64>) -> String {
    format!("{}:{}", range.start, range.end)
}

/// What is asked of the store in all.
#[derive(Default)]
struct Sum {
    read: u64,
    requests: u64,
    stored: u64,
}

impl Sum {
    fn add(&mut self, part: &Part) {
        let Some((size, fetch)) = &part.stored else { return };
        self.stored = self.stored.saturating_add(*size);
        self.read = self.read.saturating_add(fetch.bytes());
        // All ranges of one object go into one request, the index into one before.
        let requests = u64::from(fetch.index.is_some()) + u64::from(!fetch.elements.is_empty());
        self.requests = self.requests.saturating_add(requests);
    }
}
