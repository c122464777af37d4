//! Carries out a rearrangement, in steps between which the array is whole.

use std::collections::BTreeSet;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_array::Array;
use zarr_array::ArrayError;
use zarr_array::ChunkLayout;
use zarr_array::node::{self, METADATA_KEY};
use zarr_array::parallel;
use zarr_array::refresh_consolidated_of;
use zarr_array::store::{
    Key, Links, ObjectMeta, Prefix, PutFrom, ReadRange, Sharing, Store, StoreExt as _,
};
use zarr_array::unfinished::REARRANGE_MARKER as MARKER;
use zarr_array::{Extent, LockedDocument};
use zarr_metadata::{ArrayMetadata, ChunkKeyEncoding};

use super::array_marker::{ArrayMarker, Step, away};
use super::group::GroupMarker;
use super::moves::{ChunkMove, Moves};
use super::refill::{Refill, is_remade};
use super::run::Run;
use super::{RearrangeProgress, Rearrangement};
use crate::error::rearrange::{RearrangeError, UNFINISHED, refused};

/// Receives progress, from several threads at once.
pub(super) type Report<'a> = &'a (dyn Fn(RearrangeProgress) + Sync);

impl Rearrangement {
    /// Moves the chunks. Returns the rearranged array.
    ///
    /// Handles that were opened before, here and in other processes, must not be used any more:
    /// they know the old grid, and would read and write the wrong chunks. No process may write to
    /// the array meanwhile. Until step 4, a chunk that was written while it was copied is noticed,
    /// and nothing is changed.
    ///
    /// # Steps
    /// 1. The document is locked and compared with the array's, and the stored chunks are listed
    ///    again.
    /// 2. The marker `zarr-kit-rearrange.json` is put.
    /// 3. The chunks that the new array has are copied to keys of another encoding: `c.0.1` if the
    ///    array has `c/0/1`. On a local file system these are links.
    /// 4. The document is put, with the new grid and this encoding. From here on, readers see the
    ///    new array. The document is unlocked.
    /// 5. Consolidated metadata of the groups above follows.
    /// 6. The document is locked again, and the old chunks are removed. The chunks are copied back to
    ///    keys of the array's own encoding, and the document that names it is put and unlocked.
    /// 7. Consolidated metadata follows. Then the document is locked for the last time, and the
    ///    chunks of the other encoding and the marker are removed.
    ///
    /// After an interruption before step 4 the array is the old one, afterwards the new one.
    /// `check` names the marker, and [`repair`](super::repair) removes objects that are not the
    /// array's, or completes steps 5 to 7. `repair` may be called during a rearrangement: it waits
    /// for the lock, and completes the remaining steps.
    ///
    /// If it is [in place](Rearrangement::is_in_place), it takes the steps of an append and a resize:
    /// inserted chunks are put after the last chunk, the document is put, and chunks past the new
    /// end are removed. There is no marker. If it was interrupted and the array is the old one, the
    /// same rearrangement completes it.
    ///
    /// # Errors
    /// [`ArrayError::Stale`] if others have changed the array since it was opened;
    /// [`ArrayError::NoLock`] if no lock keeps others from changing it, unless the
    /// [policy](Array::with_update_policy) accepts that; [`ArrayError::Unfinished`] while a copy or
    /// join still makes the array; [`ArrayError::Refused`]; or an error of a store. Up to step 4
    /// the array is unchanged, and the copies are removed as far as the store allows.
    pub fn execute(&self, progress: Report<'_>) -> Result<Array, ArrayError> {
        let array = checked(&self.array);
        // A group that cannot be written is found out now, and not half-way.
        refresh_groups(slice::from_ref(&array))?;
        let run = Run::of_array(&array, array.layout().key_encoding())?;
        let document = LockedDocument::lock(&array, Extent::Chunks)?;
        refuse_unfinished(&self.array)?;
        node::refuse_unfinished_above(array.store(), [array.prefix()])?;
        let moves = self.moves_alone()?;
        let in_place = self.is_in_place();
        let counter = CopyCounter::new(moves.counts(in_place).copies, progress);
        if in_place {
            self.in_place(&array, document, &moves, &counter)?;
        } else {
            self.by_other_keys(&run, &array, &document, &moves, &counter)?;
            drop(document);
            let gone = self.gone()?.with_store(array.store().clone());
            return_to_own_keys(&run, &[gone], None, slice::from_ref(self), &counter)?;
        }
        Ok(self.rearranged.clone())
    }

    /// No chunk of the array gets another key.
    fn in_place(
        &self,
        array: &Array,
        document: LockedDocument<'_>,
        moves: &Moves,
        counter: &CopyCounter<'_>,
    ) -> Result<(), ArrayError> {
        let copied = self.copy(array, moves.inserted(), self.rearranged.layout(), counter);
        if let Err(error) = copied.and_then(|copied| self.check(moves.inserted(), &copied)) {
            zarr_array::store::reached!("rearrange in place: undone");
            // They are past the end, where the array has nothing.
            let keys = moves.inserted().iter();
            let keys = keys.map(|moved| self.rearranged.layout().key(&moved.to));
            let _stays = remove(array, keys.flatten().collect());
            return Err(error);
        }
        zarr_array::store::reached!("rearrange in place");
        put(&document, self.rearranged.metadata())?;
        drop(document);
        let array = self.rearranged.clone().with_store(array.store().clone());
        refresh_groups(slice::from_ref(&array))?;
        if moves.removed.is_empty() {
            return Ok(());
        }
        let _document = LockedDocument::lock(&array, Extent::Chunks)?;
        remove(&array, moves.removed.clone())
    }

    fn by_other_keys(
        &self,
        run: &Run,
        array: &Array,
        document: &LockedDocument<'_>,
        moves: &Moves,
        counter: &CopyCounter<'_>,
    ) -> Result<(), ArrayError> {
        let home = array.layout().key_encoding();
        let gone = self.gone()?;
        run.begin(|run| ArrayMarker::alone(home, Step::Leaving).text(run))?;
        let array = &run.held(array);
        let copied = self.copy(array, &moves.moves, gone.layout(), counter);
        if let Err(error) = copied.and_then(|copied| self.check_all(moves, &copied)) {
            zarr_array::store::reached!("rearrange: undone at once");
            // As if the process had ended here, if they cannot be removed.
            let removed = remove_encoded(array, gone.layout().key_encoding());
            let _stays = removed.and_then(|()| run.end());
            return Err(error);
        }
        // A failure does not tell whether the document was put. So everything stays.
        run.check()?;
        put(document, gone.metadata())
    }

    /// The rearranged array with keys of the other encoding.
    pub(super) fn gone(&self) -> Result<Array, ArrayError> {
        let home = self.array.layout().key_encoding();
        let metadata = self.rearranged.metadata().with_chunk_key_encoding(&away(home));
        let metadata = metadata.map_err(|cause| ArrayError::Metadata {
            key: node::metadata_key(self.array.prefix()),
            cause,
        })?;
        self.rearranged.with_document(metadata)
    }

    /// Copies chunks to their keys in `layout`. Returns the state of each when it was copied.
    pub(super) fn copy(
        &self,
        array: &Array,
        moves: &[ChunkMove],
        layout: &ChunkLayout,
        counter: &CopyCounter<'_>,
    ) -> Result<Vec<ObjectMeta>, ArrayError> {
        parallel::map(moves, array.threads_to_move(), |moved| {
            let source = self.source(moved);
            let sharing = match moved.inserted {
                None => Sharing::HardLink,
                Some(_) => Sharing::Never,
            };
            let to = layout.key(&moved.to)?;
            let meta = copy_object(source, &moved.from, array, &to, sharing)?;
            counter.done();
            Ok(meta)
        })
    }

    /// Whether the chunks have not changed since they were copied.
    pub(super) fn check(
        &self,
        moves: &[ChunkMove],
        copied: &[ObjectMeta],
    ) -> Result<(), ArrayError> {
        let moves: Vec<_> = moves.iter().zip(copied).collect();
        parallel::each(&moves, self.array.threads_to_move(), |(moved, copied)| {
            if !zarr_array::store::step!("rearrange: comparison of the copied chunks") {
                return Ok(());
            }
            let found = self.source(moved).store().head(&moved.from)?;
            match found.as_ref() == Some(*copied) {
                true => Ok(()),
                false => Err(self.written(&moved.from)),
            }
        })
    }

    /// As [`check`](Self::check), and no others have come.
    pub(super) fn check_all(&self, moves: &Moves, copied: &[ObjectMeta]) -> Result<(), ArrayError> {
        self.check(&moves.moves, copied)?;
        if !zarr_array::store::step!("rearrange: look for chunks that others wrote") {
            return Ok(());
        }
        if let Some(Refill { remade, own, others }) = &self.refill {
            let known: BTreeSet<&Key> = own.iter().map(|(key, _)| key).collect();
            let own = own.iter().map(|(key, meta)| (&self.array, key, meta));
            let read = own.chain(others.iter().map(|(array, key, meta)| (array, key, meta)));
            let read: Vec<_> = read.collect();
            parallel::each(&read, self.array.threads_to_move(), |(array, key, meta)| {
                match array.store().head(key)?.as_ref() == Some(*meta) {
                    true => Ok(()),
                    false => Err(self.written(key)),
                }
            })?;
            let (layout, axis) = (self.array.layout(), &self.array.grid().axes()[self.axis]);
            let is_new = |key: &&Key| {
                let index = layout.chunk_of_key(key).filter(|_| !known.contains(key));
                index.is_some_and(|index| is_remade(axis, index[self.axis], remade))
            };
            if let Some(key) = moves.removed.iter().find(is_new) {
                return Err(self.written(key));
            }
        }
        let own = moves.moves.iter().filter(|moved| moved.inserted.is_none());
        let mut before: Vec<&Key> = own.map(|moved| &moved.from).chain(&moves.removed).collect();
        before.sort_unstable();
        for chunk in self.array.stored_chunks() {
            let key = chunk?.key;
            if before.binary_search(&&key).is_err() {
                return Err(self.written(&key));
            }
        }
        Ok(())
    }

    fn written(&self, key: &Key) -> ArrayError {
        refused(self.array.prefix(), RearrangeError::written(key))
    }
}

pub(super) fn refuse_unfinished(array: &Array) -> Result<(), ArrayError> {
    match ArrayMarker::at(&**array.store(), array.prefix())? {
        Some(_) => Err(refused(array.prefix(), UNFINISHED)),
        None => Ok(()),
    }
}

/// Puts a planned document with the attributes that the stored one has now.
pub(super) fn put(
    document: &LockedDocument<'_>,
    planned: &ArrayMetadata,
) -> Result<(), ArrayError> {
    document.put(&with_attributes(document, planned)?)
}

/// A planned document with the attributes that the stored one has now.
pub(super) fn with_attributes(
    document: &LockedDocument<'_>,
    planned: &ArrayMetadata,
) -> Result<ArrayMetadata, ArrayError> {
    let attributes = document.current().attributes();
    if attributes == planned.attributes() {
        return Ok(planned.clone());
    }
    let key = || document.key().to_string();
    planned.with_attributes(attributes).map_err(|cause| ArrayError::Metadata { key: key(), cause })
}

/// Returns arrays with documents that name the other encoding to their own keys. Then removes the
/// objects that are not theirs any more: the chunks of the other encoding, the markers, and the
/// marker of `group` with which they are rearranged. Arrays that others have completed meanwhile
/// stay unchanged.
///
/// Documents are unlocked while consolidated metadata follows. Chunks are removed after that, so
/// that no reader finds them by it any more. `plans` has the spelling of the new documents.
pub(super) fn return_to_own_keys(
    run: &Run,
    arrays: &[Array],
    group: Option<&Prefix>,
    plans: &[Rearrangement],
    counter: &CopyCounter<'_>,
) -> Result<(), ArrayError> {
    refresh_groups(arrays)?;
    let documents = lock_all(arrays, group)?;
    if zarr_array::store::step!("rearrange: look at the marker before chunks return")
        && !is_returning(run, arrays, group)?
    {
        return Ok(());
    }
    for (number, (array, document)) in arrays.iter().zip(&documents).enumerate() {
        copy_back(run, array, document, plans.get(number), counter)?;
    }
    drop(documents);
    refresh_groups(arrays)?;
    let documents = lock_all(arrays, group)?;
    if zarr_array::store::step!("rearrange: look at the marker before chunks are removed")
        && !is_returning(run, arrays, group)?
    {
        return Ok(());
    }
    for (array, document) in arrays.iter().zip(&documents) {
        let array = array.with_document(document.current().clone())?;
        let now = array.layout().key_encoding();
        match ArrayMarker::at(&**array.store(), array.prefix())? {
            Some(ArrayMarker { home, step: Step::Returning, .. }) if home == *now => {
                leave(&run.held(&array))?;
            }
            _ => {}
        }
    }
    // That of an array went with its chunks.
    run.end()
}

/// Locks the documents of arrays of one store, together with the marker of their group, and reads them.
pub(super) fn lock_all<'a>(
    arrays: &'a [Array],
    group: Option<&Prefix>,
) -> Result<Vec<LockedDocument<'a>>, ArrayError> {
    let Some(first) = arrays.first() else { return Ok(Vec::new()) };
    let keys = keys_of(arrays, group)?;
    let lock = zarr_array::store::lock_step!("rearrange: lock", first.store().lock_all(&keys));
    let guard = Arc::new(lock?);
    let read = |array| LockedDocument::within(Arc::clone(&guard), array, Extent::Chunks);
    arrays.iter().map(read).collect()
}

/// The keys of their documents, and of the marker of their group.
pub(super) fn keys_of(arrays: &[Array], group: Option<&Prefix>) -> Result<Vec<Key>, ArrayError> {
    let documents = arrays.iter().map(|array| Ok(array.prefix().key(METADATA_KEY)?));
    documents.chain(group.map(|group| Ok(group.key(MARKER)?))).collect()
}

/// Whether the arrays are still to return: another process may have completed that while the documents
/// were unlocked. The marker of a group records that they return.
fn is_returning(run: &Run, arrays: &[Array], group: Option<&Prefix>) -> Result<bool, ArrayError> {
    if !run.goes_on()? {
        return Ok(false);
    }
    let (Some(array), Some(group)) = (arrays.first(), group) else { return Ok(true) };
    match GroupMarker::at(&**array.store(), group)? {
        Some(GroupMarker::Switching) => {
            run.step(|run| GroupMarker::Returning.text(run)).map(|()| true)
        }
        Some(GroupMarker::Returning) => Ok(true),
        Some(GroupMarker::Leaving) | None => Ok(false),
    }
}

/// Copies the chunks of an array back to keys of its own encoding, unless the locked document names
/// that already, and puts the document that does.
fn copy_back(
    run: &Run,
    array: &Array,
    document: &LockedDocument<'_>,
    plan: Option<&Rearrangement>,
    counter: &CopyCounter<'_>,
) -> Result<(), ArrayError> {
    let array = &run.held(&array.with_document(document.current().clone())?);
    let (store, prefix) = (&**array.store(), array.prefix());
    let found = ArrayMarker::at(store, prefix)?;
    let Some(ArrayMarker { home, share, .. }) = found else { return Ok(()) };
    let now = array.layout().key_encoding();
    if *now == home {
        return Ok(());
    }
    let marker_key = prefix.key(MARKER)?;
    if *now != away(&home) {
        return Err(refused(prefix, RearrangeError::marker(marker_key)));
    }
    let planned = match plan {
        Some(plan) if plan.gone()?.metadata() == document.current() => {
            Ok(plan.rearranged.metadata().clone())
        }
        _ => {
            zarr_array::store::reached!("repair: chunks return");
            document.current().with_chunk_key_encoding(&home)
        }
    };
    let metadata =
        planned.map_err(|cause| ArrayError::Metadata { key: node::metadata_key(prefix), cause })?;
    let returning = ArrayMarker { home: home.clone(), step: Step::Returning, share };
    match run.is_at(&marker_key) {
        true => run.step(|run| ArrayMarker::alone(&home, Step::Returning).text(run))?,
        false => returning.put(store, &marker_key)?,
    }
    remove_encoded(array, &home)?;
    let layout = ChunkLayout::new(prefix, &metadata)?;
    let mut chunks = Vec::new();
    for chunk in array.stored_chunks() {
        let chunk = chunk?;
        chunks.push((layout.key(&chunk.index)?, chunk.key));
    }
    parallel::each(&chunks, array.threads_to_move(), |(to, from)| {
        copy_object(array, from, array, to, Sharing::HardLink)?;
        counter.done();
        Ok::<_, ArrayError>(())
    })?;
    run.check()?;
    document.put(&metadata)
}

/// Removes objects that are not the array's: chunks of the other encoding, and the marker.
pub(super) fn leave(array: &Array) -> Result<(), ArrayError> {
    remove_encoded(array, &away(array.layout().key_encoding()))?;
    Ok(array.store().delete(&array.prefix().key(MARKER)?)?)
}

/// Brings consolidated metadata up to date, for all arrays in one step per group. No document may be
/// locked.
pub(super) fn refresh_groups(arrays: &[Array]) -> Result<(), ArrayError> {
    let Some(first) = arrays.first() else { return Ok(()) };
    let prefixes: Vec<&Prefix> = arrays.iter().map(Array::prefix).collect();
    refresh_consolidated_of(first.store(), &prefixes, first.update_policy())
}

/// The array in its store with puts that are verified: chunks are removed once they are copied.
pub(super) fn checked(array: &Array) -> Array {
    let checked = array.store().checked();
    array.clone().with_store(checked.unwrap_or_else(|| array.store().clone()))
}

/// Makes an object of another, by the store if it can. Returns the size and version of the copied
/// object.
fn copy_object(
    source: &Array,
    from: &Key,
    target: &Array,
    to: &Key,
    sharing: Sharing,
) -> Result<ObjectMeta, ArrayError> {
    let (source_store, store) = (&**source.store(), &**target.store());
    let written = || refused(target.prefix(), RearrangeError::written(from));
    let meta = source_store.head(from)?.ok_or_else(written)?;
    match store.put_from(to, source_store, from, &meta, sharing)? {
        PutFrom::Linked | PutFrom::Reflinked | PutFrom::Copied => {}
        PutFrom::Changed => return Err(written()),
        _ => {
            let mut bytes = Vec::new();
            let found = source.get_object(from, ReadRange::All, &mut bytes)?;
            if found.as_ref() != Some(&meta) {
                return Err(written());
            }
            store.put(to, &bytes)?;
        }
    }
    Ok(meta)
}

/// Removes all objects of the array with keys of an encoding.
fn remove_encoded(array: &Array, encoding: &ChunkKeyEncoding) -> Result<(), ArrayError> {
    let (prefix, rank) = (array.prefix(), array.shape().len());
    let mut keys = Vec::new();
    // Listed first: some file systems skip entries of a folder that shrinks while it is read.
    for key in array.store().list(prefix, Links::Follow) {
        let key = key?;
        if prefix.strip(&key).is_some_and(|name| encoding.decode(name, rank).is_some()) {
            keys.push(key);
        }
    }
    remove(array, keys)
}

pub(super) fn remove(array: &Array, keys: Vec<Key>) -> Result<(), ArrayError> {
    parallel::each(&keys, array.threads_to_move(), |key| Ok(array.store().delete(key)?))
}

/// Counts copies.
pub(super) struct CopyCounter<'a> {
    done: AtomicU64,
    total: u64,
    report: Report<'a>,
}

impl<'a> CopyCounter<'a> {
    pub(super) fn new(total: u64, report: Report<'a>) -> Self {
        Self { done: AtomicU64::new(0), total, report }
    }

    fn done(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.report)(RearrangeProgress { done, total: self.total });
    }
}
