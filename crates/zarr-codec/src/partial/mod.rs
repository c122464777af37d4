//! Reading a region of a chunk without all of its bytes.
//!
//! A [`ChunkReader`] tells which bytes of an encoded chunk it needs, takes them, and decodes; the
//! caller fetches them. There are three kinds of chunk:
//!
//! - uncompressed elements (`bytes`, `packbits`): their positions are known, so only the region's
//!   bytes are read, and small gaps between them (see [`spans`]);
//! - uncompressed shards: the index is read first, then the inner chunks that the region touches,
//!   or only a part of each if its bytes are the elements in memory;
//! - all others are read whole.
//!
//! A partial read does not check a checksum over the whole chunk, its padding byte or its length
//! (SD-47).

mod need;
pub(crate) mod shard;
mod spans;
mod units;

use std::ops::Deref;
use std::sync::Arc;

use zarr_view::{Output, View};

use crate::array_to_bytes::shard::ShardIndex;
use crate::chunk::ChunkCodec;
use crate::error::{ChunkError, ChunkErrorKind};
use crate::scratch::Scratch;
use crate::transform::Slice;

pub use need::Need;
use shard::ShardRead;
use spans::Spans;
pub use units::ReadUnits;

/// Reads a region of a chunk from encoded bytes that the caller fetches; made by
/// [`ChunkCodec::reader`].
///
/// # Examples
/// ```
/// use zarr_codec::{AxisEdges, Chain, Need, Scratch};
/// use zarr_metadata::{Codec, DataType, Packbits};
/// use zarr_view::{Output, View};
///
/// // 800 booleans are 100 bytes; ten of them need two.
/// let codecs = [Codec::Packbits(Packbits::default())];
/// let chain = Chain::bind(&codecs, &DataType::Bool, &[AxisEdges::one(800)])?;
/// let codec = chain.for_shape(&[800])?;
/// let mut elements = [0; 10];
/// let mut out = Output::new(&mut elements, &View::contiguous(&[10])?, 1)?;
/// let mut reader = codec.reader(&[(403..413).into()], out.view(), 0);
/// assert_eq!(reader.need(), Need::Ranges(&[50..52]));
/// reader.supply(&[0b1010_1000, 0b0000_0001], None, &mut out, &[0], &mut Scratch::new())?;
/// assert_eq!(reader.need(), Need::Nothing);
/// assert_eq!(elements, [1, 0, 1, 0, 1, 1, 0, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The reader holds its codec by any pointer: a reference, or an `Arc` so that it can be sent to
/// other threads.
#[derive(Debug)]
pub struct ChunkReader<C> {
    codec: C,
    region: Vec<Slice>,
    range_cost: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Whole,
    Spans(Box<Spans>),
    Shard(ShardRead<Vec<Slice>>),
    Done,
}

impl ChunkCodec {
    /// Begins to read `region` into an output with this `view`.
    ///
    /// `range_cost` is the number of bytes that can be read in the time that one more range
    /// takes. Ranges no further apart are joined, and the whole chunk is read if that is faster.
    /// With 0, only the needed bytes are read.
    #[must_use]
    pub fn reader(&self, region: &[Slice], view: &View, range_cost: u64) -> ChunkReader<&Self> {
        ChunkReader::new(self, region, view, range_cost)
    }

    fn partial(&self, region: &[Slice], view: &View, range_cost: u64) -> Option<State> {
        if !self.keeps_places() {
            return None;
        }
        if let Some(shard) = self.shard() {
            let region = self.transform().stored_region(region, view)?;
            let after = self.bytes_added()?;
            return ShardRead::of_region(shard, after, &region, range_cost).map(State::Shard);
        }
        Spans::new(self, region, view, range_cost).map(|spans| State::Spans(Box::new(spans)))
    }
}

impl<C: Deref<Target = ChunkCodec>> ChunkReader<C> {
    /// As [`ChunkCodec::reader`], for any pointer to a codec.
    #[must_use]
    pub fn new(codec: C, region: &[Slice], view: &View, range_cost: u64) -> Self {
        let state = codec.partial(region, view, range_cost).unwrap_or(State::Whole);
        Self { codec, region: region.to_vec(), range_cost, state }
    }

    /// As [`new`](Self::new), but reads the whole chunk, so that all its bytes are checked. Use it
    /// for a region that covers all of the chunk within the array.
    #[must_use]
    pub fn whole(codec: C, region: &[Slice]) -> Self {
        Self { codec, region: region.to_vec(), range_cost: 0, state: State::Whole }
    }

    /// The bytes needed next.
    #[must_use]
    pub fn need(&self) -> Need<'_> {
        match &self.state {
            State::Whole => Need::All,
            State::Spans(spans) => Need::Ranges(spans.ranges()),
            State::Shard(read) => read.need(),
            State::Done => Need::Nothing,
        }
    }

    /// The index of the shard, once it has been read.
    #[must_use]
    pub fn index(&self) -> Option<&Arc<ShardIndex>> {
        match &self.state {
            State::Shard(read) => read.index(),
            _ => None,
        }
    }

    /// Sets the index of the shard from an earlier read, so that it need not be fetched. The shard
    /// must not have changed since.
    pub fn use_index(&mut self, index: Arc<ShardIndex>) {
        if let State::Shard(read) = &mut self.state
            && let Some(shard) = self.codec.shard()
        {
            read.use_index(shard, index, self.range_cost);
        }
    }

    /// Whether the index of a shard is needed next.
    #[must_use]
    pub fn needs_index(&self) -> bool {
        matches!(&self.state, State::Shard(read) if read.index().is_none())
    }

    /// Takes the bytes of the index, and decodes nothing. `object_len` is the length of the whole
    /// encoded chunk, if known.
    ///
    /// # Errors
    /// [`ChunkError`] if the bytes are not such an index, or if no index is needed.
    pub fn supply_index(
        &mut self,
        bytes: &[u8],
        object_len: Option<u64>,
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        match (&mut self.state, self.codec.shard()) {
            (State::Shard(read), Some(shard)) if read.index().is_none() => {
                read.supply_index(shard, bytes, object_len, self.range_cost, scratch)
            }
            _ => Err(self.codec.failed(ChunkErrorKind::NothingNeeded)),
        }
    }

    /// Takes the bytes that were [needed](ChunkReader::need), as concatenated ranges, and
    /// decodes them.
    ///
    /// `object_len` is the length of the whole encoded chunk, if known. `out` has the view that the
    /// reader was made for; `fill` is the element of inner chunks that a shard does not store.
    ///
    /// # Errors
    /// [`ChunkError`] if the bytes are not such a chunk (the need is then unchanged), or
    /// if nothing was needed.
    pub fn supply(
        &mut self,
        bytes: &[u8],
        object_len: Option<u64>,
        out: &mut Output<'_>,
        fill: &[u8],
        scratch: &mut Scratch,
    ) -> Result<(), ChunkError> {
        let Self { codec, region, range_cost, state } = self;
        match state {
            State::Whole => codec.decode(bytes, region, out, fill, scratch)?,
            State::Spans(spans) => spans.decode(codec, bytes, region, out, scratch)?,
            State::Shard(read) => {
                let shard = codec.shard().expect("only a shard has inner chunks");
                let supplied = read.supply(shard, bytes, object_len, *range_cost, scratch)?;
                let Some(bytes) = supplied else { return Ok(()) };
                let index = read.index().expect("read above, or before");
                let available = read.available(shard, bytes)?;
                codec.decode_available(shard, available, index, region, out, fill, scratch)?;
            }
            State::Done => return Err(codec.failed(ChunkErrorKind::NothingNeeded)),
        }
        *state = State::Done;
        Ok(())
    }
}
