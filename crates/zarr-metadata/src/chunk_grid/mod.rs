//! Chunk grids: regular and rectilinear.

// Edges and counts come from documents.
#![warn(clippy::arithmetic_side_effects)]

pub(crate) mod edges;

use crate::chunk_grid::edges::{ChunkEdges, read_edges, write_edges};
use crate::error::finding::Finding;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result, describe, path_member, shorten};
use crate::extension::{Extension, RawExtension};
use crate::json::{
    Grammar, JsonType, Key, Object, Outline, Raw, Reader, read_elements, utf8, write_array,
    write_u64,
};

/// The chunk grid of an array, as its document declares it.
///
/// The enum is exhaustive. A new grid is a breaking change, since all code that finds chunks must
/// know it.
///
/// # Examples
/// ```
/// use zarr_metadata::{ChunkEdges, ChunkGrid};
///
/// let json = br#"{"name": "rectilinear",
///     "configuration": {"kind": "inline", "chunk_shapes": [[31, 28, 31], 100]}}"#;
/// let months = ChunkEdges::from_lengths([31, 28, 31]);
/// let expected =
///     ChunkGrid::Rectilinear { chunk_shapes: vec![months, ChunkEdges::Regular(100)] };
/// assert_eq!(ChunkGrid::from_json(json)?, expected);
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// Zarr v3 core 3.1, "Regular grids"; zarr-extensions `chunk-grids/rectilinear`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkGrid {
    /// Chunks of one shape.
    Regular {
        /// The length of a chunk along each dimension, each at least 1 (SD-58).
        chunk_shape: Vec<u64>,
    },
    /// The product of one list of edge lengths for each dimension.
    Rectilinear {
        /// The edges along each dimension, as written (SD-04).
        chunk_shapes: Vec<ChunkEdges>,
    },
    /// A grid of another name. It is kept, but its chunks are not known: the document can be read
    /// and changed, the elements of the array cannot (SD-42).
    Unknown(Extension),
}

const REGULAR: &str = "regular";
const RECTILINEAR: &str = "rectilinear";
const NAMES: &[&str] = &[REGULAR, RECTILINEAR];
const ALLOWED: &str = "\"regular\" or \"rectilinear\"";

impl ChunkGrid {
    /// The number of dimensions that the grid is for. `None` for an unknown grid.
    #[must_use]
    pub fn rank(&self) -> Option<usize> {
        match self {
            ChunkGrid::Regular { chunk_shape } => Some(chunk_shape.len()),
            ChunkGrid::Rectilinear { chunk_shapes } => Some(chunk_shapes.len()),
            ChunkGrid::Unknown(_) => None,
        }
    }

    /// The name: `regular`, `rectilinear`, or that of an unknown grid.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            ChunkGrid::Regular { .. } => REGULAR,
            ChunkGrid::Rectilinear { .. } => RECTILINEAR,
            ChunkGrid::Unknown(extension) => extension.name(),
        }
    }

    /// Reads the object of a chunk grid.
    ///
    /// Another name gives [`ChunkGrid::Unknown`].
    ///
    /// # Errors
    /// If an unknown grid has `"must_understand": false` (SD-42), or the configuration of a known one
    /// is wrong (SD-06, SD-07, SD-58, SD-63).
    pub fn from_json(json: &[u8]) -> Result<Self> {
        let mut axes = Axes::default();
        let mut read_axes = |level, key, reader: &mut _| axes.read(level, key, reader);
        let outline = Outline::read_in_place(utf8(json)?, Grammar::Json, Some(&mut read_axes))?;
        let grid = Self::read(outline.root(), axes, &mut Vec::new())?;
        // Which axes are empty, only the document of an array says.
        if let ChunkGrid::Regular { chunk_shape } = &grid {
            check_lengths(chunk_shape, |_| false)?;
        }
        Ok(grid)
    }

    /// `axes`: the axes that were read in place in the text of the grid.
    pub(crate) fn read(raw: Raw<'_>, axes: Axes, findings: &mut Vec<Finding>) -> Result<Self> {
        let extension = RawExtension::read(raw)?;
        if !NAMES.contains(&extension.name.as_ref()) {
            let error = extension.unknown_name("chunk grid", NAMES, ALLOWED);
            if !extension.must_understand {
                return Err(error.breaks(Rule::UNKNOWN_CHUNK_GRID));
            }
            findings.push(Finding::of(Rule::UNKNOWN_CHUNK_GRID, &error));
            return Ok(ChunkGrid::Unknown(extension.keep(findings)));
        }
        extension.only_known_members()?;
        extension.report_optional(findings);
        if extension.configuration().is_none() {
            return Err(MetadataError::missing("configuration", "an object"));
        }
        let members = extension.members()?;
        match extension.name.as_ref() {
            RECTILINEAR => read_rectilinear(members, axes, findings),
            _ => read_regular(members),
        }
        .member("configuration")
    }

    /// Checks that the grid fits an array of this shape: it has the same rank, and covers it.
    pub(crate) fn check(&self, shape: &[u64]) -> Result<()> {
        let (rank, member) = match self {
            ChunkGrid::Regular { chunk_shape } => (chunk_shape.len(), "chunk_shape"),
            ChunkGrid::Rectilinear { chunk_shapes } => (chunk_shapes.len(), "chunk_shapes"),
            ChunkGrid::Unknown(_) => return Ok(()),
        };
        if rank != shape.len() {
            let allowed = format!("length {}, the rank of the array", shape.len());
            return Err(MetadataError::unexpected(format!("length {rank}"), allowed)
                .breaks(Rule::GRID_RANK)
                .in_member(member)
                .in_member("configuration"));
        }
        match self {
            ChunkGrid::Regular { chunk_shape } => {
                check_lengths(chunk_shape, |axis| shape.get(axis) == Some(&0))
            }
            ChunkGrid::Rectilinear { chunk_shapes } => {
                let mut axes = chunk_shapes.iter().zip(shape).enumerate();
                axes.try_for_each(|(axis, (edges, &length))| edges.check(length).element(axis))
                    .member("chunk_shapes")
                    .member("configuration")
            }
            ChunkGrid::Unknown(_) => Ok(()),
        }
    }

    /// The grid with chunks of length 1 where they have length 0, which is reported (SD-58).
    pub(crate) fn with_chunks_on_empty_axes(mut self, findings: &mut Vec<Finding>) -> Self {
        if let ChunkGrid::Regular { chunk_shape } = &mut self {
            let path = ".chunk_grid.configuration.chunk_shape";
            for (axis, length) in chunk_shape.iter_mut().enumerate().filter(|(_, n)| **n == 0) {
                let finding = Finding::in_document(Rule::ZERO_CHUNK_LENGTH, "0", LENGTH);
                findings.push(finding.under(&format!("{path}[{axis}]")));
                *length = 1;
            }
        }
        self
    }

    /// The JSON text. Edges keep the form that they have (SD-04).
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        match self {
            ChunkGrid::Regular { chunk_shape } => {
                json.push_str(r#"{"name": "regular", "configuration": {"chunk_shape": "#);
                write_list(chunk_shape, &mut json);
            }
            ChunkGrid::Rectilinear { chunk_shapes } => {
                json.push_str(r#"{"name": "rectilinear", "configuration": {"#);
                json.push_str(r#""kind": "inline", "chunk_shapes": "#);
                write_array(chunk_shapes, &mut json, write_edges);
            }
            ChunkGrid::Unknown(extension) => return extension.json().to_owned(),
        }
        json.push_str("}}");
        json
    }
}

const LENGTH: &str = "an integer of at least 1";

/// A chunk length, or 0, which only the shape of the array can excuse.
fn read_length(raw: Raw<'_>) -> Result<u64> {
    match raw.text() {
        "0" => Ok(0),
        _ => raw.at_least(1),
    }
}

/// Refuses a chunk length of 0 but on axes of length 0, where zarr-python 3.0 to 3.1.6 wrote it
/// (SD-58).
fn check_lengths(chunk_shape: &[u64], is_empty: impl Fn(usize) -> bool) -> Result<()> {
    match chunk_shape.iter().enumerate().find(|(axis, n)| **n == 0 && !is_empty(*axis)) {
        None => Ok(()),
        Some((axis, _)) => Err(MetadataError::unexpected("0", LENGTH)
            .breaks(Rule::REGULAR_CHUNK_SHAPE)
            .in_element(axis)
            .in_member("chunk_shape")
            .in_member("configuration")),
    }
}

/// Appends `[1, 2, 3]`.
pub(crate) fn write_list(values: &[u64], json: &mut String) {
    write_array(values, json, |value, json| write_u64(*value, json));
}

fn read_regular(mut members: Object<'_>) -> Result<ChunkGrid> {
    members.check_known(&["chunk_shape"])?;
    let raw = members.require("chunk_shape", "an array of chunk lengths")?;
    let chunk_shape = read_elements(raw, "an array of chunk lengths", read_length)
        .breaks(Rule::REGULAR_CHUNK_SHAPE)
        .member("chunk_shape")?;
    Ok(ChunkGrid::Regular { chunk_shape })
}

fn read_rectilinear(
    mut members: Object<'_>,
    axes: Axes,
    findings: &mut Vec<Finding>,
) -> Result<ChunkGrid> {
    if members.take("chunk_shape").is_some() {
        return Err(MetadataError::unexpected(
            "the member of ZEP 3 and of regular grids",
            "\"chunk_shapes\" in a rectilinear grid",
        )
        .breaks(Rule::GRID_SPELLING)
        .in_member("chunk_shape"));
    }
    let kind = members.require("kind", "\"inline\"")?;
    if kind.json_type() != JsonType::String || kind.string("text")? != "inline" {
        return Err(kind.expected("\"inline\"").breaks(Rule::GRID_KIND).in_member("kind"));
    }
    members.require("chunk_shapes", AXES)?;
    let chunk_shapes = axes.0.unwrap_or_else(|| Ok(Vec::new())).member("chunk_shapes")?;
    for (key, raw) in members.rest() {
        let mut path = ".configuration".to_owned();
        path_member(&mut path, &key);
        let found = format!("unknown member {} of value {}", shorten(&key), describe(raw.text()));
        let allowed = "\"kind\" and \"chunk_shapes\" only";
        let finding = Finding::in_document(Rule::UNKNOWN_RECTILINEAR_MEMBER, found, allowed);
        findings.push(finding.under(&path));
    }
    Ok(ChunkGrid::Rectilinear { chunk_shapes })
}

const AXES: &str = "an array of edge lengths for each dimension";

/// The edges of a rectilinear grid, read in place in the text: a long list takes 16 bytes for each
/// edge, without a separate entry.
#[derive(Debug, Default)]
pub(crate) struct Axes(Option<Result<Vec<ChunkEdges>>>);

impl Axes {
    /// Reads the member `chunk_shapes` of a configuration (the grid's value has `level` 0). False if
    /// this is another member, or no list of edges.
    pub(crate) fn read(&mut self, level: usize, key: Key<'_>, reader: &mut Reader<'_>) -> bool {
        if level != 2 || !key.is("chunk_shapes") {
            return false;
        }
        let read = reader.attempt(|reader| {
            let read = read_axes(reader);
            let is_read = read.is_ok();
            self.0 = Some(read);
            is_read.then_some(())
        });
        read.is_some()
    }
}

fn read_axes(reader: &mut Reader<'_>) -> Result<Vec<ChunkEdges>> {
    if reader.peek() != Some(b'[') {
        let raw = reader.value(Grammar::Json)?;
        return Err(raw.expected(AXES).breaks(Rule::GRID_AXIS));
    }
    reader.open(b'[', "an array")?;
    let mut axes = Vec::new();
    while reader.next_element(axes.is_empty())? {
        let edges = read_edges(reader).element(axes.len())?;
        axes.push(edges);
    }
    Ok(axes)
}
