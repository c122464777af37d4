//! Copies that several processes make, each a part of it.
//!
//! # Objects
//! The [`MARKER`](crate::MARKER) has the number of parts. Beside it, each part puts two small
//! objects: one when it begins, one when it is done. No object is ever changed by two parts, so
//! neither locks nor conditional puts are needed. If the store has them, two parts that begin at
//! the same time also cannot mistake other copies for theirs.
//!
//! # Steps
//! 1. The first part finds the target empty and puts the marker. The following parts find the same
//!    marker, or refuse to take part.
//! 2. Each part puts its first record, its chunks, and its second record. A part that finds its
//!    first record was interrupted: it skips stored chunks.
//! 3. A part that is done and finds the second record of all others completes the copy. It puts the
//!    documents, the root's last, removes the records and then the marker. Several parts may do
//!    this at the same time, and any part that runs again does it after a kill: each step can be
//!    repeated.
//!
//! # Latecomers
//! A part may run twice at the same time, and the second may still run when the copy is complete.
//! It looks for the marker before it writes each task, and writes no more once it is gone. It removes a
//! record that it puts too late. A part that puts a record looks for the document of the root
//! afterwards, and a part that puts this document removes all records afterwards. So one of the two
//! sees the other.

use std::collections::HashSet;
use std::ops::Range;

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::ChunkLayout;
use zarr_array::parallel;
use zarr_array::unfinished::Record;
use zarr_array::{OwnedChunks, Part};
use zarr_grid::{Grid, GridError};
use zarr_metadata::{ArrayMetadata, ChunkKeyEncoding};
use zarr_store::{Key, Prefix, PutOutcome, StoreExt as _};

use crate::begin::{TargetContent, content_of_target};
use crate::endpoint::{Endpoint, below};
use crate::error::{TransferError, grid_error, target};
use crate::marker::{Marker, Step, TargetState, put_verified};
use crate::{CopyOptions, CopySummary, PartStatus};

/// The number of times that a part looks again at a target while others begin or end.
const ATTEMPTS: u32 = 10;

/// How a part found its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joined {
    /// The part is to be copied: fresh, or interrupted.
    ToDo(TargetState),
    /// The part is done.
    Done,
    /// All parts are done, and the document is there.
    Complete,
    /// The node is there, with the document that it is to have and no marker.
    Node,
}

/// One part of a copy.
pub(crate) struct PartRun<'a> {
    marker: &'a Marker<'a>,
    part: Part,
}

impl<'a> PartRun<'a> {
    /// Of the copy with this marker, which is one [in parts](Marker::in_parts).
    pub(crate) fn new(marker: &'a Marker<'a>, part: Part) -> Self {
        Self { marker, part }
    }

    /// Begins the copy, or joins parts that began it. `metadata` is the target's, if it is an
    /// array.
    pub(crate) fn join(
        &self,
        from: Endpoint<'_>,
        metadata: Option<&ArrayMetadata>,
    ) -> Result<Joined, TransferError> {
        let to = self.marker.to;
        from.apart(to)?;
        for _ in 0..ATTEMPTS {
            match self.marker.find()? {
                Some(Some(Step::Copying)) => return self.joined(),
                Some(_) => return Err(self.marker.other()?),
                None => {}
            }
            // The source is the target by another name if it had the marker, too.
            from.refuse_unfinished()?;
            if let Some(document) = to.store.read(&to.document()?)? {
                return match document == self.marker.document().as_bytes() {
                    true => Ok(Joined::Node),
                    false => Err(TransferError::Exists { path: to.path() }),
                };
            }
            if let TargetContent::Chunk(key) | TargetContent::Other(key) =
                content_of_target(to, metadata)?
            {
                // Perhaps of parts that have begun since, or even completed the copy.
                let document = to.document()?;
                if self.marker.find()?.is_some() || to.store.head(&document)?.is_some() {
                    continue;
                }
                return Err(TransferError::NotEmpty { path: to.path(), key: key.to_string() });
            }
            match self.marker.put_first() {
                Ok(PutOutcome::Written) => {}
                Ok(PutOutcome::Changed) => continue,
                // The process that completed the copy may have removed the marker before it was
                // verified.
                Err(_) if to.store.head(&to.document()?)?.is_some() => continue,
                Err(error) => return Err(error),
            }
            match from.refuse_unfinished() {
                Err(TransferError::UnfinishedSource { .. }) => {
                    self.marker.remove()?;
                    return Err(TransferError::Overlap { path: to.path() });
                }
                refused => refused?,
            }
            to.clean()?;
            if zarr_store::step!("parts: look for the document after the marker")
                && to.store.head(&to.document()?)?.is_some()
            {
                // The others have begun and completed the copy since.
                self.marker.remove()?;
                continue;
            }
            return self.joined();
        }
        Err(TransferError::Unfinished { path: to.path() })
    }

    /// The state of this part, where there is the marker of the copy.
    fn joined(&self) -> Result<Joined, TransferError> {
        if self.marker.is_finished()? {
            return Ok(Joined::Complete);
        }
        if self.is_recorded(self.part.number(), Record::Done)? {
            return Ok(Joined::Done);
        }
        Ok(Joined::ToDo(match self.is_recorded(self.part.number(), Record::Begun)? {
            true => TargetState::Interrupted,
            false => TargetState::Fresh,
        }))
    }

    /// Does the work of this part, if it is to be done, and records that it is done.
    pub(crate) fn work(
        &self,
        joined: Joined,
        work: impl FnOnce(TargetState, &Share<'_>) -> Result<CopySummary, TransferError>,
    ) -> Result<CopySummary, TransferError> {
        let Joined::ToDo(found) = joined else { return Ok(CopySummary::default()) };
        if found == TargetState::Fresh && !self.record(Record::Begun)? {
            return self.gone();
        }
        let share = Share { part: Some(self.part), marker: self.marker };
        let summary = match work(found, &share) {
            Err(TransferError::Removed { .. }) => return self.gone(),
            done => done?,
        };
        match self.record(Record::Done)? {
            true => Ok(summary),
            false => self.gone(),
        }
    }

    /// The marker is gone: the copy is complete, or another program removed the marker.
    fn gone(&self) -> Result<CopySummary, TransferError> {
        let to = self.marker.to;
        match to.store.head(&to.document()?)? {
            Some(_) => Ok(CopySummary::default()),
            None => Err(TransferError::Removed { path: to.path() }),
        }
    }

    /// Completes the copy if all parts are done. `documents` puts the documents of all nodes below
    /// the root, members before their groups.
    pub(crate) fn end(
        &self,
        joined: Joined,
        documents: impl FnOnce() -> Result<(), TransferError>,
    ) -> Result<PartStatus, TransferError> {
        let to = self.marker.to;
        match joined {
            Joined::Node => {
                // Records that it put too late, if it was killed then.
                self.remove_records(self.part.number()).map_err(target)?;
                return Ok(PartStatus::WasComplete);
            }
            Joined::Complete => {}
            Joined::ToDo(_) | Joined::Done => {
                if zarr_store::step!("parts: look at the records of all") && !self.are_all_done()? {
                    return Ok(match to.store.head(&to.document()?)? {
                        Some(_) => PartStatus::WasComplete,
                        None => PartStatus::Waiting,
                    });
                }
                documents()?;
                to.clean()?;
                self.put_document(&to.document()?, self.marker.document().as_bytes())?;
            }
        }
        self.remove_all_records()?;
        self.marker.remove()?;
        to.refresh_above();
        Ok(match joined {
            Joined::Complete => PartStatus::WasComplete,
            _ => PartStatus::Completed,
        })
    }

    /// Puts the document of a node, unless another part has.
    pub(crate) fn put_document(&self, key: &Key, document: &[u8]) -> Result<(), TransferError> {
        let is_open = || Ok::<_, TransferError>(self.marker.find()? == Some(Some(Step::Copying)));
        if is_open()? {
            match put_verified(self.marker.to, key, document) {
                // Perhaps another part has completed the copy, and it has changed since.
                Err(_) if !is_open()? => {}
                done => return done,
            }
        }
        // Another part has completed it.
        self.gone().map(drop)
    }

    fn key(&self, part: u32, record: Record) -> Result<Key, TransferError> {
        Ok(self.marker.to.prefix.key(&record.name(part))?)
    }

    fn is_recorded(&self, part: u32, record: Record) -> Result<bool, TransferError> {
        Ok(self.marker.to.store.head(&self.key(part, record)?)?.is_some())
    }

    /// Puts a record of this part; false if the copy is complete or gone, and the record removed.
    fn record(&self, record: Record) -> Result<bool, TransferError> {
        let to = self.marker.to;
        let text = format!("{{\"part\": \"{}\"}}\n", self.part);
        let put = to.store.put(&self.key(self.part.number(), record)?, text.as_bytes());
        let is_open = self.marker.find()? == Some(Some(Step::Copying))
            && to.store.head(&to.document()?)?.is_none();
        if zarr_store::step!("parts: removal of a late record") && !is_open {
            self.remove_records(self.part.number()).map_err(target)?;
            // The process that completed the copy may have removed the record before it was
            // verified.
            return Ok(false);
        }
        put?;
        Ok(true)
    }

    /// Whether all parts are done. Asks for each key, since listings of file systems in a network
    /// may be older than the objects.
    fn are_all_done(&self) -> Result<bool, TransferError> {
        // Begins with the next part, so that not all ask for the same ones first.
        let (own, of) = (self.part.number(), self.part.of());
        for part in (own..=of).chain(1..own) {
            if !self.is_recorded(part, Record::Done)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn remove_records(&self, part: u32) -> Result<(), ArrayError> {
        for record in [Record::Begun, Record::Done] {
            let key = self.marker.to.prefix.key(&record.name(part))?;
            self.marker.to.store.delete(&key)?;
        }
        Ok(())
    }

    fn remove_all_records(&self) -> Result<(), TransferError> {
        let threads = self.marker.to.store.capabilities().requests_in_flight;
        let parts = u64::from(self.part.of());
        let removed = parallel::for_each(
            parts,
            threads,
            || (),
            |(), range| {
                range.into_iter().try_for_each(|part| {
                    let number = u32::try_from(part).unwrap_or(u32::MAX).saturating_add(1);
                    self.remove_records(number)
                })
            },
        );
        removed.map_err(target)
    }
}

/// Copies a part of one array; its copy has this marker; `metadata` is the target's.
pub(crate) fn copy_part_of_array(
    marker: Marker<'_>,
    part: Part,
    from: Endpoint<'_>,
    metadata: &ArrayMetadata,
    options: &CopyOptions,
    work: impl FnOnce(TargetState, &Share<'_>) -> Result<CopySummary, TransferError>,
) -> Result<CopySummary, TransferError> {
    let marker = marker.in_parts(part.of(), &[], options.nodes_only);
    let run = PartRun::new(&marker, part);
    let joined = run.join(from, Some(metadata))?;
    let mut summary = run.work(joined, work)?;
    summary.part = Some(run.end(joined, || Ok(()))?);
    Ok(summary)
}

/// The share of a copy that this process does: all of it, or one part.
pub(crate) struct Share<'a> {
    part: Option<Part>,
    /// The marker of the root of the target. Names are those below it, for every part the same.
    pub(crate) marker: &'a Marker<'a>,
}

impl<'a> Share<'a> {
    /// All of the copy with this marker.
    pub(crate) fn all(marker: &'a Marker<'a>) -> Self {
        Self { part: None, marker }
    }

    pub(crate) fn is_all(&self) -> bool {
        self.part.is_none()
    }

    /// After each task was read, and before it is written: whether the copy is still in progress.
    /// Another process that ends it removes the intermediate, whose chunks then read as fill values.
    pub(crate) fn check(&self) -> Result<(), TransferError> {
        match zarr_store::step!("copy: look at the marker before each task") {
            true => self.marker.check(Step::Copying),
            false => Ok(()),
        }
    }

    /// Removes something that other processes of the copy may need, unless one has taken over.
    pub(crate) fn removing(
        &self,
        remove: impl FnOnce() -> Result<(), TransferError>,
    ) -> Result<(), TransferError> {
        let _held =
            zarr_store::lock_step!("copy: lock to remove the intermediate", self.marker.lock())?;
        if zarr_store::step!("copy: look at the marker before the intermediate is removed") {
            self.marker.check(Step::Copying)?;
        }
        remove()
    }

    fn chunks(&self, grid: &Grid, node: &Prefix) -> Result<Option<OwnedChunks>, GridError> {
        self.part.map(|part| part.chunks(grid, below(self.marker.to.prefix, node))).transpose()
    }

    /// The regions of the target that are to be copied.
    pub(crate) fn regions(&self, to: &Array) -> Result<Vec<Vec<Range<u64>>>, GridError> {
        Ok(match self.chunks(to.grid(), to.prefix())? {
            Some(owned) => owned.regions(to.grid()),
            None => vec![to.shape().iter().map(|length| 0..*length).collect()],
        })
    }

    /// The chunks of the target that an interrupted copy has written, and that are to be copied.
    pub(crate) fn stored(&self, to: &Array) -> Result<HashSet<Vec<u64>>, TransferError> {
        let owned = self.chunks(to.grid(), to.prefix()).map_err(|error| grid_error(to, error))?;
        let is_owned = |chunk: &[u64]| match &owned {
            Some(owned) => owned.contains(chunk) == Some(true),
            None => true,
        };
        let mut stored = HashSet::new();
        for chunk in to.stored_chunks() {
            let index = chunk.map_err(TransferError::Target)?.index;
            if is_owned(&index) {
                stored.insert(index);
            }
        }
        Ok(stored)
    }

    /// Which objects of an array are to be copied, if objects are copied unchanged.
    pub(crate) fn objects_of(&self, metadata: &ArrayMetadata, to: &Prefix) -> OwnedObjects<'_> {
        let layout = ChunkLayout::new(to, metadata).ok();
        let chunks = layout.and_then(|layout| {
            let owned = self.chunks(layout.grid(), to).ok()??;
            Some((*metadata.chunk_key_encoding(), metadata.shape().len(), owned))
        });
        OwnedObjects { chunks, ..self.objects(to) }
    }

    /// Which objects in the folder of a node or in another folder are to be copied, if none of
    /// them is a chunk.
    pub(crate) fn objects(&self, folder: &Prefix) -> OwnedObjects<'_> {
        let folder = below(self.marker.to.prefix, folder).to_owned();
        OwnedObjects { part: self.part, folder, chunks: None, share: self }
    }
}

/// Which objects of a folder are to be copied.
pub(crate) struct OwnedObjects<'s> {
    part: Option<Part>,
    folder: String,
    /// The chunks to copy, with the key encoding.
    chunks: Option<(ChunkKeyEncoding, usize, OwnedChunks)>,
    share: &'s Share<'s>,
}

impl OwnedObjects<'_> {
    /// Whether the object of this name in the folder is to be copied. One part owns it, if there
    /// are parts.
    pub(crate) fn contains(&self, name: &str) -> bool {
        // A leftover record at the source, of a part that was killed after its copy was complete,
        // is no content; at the target it would be a record of this copy.
        if Record::of_name(name).is_some() {
            return false;
        }
        let Some(part) = self.part else { return true };
        let of_chunk = self
            .chunks
            .as_ref()
            .and_then(|(encoding, rank, owned)| owned.contains(&encoding.decode(name, *rank)?));
        of_chunk.unwrap_or_else(|| part.owns_object(&format!("{}/{name}", self.folder)))
    }

    /// Whether there are other parts.
    pub(crate) fn is_of_part(&self) -> bool {
        self.part.is_some()
    }

    /// As [`Share::check`].
    pub(crate) fn check(&self) -> Result<(), TransferError> {
        self.share.check()
    }
}
