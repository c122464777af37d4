//! Chunks with encoded bytes that are rows of the caller's memory. They need no conversion, and no
//! copy if the store accepts several pieces at once.

use std::io::IoSlice;

use zarr_view::{Run, View};

use super::encode::holds_only;
use super::{ChunkCodec, Encoded, ShapedCodec};

/// The shortest rows, in bytes, that are written as separate pieces. For rows of half that
/// length, copying them together takes less time than a system call needs to step through them.
const MIN_ROW: usize = 1024;

impl ChunkCodec {
    /// The encoded chunk as consecutive pieces of `data`, and whether it is empty. `None` if
    /// encoding changes any byte: this requires whole-byte elements in memory's byte order,
    /// uncompressed, in rows of at least 1024 bytes.
    ///
    /// # Shapes and units
    /// As [`encode`](ChunkCodec::encode).
    #[must_use]
    pub fn encoded_rows<'d>(
        &self,
        data: &'d [u8],
        view: &View,
        fill: &[u8],
    ) -> Option<(Encoded, Vec<IoSlice<'d>>)> {
        if !self.is_as_in_memory() || view.shape() != self.shape() {
            return None;
        }
        let view = self.transform.stored_view(view)?;
        let size = self.bound.element.size();
        if !has_long_rows(&view, size) {
            return None;
        }
        let mut rows = Vec::new();
        let mut is_empty = fill.len() == size;
        for run in view.runs() {
            let Run::Elements { position, len } = run else { return None };
            let start = position.checked_mul(size)?;
            let row = data.get(start..start.checked_add(len.checked_mul(size)?)?)?;
            is_empty = is_empty && holds_only(row, fill);
            rows.push(IoSlice::new(row));
        }
        Some((if is_empty { Encoded::Empty } else { Encoded::Chunk }, rows))
    }

    /// Whether an encoded chunk is the bytes of its elements in memory, in C order, and no value
    /// needs a check. A caller can then read it directly into their place.
    #[must_use]
    pub fn stores_memory(&self) -> bool {
        self.is_as_in_memory() && self.transform.view().is_some_and(View::is_contiguous)
    }

    /// Whether an encoded chunk consists of the bytes of its elements in memory, in any order, and
    /// no value needs a check.
    fn is_as_in_memory(&self) -> bool {
        let element = &self.bound.element;
        let ShapedCodec::Elements(codec) = &self.array_to_bytes else { return false };
        self.bound.bytes_to_bytes.is_empty()
            && self.bound.read_only.is_none()
            && codec.stores_memory(element)
            && !codec.swaps(element)
            && !element.has_bools()
    }
}

/// Whether a view without masked elements has long runs, or only one run.
fn has_long_rows(view: &View, size: usize) -> bool {
    match view.runs().next() {
        // Without a mask all rows have the same length; some may be adjacent.
        Some(Run::Elements { len, .. }) if view.mask().is_none() => {
            len == view.len() || len * size >= MIN_ROW
        }
        _ => false,
    }
}
