//! References to the objects of a store, for other programs.

use std::collections::{BTreeMap, HashMap};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use zarr_metadata::{ArrayMetadata, ChunkKeyEncoding, NodeMetadata};
use zarr_store::{Key, Links, ObjectMeta, Operation, Prefix, Store, StoreError, StoreExt as _};

use super::json::Json;

/// Objects of at most this many bytes are written into the references where no other place of them can be
/// named.
const MOST_INLINE: u64 = 4096;

/// References to the objects of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exported {
    /// A reference file of version 1, as kerchunk writes it.
    pub json: String,
    /// How many of the objects are chunks.
    pub chunks: u64,
}

/// The references to the objects of a store below `prefix`, such as the chunks of a virtual join's members,
/// in a form that fsspec reads. Local files are named by absolute paths. Chunks of version 3 get keys of the
/// default encoding, and the documents say so: VirtualiZarr and Icechunk take no others.
///
/// The references are of one state of the objects: these are looked at again at the end.
///
/// # Errors
/// [`StoreError`] with the key of the first array with chunks of several lengths, of the first
/// document that is not JSON, or of the first object that other programs cannot read in place: in a
/// zip archive, in memory, or encoded in another way than the joined array; or with the key of an
/// object that changed meanwhile.
///
/// # Examples
/// ```
/// use zarr_references::export;
/// use zarr_store::{Key, LocalStore, Prefix, StoreExt};
///
/// let folder = tempfile::tempdir()?;
/// let store = LocalStore::open(&folder)?;
/// let document = r#"{"chunk_grid": {"name": "regular"}}"#;
/// store.put(&Key::new("rain/zarr.json")?, document.as_bytes())?;
/// store.put(&Key::new("rain/c/0")?, b"chunk")?;
///
/// let exported = export(&store, &Prefix::root())?;
/// assert_eq!(exported.chunks, 1);
/// assert!(exported.json.contains("rain/c/0\",0,5]"), "{}", exported.json);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn export(store: &dyn Store, prefix: &Prefix) -> Result<Exported, StoreError> {
    let before = described(store, prefix)?;
    let mut refs = references(store, prefix)?;
    // As a copy, references are of one state.
    let changed = match before {
        Some(before) => first_difference(&before, &described(store, prefix)?.unwrap_or_default()),
        None => first_difference(&refs, &references(store, prefix)?),
    };
    if let Some(key) = changed {
        return Err(has_changed(&key));
    }
    let chunks = refs.keys().filter(|key| !key.is_document()).count() as u64;
    let arrays = with_default_keys(&mut refs)?;
    let mut named = Map::new();
    for (key, reference) in refs {
        if let Some(name) = prefix.strip(&key) {
            named.insert(name_of(name, &key, &arrays)?, reference);
        }
    }
    Ok(Exported { json: json!({"version": 1, "refs": named}).to_string(), chunks })
}

/// Makes the documents say the default chunk key encoding. Returns the arrays that had another one.
fn with_default_keys(
    refs: &mut BTreeMap<Key, Value>,
) -> Result<HashMap<Prefix, ArrayMetadata>, StoreError> {
    let mut arrays = HashMap::new();
    for (key, reference) in refs.iter_mut().filter(|(key, _)| key.is_document()) {
        let Value::String(text) = reference else { continue };
        if let Ok(NodeMetadata::Array(array)) = NodeMetadata::from_json(text.as_bytes())
            && *array.chunk_key_encoding() != ChunkKeyEncoding::default()
        {
            let changed = array.with_chunk_key_encoding(&ChunkKeyEncoding::default());
            *text = changed.map_err(|error| refused(key, &error.to_string()))?.json().to_owned();
            arrays.insert(key.parent(), array);
        }
    }
    Ok(arrays)
}

/// The objects as a listing describes them; `None` if the store does not.
fn described(
    store: &dyn Store,
    prefix: &Prefix,
) -> Result<Option<BTreeMap<Key, ObjectMeta>>, StoreError> {
    store.list_described(prefix).map(Iterator::collect).transpose()
}

/// The reference to each object.
fn references(store: &dyn Store, prefix: &Prefix) -> Result<BTreeMap<Key, Value>, StoreError> {
    let mut refs = BTreeMap::new();
    for key in store.list(prefix, Links::Follow) {
        let key = key?;
        // Documents are written into the references.
        let reference = match key.is_document() {
            true => {
                store.check_absent_chunks(&key.parent())?;
                document(store, &key)?
            }
            false => chunk(store, &key)?,
        };
        refs.insert(key, reference);
    }
    Ok(refs)
}

/// The first key that is in one map only, or has another value.
fn first_difference<T: PartialEq>(a: &BTreeMap<Key, T>, b: &BTreeMap<Key, T>) -> Option<Key> {
    let mut keys = a.keys().chain(b.keys());
    keys.find(|&key| a.get(key) != b.get(key)).cloned()
}

#[derive(Deserialize)]
struct Document {
    chunk_grid: Option<Value>,
}

/// The name of an object; of a chunk of these arrays, by the default encoding.
fn name_of(
    name: &str,
    key: &Key,
    arrays: &HashMap<Prefix, ArrayMetadata>,
) -> Result<String, StoreError> {
    if key.is_document() {
        return Ok(name.to_owned());
    }
    let array = key.parent().ancestors().find_map(|folder| {
        let array = arrays.get(&folder)?;
        Some((folder.strip(key)?.len(), array))
    });
    let Some((length, array)) = array else { return Ok(name.to_owned()) };
    let (folder, within) = name.split_at(name.len().saturating_sub(length));
    let index = array.chunk_key_encoding().decode(within, array.shape().len());
    let index = index.ok_or_else(|| {
        refused(key, "it is no chunk of the array around it, which other programs could not tell")
    })?;
    Ok(format!("{folder}{}", ChunkKeyEncoding::default().encode(&index)))
}

/// A document as text.
fn document(store: &dyn Store, key: &Key) -> Result<Value, StoreError> {
    let bytes = store.read(key)?.ok_or_else(|| has_changed(key))?;
    let text = String::from_utf8(bytes).map_err(|_| refused(key, "it is not UTF-8"))?;
    let json = Json::new(text.as_bytes());
    let document: Document =
        json.read().map_err(|error| refused(key, &format!("it is not JSON: {error}")))?;
    let grid = document.chunk_grid.as_ref();
    match grid.map(|grid| grid.get("name").unwrap_or(grid)) {
        None => Ok(Value::String(text)),
        Some(name) if name == "regular" => Ok(Value::String(text)),
        Some(_) => Err(refused(
            key,
            "its chunks have several lengths, and programs that read references expect one, as a copy \
             or a join into chunks of one length has",
        )),
    }
}

/// A reference to a chunk: `[url, offset, length]`, or its bytes.
fn chunk(store: &dyn Store, key: &Key) -> Result<Value, StoreError> {
    if let Some(source) = store.source(key)? {
        return Ok(json!([source.url, source.offset, source.length]));
    }
    match store.head(key)? {
        Some(meta) if meta.size <= MOST_INLINE => {
            let bytes = store.read(key)?.ok_or_else(|| has_changed(key))?;
            Ok(Value::String(format!("base64:{}", STANDARD.encode(bytes))))
        }
        None => Err(has_changed(key)),
        Some(_) => Err(refused(
            key,
            "other programs cannot read it where it is: in an archive, in memory, or by a URL with \
             secrets",
        )),
    }
}

fn has_changed(key: &Key) -> StoreError {
    refused(key, "it changed while the references were made; export again when nobody changes it")
}

fn refused(key: &Key, reason: &str) -> StoreError {
    StoreError::container(Operation::Get, key, reason)
}
