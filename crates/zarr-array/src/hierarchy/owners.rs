//! Which objects are Zarr's own: documents, chunks, and what unfinished work of this library leaves.
//!
//! An object is judged by its key and by the documents of the nodes around it. Everything that
//! removes objects asks here first, so that files of other programs in the folder of a node stay.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;

use serde_json::Value;
use zarr_journal::{self as unfinished, MARKER, REARRANGE_MARKER};
use zarr_metadata::{ArrayMetadata, ChunkKeyEncoding, NodeMetadata, Separator};

use crate::error::ArrayError;
use crate::hierarchy::node::METADATA_KEY;
use crate::hierarchy::version_2;
use crate::parallel;
use crate::store::{DirEntry, Key, Links, Prefix, Store, StoreError, StoreExt as _, path_below};

/// To whom an object below a node belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// It is a document, a chunk, or left by unfinished work of this library.
    Zarr,
    /// It may be a chunk: the array's chunk key encoding is not known. Or its name is reserved for
    /// extensions of Zarr.
    Unknown,
    /// It belongs to no node.
    Other,
}

/// The keys of the chunks of one array.
#[derive(Clone, Debug)]
struct ChunkKeys {
    /// Several while its chunks are moved, or if the document does not tell.
    encodings: Vec<ChunkKeyEncoding>,
    /// `None` if the document does not tell.
    rank: Option<usize>,
}

impl ChunkKeys {
    fn of(array: &ArrayMetadata) -> Self {
        let encodings = vec![array.chunk_key_encoding().clone()];
        Self { encodings, rank: Some(array.shape().len()) }
    }

    fn any() -> Self {
        Self { encodings: every_encoding(), rank: None }
    }

    /// Whether this is the key of a chunk, relative to the array, or of a folder of chunks.
    fn contain(&self, name: &str, is_folder: bool) -> bool {
        let parts = name.matches(['/', '.']).count();
        let ranks = self.rank.map_or(0..=parts.saturating_add(1), |rank| rank..=rank);
        self.encodings.iter().any(|encoding| {
            ranks.clone().any(|rank| match is_folder {
                true => encoding.is_chunk_folder(name, rank),
                false => encoding.decode(name, rank).is_some(),
            })
        })
    }
}

fn every_encoding() -> Vec<ChunkKeyEncoding> {
    let separators = [Separator::Slash, Separator::Dot].into_iter();
    separators
        .flat_map(|separator| {
            [ChunkKeyEncoding::Default { separator }, ChunkKeyEncoding::V2 { separator }]
        })
        .collect()
}

/// What the document of a node says about the objects below it.
#[derive(Clone, Debug)]
enum Place {
    Group,
    Array(ChunkKeys),
    /// An array with a chunk key encoding that is not known.
    Unknown,
    /// An unfinished copy without a document, which began in an empty place.
    Unfinished,
}

/// The nodes at and below a place, by which the objects there are judged.
#[derive(Debug)]
pub struct Owners {
    root: Prefix,
    places: BTreeMap<String, Place>,
    /// Objects with the name of a document or a marker that another program wrote.
    foreign: BTreeSet<Key>,
    /// Links that lead to a node, to a folder of chunks, or to nothing in the store.
    links: BTreeSet<Key>,
}

impl Owners {
    /// Reads the documents at and below `prefix`, among the keys of a
    /// [listing](Store::list) with [`Links::AsObjects`].
    ///
    /// # Errors
    /// Errors of the store.
    pub fn read(store: &dyn Store, prefix: &Prefix) -> Result<Self, ArrayError> {
        Self::among(store, prefix, &mut |_| ())
    }

    /// As [`read`](Self::read); `seen` is called with each key.
    pub(crate) fn among(
        store: &dyn Store,
        prefix: &Prefix,
        seen: &mut dyn FnMut(&Key),
    ) -> Result<Self, ArrayError> {
        let mut documents: BTreeMap<Prefix, BTreeSet<Key>> = BTreeMap::new();
        for key in store.list(prefix, Links::AsObjects) {
            let key = key?;
            seen(&key);
            if OF_PLACES.contains(&key.name()) && prefix.strip(&key).is_some() {
                documents.entry(key.parent()).or_default().insert(key);
            }
        }
        let documents: Vec<(Prefix, BTreeSet<Key>)> = documents.into_iter().collect();
        let read =
            parallel::map(&documents, parallel::requests(store), |(_, keys)| place(store, keys))?;
        let mut owners = Self::new(prefix);
        for ((at, _), (place, foreign)) in documents.into_iter().zip(read) {
            owners.foreign.extend(foreign);
            owners.places.extend(place.map(|place| (at.as_str().to_owned(), place)));
        }
        Ok(owners)
    }

    /// A place of which no node is known.
    fn new(root: &Prefix) -> Self {
        let (places, foreign, links) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Self { root: root.clone(), places, foreign, links }
    }

    /// Whether an object is in a node at or below `top`.
    fn is_in_node(&self, store: &dyn Store, key: &Key, top: &Prefix) -> Result<bool, ArrayError> {
        // A link, which may lead to a node.
        if key.as_str() == top.as_str() {
            return self.leads_to_node(store, key);
        }
        let parent = key.parent();
        let around = parent.ancestors();
        for place in around.take_while(|at| path_below(at.as_str(), top.as_str()).is_some()) {
            for name in OF_PLACES {
                if let Ok(document) = place.key(name)
                    && store.head(&document)?.is_some()
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The owner of the object with this key.
    #[must_use]
    pub fn owner(&self, key: &Key) -> Owner {
        if self.foreign.contains(key) {
            return Owner::Other;
        }
        // The place itself may be a link.
        if key.as_str() == self.root.as_str() || self.links.contains(key) {
            return Owner::Zarr;
        }
        let parent = key.parent();
        let mut around: Vec<Prefix> = parent
            .ancestors()
            .take_while(|above| path_below(above.as_str(), self.root.as_str()).is_some())
            .collect();
        around.reverse();
        if around.is_empty() {
            return Owner::Other;
        }
        // The outermost array decides: readers look for no node in it.
        for place in &around {
            if is_intermediate(place) && place != &self.root {
                return Owner::Zarr;
            }
            let Some(found) = self.places.get(place.as_str()) else { continue };
            let name = place.strip(key).unwrap_or_default();
            return match found {
                Place::Group => continue,
                Place::Unfinished => Owner::Zarr,
                Place::Array(_) | Place::Unknown if is_of_node(name) => Owner::Zarr,
                Place::Array(keys) if keys.contain(name, false) => Owner::Zarr,
                Place::Array(_) => Owner::Other,
                Place::Unknown => Owner::Unknown,
            };
        }
        self.outside_of_arrays(key)
    }

    /// The owner of an object in a group, or in a folder that is not a node.
    fn outside_of_arrays(&self, key: &Key) -> Owner {
        let name = self.root.strip(key).unwrap_or_default();
        if is_of_node(key.name()) || self.is_left_by_deletion(name) {
            return Owner::Zarr;
        }
        let folders = name.rsplit_once('/').map_or("", |(folders, _)| folders);
        match folders.split('/').any(|name| name.starts_with("__")) {
            true => Owner::Unknown,
            false => Owner::Other,
        }
    }

    /// Whether this is a chunk, by the default encoding, of an array whose document a deletion has
    /// removed. A file named `c` may be another program's: it is a chunk if it is that of the
    /// deleted array itself, or if the deleted group still has nodes.
    fn is_left_by_deletion(&self, name: &str) -> bool {
        let is_number = |text: &str| text.parse::<u64>().is_ok_and(|n| n.to_string() == text);
        let mut segments = name.rsplit('/');
        let last = segments.next().unwrap_or_default();
        if last == "c" {
            let is_root_gone = !self.places.contains_key(self.root.as_str());
            return is_root_gone && (name == "c" || !self.places.is_empty());
        }
        let is_dotted = last.strip_prefix("c.").is_some_and(|rest| rest.split('.').all(is_number));
        is_dotted || is_number(last) && segments.find(|name| !is_number(name)) == Some("c")
    }

    /// Whether there is a node at the place itself.
    pub(crate) fn has_root(&self) -> bool {
        self.places.contains_key(self.root.as_str())
    }

    /// Whether a key is below a node.
    pub(crate) fn is_below_node(&self, key: &Key) -> bool {
        key.parent().ancestors().any(|above| self.places.contains_key(above.as_str()))
    }

    /// Asks the store about an object that seems to belong to no node: it may be a link to a node, or
    /// to a folder of chunks. If it is, it is remembered.
    pub(crate) fn look_up_links(
        &mut self,
        store: &dyn Store,
        keys: Vec<Key>,
    ) -> Result<Vec<Key>, ArrayError> {
        let looked =
            parallel::map(&keys, parallel::requests(store), |key| self.leads_to_node(store, key))?;
        let (links, others): (Vec<_>, Vec<_>) =
            keys.into_iter().zip(looked).partition(|(_, is_link)| *is_link);
        self.links.extend(links.into_iter().map(|(key, _)| key));
        Ok(others.into_iter().map(|(key, _)| key).collect())
    }

    fn leads_to_node(&self, store: &dyn Store, key: &Key) -> Result<bool, ArrayError> {
        // Only folders have links.
        let Some(path) = store.file_path(key)? else { return Ok(false) };
        let is_link = || fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink());
        match store.head(key) {
            Ok(None) => {}
            Ok(Some(_)) => return Ok(false),
            Err(StoreError::Io { cause, .. }) if cause.kind() == ErrorKind::PermissionDenied => {
                return Ok(false);
            }
            // A link out of the store, or that leads nowhere: what it leads to stays.
            Err(StoreError::OutsideRoot { .. } | StoreError::DanglingLink { .. }) => {
                return Ok(true);
            }
            // Such as a link to itself. Any other object is not known to be one after an error.
            Err(StoreError::Io { .. }) if is_link() => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        let array = key.parent().ancestors().find_map(|above| {
            let Some(Place::Array(keys)) = self.places.get(above.as_str()) else { return None };
            Some(keys.contain(above.strip(key).unwrap_or_default(), true))
        });
        if let Some(is_of_chunks) = array {
            return Ok(is_of_chunks);
        }
        let folder = Prefix::from(key.clone());
        for name in OF_PLACES {
            if let Ok(document) = folder.key(name)
                && matches!(store.head(&document), Ok(Some(_)))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Subfolders of the place of a new node that are looked into, and keys that are read in each.
const LOOKED: usize = 16;

/// Names of objects at the place of a new node that belong to no node, relative to it: a new node
/// there would have files of other programs in its folder. At most `most` are returned, and only the
/// first subfolders are looked into. Nothing is known of a store that cannot list.
///
/// # Errors
/// Errors of the store.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::store::{Key, MemoryStore, Prefix, StoreExt};
///
/// let store = MemoryStore::new();
/// store.put(&Key::new("thesis/ch1.tex")?, b"of another program")?;
/// store.put(&Key::new("old/zarr.json")?, b"{}")?;
/// let names = zarr_array::other_names(&store, &Prefix::root(), 3)?;
/// assert_eq!(names, ["thesis/ch1.tex"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn other_names(
    store: &dyn Store,
    prefix: &Prefix,
    most: usize,
) -> Result<Vec<String>, ArrayError> {
    let owners = Owners::new(prefix);
    let mut names = Vec::new();
    let mut found = |key: &Key| {
        if names.len() < most && owners.owner(key) == Owner::Other {
            names.extend(prefix.strip(key).map(str::to_owned));
        }
        names.len() < most
    };
    let mut looked = 0_usize;
    for entry in store.list_dir(prefix) {
        match entry {
            Ok(DirEntry::Object(key)) if !found(&key) => break,
            Ok(DirEntry::Object(_)) => {}
            Ok(DirEntry::Prefix(child)) if looked < LOOKED => {
                looked += 1;
                for key in store.list(&child, Links::AsObjects).take(LOOKED) {
                    let key = key?;
                    // A node in it, whose other objects are not looked for.
                    if owners.is_in_node(store, &key, &child)? || !found(&key) {
                        break;
                    }
                }
            }
            Ok(DirEntry::Prefix(_)) => {}
            Err(error) if error.cannot_list() => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(names)
}

/// The objects by which the kind of a place is told.
const OF_PLACES: [&str; 5] =
    [METADATA_KEY, version_2::ARRAY, version_2::GROUP, MARKER, REARRANGE_MARKER];

/// Whether an object of this name is a document of a node, or a marker or record of unfinished work.
fn is_of_node(name: &str) -> bool {
    name == METADATA_KEY
        || name == REARRANGE_MARKER
        || unfinished::is_of_copy(name)
        || version_2::NAMES.contains(&name)
}

/// Whether this is the folder of a copy's intermediate.
fn is_intermediate(prefix: &Prefix) -> bool {
    let name = prefix.segments().last().unwrap_or_default();
    name.strip_prefix(unfinished::INTERMEDIATE)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// The kind of a place that has these of [`OF_PLACES`], and those among them that another program
/// wrote.
fn place(store: &dyn Store, keys: &BTreeSet<Key>) -> Result<(Option<Place>, Vec<Key>), ArrayError> {
    let key = |name: &str| keys.iter().find(|key| key.name() == name);
    let mut foreign = Vec::new();
    let mut found = None;
    if let Some(document) = key(METADATA_KEY) {
        match read(store, document)? {
            Some(json) if is_of_another_program(&json) => foreign.push(document.clone()),
            json => found = Some(place_of(&json.unwrap_or_default())),
        }
    }
    if found.is_none()
        && let Some(document) = key(version_2::ARRAY)
    {
        let array = read(store, document)?.unwrap_or_default();
        let array = ArrayMetadata::from_version_2(&array, None);
        let keys = array.map_or_else(|_| ChunkKeys::any(), |array| ChunkKeys::of(&array));
        found = Some(Place::Array(keys));
    }
    if found.is_none() && key(version_2::GROUP).is_some() {
        found = Some(Place::Group);
    }
    if let Some(marker) = key(MARKER) {
        match unfinished::read_marker(store, marker)? {
            Some(json) if !unfinished::is_marker(&json) => foreign.push(marker.clone()),
            _ if found.is_none() => found = Some(Place::Unfinished),
            _ => {}
        }
    }
    // Until it is finished or undone, chunks have keys of two encodings.
    if let (Some(Place::Array(keys)), Some(_)) = (&mut found, key(REARRANGE_MARKER)) {
        keys.encodings = every_encoding();
    }
    Ok((found, foreign))
}

/// A document; `None` if it cannot be read, as a link that leads to itself.
fn read(store: &dyn Store, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
    match store.read(key) {
        Err(
            StoreError::Io { .. }
            | StoreError::OutsideRoot { .. }
            | StoreError::DanglingLink { .. },
        ) => Ok(None),
        read => read,
    }
}

/// Whether this is a JSON object that no program wrote for Zarr. A damaged document is not.
#[must_use]
pub fn is_of_another_program(document: &[u8]) -> bool {
    serde_json::from_slice::<Value>(document).is_ok_and(|json| {
        !["zarr_format", "node_type"].iter().any(|member| json.get(member).is_some())
    })
}

fn of_array(array: &ArrayMetadata) -> Place {
    match array.chunk_key_encoding() {
        ChunkKeyEncoding::Unknown(_) => Place::Unknown,
        _ => Place::Array(ChunkKeys::of(array)),
    }
}

/// What a document says, as far as it can be read: a node that is damaged or not supported still owns
/// its chunks.
fn place_of(json: &[u8]) -> Place {
    match NodeMetadata::from_json(json) {
        Ok(NodeMetadata::Group(_)) => return Place::Group,
        Ok(NodeMetadata::Array(array)) => return of_array(&array),
        Err(_) => {}
    }
    let Ok(json) = serde_json::from_slice::<Value>(json) else {
        return Place::Array(ChunkKeys::any());
    };
    if json.get("node_type").and_then(Value::as_str) == Some("group") {
        return Place::Group;
    }
    let rank = json.get("shape").and_then(Value::as_array).map(Vec::len);
    match json.get("chunk_key_encoding") {
        None => Place::Array(ChunkKeys { rank, ..ChunkKeys::any() }),
        Some(encoding) => match ChunkKeyEncoding::from_json(encoding.to_string().as_bytes()) {
            Err(_) | Ok(ChunkKeyEncoding::Unknown(_)) => Place::Unknown,
            Ok(encoding) => Place::Array(ChunkKeys { encodings: vec![encoding], rank }),
        },
    }
}
