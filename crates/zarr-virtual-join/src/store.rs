//! A virtual join as a store: its documents, and its chunks where members have them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::iter;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use zarr_array::store::{
    Capabilities, DirEntry, Key, Links, Listing, Location, ObjectMeta, ObjectSource, Operation,
    Prefix, ReadRange, Store, StoreError, path_below, until_error,
};
use zarr_array::{Array, ArrayError, ChunkLayout, JoinedNodes, Members, Selection};
use zarr_join::encode_alike;
use zarr_metadata::{ArrayMetadata, ChunkKeyEncoding, Separator};

use crate::document::{Document, JoinedArray, Node};
use crate::document_folder::DocumentFolder;
use crate::error::VirtualJoinError;
use crate::source::Source;
use crate::watched::READ_ONLY;

/// The number of a member's chunks per step.
const STEP: u64 = 1024;

/// The nodes of a virtual join. Reads of arrays go to the members, which the hierarchy has beside
/// the store. The chunks of the store itself are for listings, sizes and byte-for-byte copies.
#[derive(Debug)]
pub(crate) struct JoinStore {
    shown: String,
    base: Arc<DocumentFolder>,
    /// The document in the store of its folder.
    key: Key,
    nodes: BTreeMap<String, Entry>,
    capabilities: Capabilities,
}

#[derive(Debug)]
struct Entry {
    prefix: Prefix,
    document: Vec<u8>,
    array: Option<Joined>,
}

#[derive(Debug)]
struct Joined {
    metadata: ArrayMetadata,
    layout: ChunkLayout,
    new_axis: Option<usize>,
    source: Arc<Source>,
    members: Arc<Members>,
}

/// A chunk of a member.
struct MemberChunk {
    array: Array,
    key: Key,
    shape: Vec<u64>,
}

impl JoinStore {
    /// The nodes at `root` and below.
    pub(crate) fn new(
        shown: String,
        document: Document,
        base: Arc<DocumentFolder>,
        key: Key,
        root: &Prefix,
    ) -> Result<Self, VirtualJoinError> {
        // Members may be further away than the document.
        let members = document.members();
        let members = members.map(|member| base.options.store.requests_at(&member.location));
        let requests =
            members.fold(base.store.capabilities().requests_in_flight, NonZeroUsize::max);
        let capabilities = Capabilities::new().requests_in_flight(requests);
        let mut nodes = BTreeMap::new();
        for (path, node) in document.nodes {
            let Some(own) = path_below(&path, root.as_str()) else { continue };
            let prefix = Prefix::new(own).map_err(StoreError::from)?;
            let invalid = |error: ArrayError| VirtualJoinError::Document {
                place: shown.clone(),
                path: format!("$.nodes[{path:?}].metadata"),
                reason: error.to_string(),
            };
            let (json, array) = match node {
                Node::Group(group) => (group.json().to_owned(), None),
                Node::Array(array) => {
                    let json = array.metadata.json().to_owned();
                    (json, Some(Joined::new(*array, &base, &prefix).map_err(invalid)?))
                }
            };
            nodes.insert(own.to_owned(), Entry { prefix, document: json.into_bytes(), array });
        }
        Ok(Self { shown, base, key, nodes, capabilities })
    }

    fn document(&self, key: &Key) -> Option<&[u8]> {
        let parent = key.parent();
        let entry = self.nodes.get(parent.as_str()).filter(|_| key.name() == "zarr.json");
        entry.map(|entry| entry.document.as_slice())
    }

    /// The array that has a chunk under this key, and the chunk.
    fn chunk(&self, key: &Key) -> Option<(&Joined, Vec<u64>)> {
        key.parent().ancestors().find_map(|prefix| {
            let array = self.array(&prefix)?;
            let chunk = array.layout.chunk_of_key(key)?;
            array.layout.is_occupied(&chunk).then_some((array, chunk))
        })
    }

    fn array(&self, prefix: &Prefix) -> Option<&Joined> {
        self.nodes.get(prefix.as_str())?.array.as_ref()
    }

    /// The chunk of a member that is, byte for byte, the chunk of the joined array with this key.
    fn same_chunk(&self, key: &Key) -> Result<Option<MemberChunk>, StoreError> {
        let Some((array, chunk)) = self.chunk(key) else { return Ok(None) };
        let failed = |cause| self.failed(Operation::Get, key.as_str(), cause);
        let mut chunks = array.member_chunks(&chunk).map_err(failed)?.into_iter();
        match (chunks.next(), chunks.next()) {
            (None, _) => Ok(None),
            (Some(only), None) if array.is_same(&chunk, &only) => Ok(Some(only)),
            _ => Err(StoreError::unsupported(
                Operation::Get,
                key,
                "bytes for this chunk of a virtual join: its member is encoded in another way",
            )),
        }
    }

    fn failed(&self, operation: Operation, key: &str, cause: ArrayError) -> StoreError {
        StoreError::io(operation, format!("{}/{key}", self.shown), io::Error::other(cause))
    }

    /// The keys of all documents and chunks in the part of the hierarchy at or around `prefix`.
    fn keys<'s>(&'s self, prefix: &Prefix) -> impl Iterator<Item = Result<Key, StoreError>> + 's {
        let prefix = prefix.clone();
        let keys = self.nodes.values().filter(move |entry| meets(&entry.prefix, &prefix)).flat_map(
            move |entry| {
                let document = entry.prefix.key("zarr.json").map_err(StoreError::from);
                let chunks = entry.array.iter().flat_map(move |array| {
                    array.chunk_keys().map(move |key| {
                        key.map_err(|cause| {
                            self.failed(Operation::List, entry.prefix.as_str(), cause)
                        })
                    })
                });
                iter::once(document).chain(chunks)
            },
        );
        until_error(keys)
    }

    /// The document of each of these nodes, and the key of its first chunk if it has chunks.
    fn first_keys<'s>(
        &'s self,
        prefix: &Prefix,
    ) -> impl Iterator<Item = Result<Key, StoreError>> + use<'s> {
        let prefix = prefix.clone();
        let entries = self.nodes.values().filter(move |entry| meets(&entry.prefix, &prefix));
        entries.flat_map(|entry| {
            let grid = entry.array.iter().map(|array| (array, array.layout.grid()));
            let stored = grid.filter(|(_, grid)| grid.occupied_chunks() != Some(0));
            let chunk = stored.map(|(array, grid)| array.layout.key(&vec![0; grid.rank()]));
            iter::once(entry.prefix.key("zarr.json")).chain(chunk).map(|key| Ok(key?))
        })
    }
}

/// The direct child of `prefix` that is, or contains, this key.
fn child(prefix: &Prefix, key: Key) -> Option<DirEntry> {
    match prefix.strip(&key)?.split_once('/') {
        None => Some(DirEntry::Object(key)),
        Some((name, _)) => prefix.join(name).ok().map(DirEntry::Prefix),
    }
}

/// Whether one of them is in the other.
fn meets(one: &Prefix, other: &Prefix) -> bool {
    let (one, other) = (one.as_str(), other.as_str());
    path_below(one, other).is_some() || path_below(other, one).is_some()
}

impl Joined {
    fn new(
        array: JoinedArray,
        base: &Arc<DocumentFolder>,
        prefix: &Prefix,
    ) -> Result<Self, ArrayError> {
        let JoinedArray { metadata, grid, new_axis, missing, members } = array;
        let layout = ChunkLayout::new(prefix, &metadata)?;
        let (base, alike) = (base.clone(), Mutex::default());
        let source = Arc::new(Source { base, grid: grid.clone(), missing, members, alike });
        let members = Members::new(grid, metadata.data_type().clone(), source.clone());
        let members = match new_axis {
            Some(axis) => members.new_axis(axis),
            None => members,
        };
        Ok(Self { metadata, layout, new_axis, source, members: Arc::new(members) })
    }

    /// The stored chunks of the member in the place of a chunk.
    fn member_chunks(&self, chunk: &[u64]) -> Result<Vec<MemberChunk>, ArrayError> {
        let grid = |cause| ArrayError::Selection { cause };
        let region = self.layout.chunk_region(chunk).map_err(grid)?;
        let origin: Vec<u64> = region.iter().map(|range| range.start).collect();
        let (number, start) = self.members.locate(&origin)?;
        let Some(array) = self.members.open(&number)? else { return Ok(Vec::new()) };
        let mut lengths: Vec<u64> = region.iter().map(|range| range.end - range.start).collect();
        if let Some(axis) = self.new_axis.filter(|axis| *axis < lengths.len()) {
            lengths.remove(axis);
        }
        let axes = start.iter().zip(&lengths);
        let selection: Selection = axes.map(|(start, length)| *start..start + length).collect();
        let plan = array.layout().plan(selection)?;
        let mut found = Vec::new();
        let mut next = 0;
        while next < plan.len() {
            let step = next..next.saturating_add(STEP);
            next = step.end;
            for chunk in plan.chunks(step)? {
                let key = Key::new(&chunk.key)?;
                let shape = array.layout().chunk_shape(&chunk.chunk).map_err(grid)?;
                found.push(MemberChunk { array: array.clone(), key, shape });
            }
        }
        Ok(found)
    }

    /// Whether a chunk of a member has, byte for byte, the content that a writer of the joined
    /// array would store.
    fn is_same(&self, chunk: &[u64], of: &MemberChunk) -> bool {
        let Ok(mut own) = self.layout.chunk_shape(chunk) else { return false };
        let metadata = of.array.metadata();
        let (codecs, joined) = (metadata.codecs(), self.metadata.codecs());
        let same_codecs = match self.new_axis.filter(|axis| *axis < own.len()) {
            Some(axis) => own.remove(axis) == 1 && encode_alike(codecs, axis, joined),
            None => codecs == joined,
        };
        own == of.shape
            && of.array.members().is_none()
            && same_codecs
            && Some(of.array.fill()) == self.metadata.fill_value().bytes()
    }

    /// Whether chunks that members have not stored are the fill value of the joined array.
    fn have_one_fill(&self) -> Result<bool, ArrayError> {
        let fill = self.metadata.fill_value().bytes();
        let count = self.members.grid().occupied_chunks().unwrap_or(u64::MAX);
        for number in 0..count {
            let Some(member) = zarr_grid::unravel(number, self.members.grid().occupied()) else {
                break;
            };
            if self.members.open(&member)?.is_some_and(|array| Some(array.fill()) != fill) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The keys of the chunks that members have stored.
    fn chunk_keys(&self) -> impl Iterator<Item = Result<Key, ArrayError>> + Send + '_ {
        let count = self.members.grid().occupied_chunks().unwrap_or(u64::MAX);
        (0..count).flat_map(|number| {
            let (keys, error) = match self.keys_of_member(number) {
                Ok(keys) => (keys, None),
                Err(error) => (Vec::new(), Some(error)),
            };
            keys.into_iter().map(Ok).chain(error.map(Err))
        })
    }

    fn keys_of_member(&self, number: u64) -> Result<Vec<Key>, ArrayError> {
        let grid = |cause| ArrayError::Selection { cause };
        let Some(member) = zarr_grid::unravel(number, self.members.grid().occupied()) else {
            return Ok(Vec::new());
        };
        let mut origin = vec![0; member.len()];
        self.members.grid().chunk_origin(&member, &mut origin).map_err(grid)?;
        let Some(array) = self.members.open(&member)? else { return Ok(Vec::new()) };
        let mut found = BTreeSet::new();
        for stored in array.stored_chunks() {
            let stored = stored?;
            if !stored.occupied {
                continue;
            }
            let mut region = array.layout().chunk_region(&stored.index).map_err(grid)?;
            if let Some(axis) = self.new_axis.filter(|axis| *axis <= region.len()) {
                region.insert(axis, 0..1);
            }
            let moved = region
                .iter()
                .zip(&origin)
                .map(|(range, origin)| range.start + origin..range.end + origin);
            let plan = self.layout.plan(moved.collect::<Selection>())?;
            for chunk in plan.chunks(0..plan.len())? {
                found.insert(Key::new(&chunk.key)?);
            }
        }
        Ok(found.into_iter().collect())
    }
}

impl Store for JoinStore {
    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        out.clear();
        if let Some(document) = self.document(key) {
            range.copy(key, document, out)?;
            return Ok(Some(described(document)));
        }
        match self.same_chunk(key)? {
            Some(MemberChunk { array, key: own, .. }) => {
                array.get_object(&own, range, out).map_err(|cause| match cause {
                    ArrayError::Store(cause) => cause,
                    cause => self.failed(Operation::Get, key.as_str(), cause),
                })
            }
            None => Ok(None),
        }
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        if let Some(document) = self.document(key) {
            return Ok(Some(described(document)));
        }
        let Some((array, chunk)) = self.chunk(key) else { return Ok(None) };
        let failed = |cause| self.failed(Operation::Head, key.as_str(), cause);
        let mut sum: Option<ObjectMeta> = None;
        for chunk in array.member_chunks(&chunk).map_err(failed)? {
            let Some(found) = chunk.array.store().head(&chunk.key)? else { continue };
            sum = Some(match sum {
                None => found,
                // Several objects have no common version.
                Some(sum) => ObjectMeta {
                    size: sum.size.saturating_add(found.size),
                    version: None,
                    modified: sum.modified.max(found.modified),
                },
            });
        }
        Ok(sum)
    }

    fn lacks(&self) -> &'static str {
        READ_ONLY
    }

    fn list(&self, prefix: &Prefix, _: Links) -> Listing<'_, Key> {
        let prefix = prefix.clone();
        let keys = self.keys(&prefix);
        Box::new(keys.filter(move |key| {
            let Ok(key) = key else { return true };
            prefix.strip(key).is_some()
        }))
    }

    fn list_dir(&self, prefix: &Prefix) -> Listing<'_, DirEntry> {
        // The children of an array are known without a look at its members.
        let is_plain = self.array(prefix).is_none_or(|array| {
            let slash = ChunkKeyEncoding::Default { separator: Separator::Slash };
            array.metadata.chunk_key_encoding() == &slash
        });
        let keys: Listing<'_, Key> = if is_plain && self.nodes.contains_key(prefix.as_str()) {
            Box::new(self.first_keys(prefix))
        } else {
            Box::new(self.keys(prefix))
        };
        let prefix = prefix.clone();
        let mut listed = BTreeSet::new();
        Box::new(keys.filter_map(move |key| {
            let entry = key.map(|key| child(&prefix, key)).transpose()?;
            let is_new = entry.as_ref().map_or(true, |entry| listed.insert(entry.clone()));
            is_new.then_some(entry)
        }))
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn reads_from(&self, prefix: &Prefix, place: &Location) -> Result<bool, StoreError> {
        let document = self.base.store.location(&self.key.clone().into());
        if document.is_some_and(|document| document.overlaps(place)) {
            return Ok(true);
        }
        for entry in self.nodes.values().filter(|entry| meets(&entry.prefix, prefix)) {
            let Some(array) = &entry.array else { continue };
            if array.source.reads_from(place).map_err(|cause| match cause {
                ArrayError::Store(cause) => cause,
                cause => self.failed(Operation::Open, entry.prefix.as_str(), cause),
            })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn source(&self, key: &Key) -> Result<Option<ObjectSource>, StoreError> {
        let Some(chunk) = self.same_chunk(key)? else { return Ok(None) };
        chunk.array.store().source(&chunk.key)
    }

    fn check_absent_chunks(&self, prefix: &Prefix) -> Result<(), StoreError> {
        let Some(array) = self.array(prefix) else { return Ok(()) };
        let failed = |cause| self.failed(Operation::Get, prefix.as_str(), cause);
        match array.have_one_fill().map_err(failed)? {
            true => Ok(()),
            false => Err(StoreError::unsupported(
                Operation::Get,
                prefix,
                "one fill value for all members: missing chunks of some are other values",
            )),
        }
    }
}

impl JoinedNodes for JoinStore {
    fn members(&self, prefix: &Prefix) -> Option<Arc<Members>> {
        Some(Arc::clone(&self.array(prefix)?.members))
    }
}

fn described(document: &[u8]) -> ObjectMeta {
    let size = u64::try_from(document.len()).unwrap_or(u64::MAX);
    ObjectMeta { size, version: None, modified: None }
}
