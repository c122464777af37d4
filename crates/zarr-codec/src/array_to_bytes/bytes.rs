//! `bytes`: each element's own bytes, in little or big endian (core, "bytes codec").

use zarr_metadata::{Endian, Rule};

use super::packbits::check_survival;
use crate::element::ElementType;
use crate::error::{ChainErrorKind, ChunkErrorKind};
use crate::length::widen;
use crate::scratch::{Bytes, Pool};

/// Whether the configuration asks for big endian. It must say so for elements of several bytes.
pub(super) fn is_big_endian(
    endian: Option<Endian>,
    element: &ElementType,
) -> Result<bool, ChainErrorKind> {
    match endian {
        None if element.has_byte_order() => {
            let reason =
                format!("data type {} needs `endian`, \"little\" or \"big\"", element.name);
            let member = ".configuration.endian";
            Err(ChainErrorKind::broken(Rule::BYTES_ENDIAN_MISSING, member, reason))
        }
        endian => Ok(endian == Some(Endian::Big)),
    }
}

/// Whether stored elements differ from those in memory by more than the byte swap of a copy.
pub(super) fn rewrites(big_endian: bool, element: &ElementType) -> bool {
    element.is_sub_byte() || (big_endian && element.is_mixed())
}

/// Refuses a number of bytes that does not match the number of elements.
pub(crate) fn check(
    encoded: &[u8],
    elements: usize,
    element: &ElementType,
) -> Result<(), ChunkErrorKind> {
    let expected = elements * element.size();
    if encoded.len() != expected {
        let (found, expected) = (widen(encoded.len()), widen(expected));
        return Err(ChunkErrorKind::DecodedLength { found, expected });
    }
    element.check(encoded)
}

/// Refuses elements out of the range of a sub-byte type (SD-18), unless a loss is allowed (SD-49).
pub(crate) fn check_range(
    elements: &[u8],
    element: &ElementType,
    allow_loss: bool,
) -> Result<(), ChunkErrorKind> {
    match &element.sub_byte {
        _ if allow_loss => Ok(()),
        Some(range) => check_survival(range, elements),
        None => element.check_fields(elements),
    }
}

pub(super) fn decode<'a>(
    big_endian: bool,
    encoded: Bytes<'a>,
    elements: usize,
    element: &ElementType,
    pool: &mut Pool,
) -> Result<Bytes<'a>, ChunkErrorKind> {
    check(&encoded, elements, element)?;
    if !rewrites(big_endian, element) {
        return Ok(encoded);
    }
    let mut buffer = encoded.into_buffer(pool)?;
    if big_endian {
        element.swap_fields(&mut buffer);
    }
    // Upper bits are ignored and extended again (SD-18): TensorStore does not extend them.
    element.canonicalise(&mut buffer);
    Ok(Bytes::Taken(buffer))
}
