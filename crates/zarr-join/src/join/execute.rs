//! Carries out a planned join.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use zarr_array::store::{Prefix, PutFrom, ReadRange, Sharing, Store, StoreExt as _};
use zarr_array::{Array, ArrayError, open_node, parallel};
use zarr_copy::{
    ContentDigest, CopyOptions, Endpoint, NewNode, TransferError, UnitChunk, UnitMover, UnitWork,
};
use zarr_metadata::NodeMetadata;

use crate::error::JoinError;
use crate::join::decode::{check_sources, write_chunk};
use crate::join::plan::{Assembled, JoinPlan, Moved, Source, options_of};
use crate::member::Member;

/// Options of a join.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct JoinOptions {
    link: bool,
    resume: bool,
    overwrite: bool,
    threads: Option<NonZeroUsize>,
}

impl JoinOptions {
    /// The defaults: to an empty target; moved chunks get their own objects.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether moved chunks may be second names of the members' files (hard links). They then take
    /// no space and no time. But a program that writes into such a file in place changes the member
    /// and the joined array; this library always writes new files.
    pub fn link(mut self, link: bool) -> Self {
        self.link = link;
        self
    }

    /// Whether an interrupted join of the same members is continued.
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Whether the node at the target is removed first. Resuming takes precedence.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Sets the number of threads; by default as many as the stores answer at once, at least one
    /// per core.
    pub fn threads(mut self, threads: impl Into<Option<NonZeroUsize>>) -> Self {
        self.threads = threads.into();
        self
    }
}

/// The result of a join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JoinSummary {
    /// Chunks that are second names of members' files.
    pub linked: u64,
    /// Chunks that share their bytes in the file system with the members' chunks, until one of them
    /// is changed (reflinks).
    pub reflinked: u64,
    /// Chunks that were copied, byte for byte.
    pub copied: u64,
    /// Stored bytes of the chunks that were copied.
    pub copied_bytes: u64,
    /// Chunks that were assembled from encoded chunks, or from inner chunks of shards.
    pub assembled: u64,
    /// Bytes of those.
    pub assembled_bytes: u64,
    /// Chunks that were written from decoded elements.
    pub written: u64,
    /// Chunks that an earlier, interrupted run had made.
    pub skipped: u64,
    /// Objects of the first group that belong to no node, and were copied.
    pub others: u64,
}

impl JoinSummary {
    /// Adds the counts of another join.
    pub(crate) fn add(&mut self, other: Self) {
        self.linked += other.linked;
        self.reflinked += other.reflinked;
        self.copied += other.copied;
        // Servers tell these sizes.
        self.copied_bytes = self.copied_bytes.saturating_add(other.copied_bytes);
        self.assembled += other.assembled;
        self.assembled_bytes = self.assembled_bytes.saturating_add(other.assembled_bytes);
        self.written += other.written;
        self.skipped += other.skipped;
        self.others += other.others;
    }
}

/// The progress of a join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JoinProgress {
    /// Chunks that are done, including chunks of an earlier run.
    pub done: u64,
    /// Chunks in total.
    pub total: u64,
}

impl JoinPlan {
    /// Makes the joined array at `prefix` in `store`.
    ///
    /// As in copies, a marker is put first and the document last. So after a kill there is no
    /// array, and [`JoinOptions::resume`] continues the join.
    ///
    /// # Errors
    /// [`JoinError::Changed`] if a member has changed since the join was planned: its document, or
    /// the size or version of a chunk. [`JoinError::Transfer`] if the target is refused; otherwise
    /// errors of reading members and writing the target.
    pub fn execute(
        &self,
        store: &Arc<dyn Store>,
        prefix: &Prefix,
        options: &JoinOptions,
        progress: &(dyn Fn(JoinProgress) + Sync),
    ) -> Result<(Array, JoinSummary), JoinError> {
        let store = store.checked().unwrap_or_else(|| store.clone());
        let document = NodeMetadata::Array(self.metadata.clone());
        let from = self.sources();
        let to = Endpoint::new(&store, prefix);
        make(&from, (self.content(), None), to, &document, options, |node| {
            self.fill(prefix, node, options, progress)
        })
        .map(|(array, did)| (array.with_store(store.clone()), did))
    }

    /// The members, each with its document, as a marker identifies them.
    pub(crate) fn sources(&self) -> Vec<(Endpoint<'_>, &str)> {
        let each = self.members.members().iter().map(|member| {
            let array = member.array();
            (Endpoint::new(array.store(), array.prefix()), member.stored().json())
        });
        each.collect()
    }

    /// The members' documents and stored chunks when the join was planned.
    pub(crate) fn content(&self) -> ContentDigest {
        let mut content = ContentDigest::default();
        for (number, (member, stored)) in
            self.members.members().iter().zip(&self.stored).enumerate()
        {
            let mut part = stored.content;
            part.add_document("", member.stored().json());
            content.add_part(&number.to_string(), part);
        }
        content
    }

    /// Puts all chunks into a node that was begun.
    pub(crate) fn fill(
        &self,
        prefix: &Prefix,
        node: &NewNode<'_>,
        options: &JoinOptions,
        progress: &(dyn Fn(JoinProgress) + Sync),
    ) -> Result<(Array, JoinSummary), JoinError> {
        let metadata = self.metadata.clone();
        let store = node.store();
        let array =
            Array::with_metadata(store.clone(), prefix, metadata, options_of(&self.members))
                .map_err(JoinError::target)?;
        let mut stored = HashSet::new();
        if node.is_resumed() {
            for chunk in array.stored_chunks() {
                stored.insert(chunk.map_err(JoinError::target)?.index);
            }
        }
        let work = Work {
            plan: self,
            array: &array.clone().with_threads(NonZeroUsize::MIN),
            options,
            stored: &stored,
            did: Mutex::default(),
            progress,
        };
        let threads = options.threads.unwrap_or_else(|| parallel::requests(&*store));
        parallel::each(&self.moved, threads, |moved| work.put(moved))?;
        self.assemble(&work)?;
        // Each thread decodes a chunk, so there are no more than cores.
        parallel::each(&self.written, threads.min(parallel::cores()), |written| {
            if work.is_stored(&written.to) {
                return Ok::<(), JoinError>(());
            }
            write_chunk(self, work.array, written)?;
            work.did(|did| &mut did.written);
            Ok::<(), JoinError>(())
        })?;
        if zarr_array::store::step!("join: look at the members after the last read") {
            self.check_unchanged()?;
        }
        Ok((array, work.did.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Assembles chunks from encoded chunks of the members.
    fn assemble(&self, work: &Work<'_>) -> Result<(), JoinError> {
        // Members without such chunks have none of the chunks that are assembled.
        let members: Vec<usize> = (0..self.units.len())
            .filter(|at| matches!(self.units.get(*at), Some(Some(_))))
            .collect();
        let sources: Vec<_> = members
            .iter()
            .filter_map(|at| {
                let member = self.members.members().get(*at)?;
                Some((member.array(), self.units.get(*at)?.clone()?))
            })
            .collect();
        let todo: Vec<(&Assembled, Vec<usize>, Vec<_>)> = self
            .assembled
            .iter()
            .filter(|chunk| !work.is_stored(&chunk.to))
            .map(|chunk| {
                let number = |member: &usize| members.binary_search(member).ok();
                let stored = chunk.sources.iter();
                let stored = stored.filter_map(|one| Some((number(&one.member)?, &one.key)));
                (chunk, chunk.members.iter().filter_map(number).collect(), stored.collect())
            })
            .collect();
        let chunks: Vec<UnitChunk<'_>> = todo
            .iter()
            .map(|(chunk, sources, stored)| UnitChunk {
                index: &chunk.to,
                sources,
                stored: Some(stored),
            })
            .collect();
        let mover = UnitMover {
            sources: &sources,
            to: work.array,
            puts_empty: false,
            removes_empty: false,
            memory: MEMORY,
            // As a chunk that is decoded.
            most: u64::MAX,
            threads: work.options.threads,
            work: &Assembling { work, members: &members },
        };
        mover.run(&chunks)
    }

    /// Refuses members that have another document or other chunks than when the join was planned.
    fn check_unchanged(&self) -> Result<(), JoinError> {
        for (member, stored) in self.members.members().iter().zip(&self.stored) {
            let array = member.array();
            let name = if member.stored().is_version_2() { ".zarray" } else { "zarr.json" };
            let document = array.prefix().key(name);
            let document = document.map_err(|cause| JoinError::member(member.name(), cause))?;
            // A node of version 2 has several documents, so their translation is compared.
            let same = match open_node(array.store(), array.prefix()) {
                Ok(NodeMetadata::Array(found)) => found.json() == member.stored().json(),
                Err(ArrayError::Store(cause)) => {
                    return Err(JoinError::member(member.name(), cause));
                }
                Ok(NodeMetadata::Group(_)) | Err(_) => false,
            };
            if !same {
                return Err(JoinError::changed(member.name(), &document));
            }
            let occupied = array.stored_chunks().filter(|chunk| match chunk {
                Ok(chunk) => chunk.occupied,
                Err(_) => true,
            });
            let mut count = 0_usize;
            for chunk in occupied {
                chunk.map_err(|cause| JoinError::member(member.name(), cause))?;
                count += 1;
            }
            if count != stored.count {
                return Err(JoinError::ChunksChanged {
                    member: member.name().into(),
                    planned: stored.count,
                    found: count,
                });
            }
        }
        Ok(())
    }

    pub(crate) fn member(&self, source: &Source) -> Option<&Member> {
        self.members.members().get(source.member)
    }
}

/// Makes a node and fills it. Errors other than a store's would recur, so after one the marker is
/// removed if nothing else has been put.
pub(crate) fn make<T>(
    from: &[(Endpoint<'_>, &str)],
    (content, within): (ContentDigest, Option<ContentDigest>),
    to: Endpoint<'_>,
    document: &NodeMetadata,
    options: &JoinOptions,
    fill: impl FnOnce(&NewNode<'_>) -> Result<T, JoinError>,
) -> Result<T, JoinError> {
    let replacing = CopyOptions::new().resume(options.resume).overwrite(options.overwrite);
    let node = NewNode::begin(from, content, within, to, document, &replacing)?;
    match fill(&node) {
        Ok(filled) => {
            node.finish()?;
            Ok(filled)
        }
        Err(error) => {
            if !error.is_of_store() {
                node.withdraw();
            }
            Err(error)
        }
    }
}

/// Bytes that encoded chunks may take in memory, unless one chunk of the joined array needs more.
const MEMORY: u64 = 1 << 30;

/// A join that assembles chunks.
struct Assembling<'a> {
    work: &'a Work<'a>,
    /// The numbers of the members that are sources.
    members: &'a [usize],
}

impl UnitWork for Assembling<'_> {
    type Error = JoinError;

    fn failed(&self, source: usize, cause: ArrayError) -> JoinError {
        let members = self.work.plan.members.members();
        let member = self.members.get(source).and_then(|at| members.get(*at));
        JoinError::member(member.map_or("", Member::name), cause)
    }

    fn before_batch(&self) -> Result<(), JoinError> {
        Ok(())
    }

    fn before_put(&self, chunk: &UnitChunk<'_>) -> Result<(), JoinError> {
        let assembled = &self.work.plan.assembled;
        let found = assembled.binary_search_by(|one| one.to.as_slice().cmp(chunk.index));
        match found.ok().and_then(|at| assembled.get(at)) {
            Some(chunk) => check_sources(self.work.plan, &chunk.sources),
            None => Ok(()),
        }
    }

    fn moved(&self, bytes: u64) {
        self.work.did(|did| {
            did.assembled_bytes = did.assembled_bytes.saturating_add(bytes);
            &mut did.assembled
        });
    }
}

struct Work<'a> {
    plan: &'a JoinPlan,
    array: &'a Array,
    options: &'a JoinOptions,
    stored: &'a HashSet<Vec<u64>>,
    did: Mutex<JoinSummary>,
    progress: &'a (dyn Fn(JoinProgress) + Sync),
}

impl Work<'_> {
    /// Moves one chunk.
    fn put(&self, moved: &Moved) -> Result<(), JoinError> {
        if self.is_stored(&moved.to) {
            return Ok(());
        }
        let Some(member) = self.plan.member(&moved.source) else { return Ok(()) };
        let Source { key: from, meta, .. } = &moved.source;
        let to = self.array.layout().key(&moved.to).map_err(JoinError::target)?;
        let (source, store) = (&**member.array().store(), self.array.store());
        let sharing = if self.options.link { Sharing::HardLink } else { Sharing::Never };
        let put = store.put_from(&to, source, from, meta, sharing).map_err(JoinError::target)?;
        match put {
            PutFrom::Linked => self.did(|did| &mut did.linked),
            PutFrom::Reflinked => self.did(|did| &mut did.reflinked),
            PutFrom::Copied => self.copied(meta.size),
            PutFrom::Changed => return Err(JoinError::changed(member.name(), from)),
            _ => {
                let mut bytes = Vec::new();
                let read = member.array().get_object(from, ReadRange::All, &mut bytes);
                let found = read.map_err(|cause| JoinError::member(member.name(), cause))?;
                let is_compared =
                    zarr_array::store::step!("join: comparison of a chunk that is read");
                if is_compared && found.as_ref() != Some(meta) {
                    return Err(JoinError::changed(member.name(), from));
                }
                store.put(&to, &bytes).map_err(JoinError::target)?;
                self.copied(meta.size);
            }
        }
        Ok(())
    }

    fn copied(&self, bytes: u64) {
        self.did(|did| {
            did.copied_bytes = did.copied_bytes.saturating_add(bytes);
            &mut did.copied
        });
    }

    /// Whether an interrupted run has made the chunk.
    fn is_stored(&self, chunk: &[u64]) -> bool {
        let stored = self.stored.contains(chunk);
        if stored {
            self.did(|did| &mut did.skipped);
        }
        stored
    }

    /// Counts a chunk.
    fn did(&self, count: impl FnOnce(&mut JoinSummary) -> &mut u64) {
        let done = {
            let mut did = self.did.lock().unwrap_or_else(PoisonError::into_inner);
            let count = count(&mut did);
            *count += 1;
            [did.linked, did.reflinked, did.copied, did.assembled, did.written, did.skipped]
        };
        let done = done.into_iter().fold(0, u64::saturating_add);
        (self.progress)(JoinProgress { done, total: self.plan.chunks() });
    }
}

impl From<TransferError> for JoinError {
    fn from(cause: TransferError) -> Self {
        Self::Transfer(Box::new(cause))
    }
}
