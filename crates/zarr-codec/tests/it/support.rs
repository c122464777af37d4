//! Shared by the tests: chains from JSON, whole chunks and regions as bytes.

use serde_json::Value;
use zarr_codec::{AxisEdges, Chain, ChainError, ChunkCodec, ChunkError, Encoded, Scratch, Slice};
use zarr_metadata::{ArrayMetadata, Codec, DataType};
use zarr_view::{Output, View};

/// The data type of this name.
pub(crate) fn data_type(name: &str) -> DataType {
    let fill = match name {
        "bool" => "false",
        _ if name.starts_with("complex") => "[0, 0]",
        "r16" => "[0, 0]",
        // The one number type without zero.
        "float8_e8m0fnu" => "1",
        _ => "0",
    };
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [], "data_type": "{name}",
        "fill_value": {fill}, "chunk_key_encoding": {{"name": "default"}},
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": []}}}},
        "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}"#
    );
    ArrayMetadata::from_json(document.as_bytes()).expect("valid").data_type().clone()
}

pub(crate) fn bind(codecs: &str, name: &str, edges: &[AxisEdges]) -> Result<Chain, ChainError> {
    let codecs = Codec::list_from_json(codecs.as_bytes()).expect("codecs in a valid order");
    Chain::bind(&codecs, &data_type(name), edges)
}

/// The codec of chunks of one shape.
pub(crate) fn codec(codecs: &str, name: &str, shape: &[u64]) -> ChunkCodec {
    let edges: Vec<AxisEdges> = shape.iter().map(|edge| AxisEdges::one(*edge)).collect();
    bind(codecs, name, &edges).expect("binds").for_shape(shape).expect("fits")
}

pub(crate) fn everything(codec: &ChunkCodec) -> Vec<Slice> {
    codec.shape().iter().map(|size| (0..*size).into()).collect()
}

/// The elements of a region, written over bytes with other values.
pub(crate) fn decode(
    codec: &ChunkCodec,
    encoded: &[u8],
    region: &[Slice],
    fill: &[u8],
    scratch: &mut Scratch,
) -> Result<Vec<u8>, ChunkError> {
    let shape: Vec<usize> = region.iter().map(|slice| slice.count).collect();
    let view = View::contiguous(&shape).expect("small");
    let mut elements = vec![0xcd; view.len() * fill.len()];
    let mut out = Output::new(&mut elements, &view, fill.len()).expect("fits");
    codec.decode(encoded, region, &mut out, fill, scratch)?;
    Ok(elements)
}

pub(crate) fn decode_whole(
    codec: &ChunkCodec,
    encoded: &[u8],
    fill: &[u8],
) -> Result<Vec<u8>, ChunkError> {
    decode(codec, encoded, &everything(codec), fill, &mut Scratch::new())
}

pub(crate) fn encode(
    codec: &ChunkCodec,
    elements: &[u8],
    fill: &[u8],
) -> Result<(Encoded, Vec<u8>), ChunkError> {
    let view = View::contiguous(codec.shape()).expect("small");
    let mut out = Vec::new();
    let content = codec.encode(elements, &view, fill, &mut out, &mut Scratch::new())?;
    Ok((content, out))
}

pub(crate) fn list(codecs: &[Value]) -> String {
    Value::from(codecs).to_string()
}

/// A plain generator of numbers, the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % limit.max(1) as u64).expect("below a usize")
    }
}
