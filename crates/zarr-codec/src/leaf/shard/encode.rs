//! From the caller to a shard: inner chunks in C order, those that hold the fill value only left
//! out.

use std::ops::Range;

use zarr_metadata::IndexLocation;
use zarr_view::{CopyError, View};

use super::index::ABSENT;
use super::{ShardCodec, unravel};
use crate::chunk::{Empty, Encoded, Input};
use crate::compressor::{reserve, widen};
use crate::error::{ChunkError, ChunkErrorKind};
use crate::scratch::ShardScratch;

impl ShardCodec {
    /// Encodes a shard into `out`, which is emptied first.
    ///
    /// The view of `input` has the shard's shape. An inner chunk whose elements all equal the fill
    /// value, bit by bit (SD-48), is left out.
    pub(crate) fn encode(
        &self,
        input: Input<'_>,
        empty: Empty,
        out: &mut Vec<u8>,
        scratch: &mut ShardScratch,
    ) -> Result<Encoded, ChunkError> {
        let failed = |kind| ChunkError::new(&self.place.path, &self.place.name, kind);
        let ShardScratch { index, encoded, inner } = scratch;
        out.clear();
        index.clear();
        if self.location == IndexLocation::Start {
            reserve(out, self.index_len).map_err(failed)?;
            out.resize(self.index_len, 0);
        }
        let chunks = self.grid.iter().fold(1_usize, |n, count| n.saturating_mul(*count));
        reserve(index, chunks.saturating_mul(16)).map_err(failed)?;
        let mut result = Encoded::Empty;
        for number in 0..chunks {
            let at = unravel(number, &self.grid);
            let part = self.part(input.view, &at).map_err(|error| failed(error.into()))?;
            let content = self
                .inner
                .encode_unless_empty(Input { view: &part, ..input }, Empty::Leave, encoded, inner)
                .map_err(|error| error.in_inner_chunk(&at))?;
            let (offset, length) = match content {
                Encoded::Empty => (ABSENT, ABSENT),
                Encoded::Chunk => {
                    result = Encoded::Chunk;
                    let offset = widen(out.len());
                    // Doubling, since nobody knows what the inner chunks come to.
                    out.try_reserve(encoded.len()).map_err(|_| {
                        failed(ChunkErrorKind::OutOfMemory { bytes: widen(encoded.len()) })
                    })?;
                    out.extend_from_slice(encoded);
                    (offset, widen(encoded.len()))
                }
            };
            index.extend_from_slice(&offset.to_le_bytes());
            index.extend_from_slice(&length.to_le_bytes());
        }
        if result == Encoded::Empty && empty == Empty::Leave {
            return Ok(result);
        }
        let whole = View::contiguous(self.index.shape());
        let whole = whole.map_err(|error| failed(CopyError::from(error).into()))?;
        self.index.encode(index, &whole, &[0; 8], encoded, inner)?;
        match self.location {
            IndexLocation::Start => {
                if let Some(place) = out.get_mut(..encoded.len()) {
                    place.copy_from_slice(encoded);
                }
            }
            IndexLocation::End => {
                reserve(out, encoded.len()).map_err(failed)?;
                out.extend_from_slice(encoded);
            }
        }
        Ok(result)
    }

    /// The elements of the inner chunk at `at`.
    fn part(&self, view: &View, at: &[usize]) -> Result<View, CopyError> {
        let ranges: Vec<Range<usize>> = at
            .iter()
            .zip(self.inner.shape())
            .map(|(at, size)| {
                let start = at.saturating_mul(*size);
                start..start.saturating_add(*size)
            })
            .collect();
        Ok(view.shrink(&ranges)?)
    }
}
