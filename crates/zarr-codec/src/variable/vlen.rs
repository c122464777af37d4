//! `vlen-utf8` and `vlen-bytes`: the number of elements, then each element after its length.
//!
//! ```text
//! count u32 | length u32, bytes | length u32, bytes | ...        all numbers little-endian
//! ```
//!
//! A list can be written in only one way, so equal elements have equal bytes.

// Counts and lengths come from outside.
#![warn(clippy::arithmetic_side_effects)]

use crate::bytes_to_bytes::{reserve, with_room};
use crate::error::ChunkErrorKind;
use crate::length::widen;

/// Bytes of a number: of the count, and of each length.
const NUMBER: usize = 4;

/// Elements per recorded place: a number for each would take more than short elements do.
const STRIDE: usize = 8;

/// The elements of a decompressed chunk.
pub(super) struct Elements<'a> {
    bytes: &'a [u8],
    elements: usize,
    /// Where the first of each stride of elements begins, with its length.
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
        let mut starts = with_room(elements.div_ceil(STRIDE))?;
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
            if element % STRIDE == 0 {
                starts.push(at);
            }
            at = at.saturating_add(NUMBER).saturating_add(bytes.len());
        }
        if at != bytes.len() {
            let count = widen(bytes.len().saturating_sub(at));
            return Err(ChunkErrorKind::TrailingBytes { count });
        }
        Ok(Self { bytes, elements, starts })
    }

    /// A reader of elements.
    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor { bytes: self.bytes, starts: &self.starts, next: self.elements, rest: &[] }
    }
}

/// Reads elements by their numbers, fastest in their order.
#[derive(Clone)]
pub(super) struct Cursor<'e> {
    bytes: &'e [u8],
    starts: &'e [usize],
    /// The number of the element that begins `rest`, which has that one and all later ones.
    next: usize,
    rest: &'e [u8],
}

impl<'e> Cursor<'e> {
    /// The element with this number.
    pub(super) fn get(&mut self, element: usize) -> Option<&'e [u8]> {
        let mut rest = self.rest;
        if element != self.next {
            rest = self.bytes.get(*self.starts.get(element / STRIDE)?..)?;
            for _before in 0..element % STRIDE {
                rest = first(rest)?.1;
            }
        }
        let (found, rest) = first(rest)?;
        (self.next, self.rest) = (element.checked_add(1)?, rest);
        Some(found)
    }
}

/// The first element of these bytes, and the bytes after it.
fn first(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
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

#[cfg(test)]
mod tests {
    use super::{Elements, encode};

    /// Forwards, backwards, again and past the end.
    #[test]
    fn elements_are_found_in_any_order() {
        for count in [0_usize, 1, 7, 8, 9, 16, 20] {
            let texts: Vec<String> = (0..count).map(|n| "a".repeat(n * 5 % 7)).collect();
            let given: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
            let mut encoded = Vec::new();
            encode(&given, &mut encoded).expect("fits");
            let elements = Elements::parse(&encoded, count, true).expect("valid");
            let mut cursor = elements.cursor();
            let orders = (0..count + 12).chain((0..count + 12).rev());
            for at in orders.chain([3, 3, 4, 40, 4, 5, 0, 1]) {
                assert_eq!(cursor.get(at), given.get(at).copied(), "{at} of {count}");
            }
        }
    }
}
