//! References to the objects of a store, for other programs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use zarr_store::{Key, Links, Operation, Prefix, Store, StoreError, StoreExt as _};

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
/// in a form that fsspec reads. Local files are named by absolute paths.
///
/// # Errors
/// [`StoreError`] with the key of the first array with chunks of several lengths, of the first
/// document that is not JSON, or of the first object that other programs cannot read in place: in a
/// zip archive, in memory, or encoded in another way than the joined array.
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
    let mut refs = Map::new();
    let mut chunks: u64 = 0;
    for key in store.list(prefix, Links::Follow) {
        let key = key?;
        let Some(name) = prefix.strip(&key) else { continue };
        // Documents are written into the references.
        let reference = match key.is_document() {
            true => {
                if let Some(linking) = store.linking() {
                    linking.check_absent_chunks(&key.parent())?;
                }
                document(store, &key)?
            }
            false => {
                chunks += 1;
                chunk(store, &key)?
            }
        };
        let _new = refs.insert(name.to_owned(), reference);
    }
    Ok(Exported { json: json!({"version": 1, "refs": refs}).to_string(), chunks })
}

#[derive(Deserialize)]
struct Document {
    chunk_grid: Option<Value>,
}

/// A document as text.
fn document(store: &dyn Store, key: &Key) -> Result<Value, StoreError> {
    let bytes = store.read(key)?.unwrap_or_default();
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
            "its chunks have several lengths, and programs that read references expect one; `zarr-kit \
             copy` and `join` with --chunks make a store of chunks of one length",
        )),
    }
}

/// A reference to a chunk: `[url, offset, length]`, or its bytes.
fn chunk(store: &dyn Store, key: &Key) -> Result<Value, StoreError> {
    let source = store.linking().map_or(Ok(None), |linking| linking.source(key))?;
    if let Some(source) = source {
        return Ok(json!([source.url, source.offset, source.length]));
    }
    match store.head(key)? {
        Some(meta) if meta.size <= MOST_INLINE => {
            let bytes = store.read(key)?.unwrap_or_default();
            Ok(Value::String(format!("base64:{}", STANDARD.encode(bytes))))
        }
        _ => Err(refused(
            key,
            "other programs cannot read it where it is: in an archive, in memory, or by a URL with \
             secrets",
        )),
    }
}

fn refused(key: &Key, reason: &str) -> StoreError {
    StoreError::container(Operation::Get, key, reason)
}
