//! Opens stores by path or URL, virtual joins among them.

use std::sync::Arc;

use zarr_array::Hierarchy;
use zarr_array::store::{Prefix, StoreExt as _, open_url, shown_url};

use crate::document::Document;
use crate::document_folder::{DocumentFolder, Opener};
use crate::document_url::DocumentUrl;
use crate::error::VirtualJoinError;
use crate::options::OpenOptions;
use crate::store::JoinStore;

/// The most levels of nested documents: a member may be an array of another virtual join.
const DEPTH: usize = 8;

/// Opens the store at a path or URL: as [`open_url`] does, and also virtual joins (names that end
/// in `.zjoin`). The rest of the path after such a name is a path in the joined hierarchy.
///
/// Members are not read. The store has the joined arrays and groups; it can be read and listed, but
/// not written. The hierarchy has the members of the joined arrays beside it.
///
/// # Errors
/// [`VirtualJoinError`] if there is no store or document, or the document is not valid.
pub fn open_store(url: &str, options: &OpenOptions) -> Result<Hierarchy, VirtualJoinError> {
    open_at(url, options, 0)
}

/// Opens the store that a document at this nesting depth names.
fn open_at(url: &str, options: &OpenOptions, depth: usize) -> Result<Hierarchy, VirtualJoinError> {
    let Some(place) = DocumentUrl::of(url) else {
        return Ok(open_url(url, &options.store)?.into());
    };
    let shown = shown_url(&place.url);
    if depth > DEPTH {
        return Err(VirtualJoinError::Depth { place: shown, limit: DEPTH });
    }
    let store = open_url(&place.parent, &options.store)?;
    let Some(bytes) = store.read(&place.key()?)? else {
        zarr_array::store::reached!("virtual join: no document");
        return Err(VirtualJoinError::NotFound { place: shown });
    };
    let document = Document::from_json(&shown, &bytes)?;
    let base =
        DocumentFolder::new(place.parent, store, options.clone(), Opener { open: open_at, depth });
    let inner = Prefix::new(place.inner).map_err(zarr_array::store::StoreError::from)?;
    let store = Arc::new(JoinStore::new(shown, document, Arc::new(base), &inner)?);
    Ok(Hierarchy::joined(store.clone(), store))
}
