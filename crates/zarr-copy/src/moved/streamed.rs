//! Shards that are larger than the memory, which pass through it in pieces.

use std::io::Write as _;

use zarr_array::{ArrayError, parallel};
use zarr_codec::Scratch;
use zarr_metadata::IndexLocation;
use zarr_store::{
    Key, Operation, PieceWriter, PutFrom, Sharing, Store as _, StoreError, StoreExt as _,
};

use super::{Contents, REQUEST, Request, UnitChunk, UnitMover, UnitWork, len, wide};
use crate::error::{TransferError, grid_error, target};

/// Requests for one object: servers tell its size.
const MOST_REQUESTS: u64 = 1 << 20;

impl<W: UnitWork> UnitMover<'_, W> {
    /// Moves a shard whose units do not fit in the memory together. Returns false, and has put nothing,
    /// if the store takes only whole objects, or one request does not fit either.
    pub(super) fn stream(
        &self,
        chunk: &UnitChunk<'_>,
        contents: &Contents,
    ) -> Result<bool, W::Error> {
        let key = self.to.layout().key(chunk.index).map_err(TransferError::from)?;
        let requests = self.requests_of(chunk, contents)?;
        if self.sources_of(chunk).any(|(.., moves)| !moves.to_shards) {
            return match &*requests {
                [request] => self.put_from(chunk, request, &key),
                _ => Ok(false),
            };
        }
        if shares_bytes(&requests) {
            return Ok(false);
        }
        let Some(out) = self.to.store().put_in_pieces(&key).map_err(target)? else {
            return Ok(false);
        };
        // The index has the lengths before the first unit is read.
        let lengths = parallel::map(&requests, self.requests(), |request| self.lengths(request));
        let lengths = lengths.map_err(|error| self.refused(chunk).unwrap_or(error))?;
        let requests: Vec<(Request, Vec<u64>)> = requests.into_iter().zip(lengths).collect();
        if requests.iter().any(|(_, lengths)| memory_of(lengths) > self.memory) {
            return Ok(false);
        }
        if !self.puts_empty && requests.iter().all(|(_, lengths)| lengths.is_empty()) {
            drop(out);
            self.work.before_put(chunk)?;
            if self.removes_empty {
                self.to.store().delete(&key).map_err(target)?;
            }
            self.work.moved(0);
            return Ok(true);
        }
        let numbers = requests.iter().flat_map(|(request, lengths)| {
            request.numbers.iter().copied().zip(lengths.iter().copied())
        });
        let failed = |cause| target(ArrayError::Chunk { key: key.to_string(), cause });
        let shape = self.to.layout().chunk_shape(chunk.index);
        let shape = shape.map_err(|error| grid_error(self.to, error))?;
        let codec = self.to.chunk_codec(&shape).map_err(target)?;
        let Some((shard, _)) = codec.plain_shard() else { return Ok(false) };
        let mut index = Vec::new();
        let at = shard.new_index(numbers, &mut index, &mut Scratch::new()).map_err(failed)?;
        self.put_in_pieces(&key, out, (&index, at), &requests, chunk)?;
        Ok(true)
    }

    /// Puts a shard with this index, or a whole object without one: as many requests at a time as fit
    /// in the memory.
    fn put_in_pieces(
        &self,
        key: &Key,
        mut out: Box<dyn PieceWriter + '_>,
        (index, at): (&[u8], IndexLocation),
        requests: &[(Request, Vec<u64>)],
        chunk: &UnitChunk<'_>,
    ) -> Result<(), W::Error> {
        let mut moved = 0_u64;
        let mut write = |bytes: &[u8]| {
            moved = moved.saturating_add(wide(bytes.len()));
            let written = out.write_all(bytes);
            written.map_err(|cause| target(StoreError::io(Operation::Put, key, cause)))
        };
        if at == IndexLocation::Start {
            write(index)?;
        }
        let mut rest = requests;
        while !rest.is_empty() {
            let mut bytes = 0_u64;
            let fits = |(_, lengths): &&(Request, Vec<u64>)| {
                bytes = bytes.saturating_add(memory_of(lengths));
                bytes <= self.memory
            };
            let count = rest.iter().take(self.requests().get()).take_while(fits).count().max(1);
            let (these, others) = rest.split_at(count);
            let read = parallel::map(these, self.requests(), |(request, lengths)| {
                let units = self.read(request)?;
                let found = units.iter().map(|(_, bytes)| wide(bytes.len()));
                match found.eq(lengths.iter().copied()) {
                    true => Ok(units),
                    false => Err(TransferError::changed(&request.key).into()),
                }
            });
            let read = read.map_err(|error| self.refused(chunk).unwrap_or(error))?;
            for (_, bytes) in read.iter().flatten() {
                write(bytes)?;
            }
            rest = others;
        }
        if at == IndexLocation::End {
            write(index)?;
        }
        self.work.before_put(chunk)?;
        out.put().map_err(target)?;
        self.work.moved(moved);
        Ok(())
    }

    /// Puts an object of a source that is a chunk of the target: by the store if it can.
    fn put_from(
        &self,
        chunk: &UnitChunk<'_>,
        request: &Request,
        key: &Key,
    ) -> Result<bool, W::Error> {
        let Some((from, _)) = self.sources.get(request.source) else { return Ok(false) };
        let (from, from_key) = (&**from.store(), &request.key);
        let found = from.head(from_key);
        let found = found.map_err(|cause| self.work.failed(request.source, cause.into()));
        let found = found.map_err(|error| self.refused(chunk).unwrap_or(error))?;
        self.work.before_put(chunk)?;
        let Some(meta) = found.filter(|_| request.ranges.is_none()) else { return Ok(false) };
        let to = self.to.store();
        // No server copies on a condition.
        let put = match to.capabilities().conditional_put {
            true => PutFrom::Unsupported,
            false => to.put_from(key, from, from_key, &meta, Sharing::Never).map_err(target)?,
        };
        match put {
            PutFrom::Unsupported => {
                let Some(out) = self.to.store().put_in_pieces(key).map_err(target)? else {
                    return Ok(false);
                };
                let step = self.memory.clamp(1, REQUEST);
                if meta.size / step > MOST_REQUESTS {
                    return Ok(false);
                }
                let starts = (0..meta.size.div_ceil(step)).map(|number| number * step);
                let requests = starts.map(|start| {
                    let range = start..meta.size.min(start.saturating_add(step));
                    let lengths = vec![len(&range)];
                    let ranges = Some(vec![range]);
                    (
                        Request { ranges, key: from_key.clone(), numbers: vec![0], ..*request },
                        lengths,
                    )
                });
                let requests: Vec<_> = requests.collect();
                self.put_in_pieces(key, out, (&[], IndexLocation::End), &requests, chunk)?;
                Ok(true)
            }
            PutFrom::Changed => Err(TransferError::changed(from_key).into()),
            _ => {
                self.work.moved(meta.size);
                Ok(true)
            }
        }
    }

    /// The lengths of the units that are stored.
    fn lengths(&self, request: &Request) -> Result<Vec<u64>, W::Error> {
        let Some(ranges) = &request.ranges else {
            let Some((from, _)) = self.sources.get(request.source) else { return Ok(Vec::new()) };
            let size = from.store().size(&request.key);
            let size = size.map_err(|cause| self.work.failed(request.source, cause.into()))?;
            return Ok(size.into_iter().collect());
        };
        Ok(ranges.iter().map(len).collect())
    }
}

/// Whether units have bytes in common: then the moved shard could be far larger than its source, and
/// has to fit in the memory. The ranges of an object are in order.
fn shares_bytes(requests: &[Request]) -> bool {
    let mut last = None;
    for request in requests {
        for range in request.ranges.iter().flatten() {
            let object = (request.source, &request.key);
            let end = match last {
                Some((of, end)) if of == object => end,
                _ => 0,
            };
            if range.start < end {
                return true;
            }
            last = Some((object, range.end.max(end)));
        }
    }
    false
}

/// The memory of a request for units of these lengths: several are read together, and then are one each.
fn memory_of(lengths: &[u64]) -> u64 {
    let sum = lengths.iter().fold(0, |sum: u64, length| sum.saturating_add(*length));
    sum.saturating_mul(if lengths.len() > 1 { 2 } else { 1 })
}
