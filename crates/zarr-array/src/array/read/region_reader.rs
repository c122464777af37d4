//! Reads a part of a chunk without I/O: the reader tells which bytes it needs, and takes them.

use std::ops::Deref;
use std::sync::Arc;

use zarr_codec::{ChunkCodec, ChunkError, Need, Scratch, ShardIndex};
use zarr_view::{Output, View};

use crate::array::Array;
use crate::array::read::piece_readers::{PieceError, PieceReaders};
use crate::array::settled::Asked;
use crate::array::worker::ChunkBuffers;
use crate::error::{ArrayError, chunk_error};
use crate::selection::gather::GatherBuffers;
use crate::selection::pieces::Pieces;
use crate::store::{Key, ObjectMeta, ReadRange, StoreError, Version};
use crate::transfer::ChunkRegion;

/// How often a read of a chunk is repeated if the chunk is replaced meanwhile.
const MAX_ATTEMPTS: u32 = 16;

/// After this many attempts to read parts of a chunk that others keep replacing, the whole chunk is
/// read in one request, which always sees one version.
const RANGED_ATTEMPTS: u32 = 4;

/// The range of an object to read for the bytes of a chunk that a decoder needs; `None` for
/// nothing.
pub(crate) fn read_range(need: Need<'_>) -> Option<ReadRange<'_>> {
    match need {
        Need::Nothing => None,
        Need::All => Some(ReadRange::All),
        Need::Suffix(len) => Some(ReadRange::Suffix(len)),
        Need::Ranges(ranges) => Some(ReadRange::Ranges(ranges)),
    }
}

/// A store's answer to one request of a read.
pub(in crate::array) enum Answer {
    /// The bytes are of the version that the others were of.
    Found(ObjectMeta),
    Missing,
    /// The object was replaced meanwhile: the read starts again.
    Replaced,
}

/// Keeps the requests of one read to one version of a chunk's object. The read starts again if the
/// object is replaced between two requests, or is no longer the shard of the cached index.
pub(in crate::array) struct OneVersion {
    key: Key,
    /// When the request was made that tells the version of a shard, whose index may be cached; `None`
    /// for other chunks.
    asked: Option<Asked>,
    version: Option<Option<Version>>,
    /// Whether what is written later has another version.
    is_settled: bool,
    attempts: u32,
}

impl OneVersion {
    /// Refuses a chunk that inflates far beyond `most` bytes.
    pub(in crate::array) fn new(
        array: &Array,
        key: Key,
        most: u64,
        is_shard: bool,
    ) -> Result<Self, ArrayError> {
        array.store().refuse_inflated(&key, most)?;
        let asked = is_shard.then(|| Asked::now(array));
        Ok(Self { key, asked, version: None, is_settled: false, attempts: 0 })
    }

    pub(in crate::array) fn key(&self) -> &Key {
        &self.key
    }

    /// Whether all of the object is to be read in one request.
    pub(in crate::array) fn is_restless(&self) -> bool {
        self.attempts >= RANGED_ATTEMPTS
    }

    /// The cached index of a shard.
    pub(in crate::array) fn cached_index(
        &mut self,
        array: &Array,
        chunk: &[u64],
    ) -> Option<Arc<ShardIndex>> {
        let cached = self.asked.and_then(|_| array.shared.indices.get(chunk))?;
        (self.version, self.is_settled) = (Some(cached.version), true);
        Some(cached.index)
    }

    /// Examines the store's response. The index of a missing or replaced object is not kept.
    pub(in crate::array) fn judge(
        &mut self,
        array: &Array,
        chunk: &[u64],
        found: Result<Option<ObjectMeta>, StoreError>,
    ) -> Result<Answer, ArrayError> {
        let found = match found {
            Ok(Some(found)) => {
                if self.version.is_none() {
                    self.is_settled = self.asked.is_some_and(|asked| asked.is_settled(&found));
                }
                let version = self.version.get_or_insert_with(|| found.version.clone());
                (*version == found.version).then_some(found)
            }
            // Before the first answer, nothing is known of the object.
            Ok(None) if self.version.is_none() => {
                self.forget_index(array, chunk);
                return Ok(Answer::Missing);
            }
            // The ranges of an outdated index may be anywhere.
            Err(StoreError::Range { .. }) if self.version.is_some() => None,
            Ok(None) | Err(StoreError::Unsteady { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        if let Some(found) = found {
            return Ok(Answer::Found(found));
        }
        self.forget_index(array, chunk);
        (self.version, self.asked) = (None, self.asked.map(|_| Asked::now(array)));
        self.attempts += 1;
        if self.attempts >= MAX_ATTEMPTS {
            let key = self.key.to_string();
            return Err(ArrayError::Changing { key, attempts: MAX_ATTEMPTS });
        }
        Ok(Answer::Replaced)
    }

    fn forget_index(&self, array: &Array, chunk: &[u64]) {
        if self.asked.is_some() {
            array.shared.indices.remove(chunk);
        }
    }

    /// Keeps the index of a shard for later reads.
    pub(in crate::array) fn keep_index(
        &self,
        array: &Array,
        chunk: &[u64],
        index: Option<&Arc<ShardIndex>>,
    ) {
        if self.is_settled
            && let Some(index) = index
            && let Some(version @ Some(_)) = &self.version
        {
            array.shared.indices.insert(chunk, index, version);
        }
    }

    /// Names the chunk in an error.
    pub(in crate::array) fn failed(&self, cause: ChunkError) -> ArrayError {
        chunk_error(&self.key, cause)
    }
}

/// Reads a part of a chunk into the caller's elements, from bytes that the caller fetches.
///
/// It borrows only its codec, and that only if `C` is a reference, so it can wait on one thread and
/// decode on another. Each call must be given the same array and part.
pub(in crate::array) struct RegionReader<C> {
    object: OneVersion,
    readers: PieceReaders<C>,
    /// How to begin again.
    codec: C,
    done: bool,
}

impl<C: Deref<Target = ChunkCodec> + Clone> RegionReader<C> {
    /// Begins to read `part` of the chunk of `array` with this `key` into elements of this `view`.
    pub(in crate::array) fn new(
        array: &Array,
        part: &ChunkRegion<'_>,
        key: Key,
        codec: C,
        view: &View,
    ) -> Result<Self, ArrayError> {
        let is_shard = codec.shard().is_some();
        let mut object = OneVersion::new(array, key, codec.ordinary_encoded(), is_shard)?;
        let readers = new_readers(array, part, codec.clone(), false);
        let index = match part.is_whole && !readers.is_cut() {
            true => None,
            false => object.cached_index(array, part.chunk),
        };
        let mut reader = Self { object, readers, codec, done: false };
        reader.readers.begin(part, view, index.as_ref())?;
        Ok(reader)
    }

    pub(in crate::array) fn key(&self) -> &Key {
        self.object.key()
    }

    /// Reads the part from the array's store.
    pub(in crate::array) fn read(
        &mut self,
        array: &Array,
        part: &ChunkRegion<'_>,
        out: &mut Output<'_>,
        buffers: &mut ChunkBuffers,
    ) -> Result<(), ArrayError> {
        let ChunkBuffers { encoded, scratch, gathered, .. } = buffers;
        while let Some(range) = self.need() {
            let found = array.store().get(self.key(), range, encoded);
            self.supply(array, part, (found, encoded), out, (scratch, gathered))?;
        }
        Ok(())
    }

    /// The version of the object that was read; `None` if it is missing, or the store tells none.
    pub(in crate::array) fn version(&self) -> Option<&Version> {
        self.object.version.as_ref()?.as_ref()
    }

    /// The bytes of the chunk's object that are needed next, `None` if the part has been read.
    pub(in crate::array) fn need(&self) -> Option<ReadRange<'_>> {
        if self.done { None } else { read_range(self.readers.need()) }
    }

    /// Takes the store's answer: the object's size and version, and the needed `bytes`.
    pub(in crate::array) fn supply(
        &mut self,
        array: &Array,
        part: &ChunkRegion<'_>,
        (found, bytes): (Result<Option<ObjectMeta>, StoreError>, &[u8]),
        out: &mut Output<'_>,
        (scratch, buffers): (&mut Scratch, &mut GatherBuffers),
    ) -> Result<(), ArrayError> {
        match self.object.judge(array, part.chunk, found)? {
            Answer::Found(found) => self.decode(array, part, &found, bytes, out, scratch, buffers),
            Answer::Missing => {
                crate::store::reached!("read: a chunk is not stored");
                self.done = true;
                Ok(out.fill(array.fill())?)
            }
            Answer::Replaced => {
                let whole = self.object.is_restless();
                self.begin_again(array, part, out.view(), whole)
            }
        }
    }

    fn begin_again(
        &mut self,
        array: &Array,
        part: &ChunkRegion<'_>,
        view: &View,
        whole: bool,
    ) -> Result<(), ArrayError> {
        self.readers = new_readers(array, part, self.codec.clone(), whole);
        Ok(self.readers.begin(part, view, None)?)
    }

    #[expect(clippy::too_many_arguments, reason = "those of supply")]
    fn decode(
        &mut self,
        array: &Array,
        part: &ChunkRegion<'_>,
        found: &ObjectMeta,
        mut bytes: &[u8],
        out: &mut Output<'_>,
        scratch: &mut Scratch,
        buffers: &mut GatherBuffers,
    ) -> Result<(), ArrayError> {
        let Self { object, readers, .. } = self;
        let failed = |error| match error {
            PieceError::Chunk(cause) => object.failed(cause),
            PieceError::Copy(cause) => cause.into(),
        };
        if !readers.is_cut() {
            readers
                .supply(bytes, Some(found.size), out, array.fill(), scratch, buffers)
                .map_err(failed)?;
            object.keep_index(array, part.chunk, readers.index());
            self.done = matches!(readers.need(), Need::Nothing);
            return Ok(());
        }
        let index = if readers.needs_index() {
            if part.is_whole && found.version.is_none() {
                // Several requests could read a mixture of two versions.
                return self.begin_again(array, part, out.view(), true);
            }
            let index = readers
                .supply_index(bytes, found.size, scratch)
                .map_err(|cause| object.failed(cause))?;
            object.keep_index(array, part.chunk, index.as_ref());
            readers.begin(part, out.view(), index.as_ref())?;
            if !readers.is_free() {
                return Ok(());
            }
            bytes = &[];
            index
        } else {
            readers.index().cloned()
        };
        loop {
            let supplied =
                readers.supply(bytes, Some(found.size), out, array.fill(), scratch, buffers);
            supplied.map_err(failed)?;
            readers.begin(part, out.view(), index.as_ref())?;
            if readers.is_done() {
                self.done = true;
                return Ok(readers.finish(out, buffers)?);
            }
            if !readers.is_free() {
                return Ok(());
            }
            bytes = &[];
        }
    }
}

/// The readers of a part; `whole`: all bytes of the chunk are to be read in one request.
pub(crate) fn new_readers<C: Deref<Target = ChunkCodec> + Clone>(
    array: &Array,
    part: &ChunkRegion<'_>,
    codec: C,
    whole: bool,
) -> PieceReaders<C> {
    let limits = array.piece_limits();
    let pieces = match part.points {
        Some(pieces) => Some(Arc::clone(pieces)),
        None => {
            let (size, whole) = (array.element_size(), part.is_whole);
            Pieces::new(part.indices(), || codec.units(), size, whole, limits).map(Arc::new)
        }
    };
    PieceReaders::new(codec, part, pieces, limits, whole)
}
