//! Reading a part of a chunk, whoever fetches the bytes: says what it needs, takes the answer.

use zarr_codec::{ChunkCodec, ChunkReader, Need, Scratch};
use zarr_view::{Output, View};

use super::Array;
use crate::error::ArrayError;
use crate::store::{Key, ObjectMeta, StoreError, Version};
use crate::transfer::Part;

/// How often a chunk is read again that is replaced while it is read.
const MAX_ATTEMPTS: u32 = 16;

/// After so many attempts to read parts of a chunk that others go on replacing, all of it is read in
/// one request, which sees one version whatever they do.
const RANGED_ATTEMPTS: u32 = 4;

/// A part of a chunk on its way from the store into the caller's elements.
///
/// It reads one object throughout: if the object is replaced between two requests, or is no longer
/// the shard whose index was kept, all begins anew.
pub(super) struct Fetch<'a> {
    array: &'a Array,
    part: &'a Part<'a>,
    pub(super) key: Key,
    codec: &'a ChunkCodec,
    /// How the caller's elements lie.
    view: View,
    reader: ChunkReader<'a>,
    version: Option<Option<Version>>,
    attempts: u32,
    done: bool,
}

impl<'a> Fetch<'a> {
    /// Begins to read `part` into elements of this `view`.
    pub(super) fn new(
        array: &'a Array,
        part: &'a Part<'a>,
        codec: &'a ChunkCodec,
        view: &View,
    ) -> Result<Self, ArrayError> {
        let key = array.chunk_key(part.chunk)?;
        let mut reader = new_reader(array, part, codec, view, 0);
        let mut version = None;
        if !part.is_whole
            && let Some(kept) = array.indices.get(part.chunk)
        {
            reader.use_index(kept.index);
            version = Some(kept.version);
        }
        let view = view.clone();
        Ok(Self { array, part, key, codec, view, reader, version, attempts: 0, done: false })
    }

    /// What is needed next of the chunk's object.
    pub(super) fn need(&self) -> Need<'_> {
        if self.done { Need::Nothing } else { self.reader.need() }
    }

    /// Takes the store's answer: what was found out about the object, and the `bytes` that were
    /// needed.
    pub(super) fn supply(
        &mut self,
        found: Result<Option<ObjectMeta>, StoreError>,
        bytes: &[u8],
        out: &mut Output<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), ArrayError> {
        let array = self.array;
        match found {
            // By an index that is no longer the shard's, ranges may lead anywhere.
            Err(StoreError::Range { .. }) if self.version.is_some() => return self.restart(),
            Err(StoreError::Unsteady { .. }) => return self.restart(),
            _ => {}
        }
        let Some(found) = found? else {
            array.indices.remove(self.part.chunk);
            if self.version.is_some() {
                return self.restart();
            }
            self.done = true;
            return Ok(out.fill(&array.fill)?);
        };
        if self.version.get_or_insert_with(|| found.version.clone()) != &found.version {
            return self.restart();
        }
        self.reader
            .supply(bytes, Some(found.size), out, &array.fill, scratch)
            .map_err(|cause| ArrayError::Chunk { key: self.key.to_string(), cause })?;
        if let Some(index) = self.reader.index()
            && found.version.is_some()
        {
            array.indices.insert(self.part.chunk, index, &found.version);
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<(), ArrayError> {
        self.array.indices.remove(self.part.chunk);
        self.attempts = self.attempts.saturating_add(1);
        if self.attempts >= MAX_ATTEMPTS {
            let key = self.key.to_string();
            return Err(ArrayError::Changing { key, attempts: MAX_ATTEMPTS });
        }
        self.reader = new_reader(self.array, self.part, self.codec, &self.view, self.attempts);
        self.version = None;
        Ok(())
    }
}

fn new_reader<'a>(
    array: &Array,
    part: &Part<'_>,
    codec: &'a ChunkCodec,
    view: &View,
    attempts: u32,
) -> ChunkReader<'a> {
    if part.is_whole || attempts >= RANGED_ATTEMPTS {
        codec.whole_reader(&part.in_chunk)
    } else {
        codec.reader(&part.in_chunk, view, array.range_cost)
    }
}
