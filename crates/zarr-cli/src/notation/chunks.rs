//! The notation of chunks on the command line.
//!
//! ```text
//! 100,64                      regular: every chunk 100 by 64
//! time=31|28|31x2,x=100       an axis by name: edges with | between them, xN for a run
//! [100, 64]                   JSON: a chunk shape,
//! [[31, 28, [31, 2]], 100]    the edges of each axis,
//! {"name": "regular", ...}    or a whole chunk grid
//! ```
//!
//! Numbers alone make a regular grid, any list of edges a rectilinear one. A number stays a
//! single number, even next to lists (SD-04); `31x1` is a list of one edge.

use std::num::NonZeroU64;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use zarr_kit::ArrayMetadata;
use zarr_kit::grid::Grid;
use zarr_kit::metadata::{ChunkEdges, ChunkGrid, EdgeRun, MetadataError};

use zarr_kit::report::words;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChunksError {
    #[error(transparent)]
    Json(MetadataError),
    #[error("this is not a JSON list such as [[31, 28, [31, 2]], 100]: {reason}")]
    List { reason: String },
    #[error(
        "{found:?} is not an edge; a length of at least 1 such as 31, or a run such as 31x2, is allowed"
    )]
    Edge { found: String },
    #[error("unknown chunk grid {name:?}, expected \"regular\" or \"rectilinear\"")]
    Grid { name: String },
    #[error("chunks for {}, but the array has {}", words::axes(*found), words::axes(*rank))]
    Rank { found: usize, rank: usize },
    #[error("no axis is named {name:?}; {allowed}")]
    Name { name: String, allowed: String },
    #[error("{axes} axes are named {name:?}; give the number of one of them: {numbers}")]
    SameName { name: String, axes: usize, numbers: String },
    #[error("axis {name} has chunks twice")]
    Twice { name: String },
    #[error("axis {name} has no chunks")]
    Missing { name: String },
    #[error("name all axes or none")]
    Mixed,
    #[error("axis {name}: edges sum to {sum}, less than the length {length}")]
    TooShort { name: String, sum: u64, length: u64 },
    #[error("axis {name}: edges sum to more than 2^64")]
    TooLong { name: String },
}

/// Parses the chunks of an array of this shape; its axes may have names.
pub(crate) fn parse(
    text: &str,
    shape: &[u64],
    names: &[Option<String>],
) -> Result<ChunkGrid, ChunksError> {
    let grid = match text.trim_start().as_bytes().first() {
        Some(b'{') => ChunkGrid::from_json(text.as_bytes()).map_err(ChunksError::Json)?,
        Some(b'[') => from_list(text)?,
        _ => from_words(text, shape.len(), names)?,
    };
    check(&grid, shape, names)?;
    Ok(grid)
}

/// Parses the chunks for a copy of an array. Axes that the text does not name keep their chunks.
///
/// `all`: whether the array must have all axes that are named. If not, missing axes are skipped; if
/// the array has none of them, the result is `None`.
pub(crate) fn changed(
    text: &str,
    metadata: &ArrayMetadata,
    all: bool,
) -> Result<Option<ChunkGrid>, ChunksError> {
    let (shape, rank) = (metadata.shape(), metadata.shape().len());
    let known = metadata.dimension_names().unwrap_or_default();
    let mut kept: Vec<ChunkEdges> = match metadata.chunk_grid() {
        ChunkGrid::Regular { chunk_shape } => {
            chunk_shape.iter().copied().map(ChunkEdges::Regular).collect()
        }
        ChunkGrid::Rectilinear { chunk_shapes } => chunk_shapes.clone(),
        ChunkGrid::Unknown(_) => Vec::new(),
    };
    if names(text).next().is_none() {
        return parse(text, shape, known).map(Some);
    }
    let given = by_axis(text, rank, known, all)?;
    if given.iter().all(Option::is_none) {
        return Ok(None);
    }
    let each = kept.iter_mut().zip(given);
    each.for_each(|(slot, edges)| edges.into_iter().for_each(|edges| *slot = edges));
    let grid = of_edges(kept);
    check(&grid, shape, known)?;
    Ok(Some(grid))
}

/// The names of axes in a text; none if it is JSON or names none.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let entries = text.split(',').filter(move |_| !is_json);
    entries.filter_map(|entry| Some(entry.split_once('=')?.0.trim()))
}

/// The edges of one axis: `31|28|31x2`, or a number for a regular axis.
pub(crate) fn parse_edges(text: &str) -> Result<ChunkEdges, ChunksError> {
    if let Ok(edge @ 1..) = text.trim().parse::<u64>() {
        return Ok(ChunkEdges::Regular(edge));
    }
    let runs = text.split('|').map(|entry| {
        let wrong = || ChunksError::Edge { found: entry.trim().to_owned() };
        let (edge, count) = match entry.split_once(['x', 'X']) {
            Some((edge, count)) => (edge, count.trim().parse().map_err(|_| wrong())?),
            None => (entry, NonZeroU64::MIN),
        };
        let edge: NonZeroU64 = edge.trim().parse().map_err(|_| wrong())?;
        Ok(EdgeRun::Repeat { edge: edge.get(), count })
    });
    Ok(ChunkEdges::from_runs(runs.collect::<Result<Vec<_>, _>>()?))
}

/// A JSON list: numbers alone are a chunk shape, otherwise they are the edges of each axis.
fn from_list(text: &str) -> Result<ChunkGrid, ChunksError> {
    // Positions in the text built here would mean nothing to the user.
    serde_json::from_str::<&RawValue>(text)
        .map_err(|cause| ChunksError::List { reason: cause.to_string() })?;
    let regular = format!(r#"{{"name": "regular", "configuration": {{"chunk_shape": {text}}}}}"#);
    if let Ok(grid) = ChunkGrid::from_json(regular.as_bytes()) {
        return Ok(grid);
    }
    let rectilinear = format!(
        r#"{{"name": "rectilinear", "configuration": {{"kind": "inline", "chunk_shapes": {text}}}}}"#
    );
    ChunkGrid::from_json(rectilinear.as_bytes()).map_err(ChunksError::Json)
}

fn from_words(text: &str, rank: usize, names: &[Option<String>]) -> Result<ChunkGrid, ChunksError> {
    let axes = by_axis(text, rank, names, true)?.into_iter().enumerate().map(|(axis, edges)| {
        edges.ok_or_else(|| ChunksError::Missing { name: shown(axis, names) })
    });
    Ok(of_edges(axes.collect::<Result<Vec<_>, _>>()?))
}

/// The edges that a text gives to axes: to those that it names, or to all in their order.
///
/// `all`: whether the array must have all axes that are named.
pub(crate) fn by_axis(
    text: &str,
    rank: usize,
    names: &[Option<String>],
    all: bool,
) -> Result<Vec<Option<ChunkEdges>>, ChunksError> {
    let entries: Vec<&str> = match text.trim() {
        "" => Vec::new(),
        text => text.split(',').collect(),
    };
    let mut axes: Vec<Option<ChunkEdges>> = vec![None; rank];
    let named = entries.iter().filter(|entry| entry.contains('=')).count();
    if named != 0 && named != entries.len() {
        return Err(ChunksError::Mixed);
    }
    if named == 0 && entries.len() != rank {
        return Err(ChunksError::Rank { found: entries.len(), rank });
    }
    for (position, entry) in entries.iter().enumerate() {
        let (axis, edges) = match entry.split_once('=') {
            Some((name, edges)) => match axis_of(name.trim(), rank, names) {
                Err(ChunksError::Name { .. }) if !all => continue,
                axis => (axis?, edges),
            },
            None => (position, *entry),
        };
        let slot = axes.get_mut(axis).ok_or(ChunksError::Rank { found: entries.len(), rank })?;
        if slot.replace(parse_edges(edges)?).is_some() {
            return Err(ChunksError::Twice { name: shown(axis, names) });
        }
    }
    Ok(axes)
}

/// A regular grid if all axes are regular, else a rectilinear one.
fn of_edges(axes: Vec<ChunkEdges>) -> ChunkGrid {
    let regular: Option<Vec<u64>> = axes
        .iter()
        .map(|edges| match edges {
            ChunkEdges::Regular(edge) => Some(*edge),
            ChunkEdges::Runs(_) => None,
        })
        .collect();
    match regular {
        Some(chunk_shape) => ChunkGrid::Regular { chunk_shape },
        None => ChunkGrid::Rectilinear { chunk_shapes: axes },
    }
}

/// The axis with this name or number.
pub(crate) fn axis_of(
    name: &str,
    rank: usize,
    names: &[Option<String>],
) -> Result<usize, ChunksError> {
    let named = names.iter().enumerate().filter(|(_, known)| known.as_deref() == Some(name));
    let named: Vec<usize> = named.map(|(axis, _)| axis).collect();
    match named.as_slice() {
        [] => {}
        [axis] => return Ok(*axis),
        axes => {
            let numbers = axes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
            return Err(ChunksError::SameName { name: name.to_owned(), axes: axes.len(), numbers });
        }
    }
    if let Some(axis) = name.parse().ok().filter(|axis| *axis < rank) {
        return Ok(axis);
    }
    let known: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
    let allowed = match (known.is_empty(), rank) {
        (_, 0) => "the array has no axes".to_owned(),
        (true, 1) => "the one axis has no name here, but the number 0".to_owned(),
        (true, _) => format!("axes have no names here, but numbers from 0 to {}", rank - 1),
        (false, _) => format!("the axes are {}", known.join(", ")),
    };
    Err(ChunksError::Name { name: name.to_owned(), allowed })
}

/// Makes checks that the metadata would make too, to report the axis by its name.
fn check(grid: &ChunkGrid, shape: &[u64], names: &[Option<String>]) -> Result<(), ChunksError> {
    let name = grid.name().to_owned();
    let (found, rank) = (grid.rank().ok_or(ChunksError::Grid { name })?, shape.len());
    if found != rank {
        return Err(ChunksError::Rank { found, rank });
    }
    let ChunkGrid::Rectilinear { chunk_shapes } = grid else { return Ok(()) };
    for (axis, (edges, &length)) in chunk_shapes.iter().zip(shape).enumerate() {
        let name = || shown(axis, names);
        if let ChunkEdges::Runs(_) = edges {
            let sum = edges.extent().ok_or_else(|| ChunksError::TooLong { name: name() })?;
            if sum < length {
                return Err(ChunksError::TooShort { name: name(), sum, length });
            }
        }
    }
    Ok(())
}

fn shown(axis: usize, names: &[Option<String>]) -> String {
    names.get(axis).cloned().flatten().unwrap_or_else(|| axis.to_string())
}

/// The number of chunks along each axis: declared, and containing elements.
pub(crate) fn chunk_counts(grid: &Grid) -> Value {
    json!({"declared": grid.declared(), "occupied": grid.occupied()})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str, shape: &[u64]) -> Result<String, String> {
        let names = [Some("time".to_owned()), Some("x".to_owned())];
        let names = &names[..shape.len().min(2)];
        parse(text, shape, names)
            .map(|grid| {
                grid.to_json().replace("{\"name\": ", "").replace("\"configuration\": ", "")
            })
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_notation_has_its_grid() {
        let cases = [
            ("100,64", r#""regular", {"chunk_shape": [100, 64]}}"#),
            ("time=100, x=64", r#""regular", {"chunk_shape": [100, 64]}}"#),
            ("x=64,time=100", r#""regular", {"chunk_shape": [100, 64]}}"#),
            ("1=64,0=100", r#""regular", {"chunk_shape": [100, 64]}}"#),
            ("[100, 64]", r#""regular", {"chunk_shape": [100, 64]}}"#),
            (
                "time=31|28|31x2,x=100",
                r#""rectilinear", {"kind": "inline", "chunk_shapes": [[31, 28, 31, 31], 100]}}"#,
            ),
            (
                "31x400,100x1",
                r#""rectilinear", {"kind": "inline", "chunk_shapes": [[[31, 400]], [100]]}}"#,
            ),
            (
                "[[31, 28, [31, 2]], 100]",
                r#""rectilinear", {"kind": "inline", "chunk_shapes": [[31, 28, [31, 2]], 100]}}"#,
            ),
            (
                r#"{"name": "regular", "configuration": {"chunk_shape": [1, 2]}}"#,
                r#""regular", {"chunk_shape": [1, 2]}}"#,
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(json(text, &[120, 90]).as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(json("", &[]).as_deref(), Ok(r#""regular", {"chunk_shape": []}}"#));
        let many = json("1x1000000000000000", &[1_000_000_000_000_000]).expect("no expansion");
        assert!(many.contains("[[[1, 1000000000000000]]]"), "{many}");
    }

    /// The Zarr specification allows several axes of one name.
    #[test]
    fn a_name_of_several_axes_is_refused() {
        let names = ["y", "x", "y"].map(|name| Some(name.to_owned()));
        assert_eq!(axis_of("x", 3, &names), Ok(1));
        assert_eq!(axis_of("2", 3, &names), Ok(2));
        let message = "2 axes are named \"y\"; give the number of one of them: 0, 2";
        for all in [true, false] {
            let error = by_axis("y=1,x=1", 3, &names, all).expect_err("which one");
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn every_mistake_is_named() {
        let cases = [
            "100",
            "1,2,3",
            "time=100",
            "time=1,time=2",
            "time=1,2",
            "y=1,x=1",
            "0,1",
            "31|,1",
            "31x0,1",
            "x2,1",
            "-1,1",
            "1.5,1",
            "31|28,100",
            "31x18446744073709551615,100",
            "[[31, 0], 100]",
            "[1]",
            "{\"name\": \"hexagonal\"}",
            "[1,",
            "=1,x=2",
        ];
        let lines: Vec<String> = cases
            .iter()
            .map(|text| match json(text, &[120, 90]) {
                Ok(grid) => panic!("{text} is {grid}"),
                Err(message) => format!("{text:30} {message}"),
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
