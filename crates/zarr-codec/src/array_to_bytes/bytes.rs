//! `bytes`: each element's own bytes, in little or big endian (core, "bytes codec").

use zarr_metadata::Endian;

use super::{ElementCodec, StoredElements};
use crate::bytes_to_bytes::widen;
use crate::element::ElementType;
use crate::error::{ChainErrorKind, ChunkErrorKind};
use crate::scratch::{Bytes, Pool};

pub(super) fn bind(
    endian: Option<Endian>,
    element: &ElementType,
) -> Result<ElementCodec, ChainErrorKind> {
    match endian {
        None if element.swap_unit > 1 => {
            Err(ChainErrorKind::MissingEndian { data_type: element.name.clone() })
        }
        endian => Ok(ElementCodec::Bytes { big_endian: endian == Some(Endian::Big) }),
    }
}

/// Refuses a number of bytes that is not that of so many elements.
pub(crate) fn check(
    encoded: &[u8],
    elements: usize,
    element: &ElementType,
) -> Result<(), ChunkErrorKind> {
    let expected = elements.saturating_mul(element.size());
    if encoded.len() != expected {
        let (found, expected) = (widen(encoded.len()), widen(expected));
        return Err(ChunkErrorKind::DecodedLength { found, expected });
    }
    element.check(encoded)
}

pub(super) fn decode<'a>(
    big_endian: bool,
    encoded: Bytes<'a>,
    elements: usize,
    element: &ElementType,
    pool: &mut Pool,
) -> Result<StoredElements<'a>, ChunkErrorKind> {
    check(&encoded, elements, element)?;
    let bytes = if element.is_sub_byte() {
        // Upper bits are ignored and extended again (SD-18): TensorStore does not extend them.
        let mut buffer = encoded.into_buffer(pool)?;
        element.canonicalise(&mut buffer);
        Bytes::Taken(buffer)
    } else {
        encoded
    };
    Ok(StoredElements { bytes, swapped: big_endian && element.swap_unit > 1 })
}
