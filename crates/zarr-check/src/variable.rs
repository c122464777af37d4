//! Examines the content of a chunk of strings or byte strings.

use zarr_array::Array;
use zarr_codec::{AnyChunkCodec, ByteStrings, ChunkErrorKind, VariableChunkCodec};
use zarr_store::Key;

use crate::content::Content;
use crate::finding::{
    CLIPPED, FILL_ONLY, Finding, OVERFLOW, rule_of_chunk, shows_again, unexamined,
};

/// Examines a chunk of this codec. Its part `clipped` lies within the array.
///
/// A list of elements can be written in only one way, so every chunk that decodes is canonical.
///
/// `None` if it decompresses to more bytes than the limit.
pub(crate) fn examine_variable(
    array: &Array,
    codec: &VariableChunkCodec,
    key: &Key,
    encoded: &[u8],
    clipped: &[u64],
    limit: u64,
) -> Option<Vec<Finding>> {
    let (fill, shape) = (array.fill(), wide(codec.shape()));
    let decode =
        |codec: &VariableChunkCodec| codec.clone().with_limit(limit).decode_all(encoded, fill);
    let found =
        |rule, message: String| Some(vec![Finding::new(rule, message).with_key(key.as_str())]);
    let decoded = match decode(codec) {
        Ok(decoded) => decoded,
        Err(error) if matches!(error.kind(), ChunkErrorKind::OutOfMemory { .. }) => {
            return Some(vec![unexamined(key, error)]);
        }
        Err(error) if matches!(error.kind(), ChunkErrorKind::DecodedLimit { .. }) => return None,
        Err(error) => {
            if clipped != shape
                && let Ok(AnyChunkCodec::Variable(codec)) = array.chunk_codec(clipped)
                && decode(&codec).is_ok()
            {
                let message = format!("stored as {clipped:?}, expected the full chunk {shape:?}");
                return found(CLIPPED, message);
            }
            return found(rule_of_chunk(error.kind()), error.to_string());
        }
    };
    if decoded.iter().all(|element| element == fill) {
        let message = "nothing but the fill value; it need not be stored";
        return found(FILL_ONLY, message.to_owned());
    }
    let mut findings = Vec::new();
    if let Some(at) = past_end(&decoded, &shape, clipped, fill) {
        let message = format!(
            "element {at:?} of the chunk is past the array's end, and not the fill value; {}",
            shows_again(array.metadata().is_version_2())
        );
        findings.push(Finding::new(OVERFLOW, message).with_key(key.as_str()));
    }
    drop(decoded);
    // Each inner chunk has just been decoded without error.
    let empty = codec.fill_only(encoded, fill).unwrap_or_default();
    findings.extend(Content::Shard { empty, bits: None }.findings(key));
    Some(findings)
}

/// The first element outside the box at a chunk's start that is not the fill value.
fn past_end(
    elements: &ByteStrings,
    shape: &[u64],
    clipped: &[u64],
    fill: &[u8],
) -> Option<Vec<u64>> {
    let mut others = (0_u64..).zip(elements.iter()).filter(|(_, element)| *element != fill);
    others.find_map(|(element, _)| {
        let at = zarr_grid::unravel(element, shape);
        at.iter().zip(clipped).any(|(at, end)| at >= end).then_some(at)
    })
}

/// A shape in the numbers of the format.
fn wide(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|size| u64::try_from(*size).unwrap_or(u64::MAX)).collect()
}
