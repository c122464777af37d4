//! A part of a chunk between an asynchronous store and its place in the result.

use std::sync::Arc;

use zarr_codec::{ChunkCodec, Scratch, Slice};
use zarr_view::{OwnedGrid, OwnedOutput};

use crate::array::Array;
use crate::array::part_reader::PartReader;
use crate::error::ArrayError;
use crate::picks::{Gathered, Picks};
use crate::store::{Object, StoreError};
use crate::transfer::{Part, Transfer};

/// A part in progress, which any thread can continue.
pub(super) struct Job {
    array: Array,
    part: Owned,
    pub(super) reader: PartReader<Arc<ChunkCodec>>,
    place: OwnedOutput,
    /// The elements around the part, until the part is picked from them.
    gathered: Gathered,
}

impl Job {
    pub(super) fn new<M: AsMut<[u8]> + Send + 'static>(
        array: &Array,
        transfer: &Transfer<'_>,
        places: &OwnedGrid<M>,
        number: u64,
    ) -> Result<Self, ArrayError> {
        let part = Owned::new(transfer, number, array.element_size())?;
        let place = places.take(&part.number);
        let place = place.expect("each part is visited once, so that its place is there");
        let codec = array.chunk_codec(&part.chunk_shape)?;
        let key = array.chunk_key(&part.chunk)?;
        let view = part.picks.as_ref().map_or(place.view(), Picks::view);
        let reader = PartReader::new(array, &part.part(), key, codec, view);
        Ok(Self { array: array.clone(), part, reader, place, gathered: Gathered::default() })
    }

    /// Decodes the received bytes, and returns their memory.
    pub(super) fn supply(
        &mut self,
        answer: Result<Option<Object>, StoreError>,
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>, ArrayError> {
        let mut encoded = Vec::new();
        let found = answer.map(|object| {
            object.map(|object| {
                encoded = object.bytes;
                object.meta
            })
        });
        let (array, part, mut place) = (&self.array, self.part.part(), self.place.lend());
        let Some(picks) = &self.part.picks else {
            self.reader.supply(array, &part, found, &encoded, &mut place, scratch)?;
            return Ok(encoded);
        };
        let mut around = picks.around(&mut self.gathered, array.element_size())?;
        self.reader.supply(array, &part, found, &encoded, &mut around, scratch)?;
        if self.reader.need().is_none() {
            picks.finish(&mut self.gathered, &mut place)?;
        }
        Ok(encoded)
    }
}

/// A part that outlives the walk over the chunks.
struct Owned {
    chunk: Vec<u64>,
    chunk_shape: Vec<u64>,
    in_chunk: Vec<Slice>,
    number: Vec<usize>,
    is_whole: bool,
    picks: Option<Picks>,
}

impl Owned {
    fn new(transfer: &Transfer<'_>, number: u64, element_size: usize) -> Result<Self, ArrayError> {
        let mut owned = None;
        transfer.for_each_part(number..number.saturating_add(1), |part| {
            owned = Some(Self {
                chunk: part.chunk.to_vec(),
                chunk_shape: part.chunk_shape.to_vec(),
                in_chunk: part.in_chunk.to_vec(),
                number: part.number.to_vec(),
                is_whole: part.is_whole,
                picks: part.picks(element_size)?,
            });
            Ok(())
        })?;
        Ok(owned.expect("a number below how many parts there are"))
    }

    fn part(&self) -> Part<'_> {
        Part::of_chunk(&self.chunk, &self.chunk_shape, &self.in_chunk, self.is_whole)
    }
}
