//! Examines the content of a chunk of strings or byte strings.

use zarr_array::Array;
use zarr_codec::{AnyChunkCodec, ChunkErrorKind, VariableChunkCodec};
use zarr_store::Key;

use crate::content::{Content, ExaminedChunk};
use crate::finding::{CLIPPED, Finding, rule_of_chunk, unexamined};
use crate::past_end::PastEnd;

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
    let is_empty = decoded.iter().all(|element| element == fill);
    let past_end = match is_empty {
        true => PastEnd::None,
        false => PastEnd::find(decoded.iter(), codec.shape(), clipped, fill),
    };
    drop(decoded);
    let content = match is_empty {
        true => Content::Empty,
        // Each inner chunk has just been decoded without error.
        false => {
            let empty = codec.fill_only(encoded, fill).unwrap_or_default();
            Content::Shard { empty, bits: None }
        }
    };
    Some(ExaminedChunk { content, past_end }.findings(array, key))
}

/// A shape in the numbers of the format.
fn wide(shape: &[usize]) -> Vec<u64> {
    shape.iter().map(|size| u64::try_from(*size).unwrap_or(u64::MAX)).collect()
}
