//! Stores by URL.

use std::path::PathBuf;
use std::sync::Arc;

use crate::addresses::archive_url::{ArchiveUrl, File, parse};
use crate::addresses::below::below;
use crate::addresses::open_remote::open_remote;
use crate::addresses::options::StoreOptions;
use crate::{Address, Key, MemoryStore, Prefix, Store, StoreError};

/// Opens the store at `url`, or in the folder `url` if it is no URL.
///
/// `file:///path` and plain paths are local stores, `memory:` a new empty store in memory. With
/// features: `s3://bucket/path` (`aws`), `gs://bucket/path` (`gcp`),
/// `az://container/path` (`azure`), `http://` and `https://` (`http`). Credentials come from the
/// environment as those services' own tools take them (`AWS_ACCESS_KEY_ID`,
/// `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME` and so on).
///
/// With [`StoreOptions::openers`], a path or URL may lead to or into a file that holds a store:
/// `data/x.zip/group`.
///
/// # Errors
/// [`StoreError::Url`] if the URL is invalid or this build has no client for it; otherwise those of
/// the store.
///
/// # Examples
/// ```
/// use zarr_store::{open_url, Key, StoreExt, StoreOptions};
///
/// let store = open_url("memory:", &StoreOptions::new())?;
/// store.put(&Key::new("zarr.json")?, b"{}")?;
/// assert!(open_url("gopher://host/data.zarr", &StoreOptions::new()).is_err());
/// # Ok::<(), zarr_store::StoreError>(())
/// ```
pub fn open_url(url: &str, options: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
    if let Some(archive) = parse(url, options.known_openers())
        && let Some(store) = in_file(archive, options)?
    {
        return Ok(store);
    }
    Ok(match Address::parse(url)? {
        Address::Folder(path) => Arc::new(options.open_folder(path)?),
        Address::Memory => Arc::new(MemoryStore::new()),
        Address::Remote => open_remote(url, options)?,
    })
}

/// The store in a file; `None` if there is no such file, but perhaps a prefix of that name.
fn in_file(
    archive: ArchiveUrl,
    options: &StoreOptions,
) -> Result<Option<Arc<dyn Store>>, StoreError> {
    let ArchiveUrl { opener, file, within } = archive;
    let within = Prefix::new(within)?;
    let store = match file {
        File::Local(path) => Some(opener.open_local(&path, options)?),
        File::Remote { parent, name } => {
            let (around, key) = (open_url(&parent, options)?, Key::new(name)?);
            opener.open_within(around, &parent, &key, options)?
        }
    };
    Ok(store.map(|store| below(store, within)))
}

/// The beginning of a path or URL up to the file that holds the store, of a kind that
/// [`StoreOptions::openers`] makes known, such as a zip archive. `None` if it leads into none, as far
/// as its text and the local folders show.
///
/// # Examples
/// ```
/// use zarr_store::{StoreOptions, archive_of};
///
/// assert_eq!(archive_of("data/x.zarr/group", &StoreOptions::new()), None);
/// ```
#[must_use]
pub fn archive_of<'u>(url: &'u str, options: &StoreOptions) -> Option<&'u str> {
    // The shortest beginning that leads to an archive.
    let ends = url.match_indices('/').map(|(at, _)| at).chain([url.len()]);
    let mut starts = ends.filter_map(|end| url.get(..end));
    starts.find(|start| parse(start, options.known_openers()).is_some())
}

/// The folder that [`open_url`] would open with these options; `None` if `url` is not a folder's.
///
/// # Examples
/// ```
/// use std::path::Path;
/// use zarr_store::{StoreOptions, local_path};
///
/// let path = |url: &str| local_path(url, &StoreOptions::new());
/// assert_eq!(path("data.zarr").as_deref(), Some(Path::new("data.zarr")));
/// assert_eq!(path("file:///my%20data").as_deref(), Some(Path::new("/my data")));
/// assert_eq!(path("s3://bucket/data.zarr"), None);
/// ```
#[must_use]
pub fn local_path(url: &str, options: &StoreOptions) -> Option<PathBuf> {
    match Address::parse(url) {
        Ok(Address::Folder(path)) => archive_of(url, options).is_none().then_some(path),
        Ok(Address::Memory | Address::Remote) | Err(_) => None,
    }
}
