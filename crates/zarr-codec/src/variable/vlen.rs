//! `vlen-utf8` and `vlen-bytes`: the number of elements, then each element after its length.
//!
//! ```text
//! count u32 | length u32, bytes | length u32, bytes | ...        all numbers little-endian
//! ```
//!
//! A list can be written in only one way, so equal elements have equal bytes.

use std::ops::Range;

use crate::bytes_to_bytes::reserve;
use crate::error::ChunkErrorKind;
use crate::length::widen;

/// Bytes of a number: of the count, and of each length.
const NUMBER: usize = 4;

/// The elements of a decompressed chunk.
pub(super) struct Elements<'a> {
    bytes: &'a [u8],
    /// The start of each element's bytes, and the start of one element past the last.
    starts: Vec<usize>,
}

impl<'a> Elements<'a> {
    /// Finds the elements in `bytes`, a chunk with the expected number of elements, and checks that they
    /// are UTF-8 if they are `text`.
    ///
    /// Allocates memory for no more elements than `bytes` has room for.
    pub(super) fn parse(
        bytes: &'a [u8],
        elements: usize,
        text: bool,
    ) -> Result<Self, ChunkErrorKind> {
        let least = elements.saturating_add(1).saturating_mul(NUMBER);
        let too_short = |least: usize| ChunkErrorKind::EncodedLength {
            found: widen(bytes.len()),
            least: widen(least),
        };
        let (count, _) = bytes.split_first_chunk().ok_or_else(|| too_short(least))?;
        let (found, expected) = (u32::from_le_bytes(*count), widen(elements));
        if u64::from(found) != expected {
            return Err(ChunkErrorKind::ElementCount { found: found.into(), expected });
        }
        if bytes.len() < least {
            return Err(too_short(least));
        }
        let mut starts = Vec::new();
        starts.try_reserve_exact(elements.saturating_add(1)).map_err(|_| {
            ChunkErrorKind::OutOfMemory { bytes: widen(elements).saturating_mul(8) }
        })?;
        let mut at = NUMBER;
        for element in 0..elements {
            let rest = bytes.get(at..).unwrap_or_default();
            let (length, rest) = rest.split_first_chunk().ok_or_else(|| {
                // As short as a chunk that ends at its last length.
                ChunkErrorKind::ElementLength {
                    element: widen(element),
                    length: None,
                    left: widen(rest.len()),
                }
            })?;
            let length = u32::from_le_bytes(*length);
            let bytes = usize::try_from(length).ok().and_then(|length| rest.get(..length));
            let bytes = bytes.ok_or_else(|| ChunkErrorKind::ElementLength {
                element: widen(element),
                length: Some(length.into()),
                left: widen(rest.len()),
            })?;
            if text && let Err(error) = std::str::from_utf8(bytes) {
                let (element, byte) = (widen(element), widen(error.valid_up_to()));
                return Err(ChunkErrorKind::Utf8 { element, byte });
            }
            let start = at.saturating_add(NUMBER);
            starts.push(start);
            at = start.saturating_add(bytes.len());
        }
        if at != bytes.len() {
            let count = widen(bytes.len().saturating_sub(at));
            return Err(ChunkErrorKind::TrailingBytes { count });
        }
        starts.push(at.saturating_add(NUMBER));
        Ok(Self { bytes, starts })
    }

    /// The element with this number.
    pub(super) fn get(&self, element: usize) -> Option<&'a [u8]> {
        let end = self.starts.get(element.checked_add(1)?)?.checked_sub(NUMBER)?;
        let range: Range<usize> = *self.starts.get(element)?..end;
        self.bytes.get(range)
    }
}

/// Encodes elements into `out`, which is emptied first.
pub(super) fn encode(elements: &[&[u8]], out: &mut Vec<u8>) -> Result<(), ChunkErrorKind> {
    let count = u32::try_from(elements.len())
        .map_err(|_| ChunkErrorKind::TooManyElements { elements: widen(elements.len()) })?;
    let bytes = elements.iter().fold(0_usize, |sum, element| sum.saturating_add(element.len()));
    let numbers = elements.len().saturating_add(1).saturating_mul(NUMBER);
    out.clear();
    reserve(out, bytes.saturating_add(numbers))?;
    out.extend_from_slice(&count.to_le_bytes());
    for (number, element) in elements.iter().enumerate() {
        let length = u32::try_from(element.len()).map_err(|_| ChunkErrorKind::ElementTooLong {
            element: widen(number),
            length: widen(element.len()),
        })?;
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(element);
    }
    Ok(())
}
