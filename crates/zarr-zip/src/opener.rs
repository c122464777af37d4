//! How paths and URLs that lead into archives are opened.

use std::path::Path;
use std::sync::Arc;

use zarr_store::{Durability, Key, Opener, Store, StoreError, StoreOptions};

use super::ZipStore;
use super::ozx::is_ozx;

/// Opens zip archives by path or URL: files and objects with names that end in `.zip`, or in `.ozx`, which
/// is an OME-Zarr hierarchy in one file (RFC 9 of OME-NGFF). Written ones have the documents first.
///
/// A local archive can be written, best in a [session](Store::session).
/// [`StoreOptions::create`] allows a new archive.
///
/// # Examples
/// ```
/// use zarr_store::{Key, StoreExt, StoreOptions, archive_of, open_url};
/// use zarr_zip::ZipOpener;
///
/// let folder = tempfile::tempdir()?;
/// let place = format!("{}/x.zip/group", folder.path().display());
/// let options = StoreOptions::new().openers(&[&ZipOpener]).create(true);
/// open_url(&place, &options)?.put(&Key::new("zarr.json")?, b"{}")?;
/// assert!(folder.path().join("x.zip").is_file());
/// assert!(archive_of(&place, &options).is_some_and(|archive| archive.ends_with("/x.zip")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ZipOpener;

fn with_options(store: ZipStore, options: &StoreOptions) -> Arc<dyn Store> {
    let store = store.with_durability(options.write_durability());
    Arc::new(store.with_document_limit(options.document_limit()))
}

impl Opener for ZipOpener {
    fn recognises(&self, name: &str) -> bool {
        let name = Path::new(name);
        is_ozx(name) || name.extension().is_some_and(|end| end.eq_ignore_ascii_case("zip"))
    }

    /// Anything but a folder: it may be an archive that will be created.
    fn is_at(&self, path: &Path) -> bool {
        !path.is_dir()
    }

    fn open_local(
        &self,
        path: &Path,
        options: &StoreOptions,
    ) -> Result<Arc<dyn Store>, StoreError> {
        // The folder must exist, and an archive is flushed as a whole.
        let of_folder = options.clone().create(false).durability(Durability::default());
        let open = |folder: &Path| of_folder.open_folder(folder);
        Ok(with_options(ZipStore::opened(path, options.creates(), open)?, options))
    }

    fn open_within(
        &self,
        store: Arc<dyn Store>,
        _: &str,
        key: &Key,
        options: &StoreOptions,
    ) -> Result<Option<Arc<dyn Store>>, StoreError> {
        match store.head(key)? {
            None => Ok(None),
            Some(_) => Ok(Some(with_options(ZipStore::within(store, key.clone())?, options))),
        }
    }
}
