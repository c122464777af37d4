//! A part of a chunk between an asynchronous store and its place in the result.

use std::sync::Arc;

use zarr_codec::{ChunkCodec, Scratch};
use zarr_view::{CopyError, Output, OwnedGrid, OwnedOutput};

use crate::array::Array;
use crate::array::joined::InMember;
use crate::array::read::region_reader::RegionReader;
use crate::array::worker::Worker;
use crate::error::ArrayError;
use crate::selection::gather::GatherBuffers;
use crate::store::{AsyncStore, Object, StoreError};
use crate::transfer::{ChunkRegion, OwnedRegion};

/// A part in progress, which any thread can continue.
pub(super) struct ChunkRead {
    array: Array,
    pending: PendingRead,
    pub(super) reader: RegionReader<Arc<ChunkCodec>>,
    /// Elements of the part that are not in their place yet.
    gathered: GatherBuffers,
    /// If the array is a member of another array: that array, and the numbers of the member.
    member_of: Option<(Array, Vec<u64>)>,
}

impl ChunkRead {
    fn new(
        array: Array,
        pending: PendingRead,
        member_of: Option<(Array, Vec<u64>)>,
    ) -> Result<Self, ArrayError> {
        let PendingRead { part, place } = &pending;
        let codec = array.fixed_codec(&part.chunk_shape)?;
        let key = array.layout().key(&part.chunk)?;
        let view = place.view();
        let members = member_of.as_ref().and_then(|(joined, _)| joined.members());
        let reshaped = match members.filter(|members| members.new_axis.is_some()) {
            Some(members) => {
                let shape = members.without_new_axis(view.shape().to_vec());
                view.reshape(&shape).map_err(CopyError::from)?
            }
            None => None,
        };
        let view = reshaped.as_ref().unwrap_or(view);
        let reader = RegionReader::new(&array, &part.region(), key, codec, view)?;
        Ok(Self { array, pending, reader, gathered: GatherBuffers::default(), member_of })
    }

    /// Decodes the received bytes, and returns their memory.
    pub(super) fn supply(
        &mut self,
        answer: Result<Option<Object>, StoreError>,
        scratch: &mut Scratch,
    ) -> Result<Vec<u8>, ArrayError> {
        let supplied = self.supply_own(answer, scratch);
        supplied.map_err(|cause| self.failed(cause))
    }

    fn supply_own(
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
        let Self { array, pending, reader, gathered, member_of } = self;
        let members = member_of.as_ref().and_then(|(joined, _)| joined.members());
        let (part, mut place) = (pending.part.region(), pending.place.lend());
        let buffers = (scratch, gathered);
        let supply =
            |out: &mut Output<'_>| reader.supply(array, &part, (found, &encoded), out, buffers);
        match members {
            Some(members) => members.with_output(&mut place, |mut out| supply(&mut out)),
            None => supply(&mut place),
        }?;
        Ok(encoded)
    }

    fn failed(&self, cause: ArrayError) -> ArrayError {
        let Some((joined, number)) = &self.member_of else { return cause };
        match joined.members() {
            Some(members) => members.failed(number, cause),
            None => cause,
        }
    }
}

/// A part that is not begun, and its place.
pub(super) struct PendingRead {
    part: OwnedRegion,
    place: OwnedOutput,
}

/// The state of a pending read.
pub(super) enum Begun {
    ChunkRead(Box<ChunkRead>, Arc<dyn AsyncStore>),
    /// It has been read.
    Done,
    /// The read would block.
    Not(Box<PendingRead>),
}

impl PendingRead {
    pub(super) fn new<M: AsMut<[u8]> + Send + 'static>(
        part: &ChunkRegion<'_>,
        places: &OwnedGrid<M>,
    ) -> Self {
        let place = places.take(part.number);
        let place = place.expect("each part is visited once, so that its place is there");
        Self { part: part.to_owned(), place }
    }

    /// Begins to read it from the array's own chunks.
    pub(super) fn begin(self, array: &Array) -> Result<ChunkRead, ArrayError> {
        ChunkRead::new(array.clone(), self, None)
    }

    /// Begins to read it from an open member of the array with an asynchronous interface, if it
    /// lies in one chunk of this member.
    pub(super) fn begin_in_kept_member(self, array: &Array) -> Result<Begun, ArrayError> {
        let Some(place) = array.in_kept_member(&self.part.chunk)? else {
            return Ok(Begun::Not(Box::new(self)));
        };
        self.begin_in(array, &place)
    }

    /// As [`begin_in_kept_member`](Self::begin_in_kept_member), after opening the member. If the
    /// member has no asynchronous interface, or the part lies in several chunks, it is read here.
    /// Blocks.
    pub(super) fn begin_in_member(self, array: &Array) -> Result<Begun, ArrayError> {
        let begun = match array.in_member(&self.part.chunk)? {
            Some(place) => self.begin_in(array, &place)?,
            None => Begun::Not(Box::new(self)),
        };
        let Begun::Not(pending) = begun else { return Ok(begun) };
        let Self { part, mut place } = *pending;
        let mut worker = Worker::new(array);
        array.read_part(&part.region(), &mut place.lend(), &mut worker)?;
        Ok(Begun::Done)
    }

    fn begin_in(mut self, array: &Array, place: &InMember<'_>) -> Result<Begun, ArrayError> {
        if place.array.is_none() {
            self.place.lend().fill(array.fill())?;
            return Ok(Begun::Done);
        }
        let shape = self.place.view().shape();
        if place.members.new_axis.is_some_and(|axis| place.members.repeats(shape, axis)) {
            return Ok(Begun::Not(Box::new(self)));
        }
        let Some((member, found)) = place.in_one_chunk(&self.part.region()) else {
            return Ok(Begun::Not(Box::new(self)));
        };
        let Some(face) = member.face() else { return Ok(Begun::Not(Box::new(self))) };
        let member_of = Some((array.clone(), place.number.clone()));
        let read = ChunkRead::new(member.clone(), Self { part: found, ..self }, member_of);
        let read = read.map_err(|cause| place.members.failed(&place.number, cause))?;
        Ok(Begun::ChunkRead(Box::new(read), face))
    }
}
