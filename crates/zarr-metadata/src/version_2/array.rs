//! `.zarray`: the document of an array of version 2.

use super::attributes::Attributes;
use super::codecs;
use super::data_type::ParsedDtype;
use super::fill_value;
use super::writers::{NETCDF, Writers};
use super::{Version2Error, check_format, members, of, outline};
use crate::chunk_grid::{ChunkGrid, write_list};
use crate::chunk_key::{ChunkKeyEncoding, Separator};
use crate::codec::{Codec, write_codecs};
use crate::documents::array::ArrayMetadata;
use crate::documents::document::NodeDocument;
use crate::error::{At, MetadataError, Result};
use crate::json::{JsonType, Object, Raw, read_elements, write_array, write_string};
use crate::limits::{MAX_ELEMENT_SIZE, check_rank};

impl ArrayMetadata {
    /// Reads an array of Zarr version 2 from its documents `.zarray` and, if there is one, `.zattrs`.
    ///
    /// The result is the document that the array would have in version 3, with the chunk key
    /// encoding `v2`: it describes the stored chunks without changes. Chunks in Fortran order are
    /// behind a transpose. An attribute `_ARRAY_DIMENSIONS` of Xarray becomes the dimension names.
    /// Then the fill value also becomes the attribute `_FillValue`, since Xarray uses it so in
    /// version 2. A fill value of `null` becomes zero, the empty string or NaT.
    ///
    /// Time and memory are proportional to the length of the texts and to the size of one element.
    ///
    /// # Errors
    /// If a text is not JSON, breaks a rule of the specification, or has a part that version 3
    /// cannot express: pickled objects, arrays within records, or fields of a record with different
    /// byte orders. Paths refer to the documents of version 2.
    ///
    /// # Examples
    /// ```
    /// use zarr_metadata::{ArrayMetadata, Codec, DataType};
    ///
    /// let array = ArrayMetadata::from_version_2(
    ///     br#"{"zarr_format": 2, "shape": [20, 30], "chunks": [10, 10], "dtype": ">i2",
    ///       "order": "F", "fill_value": null, "filters": null,
    ///       "compressor": {"id": "zlib", "level": 1}}"#,
    ///     Some(br#"{"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m"}"#),
    /// )?;
    /// assert_eq!(array.data_type(), &DataType::Int16);
    /// let names: Vec<&str> = array.codecs().iter().map(Codec::name).collect();
    /// assert_eq!(names, ["transpose", "bytes", "numcodecs.zlib"]);
    /// assert_eq!(array.chunk_key_encoding().encode(&[1, 2]), "1.2");
    /// assert_eq!(array.attributes(), r#"{"units": "m"}"#);
    /// assert!(array.is_version_2());
    /// # Ok::<_, zarr_metadata::Version2Error>(())
    /// ```
    ///
    /// # Spec
    /// Zarr version 2, "Arrays"; conventions of zarr-python 2.18.
    pub fn from_version_2(
        zarray: &[u8],
        zattrs: Option<&[u8]>,
    ) -> std::result::Result<Self, Version2Error> {
        let attributes = Attributes::read(zattrs).map_err(of(".zattrs"))?;
        outline(zarray)
            .and_then(|outline| translate(members(outline.root())?, attributes, MAX_ELEMENT_SIZE))
            .map_err(of(".zarray"))
    }
}

/// The array with these members in its document, unless its elements are larger than `largest`.
pub(super) fn translate(
    mut members: Object<'_>,
    attributes: Attributes<'_>,
    largest: usize,
) -> Result<ArrayMetadata> {
    check_format(&mut members)?;
    let shape = lengths(&mut members, "shape", "an array of lengths of at least 0", 0)?;
    check_rank(shape.len()).member("shape")?;
    let mut chunks = lengths(&mut members, "chunks", "an array of lengths of at least 1", 0)?;
    if chunks.len() != shape.len() {
        let found = format!("length {}", chunks.len());
        let allowed = format!("length {}, the rank of the array", shape.len());
        return Err(MetadataError::unexpected(found, allowed).in_member("chunks"));
    }
    for (axis, (chunk, length)) in chunks.iter_mut().zip(&shape).enumerate() {
        // Some writers have no chunks on axes of length 0, where there are none in any case.
        if *chunk == 0 && *length == 0 {
            *chunk = 1;
        }
        if *chunk == 0 {
            let error = MetadataError::unexpected("0", "a length of at least 1");
            return Err(error.in_element(axis).in_member("chunks"));
        }
    }
    let is_marked = NETCDF.iter().any(|mark| members.take(mark).is_some());
    let mut writers = Writers::of(is_marked, attributes.json());
    let raw = members.require("dtype", "a data type of NumPy")?;
    let found = ParsedDtype::read(raw, &mut writers).member("dtype")?;
    let is_fortran = is_fortran(&mut members)?;
    let (filters, compressor) = (members.take("filters"), members.take("compressor"));
    let (dtype, chain) =
        codecs::translate(found, shape.len(), is_fortran, (filters, compressor), &mut writers)?;
    if dtype.data_type.size().is_some_and(|size| size > largest) {
        let allowed = format!("at most {largest} bytes");
        return Err(MetadataError::unexpected("a larger element", allowed).in_member("dtype"));
    }
    let separator = separator(&mut members)?;
    let raw = members.require("fill_value", "a value of the data type, or null")?;
    let fill = match chain.contains(&Codec::NumcodecsJson2) {
        true => fill_value::as_json(raw)?,
        false => fill_value::translate(raw, &dtype, &mut writers).member("fill_value")?,
    };
    let stated = (raw.json_type() != JsonType::Null).then_some(&fill);
    let attributes = attributes.of_array(shape.len(), stated, &dtype);

    let mut written_shape = String::new();
    write_list(&shape, &mut written_shape);
    let mut written_codecs = String::new();
    write_codecs(&chain, &mut written_codecs);
    let mut members = vec![
        ("zarr_format", "3".to_owned()),
        ("node_type", "\"array\"".to_owned()),
        ("shape", written_shape),
        ("data_type", dtype.data_type.to_json()),
        ("chunk_grid", ChunkGrid::Regular { chunk_shape: chunks }.to_json()),
        ("chunk_key_encoding", ChunkKeyEncoding::V2 { separator }.to_json()),
        ("fill_value", fill.json().to_owned()),
        ("codecs", written_codecs),
    ];
    members.extend(attributes.json.map(|json| ("attributes", json)));
    members.extend(attributes.dimension_names.map(|names| ("dimension_names", listed(&names))));
    let document = NodeDocument::new(&members);
    let array = ArrayMetadata::from_json(document.json().as_bytes())?;
    Ok(array.of_version_2(writers.into_findings()))
}

fn listed(names: &[String]) -> String {
    let mut json = String::new();
    write_array(names, &mut json, |name, json| write_string(name, json));
    json
}

fn lengths(
    members: &mut Object<'_>,
    name: &'static str,
    allowed: &'static str,
    least: u64,
) -> Result<Vec<u64>> {
    let raw = members.require(name, allowed)?;
    read_elements(raw, allowed, |raw: Raw<'_>| raw.at_least(least)).member(name)
}

fn is_fortran(members: &mut Object<'_>) -> Result<bool> {
    const ALLOWED: &str = "\"C\" or \"F\"";
    let raw = members.require("order", ALLOWED)?;
    match raw.text() {
        "\"C\"" => Ok(false),
        "\"F\"" => Ok(true),
        _ => Err(raw.expected(ALLOWED).in_member("order")),
    }
}

/// `.` if the document does not say: the member is younger than the format.
fn separator(members: &mut Object<'_>) -> Result<Separator> {
    let separator = members.optional("dimension_separator", |raw| match raw.text() {
        "\".\"" => Ok(Separator::Dot),
        "\"/\"" => Ok(Separator::Slash),
        _ => Err(raw.expected("\".\" or \"/\"")),
    })?;
    Ok(separator.unwrap_or(Separator::Dot))
}
