//! The metadata document of an array.

use std::fmt;

use crate::chunk_grid::{ChunkGrid, write_list};
use crate::chunk_key::ChunkKeyEncoding;
use crate::codec::{Codec, check_chain, read_codecs, write_codecs};
use crate::data_type::{self, DataType};
use crate::document::{self, ARRAY, Document};
use crate::edges::ChunkEdges;
use crate::element;
use crate::error::{At, MetadataError};
use crate::fill_value::FillValue;
use crate::finding::Finding;
use crate::json::{JsonType, Raw, read_elements, same, utf8, write_string};
use crate::limits::check_rank;
use crate::rule::Rule;

type Result<T> = std::result::Result<T, MetadataError>;

/// The `zarr.json` of an array, checked.
///
/// A document that was read is written back byte for byte; a change touches the members that it is
/// about and nothing else (SD-33).
///
/// ```
/// use zarr_metadata::{ArrayMetadata, ChunkEdges, ChunkGrid, Codec, DataType, EdgeRun, FillValue};
///
/// let months = ChunkEdges::from_lengths([31, 28, 31]);
/// let array = ArrayMetadata::new(
///     &[90],
///     &DataType::Uint8,
///     &ChunkGrid::Rectilinear { chunk_shapes: vec![months] },
///     &FillValue::parse(&DataType::Uint8, "0")?,
///     &[Codec::bytes()],
/// )?
/// .with_dimension_names(&[Some("day")])?;
/// assert_eq!(ArrayMetadata::from_json(array.json().as_bytes())?, array);
/// # Ok::<_, zarr_metadata::MetadataError>(())
/// ```
///
/// # Spec
/// Zarr v3 core 3.1, "Array metadata".
#[derive(Clone)]
pub struct ArrayMetadata {
    document: Document,
    shape: Vec<u64>,
    data_type: DataType,
    chunk_grid: ChunkGrid,
    chunk_key_encoding: ChunkKeyEncoding,
    fill_value: FillValue,
    codecs: Vec<Codec>,
    dimension_names: Option<Vec<Option<String>>>,
    findings: Vec<Finding>,
}

impl ArrayMetadata {
    /// Reads and checks a document.
    ///
    /// Time and memory follow the length of the text, whatever it says.
    ///
    /// # Errors
    /// Where the text is not JSON, or breaks a rule of the specification. What can be read all the
    /// same is no error but among the [findings](Self::findings).
    pub fn from_json(json: &[u8]) -> Result<Self> {
        let text = utf8(json)?;
        let mut findings = Vec::new();
        let mut chunk_grid = None;
        let document = Document::read(text, &mut findings, |name, reader, findings| {
            (name == "chunk_grid").then(|| {
                let read = Finding::scope(
                    findings,
                    || ".chunk_grid".to_owned(),
                    |findings| ChunkGrid::read(reader, findings),
                );
                read.map(|grid| chunk_grid = Some(grid)).breaks(Rule::ExtensionForm)
            })
        })?;
        if let Some(raw) = document.member("consolidated_metadata") {
            let error = raw.expected("no consolidated metadata on an array");
            return Err(error
                .breaks(Rule::ConsolidatedMetadata)
                .in_member("consolidated_metadata"));
        }
        document.check("array", ARRAY)?;
        document.check_storage_transformers()?;

        const SHAPE: &str = "an array of lengths of at least 0";
        let raw = document.require("shape", SHAPE)?;
        let shape =
            read_elements(raw, SHAPE, |raw| raw.at_least(0)).breaks(Rule::Shape).member("shape")?;
        check_rank(shape.len()).member("shape")?;

        let chunk_grid =
            chunk_grid.ok_or_else(|| MetadataError::missing("chunk_grid", "a chunk grid"))?;
        chunk_grid.check(&shape).member("chunk_grid")?;

        let data_type =
            data_type::read_member(document.require("data_type", "a data type")?, &mut findings)?;
        let raw = document.require("fill_value", "a value of the data type")?;
        let fill_value = element::read_member(&data_type, raw)?;

        let raw = document.require("chunk_key_encoding", "a chunk key encoding")?;
        let chunk_key_encoding = Finding::scope(
            &mut findings,
            || ".chunk_key_encoding".to_owned(),
            |findings| ChunkKeyEncoding::read(raw, findings),
        )
        .member("chunk_key_encoding")?;

        let raw = document.require("codecs", "an array of codecs")?;
        let codecs = Finding::scope(
            &mut findings,
            || ".codecs".to_owned(),
            |findings| read_codecs(raw, findings),
        )
        .member("codecs")?;
        check_chain(&codecs, &data_type, shape.len()).member("codecs")?;

        let dimension_names = match document.member("dimension_names") {
            Some(raw) if raw.json_type() != JsonType::Null => {
                let names = read_dimension_names(raw, shape.len());
                Some(names.breaks(Rule::DimensionNames).member("dimension_names")?)
            }
            _ => None,
        };
        Ok(ArrayMetadata {
            document,
            shape,
            data_type,
            chunk_grid,
            chunk_key_encoding,
            fill_value,
            codecs,
            dimension_names,
            findings,
        })
    }

    /// The document of a new array, with the default chunk key encoding and no attributes.
    ///
    /// # Errors
    /// Where a part is wrong or does not go with another, as in reading; and where it would give
    /// [findings](Self::findings) or an empty list of edges (SD-06).
    pub fn new(
        shape: &[u64],
        data_type: &DataType,
        chunk_grid: &ChunkGrid,
        fill_value: &FillValue,
        codecs: &[Codec],
    ) -> Result<Self> {
        let mut written_shape = String::new();
        write_list(shape, &mut written_shape);
        let mut written_codecs = String::new();
        write_codecs(codecs, &mut written_codecs);
        // The canonical spelling, whatever the value was read from (SD-46).
        let fill_value = match fill_value.bytes() {
            Some(bytes) => FillValue::from_bytes(data_type, bytes).member("fill_value")?,
            None => fill_value.clone(),
        };
        let document = Document::new(&[
            ("zarr_format", "3".to_owned()),
            ("node_type", "\"array\"".to_owned()),
            ("shape", written_shape),
            ("data_type", data_type.to_json()),
            ("chunk_grid", chunk_grid.to_json()),
            ("chunk_key_encoding", ChunkKeyEncoding::default().to_json()),
            ("fill_value", fill_value.json().to_owned()),
            ("codecs", written_codecs),
        ]);
        check_written(chunk_grid)?;
        Self::from_json(document.text().as_bytes())?.without_findings("$")
    }

    /// The document, unless there are findings at `path` or inside it: what a reader only reports, a
    /// writer does not write.
    fn without_findings(self, path: &str) -> Result<Self> {
        match self.findings.iter().find(|finding| finding.path().starts_with(path)) {
            Some(finding) => Err(MetadataError::of_finding(finding)),
            None => Ok(self),
        }
    }

    fn with_member(&self, name: &str, json: &str) -> Result<Self> {
        Self::from_json(self.document.with_member(name, json, ARRAY).as_bytes())
    }

    /// The document with these attributes, the JSON text of an object.
    ///
    /// # Errors
    /// Where the text is not an object of JSON proper, without bare `NaN` (SD-43).
    pub fn with_attributes(&self, json: &str) -> Result<Self> {
        document::check_attributes(json)?;
        self.with_member("attributes", json)
    }

    /// The document with another value for one attribute, the JSON text of it, or without that
    /// attribute where `json` is `None`. The others keep their text and their order.
    ///
    /// # Errors
    /// Where the text is not JSON proper, without bare `NaN` (SD-43).
    pub fn with_attribute(&self, name: &str, json: Option<&str>) -> Result<Self> {
        let attributes = document::changed_attributes(self.attributes(), name, json)?;
        self.with_member("attributes", &attributes)
    }

    /// The document with a name or `None` for each dimension.
    ///
    /// # Errors
    /// Unless there are as many as dimensions.
    pub fn with_dimension_names(&self, names: &[Option<&str>]) -> Result<Self> {
        let mut json = "[".to_owned();
        for (index, name) in names.iter().enumerate() {
            json.push_str(if index == 0 { "" } else { ", " });
            match name {
                Some(name) => write_string(name, &mut json),
                None => json.push_str("null"),
            }
        }
        json.push(']');
        self.with_member("dimension_names", &json)
    }

    /// The document with this chunk key encoding.
    ///
    /// # Errors
    /// None by itself: every document that is made is read and checked anew.
    pub fn with_chunk_key_encoding(&self, encoding: &ChunkKeyEncoding) -> Result<Self> {
        self.with_member("chunk_key_encoding", &encoding.to_json())
    }

    /// The document with this codec chain.
    ///
    /// # Errors
    /// Where a codec is wrong or does not go with the array, as in reading; and where the chain would
    /// give [findings](Self::findings).
    pub fn with_codecs(&self, codecs: &[Codec]) -> Result<Self> {
        let mut json = String::new();
        write_codecs(codecs, &mut json);
        self.with_member("codecs", &json)?.without_findings("$.codecs")
    }

    /// The document with this shape, for a resize that the grid covers as it is.
    ///
    /// # Errors
    /// Where the rank differs, or edges do not reach (SD-08).
    pub fn with_shape(&self, shape: &[u64]) -> Result<Self> {
        let mut json = String::new();
        write_list(shape, &mut json);
        self.with_member("shape", &json)
    }

    /// The document with this shape and this grid, for a resize that needs new edges.
    ///
    /// # Errors
    /// Where the two do not go together, or the grid has an empty list of edges (SD-06).
    pub fn with_shape_and_grid(&self, shape: &[u64], chunk_grid: &ChunkGrid) -> Result<Self> {
        check_written(chunk_grid)?;
        let mut json = String::new();
        write_list(shape, &mut json);
        let text = self.document.with_member("shape", &json, ARRAY);
        // Only the members are needed here: the two new ones are checked together.
        let document = Document::read(&text, &mut Vec::new(), |_, _, _| None)?;
        let text = document.with_member("chunk_grid", &chunk_grid.to_json(), ARRAY);
        Self::from_json(text.as_bytes())
    }

    /// The JSON text: as it was read, or as it was made.
    #[must_use]
    pub fn json(&self) -> &str {
        self.document.text()
    }

    /// The length of the array along each dimension, in elements.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// What the elements are.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// How the array is cut into chunks.
    #[must_use]
    pub fn chunk_grid(&self) -> &ChunkGrid {
        &self.chunk_grid
    }

    /// How chunks are named in the store.
    #[must_use]
    pub fn chunk_key_encoding(&self) -> &ChunkKeyEncoding {
        &self.chunk_key_encoding
    }

    /// The value of elements that were never written.
    #[must_use]
    pub fn fill_value(&self) -> &FillValue {
        &self.fill_value
    }

    /// The chain that encodes a chunk, in the order of encoding.
    #[must_use]
    pub fn codecs(&self) -> &[Codec] {
        &self.codecs
    }

    /// The JSON text of the attributes as written, `{}` where there are none.
    ///
    /// It may have bare `NaN`, `Infinity` and `-Infinity`, and the findings say so (SD-43).
    #[must_use]
    pub fn attributes(&self) -> &str {
        self.document.attributes()
    }

    /// The JSON text of one attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        document::attribute(self.attributes(), name)
    }

    /// A name or `None` for each dimension; `None` where the document has no names.
    #[must_use]
    pub fn dimension_names(&self) -> Option<&[Option<String>]> {
        self.dimension_names.as_deref()
    }

    /// What the document should not have although it can be read.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// Compares what the documents say: the order of members does not matter, nor space between tokens;
/// spelling and order inside the attributes and unknown members do.
impl PartialEq for ArrayMetadata {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape
            && self.data_type == other.data_type
            && self.chunk_grid == other.chunk_grid
            && self.chunk_key_encoding == other.chunk_key_encoding
            && self.fill_value == other.fill_value
            && self.codecs == other.codecs
            && self.dimension_names == other.dimension_names
            && same(self.attributes(), other.attributes())
            && self.document.same_unknown(&other.document, ARRAY)
    }
}

impl Eq for ArrayMetadata {}

impl fmt::Debug for ArrayMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArrayMetadata({})", self.document.text())
    }
}

/// What may be read but not written (SD-06).
fn check_written(chunk_grid: &ChunkGrid) -> Result<()> {
    let ChunkGrid::Rectilinear { chunk_shapes } = chunk_grid else { return Ok(()) };
    for (axis, edges) in chunk_shapes.iter().enumerate() {
        if matches!(edges, ChunkEdges::Runs(runs) if runs.is_empty()) {
            return Err(MetadataError::unexpected(
                "an empty list of edges",
                "an edge of at least 1, also on an axis of length 0",
            )
            .breaks(Rule::GridAxis)
            .in_element(axis)
            .in_member("chunk_shapes")
            .in_member("configuration")
            .in_member("chunk_grid"));
        }
    }
    Ok(())
}

fn read_dimension_names(raw: Raw<'_>, rank: usize) -> Result<Vec<Option<String>>> {
    let names = read_elements(raw, "an array of names or null", |raw| match raw.json_type() {
        JsonType::Null => Ok(None),
        _ => raw.string("a name or null").map(|name| Some(name.into_owned())),
    })?;
    if names.len() != rank {
        let found = format!("length {}", names.len());
        let allowed = format!("length {rank}, the rank of the array");
        return Err(MetadataError::unexpected(found, allowed));
    }
    Ok(names)
}
