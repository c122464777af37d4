//! Reads a part of a chunk without I/O: the reader tells which bytes it needs, and takes them.

use std::ops::Deref;
use std::sync::Arc;

use zarr_codec::{ChunkCodec, ChunkError, ChunkReader, Need, Scratch, ShardIndex};
use zarr_view::{Output, View};

use crate::array::Array;
use crate::error::{ArrayError, chunk_error};
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
    /// Whether an index may be cached.
    is_shard: bool,
    version: Option<Option<Version>>,
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
        Ok(Self { key, is_shard, version: None, attempts: 0 })
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
        let cached = self.is_shard.then(|| array.shared.indices.get(chunk))??;
        self.version = Some(cached.version);
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
        self.version = None;
        self.attempts = self.attempts.saturating_add(1);
        if self.attempts >= MAX_ATTEMPTS {
            let key = self.key.to_string();
            return Err(ArrayError::Changing { key, attempts: MAX_ATTEMPTS });
        }
        Ok(Answer::Replaced)
    }

    fn forget_index(&self, array: &Array, chunk: &[u64]) {
        if self.is_shard {
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
        if let Some(index) = index
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
    codec: C,
    reader: ChunkReader<C>,
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
        let mut reader = new_reader(array, part, codec.clone(), view, &object);
        if !part.is_whole
            && let Some(index) = object.cached_index(array, part.chunk)
        {
            reader.use_index(index);
        }
        Ok(Self { object, codec, reader, done: false })
    }

    #[cfg(feature = "async")]
    pub(in crate::array) fn key(&self) -> &Key {
        self.object.key()
    }

    /// The bytes of the chunk's object that are needed next, `None` if the part has been read.
    pub(in crate::array) fn need(&self) -> Option<ReadRange<'_>> {
        if self.done { None } else { read_range(self.reader.need()) }
    }

    /// Takes the store's answer: the object's size and version, and the needed `bytes`.
    pub(in crate::array) fn supply(
        &mut self,
        array: &Array,
        part: &ChunkRegion<'_>,
        found: Result<Option<ObjectMeta>, StoreError>,
        bytes: &[u8],
        out: &mut Output<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), ArrayError> {
        match self.object.judge(array, part.chunk, found)? {
            Answer::Found(found) => {
                self.reader
                    .supply(bytes, Some(found.size), out, array.fill(), scratch)
                    .map_err(|cause| self.object.failed(cause))?;
                self.object.keep_index(array, part.chunk, self.reader.index());
            }
            Answer::Missing => {
                crate::store::reached!("read: a chunk is not stored");
                self.done = true;
                out.fill(array.fill())?;
            }
            Answer::Replaced => {
                self.reader = new_reader(array, part, self.codec.clone(), out.view(), &self.object);
            }
        }
        Ok(())
    }
}

fn new_reader<C: Deref<Target = ChunkCodec>>(
    array: &Array,
    part: &ChunkRegion<'_>,
    codec: C,
    view: &View,
    object: &OneVersion,
) -> ChunkReader<C> {
    if part.is_whole || object.is_restless() {
        ChunkReader::whole(codec, part.in_chunk)
    } else {
        ChunkReader::new(codec, part.in_chunk, view, array.range_cost)
    }
}
