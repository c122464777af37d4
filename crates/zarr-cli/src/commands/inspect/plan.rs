//! `zarr-kit plan`.

use std::ops::Range;

use serde_json::{Value, json};
use zarr_kit::AxisSelection;
use zarr_kit::array::store::StoreExt as _;
use zarr_kit::array::{PlannedChunk, PlannedReads};
use zarr_kit::metadata::Printable;
use zarr_kit::report::words;

use crate::args::Plan;
use crate::error::{CliError, remedy};
use crate::notation::region::region;
use crate::output::print::Out;
use crate::stores::node_store::NodeStore;

/// The most chunks that are listed in text; --json lists all.
const SHOWN: u64 = 50;

/// The most chunks with reads that are added up in text, if a size is quick and if it is a request;
/// --json adds up all.
const COUNTED: u64 = 20_000;
const COUNTED_BY_REQUESTS: u64 = 500;

/// The most byte ranges per chunk that are listed in text.
const RANGES: usize = 3;

/// The most indices of a list that are listed in text.
const INDICES: usize = 6;

pub(crate) fn run(args: &Plan) -> Result<(), CliError> {
    let place = NodeStore::open(&args.array)?;
    let metadata = place.metadata()?;
    let layout = place.layout(&metadata)?;
    let array = place.bind(metadata.clone());
    let region = region(&place, &metadata, args.region.as_deref())?;
    let size = metadata.data_type().size();
    let size = size.map(|size| u64::try_from(size).unwrap_or(u64::MAX));
    let failed = |cause| place.failed(cause);
    let mut out = Out::stdout();
    let plan = layout.plan(&region).map_err(failed)?;
    let total = plan.len();
    let elements = region.axes().iter().fold(1_u128, |n, axis| n.saturating_mul(axis.len().into()));
    if !args.json {
        let bytes = size.map(|size| words::bytes(elements.saturating_mul(size.into())));
        out.line(format_args!(
            "{} of {}{}, from {}",
            words::counted(elements, "element"),
            metadata.data_type(),
            bytes.map_or_else(String::new, |bytes| format!(", {bytes}")),
            words::counted(total, "chunk"),
        ))?;
    }
    let mut rows = Vec::new();
    let mut sum = Sum::default();
    let most = if place.opened.is_quick() { COUNTED } else { COUNTED_BY_REQUESTS };
    let counted = if args.json { total } else { total.min(most) };
    if args.json {
        // Chunks are printed as they are planned: there may be more than memory could hold.
        let array = Value::from(place.shown.as_str());
        out.json_part(format_args!("{{\"array\":{array},\"elements\":{elements},\"chunks\":["))?;
    }
    let mut next = 0;
    while next < counted {
        let step = next..next.saturating_add(SHOWN).min(counted);
        let first = step.start;
        next = step.end;
        for chunk in plan.chunks(step).map_err(failed)? {
            let reads = match &array {
                Ok(array) => chunk.reads(array).map_err(failed)?.map(Stored::Read),
                Err(_) => {
                    let key = layout.key(&chunk.chunk).map_err(|cause| place.failed(cause))?;
                    let size = place.store.size(&key).map_err(|cause| place.failed(cause))?;
                    size.map(Stored::Unread)
                }
            };
            sum.add(reads.as_ref());
            if args.json {
                let comma = if sum.chunks == 1 { "" } else { "," };
                out.json_part(format_args!("{comma}\n{}", json(&chunk, size, reads.as_ref())))?;
            } else if first < SHOWN {
                let reads = reads_in_words(reads.as_ref());
                rows.push([Printable(&chunk.key).to_string(), in_words(&chunk), reads]);
            }
        }
    }
    if args.json {
        let Sum { read, requests, stored, .. } = sum;
        out.json_part(format_args!(
            "\n],\"read_bytes\":{read},\"requests\":{requests},\"stored_bytes\":{stored}}}\n"
        ))?;
        return out.finish();
    }
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    for [chunk, part, reads] in &rows {
        out.line(format_args!("  {chunk:first$}  {part:second$}  {reads}"))?;
    }
    if let Some(more) = total.checked_sub(SHOWN).filter(|more| *more > 0) {
        let more = words::counted(more, "more chunk");
        out.line(format_args!("  ... and {more}; --json lists all"))?;
    }
    if let Err(cause) = &array {
        out.line(format_args!("not readable: {}", remedy::of_array(cause)))?;
    } else if sum.stored > 0 {
        let part = match total > counted {
            true => format!(" for the first {} chunks; --json adds up all", words::count(counted)),
            false => String::new(),
        };
        out.line(format_args!(
            "reads {} in {}, of {} stored{part}",
            words::bytes(sum.read.into()),
            words::counted(sum.requests, "request"),
            words::bytes(sum.stored.into()),
        ))?;
    }
    out.finish()
}

/// A stored chunk.
enum Stored {
    /// The bytes of it that a read requests.
    Read(PlannedReads),
    /// Its size in bytes, for an array with unreadable elements.
    Unread(u64),
}

fn json(chunk: &PlannedChunk, size: Option<u64>, stored: Option<&Stored>) -> Value {
    let pair = |range: &Range<u64>| [range.start, range.end];
    let bounds = |axes: &[AxisSelection]| -> Vec<[u64; 2]> {
        axes.iter().map(|axis| pair(&axis.bounds())).collect()
    };
    let mut line = json!({
        "chunk": chunk.chunk, "key": chunk.key, "chunk_shape": chunk.chunk_shape,
        "in_chunk": bounds(&chunk.in_chunk), "in_region": bounds(&chunk.in_selection), "whole": chunk.is_whole,
        "needed_bytes": size.map(|size| chunk.elements.saturating_mul(size)),
        "stored_bytes": stored.map(|stored| match stored {
            Stored::Read(reads) => reads.stored_bytes,
            Stored::Unread(bytes) => *bytes,
        }),
    });
    let steps: Vec<i64> = chunk.in_chunk.iter().map(step).collect();
    if steps.iter().any(|step| *step > 1) {
        line["steps"] = json!(steps);
    }
    let lists = |axes: &[AxisSelection]| -> Vec<Value> { axes.iter().map(list).collect() };
    if chunk.in_chunk.iter().any(|axis| !list(axis).is_null()) {
        line["indices_in_chunk"] = json!(lists(&chunk.in_chunk));
        line["indices_in_region"] = json!(lists(&chunk.in_selection));
    }
    if let Some(Stored::Read(reads)) = stored {
        line["reads"] = json!(reads.ranges.iter().map(pair).collect::<Vec<_>>());
        if let Some(index) = &reads.index {
            line["shard_index"] = json!(pair(index));
        }
    }
    line
}

/// Formats `28:31, 1:3 of 31 x 4`.
fn in_words(chunk: &PlannedChunk) -> String {
    let ranges: Vec<String> = chunk
        .in_chunk
        .iter()
        .map(|axis| match (axis, axis.bounds()) {
            (AxisSelection::Indices(indices), _) => list_in_words(indices),
            (AxisSelection::Step { step, .. }, bounds) => {
                format!("{}:{step}", range_in_words(&bounds))
            }
            (_, bounds) => range_in_words(&bounds),
        })
        .collect();
    match ranges.is_empty() {
        true => "its one element".to_owned(),
        false => format!("{} of {}", ranges.join(", "), words::shape(&chunk.chunk_shape)),
    }
}

fn reads_in_words(stored: Option<&Stored>) -> String {
    let reads = match stored {
        Some(Stored::Read(reads)) => reads,
        Some(Stored::Unread(bytes)) => return format!("{} stored", words::bytes((*bytes).into())),
        None => return "not stored".to_owned(),
    };
    let size = reads.stored_bytes;
    if let ([all], None) = (reads.ranges.as_slice(), &reads.index)
        && *all == (0..size)
    {
        return format!("all {}", words::bytes(size.into()));
    }
    let mut words: Vec<String> =
        reads.index.iter().map(|range| format!("index {}", range_in_words(range))).collect();
    let listed = reads.ranges.iter().take(RANGES).map(range_in_words);
    match reads.ranges.len() {
        0 => {}
        n => {
            let more = if n > RANGES { format!(" and {} more", n - RANGES) } else { String::new() };
            let listed = listed.collect::<Vec<_>>().join(", ");
            words.push(format!("bytes {listed}{more}"));
        }
    }
    let left_out = if reads.ranges.is_empty() { "; inner chunks left out" } else { "" };
    format!("{} of {}{left_out}", words.join(", "), words::bytes(size.into()))
}

fn step(axis: &AxisSelection) -> i64 {
    match axis {
        AxisSelection::Step { step, .. } => *step,
        _ => 1,
    }
}

/// The indices of a list; `null` for a range.
fn list(axis: &AxisSelection) -> Value {
    match axis {
        AxisSelection::Indices(indices) => json!(indices),
        _ => Value::Null,
    }
}

/// Formats `[3, 0, 7]`, cut if there are many.
fn list_in_words(indices: &[u64]) -> String {
    let mut words: Vec<String> = indices.iter().take(INDICES).map(u64::to_string).collect();
    if indices.len() > INDICES {
        words.push(format!("... of {}", words::count(indices.len())));
    }
    format!("[{}]", words.join(", "))
}

fn range_in_words(range: &Range<u64>) -> String {
    format!("{}:{}", range.start, range.end)
}

/// The total of the requests to the store.
#[derive(Default)]
struct Sum {
    chunks: u64,
    read: u64,
    requests: u64,
    stored: u64,
}

impl Sum {
    fn add(&mut self, stored: Option<&Stored>) {
        self.chunks += 1;
        let Some(Stored::Read(reads)) = stored else { return };
        self.stored = self.stored.saturating_add(reads.stored_bytes);
        self.read = self.read.saturating_add(reads.bytes());
        self.requests += reads.requests();
    }
}
