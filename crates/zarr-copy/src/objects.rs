//! Copies objects unchanged.

use std::borrow::Cow;
use std::io;
use std::num::{NonZero, NonZeroUsize};
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_array::node;
use zarr_array::parallel;
use zarr_array::unfinished::{MARKER, REARRANGE_MARKER, is_ended, read_marker};
use zarr_array::{Array, ArrayError};
use zarr_metadata::{ArrayMetadata, ChunkKeyEncoding};
use zarr_store::{Key, Links, Operation, ReadRange, StoreError, StoreExt as _};

use crate::endpoint::Endpoint;
use crate::error::{TransferError, source};
use crate::marker::TargetState;
use crate::parts::OwnedObjects;
use crate::{CopyOptions, CopyProgress, CopySummary};

/// Keys that are listed before their objects are copied, so that memory does not grow with the
/// array.
const BATCH: usize = 256;

/// The keys of an array's objects in its copy.
pub(crate) struct Renamed {
    from: ChunkKeyEncoding,
    to: ChunkKeyEncoding,
    rank: usize,
    is_version_2: bool,
}

impl Renamed {
    pub(crate) fn new(from: &ArrayMetadata, to: &ArrayMetadata) -> Self {
        Self {
            from: from.chunk_key_encoding().clone(),
            to: to.chunk_key_encoding().clone(),
            rank: from.shape().len(),
            is_version_2: from.is_version_2(),
        }
    }

    /// Whether an object of the source of this name is a chunk.
    fn is_chunk(&self, name: &str) -> bool {
        self.from.decode(name, self.rank).is_some()
    }

    /// The name in the copy of the object with this name.
    fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        match self.from.decode(name, self.rank).filter(|_| self.from != self.to) {
            Some(index) => Cow::Owned(self.to.encode(&index)),
            None => Cow::Borrowed(name),
        }
    }

    /// Refuses objects of the source that are no chunks, but would have keys of chunks in the copy.
    pub(crate) fn check_others(&self, from: Endpoint<'_>) -> Result<(), TransferError> {
        if self.from == self.to {
            return Ok(());
        }
        for key in from.store.list(from.prefix, Links::Follow) {
            let key = key.map_err(source)?;
            let name = from.prefix.strip(&key).unwrap_or_default();
            let is = |encoding: &ChunkKeyEncoding| encoding.decode(name, self.rank).is_some();
            if is(&self.to) && !is(&self.from) {
                return Err(TransferError::ChunkKey { key: key.to_string() });
            }
        }
        Ok(())
    }
}

/// Copies every object in the folder of an array that is to be copied, except its documents. An
/// object of an interrupted copy is complete if it has the length of the source's object: a put
/// stores all of an object or nothing, and the target has only objects of the copy. A verification
/// compares its bytes.
pub(crate) fn copy_objects(
    from: Endpoint<'_>,
    to: Endpoint<'_>,
    (renamed, array, owned): (&Renamed, Option<&Array>, &OwnedObjects<'_>),
    found: TargetState,
    options: &CopyOptions,
    progress: &mut dyn FnMut(CopyProgress),
) -> Result<CopySummary, TransferError> {
    let mut summary = CopySummary { arrays: 1, ..CopySummary::default() };
    progress(CopyProgress::default());
    let interrupted = found != TargetState::Fresh && owned.trusts_objects();
    let batch = Batch { from, to, renamed: Some(renamed), array, interrupted, options };
    let (mut chunks, mut others) = (Vec::new(), Vec::new());
    let mut is_first = true;
    let mut copy = |chunks: &mut Vec<Listed>, others: &mut Vec<Key>| {
        // A whole copy has just put the marker of this array, and looks again before the document.
        if !std::mem::take(&mut is_first) || owned.is_of_part() {
            owned.check()?;
        }
        summary.add(batch.copy(chunks)?);
        summary.add(copy_others((from, to), others, owned, found, options)?);
        chunks.clear();
        others.clear();
        progress(CopyProgress { done: summary.bytes, ..CopyProgress::default() });
        Ok::<(), TransferError>(())
    };
    let (mut count, mut hidden_chunks) = (0_u64, 0_u64);
    for listed in from.store.list_sized(from.prefix) {
        let (key, size) = listed.map_err(source)?;
        count += 1;
        match from.prefix.strip(&key) {
            Some(name) if node::is_of_array(name, renamed.is_version_2) => {}
            Some(MARKER) => from.refuse_unfinished()?,
            Some(REARRANGE_MARKER) => return Err(rearranging(from)),
            Some(name) if !owned.contains(name) => {}
            Some(name) if renamed.is_chunk(name) => chunks.push((key, size)),
            Some(name) if renamed.from.is_chunk_folder(name, renamed.rank) => {
                // Perhaps a link in place of a folder of chunks, which leads nowhere.
                from.store.head(&key).map_err(source)?;
                others.push(key);
            }
            Some(name) => {
                let hidden = renamed.from.other_with(name, renamed.rank, |_| true).is_some();
                hidden_chunks += u64::from(hidden);
                others.push(key);
            }
            None => others.push(key),
        }
        if chunks.len().max(others.len()) >= BATCH {
            copy(&mut chunks, &mut others)?;
        }
    }
    copy(&mut chunks, &mut others)?;
    from.check_listed(count)?;
    Ok(CopySummary { hidden_chunks, ..summary })
}

/// Copies those objects that belong to no node and are to be copied, or counts them if they are to be
/// left out. `target` is the state of the copy to which they belong.
pub(crate) fn copy_others(
    (from, to): (Endpoint<'_>, Endpoint<'_>),
    keys: &[Key],
    owned: &OwnedObjects<'_>,
    target: TargetState,
    options: &CopyOptions,
) -> Result<CopySummary, TransferError> {
    let is_owned = |key: &&Key| owned.contains(from.prefix.strip(key).unwrap_or_default());
    let keys = keys.iter().filter(is_owned).map(|key| (key.clone(), None));
    let keys: Vec<Listed> = keys.collect();
    let count = u64::try_from(keys.len()).unwrap_or(u64::MAX);
    if options.nodes_only {
        return Ok(CopySummary { left_out: count, ..CopySummary::default() });
    }
    let interrupted = target != TargetState::Fresh && owned.trusts_objects();
    let batch = Batch { from, to, renamed: None, array: None, interrupted, options };
    let mut summary = CopySummary { others: count, ..CopySummary::default() };
    for keys in keys.chunks(BATCH) {
        owned.check()?;
        summary.add(batch.copy(keys)?);
    }
    Ok(summary)
}

/// Copies every object at and below a node, of any kind, except [documents](documents_below), which
/// come last. `target` is the state of the copy to which the node belongs.
pub(crate) fn copy_below(
    from: Endpoint<'_>,
    to: Endpoint<'_>,
    owned: &OwnedObjects<'_>,
    target: TargetState,
    options: &CopyOptions,
) -> Result<CopySummary, TransferError> {
    let interrupted = target != TargetState::Fresh && owned.trusts_objects();
    let batch = Batch { from, to, renamed: None, array: None, interrupted, options };
    let (mut summary, mut count) = (CopySummary::default(), 0_u64);
    let mut keys = Vec::new();
    for listed in from.store.list_sized(from.prefix) {
        let (key, size) = listed.map_err(source)?;
        count += 1;
        if key.name() == MARKER {
            let text = read_marker(&**from.store, &key).map_err(source)?;
            if text.is_some_and(|text| !is_ended(&text)) {
                return Err(TransferError::UnfinishedSource { path: from.path() });
            }
            continue;
        }
        if key.is_document() || !owned.contains(from.prefix.strip(&key).unwrap_or_default()) {
            continue;
        }
        keys.push((key, size));
        if keys.len() >= BATCH {
            owned.check()?;
            summary.add(batch.copy(&keys)?);
            keys.clear();
        }
    }
    owned.check()?;
    summary.add(batch.copy(&keys)?);
    from.check_listed(count)?;
    Ok(summary)
}

/// The documents at and below a node with an invalid document, each with its key in the copy:
/// members before their groups. They are put like other documents, when all else is there.
pub(crate) fn documents_below(
    from: Endpoint<'_>,
    to: Endpoint<'_>,
) -> Result<Vec<(Key, Key)>, TransferError> {
    let mut documents = Vec::new();
    for key in from.store.list(from.prefix, Links::Follow) {
        let key = key.map_err(source)?;
        if key.is_document() {
            let new = to.prefix.key(from.prefix.strip(&key).unwrap_or_default())?;
            documents.push((key, new));
        }
    }
    let depth = |key: &Key| key.as_str().matches('/').count();
    documents.sort_by(|(a, _), (b, _)| depth(b).cmp(&depth(a)).then(a.as_str().cmp(b.as_str())));
    Ok(documents)
}

/// Copies the objects in the folder of an array that are not its chunks.
pub(crate) fn copy_beside_chunks(
    ends: (Endpoint<'_>, Endpoint<'_>),
    array: &Array,
    owned: &OwnedObjects<'_>,
    target: TargetState,
    options: &CopyOptions,
) -> Result<CopySummary, TransferError> {
    let (from, _) = ends;
    let (encoding, rank) = (array.metadata().chunk_key_encoding(), array.shape().len());
    let mut summary = CopySummary::default();
    let mut others = Vec::new();
    let mut count = 0_u64;
    for key in from.store.list(from.prefix, Links::Follow) {
        let key = key.map_err(source)?;
        count += 1;
        let name = from.prefix.strip(&key).unwrap_or_default();
        let is_document = node::is_of_array(name, array.metadata().is_version_2());
        if is_document || encoding.decode(name, rank).is_some() {
            continue;
        }
        if name == REARRANGE_MARKER {
            return Err(rearranging(from));
        }
        others.push(key);
        if others.len() >= BATCH {
            summary.add(copy_others(ends, &others, owned, target, options)?);
            others.clear();
        }
    }
    summary.add(copy_others(ends, &others, owned, target, options)?);
    from.check_listed(count)?;
    Ok(summary)
}

/// Refuses an array if its objects include chunks of another arrangement.
fn rearranging(from: Endpoint<'_>) -> TransferError {
    let cause = "a rearrangement of its chunks was interrupted: repair it first";
    source(ArrayError::Refused { path: from.path(), cause: cause.into(), remedy: None })
}

/// A key of the source, and the size of its object if it was listed with that.
type Listed = (Key, Option<u64>);

struct Batch<'a> {
    from: Endpoint<'a>,
    to: Endpoint<'a>,
    /// How chunks are called in the copy; `None` for objects that are no chunks.
    renamed: Option<&'a Renamed>,
    /// The source, if its codecs give a limit for its chunks.
    array: Option<&'a Array>,
    interrupted: bool,
    options: &'a CopyOptions,
}

/// Buffers that a thread keeps from object to object.
#[derive(Default)]
struct ObjectBuffers {
    bytes: Vec<u8>,
    again: Vec<u8>,
}

impl Batch<'_> {
    /// Copies objects, as many at once as fit in the memory.
    fn copy(&self, keys: &[Listed]) -> Result<CopySummary, TransferError> {
        let largest = AtomicU64::new(0);
        let at_once = self.at_once();
        let asks = keys.iter().any(|(_, size)| size.is_none());
        let threads = if asks { at_once } else { NonZeroUsize::MIN };
        self.each(keys, threads, |(), listed| {
            let (key, size) = (&listed.0, self.size(listed)?.unwrap_or(0));
            if size > self.options.memory {
                let limit = self.options.memory;
                return Err(TransferError::Object { key: key.to_string(), size, limit });
            }
            largest.fetch_max(size, Ordering::Relaxed);
            Ok(())
        })?;
        let copies = if self.options.verify { 2 } else { 1 };
        let one = NonZero::new(largest.into_inner().saturating_mul(copies));
        let one = one.unwrap_or(NonZero::<u64>::MIN);
        let fit = usize::try_from(self.options.memory / one).unwrap_or(usize::MAX);
        let threads = NonZeroUsize::new(fit).unwrap_or(NonZeroUsize::MIN).min(at_once);
        let [bytes, tasks, skipped] = [const { AtomicU64::new(0) }; 3];
        self.each(keys, threads, |buffers: &mut ObjectBuffers, listed| {
            let Some(done) = self.object(listed, buffers)? else { return Ok(()) };
            bytes.fetch_add(done.bytes, Ordering::Relaxed);
            tasks.fetch_add(done.tasks, Ordering::Relaxed);
            skipped.fetch_add(done.skipped, Ordering::Relaxed);
            Ok(())
        })?;
        Ok(CopySummary {
            bytes: bytes.into_inner(),
            tasks: tasks.into_inner(),
            skipped: skipped.into_inner(),
            ..CopySummary::default()
        })
    }

    /// The size of an object of the source; `None` if it has been removed.
    fn size(&self, (key, size): &Listed) -> Result<Option<u64>, TransferError> {
        match size {
            Some(size) => Ok(Some(*size)),
            None => match self.from.store.size(key) {
                // The summary names it among what is no object.
                Err(StoreError::DanglingLink { .. }) if self.renamed.is_none() => Ok(None),
                size => size.map_err(source),
            },
        }
    }

    /// The number of objects that are copied at once: they wait for their stores more than for
    /// cores.
    fn at_once(&self) -> NonZeroUsize {
        let cores = parallel::cores();
        let [from, to] =
            [self.from, self.to].map(|end| end.store.capabilities().requests_in_flight);
        cores.max(from).max(to)
    }

    fn each<S: Default>(
        &self,
        keys: &[Listed],
        threads: NonZeroUsize,
        work: impl Fn(&mut S, &Listed) -> Result<(), TransferError> + Sync,
    ) -> Result<(), TransferError> {
        let count = u64::try_from(keys.len()).unwrap_or(u64::MAX);
        parallel::for_each(count, threads, S::default, |state, range| {
            let at = |index: u64| usize::try_from(index).unwrap_or(usize::MAX);
            let keys = keys.get(at(range.start)..at(range.end)).expect("as many keys as items");
            keys.iter().try_for_each(|key| work(state, key))
        })
    }

    /// Copies one object; `None` if it has been removed meanwhile.
    fn object(
        &self,
        listed: &Listed,
        buffers: &mut ObjectBuffers,
    ) -> Result<Option<CopySummary>, TransferError> {
        let (key, listed_size) = listed;
        let name = self.from.prefix.strip(key).unwrap_or_default();
        let renamed = self.renamed.map_or(Cow::Borrowed(name), |renamed| renamed.name(name));
        let target = self.to.prefix.key(&renamed)?;
        let ObjectBuffers { bytes, again } = buffers;
        if self.interrupted
            && !self.options.verify
            && let Some(size) = self.size(listed)?
            && self.to.store.size(&target)? == Some(size)
        {
            return Ok(Some(CopySummary { bytes: size, skipped: 1, ..CopySummary::default() }));
        }
        let found = match self.array {
            Some(array) => array.get_object(key, ReadRange::All, bytes),
            None => self.from.store.get(key, ReadRange::All, bytes).map_err(ArrayError::from),
        };
        let found = match found {
            Err(ArrayError::Store(StoreError::DanglingLink { .. })) if self.renamed.is_none() => {
                None
            }
            found => found.map_err(source)?,
        };
        if found.is_none() {
            return Ok(None);
        }
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        // An object that changed after its listing is copied as it is now.
        if listed_size.is_some_and(|size| size != length)
            && let Some(size) = self.from.store.size(key).map_err(source)?
            && size != length
        {
            let message = format!("{length} bytes were read of an object of {size} bytes");
            let cause = io::Error::new(io::ErrorKind::UnexpectedEof, message);
            return Err(source(StoreError::io(Operation::Get, key, cause)));
        }
        // An interrupted run may have failed its verification.
        if self.interrupted
            && self.options.verify
            && self.to.store.read_into(&target, again)?
            && again == bytes
        {
            return Ok(Some(CopySummary { bytes: length, skipped: 1, ..CopySummary::default() }));
        }
        self.to.store.put(&target, bytes)?;
        if self.options.verify && !(self.to.store.read_into(&target, again)? && again == bytes) {
            return Err(TransferError::VerifyObject { key: target.to_string() });
        }
        Ok(Some(CopySummary { bytes: length, tasks: 1, ..CopySummary::default() }))
    }
}
