//! Copies of arrays and hierarchies into other chunks, other codecs or other stores.
//!
//! [`copy_array`] works in tasks that own whole chunks of the target, so each of those is encoded
//! and written once. Tasks are as large as the memory allows and end where source chunks end if
//! possible, so that few source chunks are decoded twice. [`copy_tree`] does the same for a whole
//! hierarchy.
//!
//! # Interrupted copies
//! A copy first puts the object [`MARKER`] next to the place of the target's `zarr.json`. Then it
//! puts everything else, then `zarr.json`, and removes the marker last. In a hierarchy it does this
//! for each node. Until a node is complete it is therefore not a node to any reader: opening it
//! returns [`Unfinished`](zarr_array::ArrayError::Unfinished). [`CopyOptions::resume`] continues it
//! if the marker shows that it is the same copy: the same location of the source, and the same
//! documents of source and target. The target then has only objects of this copy, since a copy
//! begins with an empty target. So a task is skipped if all its chunks exist, and the other tasks
//! are done again. The result is the same, byte for byte.
//!
//! # Sources that change
//! A copy is a copy of one state of its source, or it ends with
//! [`ChangedMeanwhile`](TransferError::ChangedMeanwhile), which names objects that were added,
//! removed or replaced. So the source is listed before the first read and after the last one, and
//! each read is compared with the first listing, as far as the store has versions, sizes and times
//! of its objects. Nobody can see a change within a file that leaves its size and its times. If the
//! objects are too many for the memory, or the store cannot list, reads are compared later, and a
//! resumed copy compares the bytes of what is stored.
//!
//! # Intermediates
//! If tasks are small compared with the chunks of the source, they would decode these many times.
//! Such an array is copied in two passes, through an intermediate array. It lies in the folder
//! [`INTERMEDIATE`] of the target or in a [store](CopyOptions::intermediates) of the caller. It is
//! removed before the target's document is put. An interrupted pass is resumed like any copy.
//!
//! # Chunks that move
//! If chunks of the source, or inner chunks of its shards, are chunks or inner chunks of the target,
//! with the same shape, codecs and fill value, they move as they are stored: [`Route::Moved`].
//!
//! # Parts
//! Several processes can make one copy, each a [part](CopyOptions::part) of it, on storage that all
//! of them reach.
//!
//! # Replacing
//! [`CopyOptions::overwrite`] removes only the node at the target, or the remaining chunks of a
//! former node. From its first step until the copy is finished, there is a marker. Documents are
//! removed before chunks, so that here, too, a document always belongs to a whole node. Readers
//! that opened the old node before read fill values in place of its removed chunks, and later the
//! chunks of the new one. The consolidated metadata of the groups above is updated when the copy is
//! finished.
//!
//! # Non-goals
//! No synchronisation of two stores, no conversion of data types, no selection of a part of an array.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::as_conversions))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod array;
mod array_copy;
mod begin;
mod content;
mod conventions;
mod creation;
mod documents;
mod endpoint;
mod error;
mod intermediate;
mod listed;
mod marker;
mod moved;
mod new_node;
mod objects;
mod parts;
mod plan;
mod prepared;
mod region_index;
mod source_state;
mod source_store;
mod tasks;
mod tree;
mod units;

use std::sync::Arc;

use zarr_array::Part;
use zarr_codec::Codecs;
use zarr_store::{Prefix, Store};

pub use array::copy_array;
pub use array_copy::document_of_copy;
pub use content::ContentDigest;
pub use creation::create_over;
pub use endpoint::Endpoint;
pub use error::TransferError;
pub use moved::{UnitChunk, UnitMover, UnitWork};
pub use new_node::NewNode;
pub use plan::CopyPlan;
pub use region_index::{
    check_planned_region_index, check_region_index, inner_axis, make_region_index,
};
pub use tasks::intermediate_place::INTERMEDIATE;
pub use tasks::route::{Route, Why};
pub use tree::{copy_tree, other_objects, other_objects_beside, plan_tree, source_arrays};
pub use units::UnitMoves;

/// The object next to the place of a target's `zarr.json`, until a copy to it is finished.
pub const MARKER: &str = zarr_array::unfinished::MARKER;

/// Options of a copy: its memory, the nodes that it may replace, and others.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct CopyOptions {
    memory: u64,
    resume: bool,
    overwrite: bool,
    verify: bool,
    allow_loss: bool,
    nodes_only: bool,
    keep_unfit: bool,
    part: Option<Part>,
    codecs: Codecs,
    intermediates: Option<Place>,
    ome_0_5: bool,
    /// The array that is made again after the copy.
    left_out: Option<Prefix>,
}

/// A store, as a place.
#[derive(Clone, Debug)]
struct Place(Arc<dyn Store>);

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Place {}

impl Default for CopyOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl CopyOptions {
    /// Within 1 GiB of memory, to an empty target, without verifying writes. Values that the
    /// target's codecs would change are refused.
    pub fn new() -> Self {
        Self {
            memory: 1 << 30,
            resume: false,
            overwrite: false,
            verify: false,
            allow_loss: false,
            nodes_only: false,
            keep_unfit: false,
            part: None,
            codecs: Codecs::new(),
            intermediates: None,
            ome_0_5: false,
            left_out: None,
        }
    }

    /// The most bytes that elements, encoded chunks and decode buffers may use together.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Whether an interrupted copy from the same source is continued. An array's document of exactly
    /// its bytes ends it, even if another program has put that before all chunks were copied.
    pub fn resume(mut self, resume: bool) -> Self {
        self.resume = resume;
        self
    }

    /// Whether the node at the target is removed first. Resuming takes precedence.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Whether all written objects are read back and compared. Those that an interrupted run wrote
    /// are written again if they differ.
    pub fn verify(mut self, verify: bool) -> Self {
        self.verify = verify;
        self
    }

    /// Whether the target may lose the bits that its `packbits` does not store, so that values with
    /// such bits change. Unless this is set, such a value is an error (SD-49).
    pub fn allow_loss(mut self, allow: bool) -> Self {
        self.allow_loss = allow;
        self
    }

    /// Whether to copy only nodes, without objects that belong to no node, such as a README beside
    /// an array.
    pub fn nodes_only(mut self, nodes_only: bool) -> Self {
        self.nodes_only = nodes_only;
        self
    }

    /// Whether arrays of a group are copied unchanged, and listed in [`CopySummary::kept`], if they
    /// cannot be read or their new metadata does not fit. If no array changes, it is still an
    /// error. Nodes with an invalid document are also copied unchanged, with everything below them.
    /// Arrays of Zarr version 2 that version 3 cannot express are left out, and listed in
    /// [`CopySummary::untranslated`].
    pub fn keep_unfit(mut self, keep_unfit: bool) -> Self {
        self.keep_unfit = keep_unfit;
        self
    }

    /// Copies one part, while other processes copy the others; by default, or with `None`, all.
    ///
    /// All parts are the same copy: of the same source, to the same target, with the same metadata,
    /// number of parts, and [`nodes_only`](Self::nodes_only). A part refuses to take part in
    /// another. The parts may run in any order, twice, at the same time, and be killed. A part that
    /// runs again skips its finished tasks. The last one to end completes the copy, which is then
    /// byte for byte the copy of one process. [`CopySummary::part`] says whether it did. Until then
    /// the target is no node, and [`ArrayError::Unfinished`](zarr_array::ArrayError::Unfinished)
    /// has the parts that are missing.
    ///
    /// Every part begins or continues the copy, whether or not [`resume`](Self::resume) is set.
    /// None [overwrites](Self::overwrite): delete the target first. Two *different* copies must not
    /// begin at the same time at one target, unless its store has conditional puts, or locks
    /// between the processes.
    ///
    /// If the target has become a node with the expected documents, it counts as the complete copy
    /// and stays unchanged: a part may run again after all are done. An earlier copy looks the
    /// same, so choose an empty target.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use zarr_copy::{CopyOptions, Endpoint, PartStatus, copy_tree};
    /// use zarr_store::{MemoryStore, Prefix, Store};
    /// use zarr_array::{Array, Part};
    /// use zarr_metadata::{ArrayBuilder, DataType};
    ///
    /// let metadata = ArrayBuilder::new([90], DataType::Uint8).chunk_shape([10]).build()?;
    /// let from: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// Array::create(from.clone(), &Prefix::root(), metadata)?.write(0..90, &[7; 90])?;
    /// let to: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// let root = Prefix::root();
    /// for number in [2, 1, 3] {
    ///     let summary = copy_tree(
    ///         Endpoint::new(&from, &root),
    ///         Endpoint::new(&to, &root),
    ///         &mut |_, metadata| Ok(metadata.clone()),
    ///         &CopyOptions::new().part(Part::new(number, 3)?),
    ///         &mut |_, _| {},
    ///     )?;
    ///     let is_last = number == 3;
    ///     assert_eq!(summary.part == Some(PartStatus::Completed), is_last);
    /// }
    /// assert_eq!(Array::open(to, &root)?.read(0..90)?, [7; 90]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn part(mut self, part: impl Into<Option<Part>>) -> Self {
        self.part = part.into();
        self
    }

    /// The third-party codecs, for the target and for the arrays of a hierarchy.
    pub fn codecs(mut self, codecs: Codecs) -> Self {
        self.codecs = codecs;
        self
    }

    /// Whether groups of OME-Zarr 0.4, which is of Zarr version 2, become groups of 0.5: their attributes
    /// move into `ome`, and arrays get the names of their axes. Otherwise they are copied as they are, and
    /// counted in [`CopySummary::ome_0_4`].
    pub fn ome_0_5(mut self, rewrite: bool) -> Self {
        self.ome_0_5 = rewrite;
        self
    }

    /// Puts intermediates in the root of this store, not beside the chunks of the target.
    ///
    /// A copy that would read its source many times, because its tasks are small, is made in two
    /// passes: see [`Route::Intermediate`]. An interrupted copy is resumed with the same place.
    pub fn intermediates(mut self, store: Arc<dyn Store>) -> Self {
        self.intermediates = Some(Place(store));
        self
    }

    /// The place of a copy's intermediates, as its marker records it.
    fn place_of_intermediates(&self) -> Option<String> {
        let Place(store) = self.intermediates.as_ref()?;
        let location = store.location(&Prefix::root());
        Some(location.map_or_else(String::new, |location| location.to_string()))
    }

    /// The part that is to be copied, if it is one.
    fn checked_part(&self) -> Result<Option<Part>, TransferError> {
        match (self.part, self.overwrite && !self.resume) {
            (Some(_), true) => Err(TransferError::PartOverwrites),
            (part, _) => Ok(part),
        }
    }

    /// Whether the summary lists names without a key: of several parts, the first one does.
    fn tells_without_key(&self) -> bool {
        !self.nodes_only && self.part.is_none_or(Part::is_first)
    }

    /// How the arrays of a hierarchy are opened.
    fn source_options(&self) -> zarr_codec::Options {
        zarr_codec::Options::new().codecs(self.codecs.clone())
    }
}

/// The progress of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopyProgress {
    /// Bytes of elements (or of objects, if those are copied unchanged) that are done, including
    /// skipped ones.
    pub done: u64,
    /// Bytes in total, if known.
    pub total: Option<u64>,
    /// The route of the elements.
    pub route: Route,
    /// The number of times that a chunk of the source is decoded, on average.
    pub times: u64,
}

impl CopyProgress {
    /// The progress of one of two passes, `0` and `1`, as progress of the whole.
    fn of_pass(self, pass: u64) -> Self {
        let before = self.total.unwrap_or(0).saturating_mul(pass);
        Self { done: before.saturating_add(self.done) / 2, ..self }
    }
}

/// An array that was not copied as requested.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnfitArray {
    /// Its path in the store of the source.
    pub path: String,
    /// The reason.
    pub reason: String,
}

impl UnfitArray {
    fn new(at: Endpoint<'_>, reason: &impl ToString) -> Self {
        Self { path: at.prefix.as_str().to_owned(), reason: reason.to_string() }
    }
}

/// The result of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopySummary {
    /// Arrays, including unfinished arrays that this copy finished.
    pub arrays: u64,
    /// Groups.
    pub groups: u64,
    /// Bytes of elements, or of objects that were copied unchanged.
    pub bytes: u64,
    /// Objects that belong to no node and were copied unchanged.
    pub others: u64,
    /// Of the other objects in arrays that were copied unchanged, chunks under keys of another encoding
    /// than the document's, which read as fill values.
    pub hidden_chunks: u64,
    /// Objects that belong to no node and were left out.
    pub left_out: u64,
    /// Files in the source that no copy can have, because they are no objects: files with names
    /// that no key can have, and files that are not regular (`Store::without_key`). Empty with
    /// [`CopyOptions::nodes_only`]. Of several parts, the first has them.
    pub without_key: Vec<String>,
    /// Groups whose attributes are of OME-Zarr 0.4, although the copy is of version 3:
    /// [`CopyOptions::ome_0_5`] rewrites them.
    pub ome_0_4: u64,
    /// Whether the index of VCF-Zarr was made again, since the copy has other chunks.
    pub made_region_index: bool,
    /// Tasks that an earlier, interrupted run had done.
    pub skipped: u64,
    /// Tasks that were done.
    pub tasks: u64,
    /// Arrays that were copied in two passes: [`Route::Intermediate`].
    pub intermediates: u64,
    /// Arrays that were copied unchanged although they were to change, and nodes with an invalid
    /// document; only with [`CopyOptions::keep_unfit`].
    pub kept: Vec<UnfitArray>,
    /// Arrays of Zarr version 2 that are not in the copy, because version 3 cannot express them: only
    /// with [`CopyOptions::keep_unfit`].
    pub untranslated: Vec<UnfitArray>,
    /// The state of the whole copy, if this was a [part](CopyOptions::part) of it.
    pub part: Option<PartStatus>,
}

/// The state of a copy in parts, after one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartStatus {
    /// This part is done, but others are not.
    Waiting,
    /// This part was the last, and completed the copy.
    Completed,
    /// The copy was complete before; this part did nothing.
    WasComplete,
}

impl CopySummary {
    fn add(&mut self, other: Self) {
        self.arrays += other.arrays;
        self.groups += other.groups;
        // Of a sparse array, the bytes may be more than a number can hold.
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.others += other.others;
        self.hidden_chunks += other.hidden_chunks;
        self.left_out += other.left_out;
        self.skipped += other.skipped;
        self.tasks += other.tasks;
        self.intermediates += other.intermediates;
        self.without_key.extend(other.without_key);
        self.kept.extend(other.kept);
        self.untranslated.extend(other.untranslated);
    }
}

/// The README's example, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
