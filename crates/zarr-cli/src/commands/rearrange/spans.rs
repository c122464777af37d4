//! The spans of the new axis that the arguments ask for.

use std::ops::Range;

use zarr_kit::AxisSelection;
use zarr_kit::array::store::place_below;
use zarr_kit::join::rearrange::Span;

use crate::args::Rearrange;
use crate::error::CliError;
use crate::notation::region::NamedAxis;
use crate::stores::node_store::NodeStore;

/// The axis that is rearranged.
pub(super) struct Axis<'a> {
    /// The array beside which the labels are.
    place: NodeStore,
    number: usize,
    name: Option<&'a str>,
    length: u64,
}

impl<'a> Axis<'a> {
    /// Of an array.
    pub(super) fn of_array(
        args: &Rearrange,
        number: usize,
        names: &'a [Option<String>],
        length: u64,
    ) -> Result<Self, CliError> {
        let name = names.get(number).and_then(Option::as_deref);
        Ok(Self { place: NodeStore::open(&args.array)?, number, name, length })
    }

    /// Of all arrays of a group.
    pub(super) fn of_group(args: &'a Rearrange, length: u64) -> Result<Self, CliError> {
        // A number is the name of no coordinate.
        let coordinate = match args.axis.parse::<i64>() {
            Ok(_) => None,
            Err(_) => Some(NodeStore::open(&place_below(&args.array, &args.axis))),
        };
        let (place, name) = match coordinate {
            // Without a coordinate there are no labels.
            None | Some(Err(CliError::Missing { .. })) => (NodeStore::open(&args.array)?, None),
            Some(place) => (place?, Some(args.axis.as_str())),
        };
        Ok(Self { place, number: 0, name, length })
    }

    /// Reads `--remove`, `--order`, or `--insert` and `--at`, and opens the inserted nodes.
    pub(super) fn spans<T>(
        &self,
        args: &Rearrange,
        mut inserted: impl FnMut(&NodeStore) -> Result<T, CliError>,
    ) -> Result<Vec<Span<T>>, CliError> {
        if let Some(text) = &args.remove {
            let mut removed = self.ranges("--remove", text)?;
            removed.sort_by_key(|range| range.start);
            let mut kept = Vec::new();
            let mut start = 0;
            for range in removed {
                if start < range.start {
                    kept.push(Span::Kept(start..range.start));
                }
                start = start.max(range.end);
            }
            kept.push(Span::Kept(start..self.length));
            return Ok(kept);
        }
        if let Some(text) = &args.order {
            return Ok(self.ranges("--order", text)?.into_iter().map(Span::Kept).collect());
        }
        let at = self.edge(args.at.as_deref().unwrap_or_default())?;
        let mut spans = vec![Span::Kept(0..at)];
        for path in &args.insert {
            spans.push(Span::Inserted(inserted(&NodeStore::open(path)?)?));
        }
        spans.push(Span::Kept(at..self.length));
        Ok(spans)
    }

    /// Parses `0:31,59:` and `2012-01,2012-03:`.
    fn ranges(&self, option: &'static str, text: &str) -> Result<Vec<Range<u64>>, CliError> {
        text.split(',')
            .map(|entry| {
                let wrong = |cause: &dyn std::fmt::Display| CliError::argument(option, text, cause);
                if entry.trim().parse::<i128>().is_ok() {
                    return Err(wrong(&format_args!(
                        "{:?} is no range: ranges are START:STOP",
                        entry.trim()
                    )));
                }
                match self.select(option, text, entry)? {
                    AxisSelection::Range(range) | AxisSelection::Step { range, step: 1 } => {
                        Ok(range)
                    }
                    // Of a label.
                    AxisSelection::Index(index) => Ok(index..index.saturating_add(1)),
                    _ => Err(wrong(&"ranges have no step")),
                }
            })
            .collect()
    }

    fn select(
        &self,
        option: &'static str,
        text: &str,
        entry: &str,
    ) -> Result<AxisSelection, CliError> {
        let Self { place, number, name, length } = self;
        NamedAxis { place, option, text, number: *number, name: *name, length: *length }
            .select(entry)
    }

    /// Parses the index of an edge, or a label: its edge is before the label's first index. As in a
    /// slice, the axis's length is an index too, with the name `end`.
    fn edge(&self, text: &str) -> Result<u64, CliError> {
        let (length, text) = (self.length, text.trim());
        let wrong = |cause: &dyn std::fmt::Display| CliError::argument("--at", text, cause);
        if text == "end" {
            return Ok(length);
        }
        if let Ok(number) = text.parse::<i128>() {
            let at = if number < 0 { number.saturating_add(length.into()) } else { number };
            return u64::try_from(at).ok().filter(|at| *at <= length).ok_or_else(|| {
                wrong(&format_args!("the axis has indices 0 to {length}, its end included"))
            });
        }
        if self.name.is_none() {
            return Err(wrong(&"an index or end is allowed: the axis has no labels"));
        }
        match self.select("--at", text, text)? {
            AxisSelection::Index(index) => Ok(index),
            AxisSelection::Range(range) => Ok(range.start),
            _ => Err(wrong(&"one label is allowed")),
        }
    }
}
