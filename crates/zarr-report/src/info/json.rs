//! An array as one JSON document.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use zarr_array::{Array, ChunkLayout};
use zarr_metadata::{FillValue, Finding};

use super::{ArrayInfo, Interrupted};
use crate::format::pretty::raw;
use crate::words;

/// The content of `--json` for an array. JSON of the store keeps every digit, and members keep
/// their order.
#[derive(Serialize)]
struct ArrayJson<'a> {
    attributes: Box<RawValue>,
    chunk_grid: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunks: Option<Value>,
    codecs: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compiled: Option<Value>,
    data_type: Box<RawValue>,
    dimension_names: Option<&'a [Option<String>]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    fill_value: Box<RawValue>,
    findings: Vec<Value>,
    /// The number of members, for an array that consists of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    members: Option<u64>,
    node_type: &'static str,
    readable: bool,
    shape: &'a [u64],
    /// A copy, join or creation that was interrupted at this place.
    #[serde(skip_serializing_if = "Option::is_none")]
    unfinished: Option<&'a str>,
    /// Only for version 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    zarr_format: Option<u8>,
}

impl ArrayInfo {
    /// As `info --json` prints it.
    pub fn json(&self) -> impl Serialize + '_ {
        let Self { metadata, bound, layout, stored, inner, unfinished } = self;
        let stored = stored.as_ref();
        // In canonical form if the type is interpreted.
        let fill = metadata.fill_value();
        let canonical =
            fill.bytes().and_then(|bytes| FillValue::from_bytes(metadata.data_type(), bytes).ok());
        let fill = canonical.as_ref().unwrap_or(fill);
        let finding = |finding: &Finding| {
            json!({
                "id": finding.id(), "severity": finding.severity().to_string(),
                "path": finding.path(), "message": finding.message(),
            })
        };
        let chunks = layout.as_ref().map(ChunkLayout::grid).map(|grid| {
            let inner = inner.as_ref().map(|inner| {
                json!({
                    "shape": inner.shape, "all": inner.all, "stored": inner.stored.as_ref().ok(),
                    "not_counted": inner.stored.as_ref().err(),
                })
            });
            json!({
                "inner": inner,
                "declared": grid.declared(),
                "occupied": grid.occupied(),
                "stored": stored.map(|stored| stored.occupied),
                "stored_past_the_end": stored.map(|stored| stored.beyond),
                "stored_bytes": stored.and_then(|stored| stored.bytes).map(|[inside, _]| inside),
                "stored_bytes_past_the_end":
                    stored.and_then(|stored| stored.bytes).map(|[_, beyond]| beyond),
            })
        });
        ArrayJson {
            attributes: raw(metadata.attributes()),
            chunk_grid: raw(&metadata.chunk_grid().to_json()),
            chunks,
            codecs: metadata.codecs().iter().map(|codec| raw(&codec.to_json())).collect(),
            compiled: bound.as_ref().ok().map(compiled),
            data_type: raw(&metadata.data_type().to_json()),
            dimension_names: metadata.dimension_names(),
            error: bound.as_ref().err().map(|(_, words)| words.clone()),
            fill_value: raw(fill.json()),
            findings: metadata.findings().iter().map(finding).collect(),
            members: bound
                .as_ref()
                .ok()
                .and_then(Array::members)
                .and_then(|members| members.grid().occupied_chunks()),
            node_type: "array",
            readable: bound.is_ok(),
            shape: metadata.shape(),
            unfinished: unfinished.as_ref().map(Interrupted::text),
            zarr_format: metadata.is_version_2().then_some(2),
        }
    }
}

/// The compiled chain of the first chunk.
fn compiled(array: &Array) -> Value {
    let codec = words::first_chunk(array).and_then(|shape| array.chunk_codec(&shape).ok());
    let Some(codec) = codec.filter(|codec| codec.fixed().is_some()) else { return Value::Null };
    let transform = codec.transform();
    json!({
        "chunk_shape": transform.chunk_shape(),
        "stored_shape": transform.stored_shape(),
        "strides": transform.view().map(|view| view.strides().to_vec()),
        "encoded_bytes": codec.encoded_len(),
    })
}
