//! An opened place.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarr_array::node::DOCUMENTS;
use zarr_array::store::{Place, PlaceKind, Prefix, Service, StoreError, place_below, place_beside};
use zarr_array::{Array, Changes, Group, Hierarchy, UnlistedStore, open_node};
use zarr_metadata::NodeMetadata;

use crate::{PlaceError, PlaceOptions};

/// Opens what is at a path or URL: the store of a folder, of a path in a bucket, of a server, of a
/// zip archive, of a file of references or of a virtual join, or of a node in one of these.
///
/// As [`Opened::open`] with the default options.
///
/// # Errors
/// As [`Opened::open`].
///
/// # Examples
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::Array;
/// # use zarr_array::store::{LocalStore, Prefix};
/// # use zarr_metadata::{ArrayBuilder, DataType};
/// # let folder = tempfile::tempdir()?;
/// # let path = format!("{}/rain", folder.path().display());
/// # let store = Arc::new(LocalStore::create(&path)?);
/// # Array::create(store, &Prefix::root(), ArrayBuilder::new([31], DataType::Int8).build()?)?;
/// let rain = zarr_place::open(&path)?.array()?;
/// assert_eq!(rain.shape(), [31]);
/// // Completion in a shell leads to a trailing `zarr.json`.
/// assert_eq!(zarr_place::open(&format!("{path}/zarr.json"))?.array()?.shape(), [31]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn open(address: &str) -> Result<Opened, PlaceError> {
    Opened::open(address, &PlaceOptions::new())
}

/// The store at a path or URL, with the node there as its root.
///
/// Its text, also by `{}` and `{:?}`, has no secrets.
pub struct Opened {
    /// As it was given, with all that may be secret.
    address: String,
    place: Place,
    hierarchy: Hierarchy,
    is_virtual_join: bool,
    /// Folders that were made for it, the innermost first.
    made: Vec<PathBuf>,
    options: PlaceOptions,
}

impl Opened {
    /// Opens the store at a path or URL. A slash at the end, and the name of a node's document after
    /// it, are ignored. The node in it is not read.
    ///
    /// Nodes on servers of HTTP that do not list come from the consolidated metadata.
    ///
    /// # Errors
    /// [`PlaceError`] if there is no store.
    pub fn open(address: &str, options: &PlaceOptions) -> Result<Self, PlaceError> {
        Self::of(address, options.clone(), false)
    }

    /// As [`open`](Self::open); creates the folder or archive if there is none.
    ///
    /// # Errors
    /// [`PlaceError`] if it cannot be created.
    pub fn create(address: &str, options: &PlaceOptions) -> Result<Self, PlaceError> {
        Self::of(address, options.clone(), true)
    }

    fn of(address: &str, options: PlaceOptions, create: bool) -> Result<Self, PlaceError> {
        let address = node_at(address);
        let place = Place::parse(address, &options.store)?;
        let is_virtual_join = is_virtual_join(address);
        let made = if is_virtual_join { Vec::new() } else { place.missing_folders() };
        let hierarchy = match is_virtual_join {
            true => joined(address, &options)?,
            false => {
                let opened = match create {
                    true => place.open(&options.store.clone().create(true)),
                    false => place.open(&options.store),
                };
                opened.map_err(|cause| not_opened(&place, cause))?.into()
            }
        };
        let hierarchy = match Service::of(address) {
            // Most servers do not list.
            Some(Service::Http) => {
                let store = UnlistedStore::new(Arc::clone(&hierarchy), options.tells_unlisted());
                hierarchy.with_store(Arc::new(store))
            }
            _ => hierarchy,
        };
        let address = address.to_owned();
        Ok(Self { address, place, hierarchy, is_virtual_join, made, options })
    }

    /// The path or URL of the node. It may have secrets.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The store, and the members of its joined arrays. Its root is the node.
    #[must_use]
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// The folder, if the store is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.place.folder().filter(|_| !self.is_virtual_join)
    }

    /// Whether it is a virtual join, or something in one.
    #[must_use]
    pub fn is_virtual_join(&self) -> bool {
        self.is_virtual_join
    }

    /// Whether it is a file that holds a store, such as an archive, or something in one.
    #[must_use]
    pub fn is_in_file(&self) -> bool {
        self.place.is_in_file()
    }

    /// Whether the size of an object is known without a request to a server.
    #[must_use]
    pub fn is_quick(&self) -> bool {
        *self.place.kind() != PlaceKind::Remote && !self.is_virtual_join
    }

    /// The name of the node in its group.
    #[must_use]
    pub fn name(&self) -> &str {
        self.address.trim_end_matches('/').rsplit('/').next().unwrap_or(&self.address)
    }

    /// The path or URL of a node below this one. It may have secrets.
    #[must_use]
    pub fn below(&self, path: &str) -> String {
        place_below(&self.address, path)
    }

    /// The path or URL of the node with this name in the same group. `None` if no node can have the
    /// name, or if nothing is known to be around this one.
    #[must_use]
    pub fn beside(&self, name: &str) -> Option<String> {
        let beside = place_beside(&self.address, name)?;
        if let (Some(folder), "" | "." | "..") = (self.folder(), self.name()) {
            let folder = dunce::canonicalize(folder).ok()?;
            return folder.parent()?.join(name).to_str().map(str::to_owned);
        }
        Some(beside)
    }

    /// The array with this name in the same group, if there is one.
    #[must_use]
    pub fn neighbour(&self, name: &str) -> Option<Array> {
        Self::open(&self.beside(name)?, &self.options).ok()?.array().ok()
    }

    /// The metadata of the node.
    ///
    /// # Errors
    /// As [`open_node`].
    pub fn node(&self) -> Result<NodeMetadata, PlaceError> {
        Ok(open_node(&self.hierarchy, &Prefix::root())?)
    }

    /// The array.
    ///
    /// # Errors
    /// As [`Array::open`].
    pub fn array(&self) -> Result<Array, PlaceError> {
        Ok(Array::open(&self.hierarchy, &Prefix::root())?)
    }

    /// The group.
    ///
    /// # Errors
    /// As [`Group::open`].
    pub fn group(&self) -> Result<Group, PlaceError> {
        Ok(Group::open(&self.hierarchy, &Prefix::root())?)
    }

    /// Begins changes that take effect together, if the store has sessions.
    ///
    /// # Errors
    /// As [`Changes::begin`].
    pub fn change(&self) -> Result<Changes, StoreError> {
        Changes::begin(&self.hierarchy)
    }

    /// Removes the folders that were made for it, if they are empty.
    pub fn abandon(&self) {
        // A folder into which somebody else has put something stays, and so do those around it.
        let _stays = self.made.iter().try_for_each(fs::remove_dir);
    }
}

impl fmt::Display for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.fmt(f)
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Opened").field(&self.place).finish()
    }
}

/// The error of the store at a place.
fn not_opened(place: &Place, cause: StoreError) -> PlaceError {
    match (cause, place.folder()) {
        (StoreError::Io { cause, .. }, folder)
            if cause.kind() == io::ErrorKind::NotFound
                && (folder.is_some() || place.is_in_file()) =>
        {
            PlaceError::NotFound { place: place.to_string() }
        }
        (StoreError::Io { cause, .. }, Some(folder)) => {
            PlaceError::Folder { folder: folder.to_owned(), cause }
        }
        (cause, _) => PlaceError::Store(cause),
    }
}

/// The path or URL of a node, without a slash or the name of a document at the end.
fn node_at(address: &str) -> &str {
    let trimmed = address.trim_end_matches('/');
    let address = if trimmed.is_empty() { address } else { trimmed };
    let document = address.rsplit_once('/').filter(|(_, name)| DOCUMENTS.contains(name));
    match document {
        None if DOCUMENTS.contains(&address) => ".",
        Some(("", _)) => "/",
        Some((node, _)) => node,
        None => address,
    }
}

#[cfg(feature = "virtual-join")]
use zarr_virtual_join::is_virtual_join;

#[cfg(feature = "virtual-join")]
fn joined(address: &str, options: &PlaceOptions) -> Result<Hierarchy, PlaceError> {
    Ok(zarr_virtual_join::open_store(address, &options.of_joins())?)
}

#[cfg(not(feature = "virtual-join"))]
fn is_virtual_join(_: &str) -> bool {
    false
}

#[cfg(not(feature = "virtual-join"))]
fn joined(address: &str, options: &PlaceOptions) -> Result<Hierarchy, PlaceError> {
    Ok(Place::parse(address, &options.store)?.open(&options.store)?.into())
}

#[cfg(test)]
mod tests {
    use super::node_at;

    #[test]
    fn the_name_of_a_document_is_not_a_part_of_the_node() {
        for (address, node) in [
            ("a.zarr", "a.zarr"),
            ("a.zarr//", "a.zarr"),
            ("a.zarr/zarr.json", "a.zarr"),
            ("a.zarr/.zarray/", "a.zarr"),
            ("s3://b/a/zarr.json", "s3://b/a"),
            ("zarr.json", "."),
            ("/zarr.json", "/"),
            ("/", "/"),
            ("", ""),
        ] {
            assert_eq!(node_at(address), node, "{address}");
        }
    }
}
