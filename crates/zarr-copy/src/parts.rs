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
use std::sync::Arc;

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::ChunkLayout;
use zarr_array::parallel;
use zarr_array::unfinished::{Hold, Record, is_ended, is_of_copy, record_run, record_text};
use zarr_array::{OwnedChunks, Part};
use zarr_grid::{Grid, GridError};
use zarr_metadata::{ArrayMetadata, ChunkKeyEncoding};
use zarr_store::{Key, Prefix, PutOutcome, Store, StoreExt as _};

use crate::begin::{TargetContent, content_of_target};
use crate::documents::Pending;
use crate::endpoint::{Endpoint, below};
use crate::error::{TransferError, grid_error, target};
use crate::marker::{Marker, Step, TargetState};
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
pub(crate) struct PartRun<'m, 'a> {
    marker: &'m mut Marker<'a>,
    part: Part,
}

impl<'m, 'a> PartRun<'m, 'a> {
    /// Of the copy with this marker, which is one [in parts](Marker::in_parts).
    pub(crate) fn new(marker: &'m mut Marker<'a>, part: Part) -> Self {
        Self { marker, part }
    }

    /// Begins the copy, or joins parts that began it. `metadata` is the target's, if it is an
    /// array.
    pub(crate) fn join(
        &mut self,
        from: Endpoint<'_>,
        metadata: Option<&ArrayMetadata>,
    ) -> Result<Joined, TransferError> {
        let to = self.marker.to;
        from.apart(to)?;
        for _ in 0..ATTEMPTS {
            let before = self.marker.stored()?;
            let ended = before.as_deref().filter(|text| is_ended(text));
            if let Some(text) = before.as_deref().filter(|_| ended.is_none()) {
                return match self.marker.step_of(text) {
                    Some(Step::Copying) => {
                        self.marker.adopt(text);
                        self.joined()
                    }
                    _ => Err(self.marker.other()?),
                };
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
            self.marker.number_parts()?;
            match self.marker.put_first(ended) {
                Ok(PutOutcome::Written) => {}
                Ok(PutOutcome::Changed) => continue,
                // The process that completed the copy may have removed the marker before it was
                // verified.
                Err(_) if to.store.head(&to.document()?)?.is_some() => continue,
                Err(error) => return Err(error),
            }
            match from.refuse_unfinished() {
                Err(TransferError::UnfinishedSource { .. }) => {
                    self.marker.restore(ended, Step::Copying)?;
                    return Err(TransferError::Overlap { path: to.path() });
                }
                refused => refused?,
            }
            to.clean()?;
            if zarr_store::step!("parts: look for the document after the marker")
                && to.store.head(&to.document()?)?.is_some()
            {
                // The others have begun and completed the copy since.
                match self.marker.restore(ended, Step::Copying) {
                    Err(TransferError::Removed { .. }) => {}
                    removed => removed?,
                }
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
        let share = Share::new(self.marker, Some(self.part))?;
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

    /// Completes the copy if all parts are done. `documents` are the documents of all nodes below the
    /// root, members before their groups.
    pub(crate) fn end(
        &self,
        joined: Joined,
        documents: impl FnOnce() -> Result<Vec<Pending>, TransferError>,
    ) -> Result<PartStatus, TransferError> {
        let to = self.marker.to;
        match joined {
            Joined::Node => {
                // Records that it put too late, if it was killed then.
                self.remove_records(&**to.store, self.part.number()).map_err(target)?;
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
                let documents = documents()?;
                to.clean()?;
                self.put_documents(&documents)?;
            }
        }
        let is_ours = self.remove_all_records().and_then(|()| {
            let held = self.marker.lock()?;
            self.marker.remove(&held)
        });
        match is_ours {
            // Another part has completed it, too.
            Err(TransferError::Removed { .. }) => drop(self.gone()?),
            removed => removed?,
        }
        to.refresh_above();
        Ok(match joined {
            Joined::Complete => PartStatus::WasComplete,
            _ => PartStatus::Completed,
        })
    }

    /// Puts the documents, the root's last, unless another part has.
    fn put_documents(&self, documents: &[Pending]) -> Result<(), TransferError> {
        let last = [self.marker.pending()?];
        let put = self.marker.put_documents(documents, None);
        match put.and_then(|()| self.marker.put_documents(&last, None)) {
            // Perhaps another part has completed the copy, and it has changed since.
            Err(_) if !self.is_open()? => self.gone().map(drop),
            done => done,
        }
    }

    /// Whether the marker is the one that this part has found or put.
    fn is_open(&self) -> Result<bool, TransferError> {
        if !zarr_store::step!("parts: look at the marker at the end of a part") {
            return Ok(true);
        }
        match self.marker.check(Step::Copying) {
            Err(TransferError::Removed { .. }) => Ok(false),
            checked => checked.map(|()| true),
        }
    }

    fn key(&self, part: u32, record: Record) -> Result<Key, TransferError> {
        Ok(self.marker.to.prefix.key(&record.name(part))?)
    }

    /// Whether a part has put this record, in the same copy: one that was overtaken may put records of
    /// an earlier one.
    fn is_recorded(&self, part: u32, record: Record) -> Result<bool, TransferError> {
        let text = self.marker.to.store.read(&self.key(part, record)?)?;
        Ok(text.is_some_and(|text| record_run(&text).as_deref() == self.marker.run()))
    }

    /// Puts a record of this part; false if the copy is complete or gone, and the record removed.
    fn record(&self, record: Record) -> Result<bool, TransferError> {
        let to = self.marker.to;
        let text = record_text(self.part, self.marker.run());
        let key = self.key(self.part.number(), record)?;
        let put = self.marker.hold()?.store(to.store).put(&key, text.as_bytes());
        let is_open = self.is_open()? && to.store.head(&to.document()?)?.is_none();
        if zarr_store::step!("parts: removal of a late record") && !is_open {
            // One of a copy that has begun since stays.
            for record in [Record::Begun, Record::Done] {
                if self.is_recorded(self.part.number(), record)? {
                    to.store.delete(&self.key(self.part.number(), record)?)?;
                }
            }
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

    fn remove_records(&self, store: &dyn Store, part: u32) -> Result<(), ArrayError> {
        for record in [Record::Begun, Record::Done] {
            store.delete(&self.marker.to.prefix.key(&record.name(part))?)?;
        }
        Ok(())
    }

    fn remove_all_records(&self) -> Result<(), TransferError> {
        let hold = self.marker.hold()?;
        let store = match hold.excludes_late_puts() {
            true => hold.store(self.marker.to.store),
            // A look at the marker for each would be as many requests again. A record that is removed too
            // late is of a part that is then done again.
            false => Arc::clone(self.marker.to.store),
        };
        let threads = store.capabilities().requests_in_flight;
        let parts = u64::from(self.part.of());
        let removed = parallel::for_each(
            parts,
            threads,
            || (),
            |(), range| {
                range.into_iter().try_for_each(|part| {
                    let number = u32::try_from(part).unwrap_or(u32::MAX).saturating_add(1);
                    self.remove_records(&*store, number)
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
    let mut marker = marker.in_parts(part.of(), &[], options.nodes_only);
    let mut run = PartRun::new(&mut marker, part);
    let joined = run.join(from, Some(metadata))?;
    let mut summary = run.work(joined, work)?;
    summary.part = Some(run.end(joined, || Ok(Vec::new()))?);
    Ok(summary)
}

/// The share of a copy that this process does: all of it, or one part.
pub(crate) struct Share<'a> {
    part: Option<Part>,
    /// The marker of the root of the target. Names are those below it, for every part the same.
    pub(crate) marker: &'a Marker<'a>,
    hold: Arc<Hold>,
    /// The target's store, in which only who holds the marker changes objects.
    store: Arc<dyn Store>,
}

impl<'a> Share<'a> {
    /// All of the copy with this marker, which was put.
    pub(crate) fn all(marker: &'a Marker<'a>) -> Result<Self, TransferError> {
        Self::new(marker, None)
    }

    fn new(marker: &'a Marker<'a>, part: Option<Part>) -> Result<Self, TransferError> {
        let hold = marker.hold()?;
        let store = hold.store(marker.to.store);
        Ok(Self { part, marker, hold, store })
    }

    /// The store to put objects of nodes that were found in this state.
    pub(crate) fn store_for(&self, found: TargetState) -> Arc<dyn Store> {
        match found {
            TargetState::Fresh | TargetState::Interrupted => Arc::clone(&self.store),
            TargetState::Documented => self.hold.store_of_missing(self.marker.to.store),
        }
    }

    /// A store of intermediates, in which only who holds the marker changes objects.
    pub(crate) fn store_of(&self, store: &Arc<dyn Store>) -> Arc<dyn Store> {
        self.hold.store(store)
    }

    /// The target's store as it is, for what is read.
    pub(crate) fn target(&self) -> &Arc<dyn Store> {
        self.marker.to.store
    }

    /// Whether an object that is there is of this copy. Otherwise an overtaken run of another copy
    /// may have put it.
    pub(crate) fn trusts_objects(&self) -> bool {
        !self.marker.follows()
    }

    pub(crate) fn is_all(&self) -> bool {
        self.part.is_none()
    }

    /// After each task was read, and before it is written: whether the copy is still in progress.
    /// Another process that ends it removes the intermediate, whose chunks then read as fill values.
    pub(crate) fn check(&self) -> Result<(), TransferError> {
        match self.hold.excludes_late_puts() {
            false if zarr_store::step!("copy: look at the marker before each task") => {
                self.marker.check(Step::Copying)
            }
            // Each put looks.
            _ => Ok(()),
        }
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
            Some((metadata.chunk_key_encoding().clone(), metadata.shape().len(), owned))
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
        // A leftover record at the source, of a part that was killed after its copy was complete, and
        // a marker that has ended are no content; at the target they would be this copy's.
        if is_of_copy(name) {
            return false;
        }
        let Some(part) = self.part else { return true };
        let of_chunk = self
            .chunks
            .as_ref()
            .and_then(|(encoding, rank, owned)| owned.contains(&encoding.decode(name, *rank)?));
        of_chunk.unwrap_or_else(|| part.owns_object(&format!("{}/{name}", self.folder)))
    }

    /// As [`Share::trusts_objects`].
    pub(crate) fn trusts_objects(&self) -> bool {
        self.share.trusts_objects()
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
