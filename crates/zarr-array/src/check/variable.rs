//! Examines the content of a chunk of strings or byte strings.

use zarr_codec::{ByteStrings, ChunkErrorKind};

use super::finding::{CLIPPED, FILL_ONLY, Finding, OVERFLOW, rule_of_chunk, unexamined};
use crate::array::Array;
use crate::counts::{narrow, number};
use crate::error::ArrayError;
use crate::store::Key;

/// Examines a chunk of this shape, of which the part `clipped` lies within the array.
/// A list of elements can be written in only one way, so a chunk that decodes is the one that a
/// writer should leave.
pub(super) fn examine_variable(
    array: &Array,
    key: &Key,
    encoded: &[u8],
    shape: &[u64],
    clipped: &[u64],
) -> Result<Vec<Finding>, ArrayError> {
    let fill = array.fill();
    let decode = |shape: &[u64]| match array.variable_codec(shape) {
        Ok(codec) => Ok(codec.decode_all(encoded, fill)),
        Err(error) => Err(error),
    };
    let decoded = match decode(shape) {
        Ok(decoded) => decoded,
        Err(ArrayError::Chain { cause, .. }) => return Ok(vec![unexamined(key, cause.kind())]),
        Err(error) => return Err(error),
    };
    let found = |rule, message: String| vec![Finding::new(rule, message).with_key(key.as_str())];
    let decoded = match decoded {
        Ok(decoded) => decoded,
        Err(error) if matches!(error.kind(), ChunkErrorKind::OutOfMemory { .. }) => {
            return Ok(vec![unexamined(key, error)]);
        }
        Err(error) => {
            if clipped != shape && matches!(decode(clipped), Ok(Ok(_))) {
                let message = format!("stored as {clipped:?}, expected the full chunk {shape:?}");
                return Ok(found(CLIPPED, message));
            }
            return Ok(found(rule_of_chunk(error.kind()), error.to_string()));
        }
    };
    if decoded.iter().all(|element| element == fill) {
        let message = "nothing but the fill value; it need not be stored";
        return Ok(found(FILL_ONLY, message.to_owned()));
    }
    Ok(past_end(&decoded, shape, clipped, fill).map_or_else(Vec::new, |at| {
        let message = format!(
            "element {at:?} of the chunk is past the array's end, and not the fill value; it shows \
             again when the array grows"
        );
        found(OVERFLOW, message)
    }))
}

/// The first element outside the box at a chunk's start that is not the fill value.
fn past_end(
    elements: &ByteStrings,
    shape: &[u64],
    clipped: &[u64],
    fill: &[u8],
) -> Option<Vec<usize>> {
    let mut others = (0_u64..).zip(elements.iter()).filter(|(_, element)| *element != fill);
    others.find_map(|(element, _)| {
        let at = number(element, shape.iter().map(|size| narrow(*size)));
        at.iter().zip(clipped).any(|(at, end)| *at >= narrow(*end)).then_some(at)
    })
}
