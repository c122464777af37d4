//! The hierarchies around a path or URL.

use std::io;
use std::path::{Component, Path};

use crate::hierarchy::node::DOCUMENTS;
use crate::store::{
    Place, Prefix, StoreError, StoreOptions, archive_of, names_in, open_url, real_path,
};

/// A hierarchy around a path or URL, which has at least one node above it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HierarchyAround {
    /// The path or URL of the topmost node. It may have secrets.
    pub top: String,
    /// Where in the hierarchy the path or URL is.
    pub prefix: Prefix,
}

/// The hierarchies around the path or URL `place`, where no node needs to be. From the nearest node
/// around the place upwards, every folder of a hierarchy is a node.
///
/// The first is the one that the text names. A second one is around the same folder on disk if
/// symbolic links lead there. Folders and servers that deny access count as no nodes.
///
/// # Errors
/// Errors of the stores.
///
/// # Examples
/// ```
/// use zarr_array::store::{LocalStore, Prefix, StoreOptions};
/// use zarr_array::{Group, hierarchies_around};
/// use zarr_metadata::GroupMetadata;
///
/// let folder = tempfile::tempdir()?;
/// let store = std::sync::Arc::new(LocalStore::open(folder.path())?);
/// Group::create(store, &Prefix::root(), GroupMetadata::new())?;
/// let rain = folder.path().join("months").join("rain");
/// let found = hierarchies_around(rain.to_str().expect("UTF-8"), &StoreOptions::new())?;
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].prefix.as_str(), "months/rain");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn hierarchies_around(
    place: &str,
    options: &StoreOptions,
) -> Result<Vec<HierarchyAround>, StoreError> {
    let place = place.trim_end_matches('/');
    let parsed = Place::parse(place, options).ok();
    match parsed.as_ref().and_then(Place::folder) {
        Some(folder) => around_folder(folder),
        None => Ok(Vec::from_iter(around_url(place, options)?)),
    }
}

/// A walk from a place upwards.
#[derive(Default)]
struct Walk {
    /// The names from the place to where the walk is, the innermost first.
    names: Vec<String>,
    /// The topmost node that was found, and the number of names below it.
    top: Option<(String, usize)>,
}

impl Walk {
    /// Takes the next place above, and the name of the last place in it. Whether the walk goes on.
    fn goes_on(&mut self, above: &str, name: String, is_node: bool) -> bool {
        self.names.push(name);
        if is_node {
            self.top = Some((above.to_owned(), self.names.len()));
        }
        is_node || self.top.is_none()
    }

    fn end(mut self) -> Result<Option<HierarchyAround>, StoreError> {
        let Some((top, depth)) = self.top else { return Ok(None) };
        self.names.truncate(depth);
        self.names.reverse();
        Ok(Some(HierarchyAround { top, prefix: Prefix::new(self.names.join("/"))? }))
    }
}

fn around_folder(folder: &Path) -> Result<Vec<HierarchyAround>, StoreError> {
    let named = std::path::absolute(folder).ok().filter(|folder| {
        // The folder above `..` is not the one before it in the text.
        !folder.components().any(|part| part == Component::ParentDir)
    });
    let mut found: Vec<HierarchyAround> = Vec::new();
    for folder in named.into_iter().chain(real_path(folder)) {
        let mut walk = Walk::default();
        for (folder, parent) in folder.ancestors().zip(folder.ancestors().skip(1)) {
            let name = folder.file_name().and_then(|name| name.to_str());
            let (Some(name), Some(text)) = (name, parent.to_str()) else { break };
            let is_node = DOCUMENTS.iter().any(|name| parent.join(name).is_file());
            if !walk.goes_on(text, name.to_owned(), is_node) {
                break;
            }
        }
        let is_new = |around: &HierarchyAround| {
            let is_same = |one: &HierarchyAround| {
                one.prefix == around.prefix
                    && real_path(Path::new(&one.top)) == real_path(Path::new(&around.top))
            };
            !found.iter().any(is_same)
        };
        let around = walk.end()?.filter(is_new);
        found.extend(around);
    }
    Ok(found)
}

fn around_url(place: &str, options: &StoreOptions) -> Result<Option<HierarchyAround>, StoreError> {
    let archive = archive_of(place, options);
    let mut walk = Walk::default();
    let mut rest = place;
    while let Some((parent, name)) = rest.rsplit_once('/') {
        // Only the server or bucket is left.
        if name.is_empty() || name.contains(['?', '#']) || parent.ends_with('/') {
            break;
        }
        // Groups around an archive are not around the nodes in it.
        if archive == Some(rest) {
            break;
        }
        let is_node = match has_document(parent, options) {
            // An archive that is to be made.
            Err(StoreError::Io { cause, .. })
                if archive.is_some() && cause.kind() == io::ErrorKind::NotFound =>
            {
                return Ok(None);
            }
            // The server refuses the request for good. Many do so for places outside of those that
            // a user may read.
            Err(error) if error.cannot_list() => false,
            found => found?,
        };
        if !walk.goes_on(parent, names_in(place, name)?, is_node) {
            break;
        }
        rest = parent;
    }
    walk.end()
}

fn has_document(place: &str, options: &StoreOptions) -> Result<bool, StoreError> {
    let store = open_url(place, options)?;
    for name in DOCUMENTS {
        if store.head(&Prefix::root().key(name)?)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
