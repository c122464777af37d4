//! The edge lengths of one axis of a rectilinear grid, kept as written.
//!
//! Runs are never expanded: memory and time are proportional to the text (SD-07).

use std::num::NonZeroU64;

use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::json::{Grammar, JsonType, Reader, write_array, write_u64};

/// The lengths of the chunks along one axis, as the document writes them.
///
/// The enum is exhaustive, because the extension's text allows no third form.
///
/// # Examples
/// ```
/// use zarr_metadata::{ChunkEdges, EdgeRun};
///
/// assert_eq!(ChunkEdges::from(100), ChunkEdges::Regular(100));
/// let february = ChunkEdges::from([31, 28]);
/// assert_eq!(february, ChunkEdges::Runs(vec![EdgeRun::Edge(31), EdgeRun::Edge(28)]));
/// ```
///
/// # Spec
/// zarr-extensions `chunk-grids/rectilinear`, "Run-length encoding"; SD-04, SD-06.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkEdges {
    /// One number: chunks of this length, `ceil(length / number)` of them (SD-04).
    Regular(u64),
    /// A list of lengths and of runs of them.
    Runs(Vec<EdgeRun>),
}

/// A regular axis with chunks of this length.
impl From<u64> for ChunkEdges {
    fn from(edge: u64) -> Self {
        ChunkEdges::Regular(edge)
    }
}

/// Chunks of these lengths, as [`ChunkEdges::from_lengths`] writes them.
impl<const N: usize> From<[u64; N]> for ChunkEdges {
    fn from(lengths: [u64; N]) -> Self {
        ChunkEdges::from_lengths(lengths)
    }
}

/// Chunks of these lengths, as [`ChunkEdges::from_lengths`] writes them.
impl From<&[u64]> for ChunkEdges {
    fn from(lengths: &[u64]) -> Self {
        ChunkEdges::from_lengths(lengths.iter().copied())
    }
}

/// Chunks of these lengths, as [`ChunkEdges::from_lengths`] writes them.
impl From<Vec<u64>> for ChunkEdges {
    fn from(lengths: Vec<u64>) -> Self {
        ChunkEdges::from_lengths(lengths)
    }
}

/// An element of a list of edges. It takes 16 bytes.
///
/// The enum is exhaustive, because the extension's text allows no third form.
///
/// # Examples
/// ```
/// use std::num::NonZeroU64;
/// use zarr_metadata::EdgeRun;
///
/// let count = NonZeroU64::new(3).expect("not 0");
/// let years = EdgeRun::Repeat { edge: 365, count };
/// assert_eq!((years.edge(), years.count(), years.extent()), (365, 3, Some(1095)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EdgeRun {
    /// `V`: one chunk.
    Edge(u64),
    /// `[V, N]`: `count` chunks of length `edge`.
    Repeat {
        /// The length of each chunk, at least 1.
        edge: u64,
        /// The number of chunks.
        count: NonZeroU64,
    },
}

impl EdgeRun {
    /// The length of each chunk of the run.
    #[must_use]
    pub fn edge(&self) -> u64 {
        match self {
            EdgeRun::Edge(edge) | EdgeRun::Repeat { edge, .. } => *edge,
        }
    }

    /// The number of chunks of the run.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            EdgeRun::Edge(_) => 1,
            EdgeRun::Repeat { count, .. } => count.get(),
        }
    }

    /// The sum of the lengths; `None` past `u64`.
    #[must_use]
    pub fn extent(&self) -> Option<u64> {
        self.edge().checked_mul(self.count())
    }
}

impl ChunkEdges {
    /// Writes lengths in the canonical form: `[V, N]` if it has fewer characters than the single
    /// lengths (SD-09).
    ///
    /// ```
    /// use zarr_metadata::{ChunkEdges, ChunkGrid};
    ///
    /// let edges = ChunkEdges::from_lengths([31, 28, 365, 365, 365, 4, 4].into_iter());
    /// let grid = ChunkGrid::Rectilinear { chunk_shapes: vec![edges] };
    /// assert!(grid.to_json().contains("[31, 28, [365, 3], 4, 4]"));
    /// ```
    #[must_use]
    pub fn from_lengths(lengths: impl IntoIterator<Item = u64>) -> Self {
        ChunkEdges::from_runs(lengths.into_iter().map(EdgeRun::Edge))
    }

    /// As [`ChunkEdges::from_lengths`], from runs of any number of chunks.
    #[must_use]
    pub fn from_runs(runs: impl IntoIterator<Item = EdgeRun>) -> Self {
        let mut list = Vec::new();
        let mut open: Option<(u64, u64)> = None;
        for run in runs {
            open = Some(match open {
                Some((edge, count)) if edge == run.edge() => match count.checked_add(run.count()) {
                    Some(sum) => (edge, sum),
                    None => {
                        push_canonical(edge, count, &mut list);
                        (edge, run.count())
                    }
                },
                Some((edge, count)) => {
                    push_canonical(edge, count, &mut list);
                    (run.edge(), run.count())
                }
                None => (run.edge(), run.count()),
            });
        }
        if let Some((edge, count)) = open {
            push_canonical(edge, count, &mut list);
        }
        ChunkEdges::Runs(list)
    }

    /// The sum of the listed edges; `None` for an integer axis, and past `u64`.
    #[must_use]
    pub fn extent(&self) -> Option<u64> {
        match self {
            ChunkEdges::Regular(_) => None,
            ChunkEdges::Runs(runs) => {
                runs.iter().try_fold(0_u64, |sum, run| sum.checked_add(run.extent()?))
            }
        }
    }

    /// Checks that the edges fit an axis of this length.
    pub(crate) fn check(&self, length: u64) -> Result<()> {
        match self {
            ChunkEdges::Regular(_) => Ok(()),
            ChunkEdges::Runs(_) => match self.extent() {
                Some(extent) if extent >= length => Ok(()),
                Some(extent) => Err(MetadataError::unexpected(
                    format!("edges of sum {extent}"),
                    format!("a sum of at least {length}, the length of the axis"),
                )
                .breaks(Rule::GRID_TOO_SHORT)),
                None => Err(too_far()),
            },
        }
    }
}

/// Characters of a decimal.
fn digits(value: u64) -> u64 {
    u64::from(value.checked_ilog10().unwrap_or_default()).saturating_add(1)
}

fn push_canonical(edge: u64, count: u64, list: &mut Vec<EdgeRun>) {
    let width = digits(edge);
    let listed = width.saturating_add(1).saturating_mul(count).saturating_sub(1);
    let as_run = width.saturating_add(digits(count)).saturating_add(3);
    match NonZeroU64::new(count) {
        Some(count) if as_run < listed => list.push(EdgeRun::Repeat { edge, count }),
        // The list is the shorter one for a handful of chunks at most.
        _ => list.extend((0..count).map(|_| EdgeRun::Edge(edge))),
    }
}

const AXIS: &str = "an integer of at least 1 or an array of edges";
const EDGE: &str = "an edge length of at least 1 or a run [length, count]";

pub(crate) fn read_edges(reader: &mut Reader<'_>) -> Result<ChunkEdges> {
    if reader.peek() != Some(b'[') {
        let raw = reader.value(Grammar::Json)?;
        return match raw.natural() {
            Some(edge) if edge > 0 => Ok(ChunkEdges::Regular(edge)),
            Some(_) => Err(raw.expected(AXIS).breaks(Rule::GRID_ZERO_EDGE)),
            None => Err(raw.expected_natural(AXIS).breaks(Rule::GRID_AXIS)),
        };
    }
    reader.open(b'[', "an array")?;
    let mut runs: Vec<EdgeRun> = Vec::new();
    let mut sum = 0_u64;
    while reader.next_element(runs.is_empty())? {
        reader.naturals(|edge| match sum.checked_add(edge) {
            Some(next) => {
                sum = next;
                runs.push(EdgeRun::Edge(edge));
                true
            }
            None => false,
        });
        let run = match reader.attempt(|reader| reader.natural().filter(|edge| *edge > 0)) {
            Some(edge) => EdgeRun::Edge(edge),
            None => read_run(reader).element(runs.len())?,
        };
        sum = match run.extent().and_then(|extent| sum.checked_add(extent)) {
            Some(sum) => sum,
            None => return Err(too_far().in_element(runs.len())),
        };
        runs.push(run);
    }
    Ok(ChunkEdges::Runs(runs))
}

/// `[V, N]`, or the error that something else is there.
fn read_run(reader: &mut Reader<'_>) -> Result<EdgeRun> {
    if let Some(run) = reader.attempt(|reader| {
        let open = reader.take(b'[');
        let edge = reader.natural().filter(|edge| open && *edge > 0)?;
        let comma = reader.take(b',');
        let count = reader.natural().filter(|_| comma).and_then(NonZeroU64::new)?;
        reader.take(b']').then_some(EdgeRun::Repeat { edge, count })
    }) {
        return Ok(run);
    }
    let raw = reader.value(Grammar::Json)?;
    Err(match raw.json_type() {
        JsonType::Array => raw
            .expected("a run [length, count] of two integers of at least 1")
            .breaks(Rule::GRID_RUN),
        _ if raw.text() == "0" => raw.expected(EDGE).breaks(Rule::GRID_ZERO_EDGE),
        _ => raw.expected_natural(EDGE).breaks(Rule::GRID_EDGE),
    })
}

fn too_far() -> MetadataError {
    MetadataError::unexpected(
        "edges with a sum above 18446744073709551615",
        "a sum that fits 64 bits",
    )
    .breaks(Rule::GRID_OVERFLOW)
}

pub(crate) fn write_edges(edges: &ChunkEdges, json: &mut String) {
    let runs = match edges {
        ChunkEdges::Regular(edge) => return write_u64(*edge, json),
        ChunkEdges::Runs(runs) => runs,
    };
    write_array(runs, json, |run, json| match run {
        EdgeRun::Edge(edge) => write_u64(*edge, json),
        EdgeRun::Repeat { edge, count } => write_array([*edge, count.get()], json, write_u64),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sd_07_an_element_of_a_list_takes_16_bytes() {
        assert_eq!(size_of::<EdgeRun>(), 16);
    }

    #[test]
    fn digits_are_those_of_the_decimal() {
        for value in [0, 1, 9, 10, 99, 100, u64::MAX] {
            assert_eq!(digits(value), u64::try_from(value.to_string().len()).unwrap());
        }
    }
}
