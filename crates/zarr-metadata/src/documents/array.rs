//! The metadata document of an array.

use std::{fmt, ops::Deref};

use crate::chunk_grid::edges::ChunkEdges;
use crate::chunk_grid::{ChunkGrid, write_list};
use crate::chunk_key::ChunkKeyEncoding;
use crate::codec::{
    Codec, Endian, assume_little_endian, check_chain, element_order, has_checksum, read_codecs,
    write_codecs,
};
use crate::data_type::{self, DataType};
use crate::documents::document::{self, ARRAY, NodeDocument};
use crate::documents::draft::Draft;
use crate::error::finding::Finding;
use crate::error::rule::Rule;
use crate::error::{At, MetadataError, Result};
use crate::fill_value::FillValue;
use crate::json::{JsonType, Raw, read_elements, same_value, utf8, write_array, write_string};
use crate::limits::check_rank;

/// The `zarr.json` of an array, checked.
///
/// A document that was read is written back byte for byte. A change replaces only the members that
/// it concerns (SD-33).
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
    document: NodeDocument,
    shape: Vec<u64>,
    data_type: DataType,
    chunk_grid: ChunkGrid,
    chunk_key_encoding: ChunkKeyEncoding,
    fill_value: FillValue,
    codecs: Vec<Codec>,
    dimension_names: Option<Vec<Option<String>>>,
}

impl ArrayMetadata {
    /// Reads and checks a document.
    ///
    /// Time and memory are proportional to the length of the text.
    ///
    /// # Errors
    /// If the text is not JSON, or breaks a rule of the specification. Faults that do not prevent
    /// reading are not errors but [findings](NodeDocument::findings).
    pub fn from_json(json: &[u8]) -> Result<Self> {
        Self::of(Draft::read(utf8(json)?)?)
    }

    pub(crate) fn of(mut draft: Draft<'_>) -> Result<Self> {
        if let Some(raw) = draft.member("consolidated_metadata") {
            let error = raw.expected("no consolidated metadata on an array");
            return Err(error
                .breaks(Rule::CONSOLIDATED_METADATA)
                .in_member("consolidated_metadata"));
        }
        let mut findings = std::mem::take(&mut draft.findings);
        let axes = std::mem::take(&mut draft.axes);
        draft.check("array", ARRAY)?;
        draft.check_storage_transformers()?;

        const SHAPE: &str = "an array of lengths of at least 0";
        let raw = draft.require("shape", SHAPE)?;
        let shape =
            read_elements(raw, SHAPE, |raw| raw.at_least(0)).breaks(Rule::SHAPE).member("shape")?;
        check_rank(shape.len()).member("shape")?;

        let raw = draft.require("chunk_grid", "a chunk grid")?;
        let read = |findings: &mut _| ChunkGrid::read(raw, axes, findings);
        let chunk_grid = Finding::member(&mut findings, "chunk_grid", read);
        let chunk_grid = chunk_grid.breaks(Rule::EXTENSION_FORM)?;
        chunk_grid.check(&shape).member("chunk_grid")?;
        let chunk_grid = chunk_grid.with_chunks_on_empty_axes(&mut findings);

        let raw = draft.require("data_type", "a data type")?;
        let data_type =
            Finding::member(&mut findings, "data_type", |findings| DataType::read(raw, findings))?;
        let is_legacy = matches!(data_type, DataType::Struct(_)) && data_type::is_legacy(raw);
        let fill_value = draft.require("fill_value", "a value of the data type")?;

        let raw = draft.require("chunk_key_encoding", "a chunk key encoding")?;
        let read = |findings: &mut _| ChunkKeyEncoding::read(raw, findings);
        let chunk_key_encoding = Finding::member(&mut findings, "chunk_key_encoding", read)?;
        chunk_key_encoding.check(shape.len()).member("chunk_key_encoding")?;

        let raw = draft.require("codecs", "an array of codecs")?;
        let codecs = Finding::member(&mut findings, "codecs", |findings| {
            let mut codecs = read_codecs(raw, findings)?;
            if is_legacy && data_type.has_byte_order() {
                assume_little_endian(&mut codecs, findings);
            }
            Ok(codecs)
        })?;
        let order = element_order(&codecs).unwrap_or(Endian::Little);
        let fill_value = FillValue::read(&data_type, fill_value, order).member("fill_value")?;
        check_chain(&codecs, &data_type, shape.len()).member("codecs")?;

        let dimension_names = match draft.member("dimension_names") {
            Some(raw) if raw.json_type() != JsonType::Null => {
                let names = read_dimension_names(raw, shape.len());
                Some(names.breaks(Rule::DIMENSION_NAMES).member("dimension_names")?)
            }
            _ => None,
        };
        Ok(ArrayMetadata {
            document: draft.keep(findings),
            shape,
            data_type,
            chunk_grid,
            chunk_key_encoding,
            fill_value,
            codecs,
            dimension_names,
        })
    }

    /// The document of a new array, with the default chunk key encoding and no attributes.
    ///
    /// Data types, grids and codecs may be [extensions](crate::Extension) that are not known here. The
    /// document then serves a program that knows them (SD-42).
    ///
    /// # Errors
    /// If a part is wrong or does not fit another, as in reading; if the document would have
    /// [findings](NodeDocument::findings); or if a list of edges is empty (SD-06).
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
        let fill_value = canonical(data_type, fill_value)?;
        let document = NodeDocument::new(&[
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
        Self::from_json(document.json().as_bytes())?.without_findings("$")
    }

    /// The document, unless there are findings at `path` or inside it: a writer refuses faults that a
    /// reader only reports. A name that is not known here is not a fault of the document.
    fn without_findings(self, path: &str) -> Result<Self> {
        const UNKNOWN: [Rule; 3] =
            [Rule::UNKNOWN_DATA_TYPE, Rule::UNKNOWN_CHUNK_GRID, Rule::UNKNOWN_CHUNK_KEY_ENCODING];
        let is_fault = |finding: &&Finding| {
            finding.path().is_some_and(|at| at.starts_with(path))
                && !UNKNOWN.contains(&finding.rule())
        };
        match self.findings().iter().find(is_fault) {
            Some(finding) => Err(MetadataError::of_finding(finding)),
            None => Ok(self),
        }
    }

    /// The document with this JSON text as the value of a top-level member. Every byte outside of
    /// that value stays as it is.
    ///
    /// # Errors
    /// If the text is not strict JSON, which has no bare `NaN` (SD-43), or if the member is wrong,
    /// does not fit the others, or would have [findings](NodeDocument::findings). Members that the
    /// specification does not have need `"must_understand": false` (SD-40).
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::ArrayMetadata;
    ///
    /// let json = br#"{"zarr_format": 3, "node_type": "array", "shape": [6], "data_type":"int8",
    ///     "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
    ///     "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": [{"name": "bytes"}]}"#;
    /// let array = ArrayMetadata::from_json(json)?;
    /// let changed = array.with_member("fill_value", "-1")?;
    /// assert_eq!(changed.json(), array.json().replace(r#""fill_value": 0"#, r#""fill_value": -1"#));
    ///
    /// let hint = r#"{"must_understand": false, "tiles": 4}"#;
    /// assert_eq!(array.with_member("acme.hint", hint)?.member("acme.hint"), Some(hint));
    /// assert!(array.with_member("acme.hint", "4").is_err());
    /// # Ok::<_, zarr_metadata::MetadataError>(())
    /// ```
    pub fn with_member(&self, name: &str, json: &str) -> Result<Self> {
        let text = self.document.with_member(name, document::strict(name, json)?, ARRAY);
        Self::from_json(text.as_bytes())?.without_findings(&format!("$.{name}"))
    }

    /// The document with these attributes, the JSON text of an object.
    ///
    /// # Errors
    /// If the text is not an object in strict JSON, which has no bare `NaN` (SD-43).
    pub fn with_attributes(&self, json: &str) -> Result<Self> {
        self.with_member("attributes", json)
    }

    /// The document with this fill value. The chunks of an array that is stored keep the elements
    /// that they hold; all others become this value.
    ///
    /// # Errors
    /// If it is not a value of the data type.
    pub fn with_fill_value(&self, fill_value: &FillValue) -> Result<Self> {
        self.with_member("fill_value", canonical(&self.data_type, fill_value)?.json())
    }

    /// The document with other values of attributes, each a name and a JSON text, or without those
    /// whose text is `None`. The others keep their text and order.
    ///
    /// # Errors
    /// If the text is not strict JSON, which has no bare `NaN` (SD-43).
    pub fn with_changed_attributes(&self, changes: &[(&str, Option<&str>)]) -> Result<Self> {
        let text = self.document.with_changed_attributes(changes, ARRAY)?;
        Self::from_json(text.as_bytes())
    }

    /// The document with a name or `None` for each dimension.
    ///
    /// # Errors
    /// Unless there is exactly one per dimension.
    pub fn with_dimension_names(&self, names: &[Option<&str>]) -> Result<Self> {
        let mut json = String::new();
        write_array(names, &mut json, |name, json| match name {
            Some(name) => write_string(name, json),
            None => json.push_str("null"),
        });
        self.with_member("dimension_names", &json)
    }

    /// The document with this chunk key encoding.
    ///
    /// # Errors
    /// If the encoding does not fit the rank of the array.
    pub fn with_chunk_key_encoding(&self, encoding: &ChunkKeyEncoding) -> Result<Self> {
        self.with_member("chunk_key_encoding", &encoding.to_json())
    }

    /// The document with this codec chain.
    ///
    /// # Errors
    /// If a codec is wrong or does not fit the array, as in reading, or if the chain would have
    /// [findings](NodeDocument::findings).
    pub fn with_codecs(&self, codecs: &[Codec]) -> Result<Self> {
        let mut json = String::new();
        write_codecs(codecs, &mut json);
        self.with_member("codecs", &json)
    }

    /// The document with another data type, and the fill value and the codecs that belong to it. Every byte
    /// outside of these members stays as it is.
    ///
    /// # Errors
    /// If a part is wrong or does not fit the array, as in reading, or would have
    /// [findings](NodeDocument::findings).
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::{ArrayBuilder, DataType, FillValue};
    ///
    /// let array = ArrayBuilder::new([6], DataType::Int8).attributes(r#"{"step": 2}"#).build()?;
    /// let fill = FillValue::parse(&DataType::Uint8, "255")?;
    /// let changed = array.with_data_type(&DataType::Uint8, &fill, array.codecs())?;
    /// assert_eq!(changed.data_type(), &DataType::Uint8);
    /// assert_eq!(changed.attributes(), r#"{"step": 2}"#);
    /// # Ok::<_, zarr_metadata::MetadataError>(())
    /// ```
    pub fn with_data_type(
        &self,
        data_type: &DataType,
        fill_value: &FillValue,
        codecs: &[Codec],
    ) -> Result<Self> {
        let fill_value = canonical(data_type, fill_value)?;
        let mut written_codecs = String::new();
        write_codecs(codecs, &mut written_codecs);
        let mut text = self.document.with_member("data_type", &data_type.to_json(), ARRAY);
        for (name, json) in [("fill_value", fill_value.json()), ("codecs", &written_codecs)] {
            // Only the members are needed here: the new ones are checked together.
            let document = Draft::read(&text)?.keep(Vec::new());
            text = document.with_member(name, json, ARRAY);
        }
        let changed = Self::from_json(text.as_bytes())?;
        let mut names = ["$.data_type", "$.fill_value", "$.codecs"].into_iter();
        names.try_fold(changed, Self::without_findings)
    }

    /// The document with this shape, for a resize that the present grid covers.
    ///
    /// # Errors
    /// If the rank differs, or the edges do not cover the shape (SD-08).
    pub fn with_shape(&self, shape: &[u64]) -> Result<Self> {
        if self.findings().iter().any(|finding| finding.rule() == Rule::ZERO_CHUNK_LENGTH) {
            // A length of 0 would not do for an axis that grows, and is not written (SD-58).
            return self.with_shape_and_grid(shape, &self.chunk_grid);
        }
        let mut json = String::new();
        write_list(shape, &mut json);
        self.with_member("shape", &json)
    }

    /// The document with this shape and this grid, for a resize that needs new edges.
    ///
    /// # Errors
    /// If the two do not fit each other, or the grid has an empty list of edges (SD-06).
    pub fn with_shape_and_grid(&self, shape: &[u64], chunk_grid: &ChunkGrid) -> Result<Self> {
        check_written(chunk_grid)?;
        let mut json = String::new();
        write_list(shape, &mut json);
        let text = self.document.with_member("shape", &json, ARRAY);
        // Only the members are needed here: the two new ones are checked together.
        let document = Draft::read(&text)?.keep(Vec::new());
        let text = document.with_member("chunk_grid", &chunk_grid.to_json(), ARRAY);
        Self::from_json(text.as_bytes())
    }

    /// The length of the array along each dimension, in elements.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// The data type of the elements.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The chunk grid.
    #[must_use]
    pub fn chunk_grid(&self) -> &ChunkGrid {
        &self.chunk_grid
    }

    /// The encoding of chunk keys in the store.
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

    /// Whether the codecs store checksums, so that readers notice changed bytes. True if a codec is
    /// unknown.
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::{ArrayBuilder, Codec, DataType};
    ///
    /// let array = ArrayBuilder::new([8], DataType::Int4);
    /// assert!(array.clone().build()?.has_checksum());
    /// assert!(!array.codecs([Codec::bytes()]).build()?.has_checksum());
    /// # Ok::<(), zarr_metadata::MetadataError>(())
    /// ```
    #[must_use]
    pub fn has_checksum(&self) -> bool {
        has_checksum(&self.codecs)
    }

    /// A name or `None` for each dimension; `None` where the document has no names.
    #[must_use]
    pub fn dimension_names(&self) -> Option<&[Option<String>]> {
        self.dimension_names.as_deref()
    }

    /// The same document as one of version 3 proper, to be stored.
    #[must_use]
    pub fn into_version_3(self) -> Self {
        ArrayMetadata { document: self.document.of_version_2(false), ..self }
    }

    /// The same document, translated from one of version 2 with these findings.
    pub(crate) fn of_version_2(self, findings: Vec<Finding>) -> Self {
        let document = self.document.of_version_2(true).with_findings(findings);
        ArrayMetadata { document, ..self }
    }
}

impl Deref for ArrayMetadata {
    type Target = NodeDocument;

    fn deref(&self) -> &NodeDocument {
        &self.document
    }
}

/// Compares the contents of the documents, attributes and unknown members as JSON values. The order
/// of members, escapes in strings and the spelling of numbers do not matter.
impl PartialEq for ArrayMetadata {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape
            && self.data_type == other.data_type
            && self.chunk_grid == other.chunk_grid
            && self.chunk_key_encoding == other.chunk_key_encoding
            && self.fill_value == other.fill_value
            && self.codecs == other.codecs
            && self.dimension_names == other.dimension_names
            && same_value(self.attributes(), other.attributes())
            && self.document.same_unknown(&other.document, ARRAY)
    }
}

impl Eq for ArrayMetadata {}

impl fmt::Debug for ArrayMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArrayMetadata({})", self.json())
    }
}

/// The canonical spelling, whatever the value was read from (SD-46).
fn canonical(data_type: &DataType, fill_value: &FillValue) -> Result<FillValue> {
    match fill_value.bytes() {
        Some(bytes) => FillValue::from_bytes(data_type, bytes).member("fill_value"),
        None => Ok(fill_value.clone()),
    }
}

/// Documents that may be read but not written (SD-06).
fn check_written(chunk_grid: &ChunkGrid) -> Result<()> {
    let ChunkGrid::Rectilinear { chunk_shapes } = chunk_grid else { return Ok(()) };
    for (axis, edges) in chunk_shapes.iter().enumerate() {
        if matches!(edges, ChunkEdges::Runs(runs) if runs.is_empty()) {
            return Err(MetadataError::unexpected(
                "an empty list of edges",
                "an edge of at least 1, also on an axis of length 0",
            )
            .breaks(Rule::GRID_AXIS)
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
