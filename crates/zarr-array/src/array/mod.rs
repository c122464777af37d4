//! Arrays: opening and creating them, their settings, and their parts.

#[cfg(feature = "async")]
mod asynchronous;
mod cache;
mod chunks;
mod codecs;
mod elements;
mod inner_chunks;
mod joined;
mod open;
mod planned_reads;
mod points;
pub(crate) mod read;
mod recent;
mod selecting;
mod settled;
mod shard_indices;
mod sparse;
mod stored;
mod variable;
mod worker;
mod write;

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroUsize;
#[cfg(feature = "async")]
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use zarr_codec::{AnyChain, AnyChunkCodec, Chain, Options};
use zarr_grid::Grid;
use zarr_metadata::{ArrayMetadata, DataType};

use crate::error::ArrayError;
use crate::hierarchy::Hierarchy;
use crate::hierarchy::Members;
use crate::hierarchy::node::{self, METADATA_KEY};
use crate::hierarchy::version_2;
use crate::layout::{ChunkLayout, occupied_edges};
use crate::parallel;
use crate::selection::pieces::PieceLimits;
use crate::store::{Key, Prefix, Store, UpdatePolicy};

#[cfg(feature = "async")]
pub use asynchronous::AsyncArray;
pub use chunks::{ChunkOf, ChunksOf};
pub use elements::{Boxes, Destination, Element, Input, ReadAs, Source, WriteAs};
pub use inner_chunks::{InnerChunkOf, ShardContent, StoredMask};
pub use open::refuse_unwritable;
pub use planned_reads::PlannedReads;
pub use sparse::StoredTasks;
pub use stored::StoredChunk;
pub use variable::LimitedStrings;

/// Bytes of a piece of a chunk that is read in pieces: each thread holds the encoded bytes of one.
const NEAR_PIECE: u64 = 4 << 20;

/// As [`NEAR_PIECE`], for a store where each further piece waits for an answer.
const FAR_PIECE: u64 = 16 << 20;

/// Bytes of chunks that more threads than cores may hold while they wait for a store.
const WAITING_MEMORY: u64 = 256 << 20;

/// An array in a store.
///
/// Opening checks everything that can be checked without reading chunks: the metadata document, the
/// grid, and the codec chain against every occupied chunk shape. Any number of threads can read and
/// write at the same time. A clone is another handle of the same array: it is cheap, and has its
/// own settings.
///
/// Elements are bytes in C order of the selection, little-endian. Complex numbers have the real
/// part first, and types of less than eight bits take one byte per component.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::Array;
/// use zarr_array::store::{MemoryStore, Prefix};
/// use zarr_metadata::{ArrayBuilder, Codec, DataType};
///
/// let metadata = ArrayBuilder::new([59], DataType::Uint16)
///     .chunks([[31, 28].into()])
///     .codecs([Codec::packbits(0..=9)])
///     .fill_value(7)
///     .build()?;
/// let store = Arc::new(MemoryStore::new());
/// let array = Array::create(store, &Prefix::root(), metadata)?;
/// array.write(30..32, &[1, 0, 2, 3])?;
/// assert_eq!(array.read(29..33)?, [7, 0, 1, 0, 2, 3, 7, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Spec
/// Zarr v3 core, "Array metadata" and "Chunk grids".
#[derive(Clone)]
pub struct Array {
    hierarchy: Hierarchy,
    shared: Arc<Shared>,
    policy: UpdatePolicy,
    /// The user's setting, if any.
    threads: Option<NonZeroUsize>,
    #[cfg(feature = "async")]
    in_flight: Option<NonZeroUsize>,
    /// Of a handle that makes an asynchronous change: whether its future was dropped.
    #[cfg(feature = "async")]
    dropped: Option<Arc<AtomicBool>>,
    /// The user's setting, if any.
    range_cost: Option<u64>,
    empty_chunks_stored: bool,
    cache: Option<Arc<cache::Cache>>,
}

/// The state that all clones of an array share.
struct Shared {
    layout: ChunkLayout,
    compiled: Arc<Compiled>,
    indices: shard_indices::Indices,
    /// The members of a joined array.
    members: Option<Arc<Members>>,
}

/// Values computed from the document alone, shared by all arrays with equal documents.
struct Compiled {
    metadata: ArrayMetadata,
    /// Bound to the grid's chunk shapes.
    chain: AnyChain,
    /// One element in its form in memory; for strings, the UTF-8 text.
    fill: Vec<u8>,
    codecs: Mutex<HashMap<Box<[u64]>, AnyChunkCodec>>,
    options: Options,
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Array")
            .field("store", self.store())
            .field("path", &self.prefix().as_str())
            .field("metadata", &self.shared.compiled.metadata)
            .finish_non_exhaustive()
    }
}

impl Array {
    fn bind(
        hierarchy: Hierarchy,
        prefix: &Prefix,
        metadata: ArrayMetadata,
        options: Options,
    ) -> Result<Self, ArrayError> {
        let document = if metadata.is_version_2() { version_2::ARRAY } else { METADATA_KEY };
        let key = prefix.key(document)?;
        let Some(fill) = metadata.fill_value().bytes().map(<[u8]>::to_vec) else {
            return Err(ArrayError::DataType {
                key: key.to_string(),
                data_type: metadata.data_type().to_string(),
            });
        };
        let layout = ChunkLayout::new(prefix, &metadata)?;
        let edges = occupied_edges(layout.grid());
        let (codecs, data_type) = (metadata.codecs(), metadata.data_type());
        let chain = AnyChain::bind_with(codecs, data_type, &edges, options.clone())
            .map_err(|cause| ArrayError::Chain { key: key.to_string(), cause })?;
        let members = hierarchy.members(prefix);
        let compiled = Compiled { metadata, chain, fill, codecs: Mutex::default(), options };
        let shared = Shared {
            layout,
            compiled: Arc::new(compiled),
            indices: shard_indices::Indices::default(),
            members,
        };
        Ok(Self {
            hierarchy,
            shared: Arc::new(shared),
            policy: UpdatePolicy::default(),
            threads: None,
            #[cfg(feature = "async")]
            in_flight: None,
            #[cfg(feature = "async")]
            dropped: None,
            range_cost: None,
            empty_chunks_stored: false,
            cache: None,
        })
    }

    /// The same array with another document and the same settings.
    ///
    /// # Errors
    /// As [`with_metadata`](Array::with_metadata).
    pub fn with_document(&self, metadata: ArrayMetadata) -> Result<Self, ArrayError> {
        self.rebound(metadata, self.shared.compiled.options.clone())
    }

    fn rebound(&self, metadata: ArrayMetadata, options: Options) -> Result<Self, ArrayError> {
        let new = Self::bind(self.hierarchy.clone(), self.prefix(), metadata, options)?;
        Ok(self.with_shared(self.hierarchy.clone(), new.shared))
    }

    /// The handle of another array with the same settings; it keeps nothing of this one.
    fn with_shared(&self, hierarchy: Hierarchy, shared: Arc<Shared>) -> Self {
        let cache = self.cache.as_ref().map(|cache| cache.emptied());
        Self { hierarchy, shared, cache, ..self.clone() }
    }

    /// Refuses a place that contains chunks, because a new array would show them as its own.
    fn check_empty(&self) -> Result<(), ArrayError> {
        let Some(chunk) = self.stored_chunks().next().transpose()? else { return Ok(()) };
        let path = node::display(self.prefix());
        Err(ArrayError::NotEmpty { path, key: chunk.key.to_string() })
    }

    /// Sets the policy for partial updates of chunks in stores that cannot exclude other
    /// processes.
    #[must_use]
    pub fn with_update_policy(mut self, policy: UpdatePolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The policy for partial updates.
    #[must_use]
    pub fn update_policy(&self) -> UpdatePolicy {
        self.policy
    }

    /// Sets the number of threads of each read and write. Each thread fetches and decodes one
    /// chunk at a time.
    ///
    /// The default is one thread per core, or fewer for small reads and writes. For a remote store
    /// it is the store's number of [requests in
    /// flight](crate::store::Capabilities::requests_in_flight), to hide its latency, as long as
    /// their chunks take no more than 256 MiB. `None` restores the default.
    #[must_use]
    pub fn with_threads(mut self, threads: impl Into<Option<NonZeroUsize>>) -> Self {
        self.threads = threads.into();
        self
    }

    /// The same array in another store with the same objects: for example, a wrapper around the
    /// array's store that counts requests or ends an operation with an error. Nothing is read;
    /// compiled codecs and cached shard indices are kept.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// # let metadata = ArrayBuilder::new([3], DataType::Uint8).build()?;
    /// let store = Arc::new(MemoryStore::new());
    /// let array = Array::create(store.clone(), &Prefix::root(), metadata)?;
    /// array.write(0..3, &[1, 2, 3])?;
    /// let same = array.clone().with_store(Arc::new(Box::new(store)));
    /// assert_eq!(same.read(1..3)?, [2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn Store>) -> Self {
        self.hierarchy = self.hierarchy.with_store(store);
        self
    }

    /// An array at another place with the same document, byte for byte. Nothing is read. The two share
    /// everything compiled from the document, now and later. So many equal arrays take the memory of
    /// one, and their codecs stay in the processor's cache.
    ///
    /// # Examples
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::Array;
    /// # use zarr_array::store::{MemoryStore, Prefix};
    /// # use zarr_metadata::{ArrayBuilder, DataType};
    /// let metadata = ArrayBuilder::new([3], DataType::Uint8).build()?;
    /// let store = Arc::new(MemoryStore::new());
    /// let (may, june) = (Prefix::new("may")?, Prefix::new("june")?);
    /// let array = Array::create(store.clone(), &may, metadata.clone())?;
    /// Array::create(store.clone(), &june, metadata)?.write(0..3, &[1, 2, 3])?;
    /// assert_eq!(array.at(store, &june).read(1..3)?, [2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn at(&self, store: impl Into<Hierarchy>, prefix: &Prefix) -> Self {
        let hierarchy = store.into();
        let shared = Shared {
            layout: self.shared.layout.at(prefix),
            compiled: Arc::clone(&self.shared.compiled),
            indices: shard_indices::Indices::default(),
            members: hierarchy.members(prefix),
        };
        self.with_shared(hierarchy, Arc::new(shared))
    }

    /// Sets the number of bytes that can be read in the time that one more range takes. Ranges that
    /// are no further apart than this are read as one. With 0, only needed bytes are read.
    ///
    /// The default is [that of the store](crate::store::Capabilities::range_cost): 3 KiB for local
    /// files, 64 KiB for remote stores.
    #[must_use]
    pub fn with_range_cost(mut self, bytes: u64) -> Self {
        self.range_cost = Some(bytes);
        self
    }

    /// Sets whether writes also store chunks that hold only the fill value, bit by bit (SD-48).
    ///
    /// By default they are not stored, which reads the same. Storing them shows which regions
    /// have been written.
    ///
    /// In a shard, inner chunks that hold only the fill value are never stored (SD-60).
    #[must_use]
    pub fn with_empty_chunks_stored(mut self, stored: bool) -> Self {
        self.empty_chunks_stored = stored;
        self
    }

    /// Sets the limits of decoding, and whether writes may lose bits that `packbits` does not
    /// store. Unless that is [allowed](Options::allow_loss), writing values that would be read back
    /// changed is an error (SD-49).
    ///
    /// # Errors
    /// [`ArrayError`] if the options do not fit the array's codec chain.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use zarr_array::Array;
    /// use zarr_array::store::{MemoryStore, Prefix};
    /// use zarr_codec::Options;
    /// use zarr_metadata::{ArrayBuilder, Codec, DataType};
    ///
    /// let builder = ArrayBuilder::new([3], DataType::Uint16).codecs([Codec::packbits(0..=9)]);
    /// let metadata = builder.build()?;
    /// let array = Array::create(Arc::new(MemoryStore::new()), &Prefix::root(), metadata)?;
    ///
    /// let samples: Vec<u8> = [1023_u16, 1024, 1].iter().flat_map(|n| n.to_le_bytes()).collect();
    /// assert!(array.write(0..3, &samples).is_err()); // 1024 needs eleven bits
    /// let array = array.with_options(Options::new().allow_loss(true))?;
    /// array.write(0..3, &samples)?;
    /// assert_eq!(array.read_as::<u16>(0..3)?, [1023, 0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_options(self, options: Options) -> Result<Self, ArrayError> {
        self.rebound(self.metadata().clone(), options)
    }

    /// The options with which the array was opened.
    pub fn options(&self) -> &Options {
        &self.shared.compiled.options
    }

    /// The number of threads that was set, if any.
    pub(crate) fn threads(&self) -> Option<NonZeroUsize> {
        self.threads
    }

    /// The cost set by [`with_range_cost`](Self::with_range_cost), or that of the store.
    pub(crate) fn range_cost(&self) -> u64 {
        self.range_cost.unwrap_or_else(|| self.store().capabilities().range_cost())
    }

    /// What one piece of a chunk may cost a reader.
    pub(crate) fn piece_limits(&self) -> PieceLimits {
        let is_far = self.store().capabilities().requests_in_flight > parallel::cores();
        let bytes = if is_far { FAR_PIECE } else { NEAR_PIECE };
        PieceLimits { bytes, range_cost: self.range_cost() }
    }

    /// Only asynchronous changes can be cancelled.
    #[cfg(not(feature = "async"))]
    pub(crate) fn check_wanted(&self) -> Result<(), ArrayError> {
        Ok(())
    }

    /// How many threads an operation on this many bytes may use.
    fn threads_for(&self, bytes: usize) -> NonZeroUsize {
        // Starting a thread costs about as much as moving some tens of kilobytes.
        let worth = NonZeroUsize::new(bytes / (64 << 10)).unwrap_or(NonZeroUsize::MIN);
        self.threads.unwrap_or_else(|| {
            let cores = parallel::cores();
            match self.store().capabilities().requests_in_flight {
                // Starting the threads takes less time than the store takes for one answer.
                many if many > cores => cores.max(many.min(self.threads_that_fit())),
                _ => cores.min(worth),
            }
        })
    }

    /// How many threads together hold no more than [`WAITING_MEMORY`], with two chunks per
    /// thread.
    fn threads_that_fit(&self) -> NonZeroUsize {
        let elements = self.grid().largest_chunk().saturating_mul(2);
        let size = u64::try_from(self.element_size()).unwrap_or(u64::MAX);
        let fit = WAITING_MEMORY.checked_div(elements.saturating_mul(size)).unwrap_or(0);
        usize::try_from(fit).ok().and_then(NonZeroUsize::new).unwrap_or(NonZeroUsize::MIN)
    }

    /// The metadata document.
    #[must_use]
    pub fn metadata(&self) -> &ArrayMetadata {
        &self.shared.compiled.metadata
    }

    /// The length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        self.shared.compiled.metadata.shape()
    }

    /// The type of the elements.
    #[must_use]
    pub fn data_type(&self) -> &DataType {
        self.shared.compiled.metadata.data_type()
    }

    /// Bytes of one element in memory, or 0 if the elements have different lengths.
    #[must_use]
    pub fn element_size(&self) -> usize {
        self.shared.compiled.chain.element_size().unwrap_or(0)
    }

    /// One element of the fill value in its form in memory; for strings, the UTF-8 text.
    #[must_use]
    pub fn fill(&self) -> &[u8] {
        &self.shared.compiled.fill
    }

    /// The location of the chunks: their keys and the grid.
    #[must_use]
    pub fn layout(&self) -> &ChunkLayout {
        &self.shared.layout
    }

    /// The chunk grid.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        self.shared.layout.grid()
    }

    /// The chain of elements of one size.
    pub(crate) fn fixed_chain(&self) -> Result<&Chain, ArrayError> {
        match &self.shared.compiled.chain {
            AnyChain::Fixed(chain) => Ok(chain),
            AnyChain::Variable(_) => Err(self.no_fixed_size()),
        }
    }

    /// The number of threads that move stored chunks unchanged. Such threads wait for the store and need
    /// no core. It is the [set number](Self::with_threads), or [`requests`](parallel::requests).
    #[must_use]
    pub fn threads_to_move(&self) -> NonZeroUsize {
        self.threads().unwrap_or_else(|| parallel::requests(&**self.store()))
    }

    /// The store that holds the array.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        self.hierarchy.store()
    }

    /// The path of the array in the store.
    #[must_use]
    pub fn prefix(&self) -> &Prefix {
        self.shared.layout.prefix()
    }

    /// Refuses to change an array of Zarr version 2.
    pub(crate) fn refuse_version_2(&self) -> Result<(), ArrayError> {
        node::refuse_version_2(self.metadata().is_version_2(), self.prefix())
    }

    /// Refuses chains that cannot write, and fill values that they would change (SD-49).
    pub(crate) fn check_writable(&self, key: &Key) -> Result<(), ArrayError> {
        let failed = |cause| ArrayError::Chain { key: key.to_string(), cause };
        let chain = &self.shared.compiled.chain;
        chain.check_writable().map_err(failed)?;
        let AnyChain::Fixed(fixed) = chain else { return Ok(()) };
        let lost = fixed
            .lost_fill(&self.shared.compiled.fill)
            .map_err(|cause| ArrayError::RefusedFillValue { key: key.to_string(), cause })?;
        let Some(read_back) = lost else { return Ok(()) };
        Err(ArrayError::FillValue {
            key: key.to_string(),
            fill_value: self.shared.compiled.metadata.fill_value().json().to_owned(),
            read_back: self.value(&read_back)?,
        })
    }
}
