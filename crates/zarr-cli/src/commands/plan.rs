//! `zarr-kit plan`.

use serde_json::json;

use super::read::region;
use crate::args::Plan;
use crate::error::CliError;
use crate::place::Place;
use crate::print::Out;
use crate::words;

/// Chunks that are listed in words; --json lists all.
const SHOWN: u64 = 50;

pub(super) fn run(args: &Plan) -> Result<(), CliError> {
    let place = Place::open(&args.array)?;
    let array = place.array()?;
    let region = region(&array, args.region.as_deref())?;
    let size = u128::try_from(array.element_size()).unwrap_or(u128::MAX);
    let failed =
        |source| place.failed(zarr_kit::ArrayError::Grid { key: "zarr.json".to_owned(), source });
    let key = |source| CliError::Key { place: place.shown.clone(), source };
    let mut out = Out::stdout();
    let mut chunks = array.grid().chunks(&region.bounds()).map_err(failed)?;
    let total = chunks.len();
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
    let mut shown = 0;
    while let Some(part) = chunks.next_part() {
        if !args.json && shown == SHOWN {
            break;
        }
        shown += 1;
        let chunk_key = array.chunk_key(part.chunk).map_err(key)?;
        let stored = array.store().size(&chunk_key)?;
        if args.json {
            let ends = |starts: &[u64]| -> Vec<[u64; 2]> {
                let ends = starts.iter().zip(part.shape);
                ends.map(|(start, length)| [*start, start.saturating_add(*length)]).collect()
            };
            let line = json!({
                "chunk": part.chunk, "key": chunk_key.as_str(), "chunk_shape": part.chunk_shape,
                "in_chunk": ends(part.in_chunk), "in_bounds": ends(part.in_region),
                "whole": part.is_whole(), "stored_bytes": stored,
            });
            out.line(line)?;
            continue;
        }
        let ranges: Vec<String> = part
            .in_chunk
            .iter()
            .zip(part.shape)
            .map(|(start, length)| format!("{start}:{}", start.saturating_add(*length)))
            .collect();
        let stored = match stored {
            Some(size) => words::bytes(size.into()),
            None => "not stored".to_owned(),
        };
        rows.push([
            chunk_key.to_string(),
            stored,
            format!("{} of {}", ranges.join(", "), words::shape(part.chunk_shape)),
        ]);
    }
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    for [chunk, stored, part] in &rows {
        out.line(format_args!("  {chunk:first$}  {stored:>second$}  {part}"))?;
    }
    if !args.json && total > shown {
        let more = words::counted(total - shown, "more chunk");
        out.line(format_args!("  ... and {more}; --json lists all"))?;
    }
    out.finish()
}
