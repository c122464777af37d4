//! Reads a part of a chunk without I/O: the reader tells which bytes it needs, and takes them.

use std::ops::Deref;

use zarr_codec::{ChunkCodec, ChunkReader, Need, Scratch};
use zarr_view::{Output, View};

use super::Array;
use crate::error::ArrayError;
use crate::store::{Key, ObjectMeta, ReadRange, StoreError, Version};
use crate::transfer::Part;

/// How often a read of a chunk is repeated if the chunk is replaced meanwhile.
const MAX_ATTEMPTS: u32 = 16;

/// After this many attempts to read parts of a chunk that others keep replacing, all of it is
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

/// Reads a part of a chunk into the caller's elements, from bytes that the caller fetches.
///
/// It reads one version of the object: if the object is replaced between two requests, or is no
/// longer the shard whose index was cached, the read starts again.
///
/// It borrows only its codec, and that only if `C` is a reference, so it can wait on one thread and
/// decode on another. Each call must be given the same array and part.
pub(super) struct PartReader<C> {
    pub(super) key: Key,
    codec: C,
    reader: ChunkReader<C>,
    version: Option<Option<Version>>,
    attempts: u32,
    done: bool,
}

impl<C: Deref<Target = ChunkCodec> + Clone> PartReader<C> {
    /// Begins to read `part` of the chunk of `array` with this `key` into elements of this `view`.
    pub(super) fn new(array: &Array, part: &Part<'_>, key: Key, codec: C, view: &View) -> Self {
        let mut reader = new_reader(array, part, codec.clone(), view, 0);
        let mut version = None;
        if !part.is_whole
            && codec.shard().is_some()
            && let Some(kept) = array.shared.indices.get(part.chunk)
        {
            reader.use_index(kept.index);
            version = Some(kept.version);
        }
        Self { key, codec, reader, version, attempts: 0, done: false }
    }

    /// The bytes of the chunk's object that are needed next, `None` if the part has been read.
    pub(super) fn need(&self) -> Option<ReadRange<'_>> {
        if self.done { None } else { read_range(self.reader.need()) }
    }

    /// Takes the store's answer: the object's size and version, and the needed `bytes`.
    pub(super) fn supply(
        &mut self,
        array: &Array,
        part: &Part<'_>,
        found: Result<Option<ObjectMeta>, StoreError>,
        bytes: &[u8],
        out: &mut Output<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), ArrayError> {
        match found {
            // The ranges of an outdated index may be anywhere.
            Err(StoreError::Range { .. }) if self.version.is_some() => {
                return self.restart(array, part, out.view());
            }
            Err(StoreError::Unsteady { .. }) => return self.restart(array, part, out.view()),
            _ => {}
        }
        let Some(found) = found? else {
            self.forget_index(array, part);
            if self.version.is_some() {
                return self.restart(array, part, out.view());
            }
            self.done = true;
            return Ok(out.fill(array.fill())?);
        };
        if self.version.get_or_insert_with(|| found.version.clone()) != &found.version {
            return self.restart(array, part, out.view());
        }
        self.reader
            .supply(bytes, Some(found.size), out, array.fill(), scratch)
            .map_err(|cause| ArrayError::Chunk { key: self.key.to_string(), cause })?;
        if let Some(index) = self.reader.index()
            && found.version.is_some()
        {
            array.shared.indices.insert(part.chunk, index, &found.version);
        }
        Ok(())
    }

    /// Starts again, for elements of this `view`.
    fn restart(&mut self, array: &Array, part: &Part<'_>, view: &View) -> Result<(), ArrayError> {
        self.forget_index(array, part);
        self.attempts = self.attempts.saturating_add(1);
        if self.attempts >= MAX_ATTEMPTS {
            let key = self.key.to_string();
            return Err(ArrayError::Changing { key, attempts: MAX_ATTEMPTS });
        }
        self.reader = new_reader(array, part, self.codec.clone(), view, self.attempts);
        self.version = None;
        Ok(())
    }

    fn forget_index(&self, array: &Array, part: &Part<'_>) {
        if self.codec.shard().is_some() {
            array.shared.indices.remove(part.chunk);
        }
    }
}

fn new_reader<C: Deref<Target = ChunkCodec>>(
    array: &Array,
    part: &Part<'_>,
    codec: C,
    view: &View,
    attempts: u32,
) -> ChunkReader<C> {
    if part.is_whole || attempts >= RANGED_ATTEMPTS {
        ChunkReader::whole(codec, part.in_chunk)
    } else {
        ChunkReader::new(codec, part.in_chunk, view, array.range_cost)
    }
}
