//! `zarr-kit draw`.
//!
//! A picture has one vertical and one horizontal axis. Axes with more chunks than a picture can
//! show are divided into cells of several chunks each, so the size of the picture does not grow
//! with the array. Stored chunks are counted per cell while the store is listed.

mod svg;
mod terminal;
pub(crate) mod values;

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Value, json};
use zarr_kit::array::ChunkLayout;
use zarr_kit::grid::Axis;
use zarr_kit::metadata::Codec;
use zarr_kit::{Array, ArrayError, ArrayMetadata, AxisSelection, Selection, Store};

use super::chunk_counts;
use crate::args::Draw;
use crate::chunks::axis_of;
use crate::error::CliError;
use crate::node_store::NodeStore;
use crate::print::{Out, note};
use crate::region::region;
use crate::words;

/// Cells per axis in an SVG picture.
const SVG_CELLS: u64 = 128;

pub(super) fn run(args: &Draw) -> Result<(), CliError> {
    let (kind, pictures) = match args.values {
        true => ("png", "pictures of values are PNG; use a name that ends in .png"),
        false => (
            "svg",
            "pictures of chunks are SVG, those of --values PNG; use a name that ends in .svg",
        ),
    };
    if let Some(path) = &args.output
        && path.extension().is_some_and(|extension| !extension.eq_ignore_ascii_case(kind))
    {
        return Err(CliError::argument("--output", &path.display().to_string(), pictures));
    }
    if args.values {
        return values::run(args);
    }
    let place = NodeStore::open(&args.array)?;
    let metadata = place.metadata()?;
    let layout = place.layout(&metadata)?;
    let axes = match &args.axes {
        Some(text) => named_axes(text, &metadata)?,
        None => cut_axes(&layout),
    };
    let marked = args.region.as_deref();
    let marked = marked.map(|text| region(&place, &metadata, Some(text))).transpose()?;
    let in_characters = args.output.is_none() && !args.json;
    let (down, across) = match in_characters {
        true => (terminal::ROWS, terminal::columns(metadata.shape(), axes)),
        false => (SVG_CELLS, SVG_CELLS),
    };
    // In the terminal a single axis fills several lines, and so has more cells.
    let most = match axes.0 {
        None if in_characters => (down, across.saturating_mul(down)),
        _ => (down, across),
    };
    let drawn = Drawn { metadata: &metadata, layout: &layout, axes, marked: marked.as_ref(), most };
    let picture = Picture::of(&place.shown, &place.store, &drawn);
    let picture = picture.map_err(|cause| place.failed(cause))?;
    if args.json {
        let mut out = Out::stdout();
        out.json(&picture.json(&metadata, &layout))?;
        return out.finish();
    }
    match &args.output {
        Some(path) => {
            let mut out = Out::file(path)?;
            out.bytes(svg::draw(&picture).as_bytes())?;
            out.finish()?;
            note(format_args!("drew {} to {}", place.shown, path.display()));
        }
        None => {
            let mut out = Out::stdout();
            terminal::draw(&picture, across, &mut out)?;
            out.finish()?;
        }
    }
    Ok(())
}

/// The picture of an array in pixels, with a region marked.
///
/// # Errors
/// The store's error while stored chunks are listed.
pub(crate) fn svg(
    shown: &str,
    array: &Array,
    marked: Option<&Selection>,
) -> Result<String, ArrayError> {
    let axes = cut_axes(array.layout());
    let (metadata, layout) = (array.metadata(), array.layout());
    let drawn = Drawn { metadata, layout, axes, marked, most: (SVG_CELLS, SVG_CELLS) };
    Ok(svg::draw(&Picture::of(shown, array.store(), &drawn)?))
}

/// The vertical and the horizontal axis.
type Axes = (Option<usize>, Option<usize>);

/// The last two axes that are divided into more than one chunk.
fn cut_axes(layout: &ChunkLayout) -> Axes {
    let axes = layout.grid().axes();
    let numbered = axes.iter().enumerate().rev();
    let mut cut = numbered.filter(|(_, axis)| axis.occupied() != 1).map(|(number, _)| number);
    let across = cut.next().or(axes.len().checked_sub(1));
    (cut.next(), across)
}

/// The axes that the user asked for.
fn named_axes(text: &str, metadata: &ArrayMetadata) -> Result<Axes, CliError> {
    let rank = metadata.shape().len();
    let names = metadata.dimension_names().unwrap_or_default();
    let wrong = |reason: String| CliError::argument("--axes", text, reason);
    let axes = text
        .split(',')
        .map(|name| axis_of(name.trim(), rank, names).map_err(|error| wrong(error.to_string())));
    let axes = axes.collect::<Result<Vec<_>, _>>()?;
    match axes.as_slice() {
        [across] => Ok((None, Some(*across))),
        [down, across] if down != across => Ok((Some(*down), Some(*across))),
        _ => Err(wrong("one axis or two different ones are allowed".to_owned())),
    }
}

/// What is to be drawn of an array.
struct Drawn<'a> {
    metadata: &'a ArrayMetadata,
    layout: &'a ChunkLayout,
    axes: Axes,
    marked: Option<&'a Selection>,
    /// The largest number of cells, vertically and horizontally.
    most: (u64, u64),
}

/// One of the two axes of a picture.
struct PictureAxis {
    /// The axis's name; `None` if the array has no such axis.
    name: Option<String>,
    extent: u64,
    /// Chunks that hold elements.
    chunks: u64,
    /// Chunks per cell; the last cell may have fewer.
    per_cell: u64,
    /// Elements of each cell.
    cells: Vec<Range<u64>>,
    /// The marked elements, ascending and disjoint; `None` without a region.
    marked: Option<Vec<Range<u64>>>,
    /// The length of an inner chunk, for shards.
    inner: Option<u64>,
}

impl PictureAxis {
    fn none() -> Self {
        let (name, marked, inner) = (None, None, None);
        Self { name, extent: 1, chunks: 1, per_cell: 1, cells: vec![0..1; 1], marked, inner }
    }

    fn of(axis: &Axis, name: String, most: u64) -> Self {
        let chunks = axis.occupied();
        let per_cell = chunks.div_ceil(most.max(1)).max(1);
        let mut cells = Vec::new();
        let mut chunk = 0;
        while chunk < chunks {
            let last = chunk.saturating_add(per_cell).min(chunks).saturating_sub(1);
            if let (Some(first), Some(last)) = (axis.clipped(chunk), axis.clipped(last)) {
                cells.push(first.start..last.end);
            }
            chunk = chunk.saturating_add(per_cell);
        }
        let (name, extent) = (Some(name), axis.extent());
        Self { name, extent, chunks, per_cell, cells, marked: None, inner: None }
    }

    /// `null` for a direction without an axis.
    fn json(&self) -> Value {
        let Some(name) = &self.name else { return Value::Null };
        let starts = self.cells.iter().map(|cell| cell.start);
        json!({
            "name": name, "length": self.extent, "chunks": self.chunks,
            "chunks_of_a_cell": self.per_cell, "cells": starts.collect::<Vec<_>>(),
            "inner_chunk": self.inner,
            "region": self.marked.as_deref().map(ends),
        })
    }

    fn is_marked(&self, cell: usize) -> Option<bool> {
        let marked = self.marked.as_ref()?;
        let cell = self.cells.get(cell)?;
        Some(marked.iter().any(|marked| cell.start < marked.end && marked.start < cell.end))
    }

    /// Chunks of a cell.
    fn chunks_of(&self, cell: usize) -> u64 {
        let cell = u64::try_from(cell).unwrap_or(u64::MAX);
        let start = cell.saturating_mul(self.per_cell);
        self.chunks.saturating_sub(start).min(self.per_cell)
    }
}

/// The marked indices. A list becomes its runs if they are few; a range with a step is marked
/// without its gaps.
fn runs(selection: &AxisSelection) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    if let AxisSelection::Indices(indices) = selection {
        let mut indices = indices.clone();
        indices.sort_unstable();
        for index in indices {
            let end = index.saturating_add(1);
            match runs.last_mut() {
                Some(run) if index <= run.end => run.end = end,
                _ => runs.push(index..end),
            }
        }
    }
    let few = usize::try_from(SVG_CELLS).unwrap_or(usize::MAX);
    if runs.is_empty() || runs.len() > few { vec![selection.bounds()] } else { runs }
}

/// The first and the last index.
fn ends(runs: &[Range<u64>]) -> [u64; 2] {
    let start = runs.first().map_or(0, |run| run.start);
    [start, runs.last().map_or(start, |run| run.end)]
}

/// How many chunks of a cell are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    None,
    Some,
    All,
}

struct Picture {
    place: String,
    title: String,
    down: PictureAxis,
    across: PictureAxis,
    /// Stored chunks of each cell, row by row.
    stored: Vec<u64>,
    /// The number of chunks on the axes that are not drawn, for each chunk that is.
    behind: u128,
    /// Notes on what is not drawn.
    notes: Vec<String>,
}

impl Picture {
    fn of(place: &str, store: &Arc<dyn Store>, drawn: &Drawn<'_>) -> Result<Self, ArrayError> {
        let Drawn { metadata, layout, axes, marked, most } = *drawn;
        let names = words::axis_names(metadata);
        let inner = inner_shape(metadata);
        let side = |axis: Option<usize>, most: u64| {
            let Some((number, axis)) =
                axis.and_then(|number| Some((number, layout.grid().axes().get(number)?)))
            else {
                return PictureAxis::none();
            };
            let mut side =
                PictureAxis::of(axis, names.get(number).cloned().unwrap_or_default(), most);
            side.marked =
                marked.map(|region| region.axes().get(number).map(runs).unwrap_or_default());
            side.inner = inner.as_ref().and_then(|shape| shape.get(number).copied());
            side
        };
        let (down, across) = (side(axes.0, most.0), side(axes.1, most.1));
        let mut notes = Vec::new();
        let mut behind = 1_u128;
        for (number, (axis, name)) in layout.grid().axes().iter().zip(&names).enumerate() {
            if Some(number) != axes.0 && Some(number) != axes.1 {
                behind = behind.saturating_mul(axis.occupied().into());
                notes.push(format!("not drawn: {name}, {}", words::axis(axis)));
            }
        }
        for side in [&down, &across] {
            if let (Some(name), 2..) = (&side.name, side.per_cell) {
                notes.push(format!("a cell is {} chunks of {name}", words::count(side.per_cell)));
            }
        }
        let mut stored = vec![0_u64; down.cells.len().saturating_mul(across.cells.len())];
        let cell = |index: &[u64], axis: Option<usize>, side: &PictureAxis| {
            let chunk = axis.map_or(Some(0), |axis| index.get(axis).copied())?;
            usize::try_from(chunk.checked_div(side.per_cell)?).ok()
        };
        for chunk in layout.stored_chunks(store) {
            let chunk = chunk?;
            if chunk.occupied
                && let Some(row) = cell(&chunk.index, axes.0, &down)
                && let Some(column) = cell(&chunk.index, axes.1, &across)
                && let Some(count) =
                    stored.get_mut(row.saturating_mul(across.cells.len()).saturating_add(column))
            {
                *count = count.saturating_add(1);
            }
        }
        let title =
            format!("{place}: {} of {}", metadata.data_type(), words::shape(metadata.shape()));
        let place = place.to_owned();
        Ok(Self { place, title, down, across, stored, behind, notes })
    }

    fn stored(&self, row: usize, column: usize) -> Stored {
        let at = row.saturating_mul(self.across.cells.len()).saturating_add(column);
        let found = u128::from(self.stored.get(at).copied().unwrap_or(0));
        let all = u128::from(self.down.chunks_of(row))
            .saturating_mul(self.across.chunks_of(column).into())
            .saturating_mul(self.behind);
        match found {
            0 => Stored::None,
            found if found < all => Stored::Some,
            _ => Stored::All,
        }
    }

    /// The picture as data: the start of each cell, and the number of its stored chunks.
    fn json(&self, metadata: &ArrayMetadata, layout: &ChunkLayout) -> Value {
        let rows = self.stored.chunks(self.across.cells.len().max(1));
        json!({
            "array": self.place, "data_type": metadata.data_type().name(), "shape": metadata.shape(),
            "chunks": chunk_counts(layout.grid()),
            "down": self.down.json(), "across": self.across.json(),
            "stored": rows.collect::<Vec<_>>(), "chunks_behind": self.behind, "notes": self.notes,
        })
    }

    /// Whether a cell holds marked elements.
    fn is_marked(&self, row: usize, column: usize) -> bool {
        match (self.down.is_marked(row), self.across.is_marked(column)) {
            (None, None) => false,
            (down, across) => down != Some(false) && across != Some(false),
        }
    }
}

/// The shape of the inner chunks of shards, if the axes of the array are those of the shard.
fn inner_shape(metadata: &ArrayMetadata) -> Option<Vec<u64>> {
    match metadata.codecs().first()? {
        Codec::ShardingIndexed(sharding) => Some(sharding.chunk_shape.clone()),
        _ => None,
    }
}
