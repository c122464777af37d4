//! Stores by URL.

use std::path::PathBuf;
use std::sync::Arc;

use super::open_remote::open_remote;
use super::options::StoreOptions;
use super::scheme::{Kind, kind_of};
use super::{MemoryStore, Store, StoreError, shown_url};

/// Opens the store at `url`, or in the folder `url` if it is no URL.
///
/// `file:///path` and plain paths are local stores, `memory:` a new empty store in memory. With
/// features: `s3://bucket/path` (`aws`), `gs://bucket/path` (`gcp`),
/// `az://container/path` (`azure`), `http://` and `https://` (`http`). Credentials come from the
/// environment as those services' own tools take them (`AWS_ACCESS_KEY_ID`,
/// `GOOGLE_SERVICE_ACCOUNT`, `AZURE_STORAGE_ACCOUNT_NAME` and so on).
///
/// With the feature `zip`, a path or URL may lead to or into a zip archive: `data/x.zip/group`. A
/// local one can be written, best in a [session](Store::session). With the
/// feature `references`, it may lead to or into a file of references: `refs.json/group`; with the
/// feature `parquet`, also a folder of tables of references: `refs.parq/group`.
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
    let refuse = |reason: String| StoreError::Url { url: shown_url(url), reason };
    #[cfg(any(feature = "references", feature = "zip"))]
    if let Some(archive) = crate::archive_url::parse(url)
        && let Some(store) = in_file(archive, options)?
    {
        return Ok(store);
    }
    Ok(match kind_of(url).map_err(refuse)? {
        Kind::Folder(path) => Arc::new(options.local(&path)?),
        Kind::Memory => Arc::new(MemoryStore::new()),
        Kind::Remote => open_remote(url, options)?,
    })
}

/// The store in a file; `None` if there is no such file, but perhaps a prefix of that name.
#[cfg(any(feature = "references", feature = "zip"))]
fn in_file(
    archive: crate::archive_url::ArchiveUrl,
    options: &StoreOptions,
) -> Result<Option<Arc<dyn Store>>, StoreError> {
    use crate::archive_url::{ArchiveUrl, File, Format};
    use crate::below::below;
    use crate::{Key, Prefix};
    let ArchiveUrl { format, file, within } = archive;
    let within = Prefix::new(within)?;
    let parent = match &file {
        File::Local(_) => None,
        File::Remote { parent, name } => {
            let (store, key) = (open_url(parent, options)?, Key::new(name)?);
            let object = match format {
                Format::Zip | Format::References => key.clone(),
                Format::Table => Prefix::new(name)?.key(".zmetadata")?,
            };
            if store.head(&object)?.is_none() {
                return Ok(None);
            }
            Some((store, key))
        }
    };
    Ok(match (format, file, parent) {
        #[cfg(feature = "zip")]
        (Format::Zip, File::Local(path), _) => Some(below(options.zip(&path)?, within)),
        #[cfg(feature = "zip")]
        (Format::Zip, _, Some((store, key))) => {
            Some(below(options.of_zip(crate::ZipStore::within(store, key)?), within))
        }
        #[cfg(feature = "references")]
        (Format::References | Format::Table, File::Local(path), _) => {
            Some(below(crate::ReferenceStore::open(path, options)?, within))
        }
        #[cfg(feature = "references")]
        (Format::References | Format::Table, File::Remote { parent, .. }, Some((store, key))) => {
            let store = crate::ReferenceStore::within(store, &parent, &key, options)?;
            Some(below(store, within))
        }
        _ => None,
    })
}

/// The beginning of a path or URL up to the file that holds the store: a zip archive (feature `zip`)
/// or a file of references (feature `references`). `None` if it leads into none, as far as its text
/// and the local folders show.
///
/// # Examples
/// ```
/// use zarr_store::archive_of;
///
/// # #[cfg(feature = "zip")]
/// assert_eq!(archive_of("data/x.zip/group/array"), Some("data/x.zip"));
/// assert_eq!(archive_of("data/x.zarr/group"), None);
/// ```
#[must_use]
pub fn archive_of(url: &str) -> Option<&str> {
    // The shortest beginning that leads to an archive.
    let ends = url.match_indices('/').map(|(at, _)| at).chain([url.len()]);
    ends.filter_map(|end| url.get(..end)).find(|start| leads_to_archive(start))
}

#[cfg(any(feature = "references", feature = "zip"))]
fn leads_to_archive(url: &str) -> bool {
    crate::archive_url::parse(url).is_some()
}

#[cfg(not(any(feature = "references", feature = "zip")))]
fn leads_to_archive(_: &str) -> bool {
    false
}

/// The folder that [`open_url`] would open; `None` if `url` is not a local store.
///
/// # Examples
/// ```
/// use std::path::Path;
/// use zarr_store::local_path;
///
/// assert_eq!(local_path("data.zarr").as_deref(), Some(Path::new("data.zarr")));
/// assert_eq!(local_path("file:///my%20data").as_deref(), Some(Path::new("/my data")));
/// assert_eq!(local_path("s3://bucket/data.zarr"), None);
/// ```
#[must_use]
pub fn local_path(url: &str) -> Option<PathBuf> {
    match kind_of(url) {
        Ok(Kind::Folder(path)) => archive_of(url).is_none().then_some(path),
        Ok(Kind::Memory | Kind::Remote) | Err(_) => None,
    }
}
