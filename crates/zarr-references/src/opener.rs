//! How paths and URLs that lead into files of references are opened.

use std::path::Path;
use std::sync::Arc;

use zarr_store::{Key, Opener, Prefix, Store, StoreError, StoreOptions};

use super::form::{DOCUMENT, form_of, is_table};
use super::store::ReferenceStore;

/// Opens references by path or URL: files with names that end in `.json`, and folders with names
/// that end in `.parq` or `.parquet` and with a document `.zmetadata`.
///
/// The document of a node, `zarr.json`, is none, since completion in a shell leads to it.
///
/// # Examples
/// ```
/// use zarr_references::ReferenceOpener;
/// use zarr_store::{StoreOptions, archive_of};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("refs.json"), "{}")?;
/// let options = StoreOptions::new().openers(&[&ReferenceOpener]);
/// let group = format!("{}/refs.json/group", folder.path().display());
/// assert!(archive_of(&group, &options).is_some_and(|file| file.ends_with("refs.json")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ReferenceOpener;

impl Opener for ReferenceOpener {
    fn recognises(&self, name: &str) -> bool {
        form_of(name).is_some()
    }

    fn is_at(&self, path: &Path) -> bool {
        let is_table = path.file_name().and_then(|name| name.to_str()).is_some_and(is_table);
        if is_table { path.join(DOCUMENT).is_file() } else { path.is_file() }
    }

    fn open_local(
        &self,
        path: &Path,
        options: &StoreOptions,
    ) -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(ReferenceStore::open(path, options)?))
    }

    fn open_within(
        &self,
        store: Arc<dyn Store>,
        url: &str,
        key: &Key,
        options: &StoreOptions,
    ) -> Result<Option<Arc<dyn Store>>, StoreError> {
        let document = match is_table(key.name()) {
            true => Prefix::from(key.clone()).key(DOCUMENT)?,
            false => key.clone(),
        };
        match store.head(&document)? {
            None => Ok(None),
            Some(_) => Ok(Some(Arc::new(ReferenceStore::within(store, url, key, options)?))),
        }
    }
}
