//! Opens stores by path or URL, virtual joins among them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use zarr_array::Hierarchy;
use zarr_array::store::{Prefix, StoreExt as _, StoreOptions, open_url, shown_url};

use crate::document::{Document, MemberReference, Node};
use crate::document_folder::{DocumentFolder, Opener, address_of};
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
    let (store, key) = (open_url(&place.parent, &options.store)?, place.key()?);
    let Some(bytes) = store.read(&key)? else {
        zarr_array::store::reached!("virtual join: no document");
        return Err(VirtualJoinError::NotFound { place: shown });
    };
    let document = Document::from_json(&shown, &bytes)?;
    let base =
        DocumentFolder::new(place.parent, store, options.clone(), Opener { open: open_at, depth });
    let inner = Prefix::new(place.inner).map_err(zarr_array::store::StoreError::from)?;
    let store = Arc::new(JoinStore::new(shown, document, Arc::new(base), key, &inner)?);
    Ok(Hierarchy::joined(store.clone(), store))
}

/// Refuses a new document in the folder or at the URL `parent` if its members are nested more deeply
/// than [`open_store`] follows them.
pub(crate) fn check_depth(
    document: &Document,
    parent: &str,
    options: &StoreOptions,
) -> Result<(), VirtualJoinError> {
    let mut nested = Nested { known: HashMap::new() };
    // The user named these members.
    let named = |_: &str| Some(options.clone());
    nested.levels(document.members(), parent, DEPTH, &named).map(drop)
}

/// Virtual joins that are members of another.
struct Nested {
    /// The levels of documents below each array, by its path or URL.
    known: HashMap<String, usize>,
}

impl Nested {
    /// The levels of documents below these members of a document in `parent`: at most `allowed`.
    /// `options` gives those for the store at a URL, which may have none.
    fn levels<'m>(
        &mut self,
        members: impl Iterator<Item = &'m MemberReference>,
        parent: &str,
        allowed: usize,
        options: &dyn Fn(&str) -> Option<StoreOptions>,
    ) -> Result<usize, VirtualJoinError> {
        let arrays: BTreeSet<_> =
            members.map(|member| (&member.location, member.path.as_str())).collect();
        let mut most = 0;
        for (location, path) in arrays {
            let url = address_of(parent, location);
            let Some(place) = url.as_deref().and_then(DocumentUrl::of) else { continue };
            let Some(within) = allowed.checked_sub(1) else {
                return Err(VirtualJoinError::Depth { place: shown_url(&place.url), limit: DEPTH });
            };
            let array = [place.url.as_str(), &place.inner, path].join("\0");
            let below = match self.known.get(&array) {
                // Too many levels: the way down is walked again, for the place in the message.
                Some(below) if *below <= within => *below,
                _ => self.levels_of(&place, path, within, options(&place.url))?,
            };
            self.known.insert(array, below);
            most = most.max(below + 1);
        }
        Ok(most)
    }

    /// The levels of documents below an array of a document.
    fn levels_of(
        &mut self,
        place: &DocumentUrl,
        path: &str,
        allowed: usize,
        options: Option<StoreOptions>,
    ) -> Result<usize, VirtualJoinError> {
        let Some(options) = options else { return Ok(0) };
        let found = || {
            let bytes = open_url(&place.parent, &options).ok()?.read(&place.key().ok()?).ok()?;
            let document = Document::from_json(&place.url, &bytes?).ok()?;
            let array = Prefix::new(&place.inner).ok()?;
            let array = if path.is_empty() { array } else { array.join(path).ok()? };
            Some((document, array))
        };
        // One that cannot be read now may be readable with other options, as the member was.
        let Some((document, array)) = found() else { return Ok(0) };
        match document.nodes.get(array.as_str()) {
            Some(Node::Array(array)) => {
                // A document named these, not the user.
                let named = |url: &str| options.following(&place.parent, url).ok();
                self.levels(array.members.iter().flatten(), &place.parent, allowed, &named)
            }
            _ => Ok(0),
        }
    }
}
