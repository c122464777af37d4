//! Reading regions.

use std::num::NonZeroUsize;

use zarr_view::Output;

use super::Array;
use super::fetch::Fetch;
use super::worker::{Buffers, Worker};
use crate::error::ArrayError;
use crate::parallel;
use crate::region::Region;
use crate::transfer::{Part, Transfer, region_len, too_large};

impl Array {
    /// Reads a region: its elements in C order. Chunks that are not stored read as the fill value.
    ///
    /// # Errors
    /// [`ArrayError`] names the region's axis, or the chunk that could not be read.
    pub fn read(&self, region: &Region) -> Result<Vec<u8>, ArrayError> {
        let mut out = self.room_for(region)?;
        self.read_into(region, &mut out)?;
        Ok(out)
    }

    /// Zeros for the elements of a region.
    pub(super) fn room_for(&self, region: &Region) -> Result<Vec<u8>, ArrayError> {
        region.check(self.shape())?;
        let length = region_len(region, self.element_size())?;
        zarr_view::zeroed(length).map_err(|_| too_large(region, self.element_size()))
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
        parallel::for_each(
            transfer.parts(),
            threads,
            || Worker::new(self),
            |worker, range| {
                transfer.for_each_part(range, |part| {
                    let place = places.take(part.number);
                    let mut place =
                        place.expect("each part is visited once, so that its place is there");
                    self.read_part(part, &mut place, worker)
                })
            },
        )
    }

    /// Reads a part of a chunk into its place.
    pub(super) fn read_part(
        &self,
        part: &Part<'_>,
        out: &mut Output<'_>,
        worker: &mut Worker<'_>,
    ) -> Result<(), ArrayError> {
        let Worker { keys, codecs, buffers: Buffers { encoded, scratch } } = worker;
        let key = keys.of(part.chunk)?;
        let mut fetch =
            Fetch::new(self, part, key.clone(), codecs.of(part.chunk_shape)?, out.view());
        while let Some(range) = fetch.need() {
            let found = self.store().get(key, range, encoded);
            fetch.supply(self, part, found, encoded, out, scratch)?;
        }
        Ok(())
    }
}
