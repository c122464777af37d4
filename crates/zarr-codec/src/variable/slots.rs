//! A list of elements that are set in any order.

use crate::bytes_to_bytes::with_room;
use crate::error::ChunkErrorKind;
use crate::length::widen;

use super::ByteStrings;

/// A list of elements of variable length that are set in any order, as when several chunks are
/// decoded.
///
/// The initial value of all elements is stored once until the list is [finished](Self::finish).
///
/// # Examples
/// ```
/// use zarr_codec::Slots;
///
/// let mut slots = Slots::filled_with(3, b"-")?;
/// slots.set(2, b"last");
/// slots.set(0, b"first");
/// assert!(slots.finish()?.iter().eq([&b"first"[..], b"-", b"last"]));
/// # Ok::<(), zarr_codec::ChunkErrorKind>(())
/// ```
#[derive(Clone, Debug)]
pub struct Slots {
    /// The start and the end of each element in `bytes`.
    spans: Vec<(usize, usize)>,
    /// The elements in the order in which they were set.
    bytes: Vec<u8>,
}

impl Slots {
    /// A list of `len` elements that are all `fill`.
    ///
    /// # Errors
    /// [`ChunkErrorKind::OutOfMemory`].
    pub fn filled_with(len: usize, fill: &[u8]) -> Result<Self, ChunkErrorKind> {
        let mut spans = with_room(len)?;
        spans.resize(len, (0, fill.len()));
        Ok(Self { spans, bytes: fill.to_vec() })
    }

    /// Sets the element of a slot.
    ///
    /// # Panics
    /// If there is no such slot.
    pub fn set(&mut self, slot: usize, element: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(element);
        self.spans[slot] = (start, self.bytes.len());
    }

    /// The element of a slot.
    pub(crate) fn get(&self, slot: usize) -> &[u8] {
        let (start, end) = self.spans[slot];
        &self.bytes[start..end]
    }

    /// The elements in order.
    ///
    /// # Errors
    /// [`ChunkErrorKind::OutOfMemory`].
    pub fn finish(self) -> Result<ByteStrings, ChunkErrorKind> {
        let lengths = self.spans.iter().map(|(start, end)| end - start);
        let total = lengths.fold(0_usize, usize::saturating_add);
        let out_of_memory = || ChunkErrorKind::OutOfMemory { bytes: widen(total) };
        let mut out = ByteStrings::with_room(self.spans.len(), total).ok_or_else(out_of_memory)?;
        (0..self.spans.len()).for_each(|slot| out.push(self.get(slot)));
        Ok(out)
    }
}
