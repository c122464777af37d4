//! Reading regions.

use std::num::NonZeroUsize;
use std::sync::Arc;

use zarr_codec::{Need, Scratch};
use zarr_view::Output;

use super::Array;
use crate::error::ArrayError;
use crate::parallel;
use crate::region::Region;
use crate::store::StoreError;
use crate::transfer::{Part, Transfer, region_len, too_large};

impl Array {
    /// Reads a region: its elements in C order. Chunks that are not stored read as the fill value.
    ///
    /// # Errors
    /// [`ArrayError`] names the region's axis, or the chunk that could not be read.
    pub fn read(&self, region: &Region) -> Result<Vec<u8>, ArrayError> {
        region.check(self.shape())?;
        let length = region_len(region, self.element_size())?;
        let mut out =
            zarr_view::zeroed(length).map_err(|_| too_large(region, self.element_size()))?;
        self.read_into(region, &mut out)?;
        Ok(out)
    }

    /// As [`read`](Array::read), into the caller's bytes.
    ///
    /// # Errors
    /// As [`read`](Array::read), and [`ArrayError::BufferLength`] unless `out` is as long as the
    /// region. `out` may be partly written.
    pub fn read_into(&self, region: &Region, out: &mut [u8]) -> Result<(), ArrayError> {
        let threads = self.threads_for(out.len());
        self.read_with(region, out, threads)
    }

    /// As [`read_into`](Array::read_into), on this number of threads.
    pub(crate) fn read_with(
        &self,
        region: &Region,
        out: &mut [u8],
        threads: NonZeroUsize,
    ) -> Result<(), ArrayError> {
        let transfer = Transfer::new(self, region, out.len())?;
        let places = transfer.cut(out, self.element_size())?;
        parallel::for_each(transfer.parts(), threads, Buffers::default, |buffers, range| {
            transfer.for_each_part(range, |part| {
                // Each part is visited once, so that its place has not been taken.
                let Some(mut place) = places.take(&part.number) else { return Ok(()) };
                self.read_part(part, &mut place, buffers)
            })
        })
    }

    fn read_part(
        &self,
        part: &Part<'_>,
        out: &mut Output<'_>,
        buffers: &mut Buffers,
    ) -> Result<(), ArrayError> {
        let Buffers { encoded, scratch } = buffers;
        let key = self.chunk_key(part.chunk)?;
        let codec = self.chunk_codec(part.chunk_shape)?;
        let failed = |source| ArrayError::Chunk { key: key.to_string(), source };
        for attempt in 0..MAX_ATTEMPTS {
            let mut reader = if part.is_whole || attempt >= RANGED_ATTEMPTS {
                codec.whole_reader(&part.in_chunk)
            } else {
                codec.reader(&part.in_chunk, out.view(), self.range_cost)
            };
            let mut version = None;
            let cached = self.indices.get(part.chunk);
            if let Some(cached) = &cached
                && attempt == 0
            {
                reader.use_index(Arc::clone(&cached.index));
                version = Some(cached.version.clone());
            }
            // One object throughout: if it is replaced between two requests, all begins anew.
            let changed = loop {
                let found = match reader.need() {
                    Need::Nothing => break false,
                    Need::All => self.store.get_versioned(&key, encoded),
                    Need::Ranges(ranges) => self.store.get_ranges(&key, ranges, encoded),
                };
                match found {
                    // By an index that is no longer the shard's, ranges may lead anywhere.
                    Err(StoreError::Range { .. }) if version.is_some() => break true,
                    Err(StoreError::Unsteady { .. }) => break true,
                    _ => {}
                }
                let found = found?;
                let Some(found) = found else {
                    self.indices.remove(part.chunk);
                    if version.is_some() {
                        break true;
                    }
                    return Ok(out.fill(&self.fill)?);
                };
                if version.get_or_insert_with(|| found.version.clone()) != &found.version {
                    break true;
                }
                reader
                    .supply(encoded, Some(found.size), out, &self.fill, scratch)
                    .map_err(failed)?;
                if let Some(index) = reader.index()
                    && found.version.is_some()
                {
                    self.indices.insert(part.chunk, index, &found.version);
                }
            };
            if !changed {
                return Ok(());
            }
            self.indices.remove(part.chunk);
        }
        Err(ArrayError::Changing { key: key.to_string(), attempts: MAX_ATTEMPTS })
    }
}

/// How often a chunk is read again that is replaced while it is read.
const MAX_ATTEMPTS: u32 = 16;

/// After so many attempts to read parts of a chunk that others go on replacing, all of it is read in
/// one request, which sees one version whatever they do.
const RANGED_ATTEMPTS: u32 = 4;

/// Memory that is used again from chunk to chunk.
#[derive(Default)]
struct Buffers {
    encoded: Vec<u8>,
    scratch: Scratch,
}
