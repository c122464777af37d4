//! What the arguments of `rearrange` ask for.

use std::ops::Range;

use zarr_kit::{AxisSelection, Selection};

use crate::args::Rearrange;
use crate::error::CliError;

/// What the arguments ask for.
pub(super) enum Asked<'a> {
    /// These ranges, in this order.
    Kept(Vec<Range<u64>>),
    /// The array at a path, in front of an index.
    Inserted { path: &'a str, at: u64 },
}

/// Reads `--remove`, `--order`, or `--insert` and `--at`, for an axis of this length.
pub(super) fn asked(args: &Rearrange, length: u64) -> Result<Asked<'_>, CliError> {
    if let Some(text) = &args.remove {
        let mut removed = ranges("--remove", text, length)?;
        removed.sort_by_key(|range| range.start);
        let mut kept = Vec::new();
        let mut start = 0;
        for range in removed {
            if start < range.start {
                kept.push(start..range.start);
            }
            start = start.max(range.end);
        }
        kept.push(start..length);
        return Ok(Asked::Kept(kept));
    }
    if let Some(text) = &args.order {
        return Ok(Asked::Kept(ranges("--order", text, length)?));
    }
    let text = args.at.as_deref().unwrap_or_default();
    let path = args.insert.as_deref().unwrap_or_default();
    Ok(Asked::Inserted { path, at: index(text, length)? })
}

/// Parses `0:31,59:`.
fn ranges(option: &'static str, text: &str, length: u64) -> Result<Vec<Range<u64>>, CliError> {
    text.split(',')
        .map(|range| {
            let wrong = |cause: &dyn std::fmt::Display| CliError::argument(option, text, cause);
            if !range.contains(':') {
                return Err(wrong(&format_args!(
                    "{:?} is no range: ranges are START:STOP",
                    range.trim()
                )));
            }
            let selection = Selection::parse(range, &[length]).map_err(|cause| wrong(&cause))?;
            match selection.axes() {
                [AxisSelection::Range(range) | AxisSelection::Step { range, step: 1 }] => {
                    Ok(range.clone())
                }
                _ => Err(wrong(&"ranges have no step")),
            }
        })
        .collect()
}

/// Parses the index of an edge: as of a slice, the axis's length is one too.
fn index(text: &str, length: u64) -> Result<u64, CliError> {
    let wrong = |cause: &dyn std::fmt::Display| CliError::argument("--at", text, cause);
    let number: i128 = text.trim().parse().map_err(|_| wrong(&"an index is an integer"))?;
    let wide = i128::from(length);
    let at = if number < 0 { number.saturating_add(wide) } else { number };
    match u64::try_from(at) {
        Ok(at) if at <= length => Ok(at),
        _ => Err(wrong(&format_args!("the axis has indices 0 to {length}, its end included"))),
    }
}
