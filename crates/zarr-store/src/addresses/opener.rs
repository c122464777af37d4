//! Kinds of stores in files, which other crates add.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::{Key, Store, StoreError, StoreOptions};

/// A kind of store in one file, such as a zip archive, or in a folder with a recognisable name. An
/// opener recognises paths and URLs of such stores and opens them.
///
/// [`StoreOptions::openers`] makes a kind known to [`open_url`](crate::open_url). The rest of a
/// path or URL after the file is a path in the store.
///
/// # Examples
/// Files of one object:
/// ```
/// use std::path::Path;
/// use std::sync::Arc;
/// use zarr_store::{
///     Key, MemoryStore, Opener, Store, StoreError, StoreExt, StoreOptions, open_url,
/// };
///
/// #[derive(Debug)]
/// struct Single;
///
/// fn store_of(bytes: &[u8]) -> Result<Arc<dyn Store>, StoreError> {
///     let store = MemoryStore::new();
///     store.put(&Key::new("a/zarr.json")?, bytes)?;
///     Ok(Arc::new(store))
/// }
///
/// impl Opener for Single {
///     fn recognises(&self, name: &str) -> bool {
///         name.ends_with(".single")
///     }
///
///     fn is_at(&self, path: &Path) -> bool {
///         path.is_file()
///     }
///
///     fn open_local(&self, path: &Path, _: &StoreOptions) -> Result<Arc<dyn Store>, StoreError> {
///         let read = std::fs::read(path);
///         let bytes = read.map_err(|cause| {
///             StoreError::io(zarr_store::Operation::Open, path.display(), cause)
///         })?;
///         store_of(&bytes)
///     }
///
///     fn open_within(
///         &self,
///         store: Arc<dyn Store>,
///         _: &str,
///         key: &Key,
///         _: &StoreOptions,
///     ) -> Result<Option<Arc<dyn Store>>, StoreError> {
///         store.read(key)?.map(|bytes| store_of(&bytes)).transpose()
///     }
/// }
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("x.single");
/// std::fs::write(&path, b"{}")?;
/// let options = StoreOptions::new().openers(&[&Single]);
/// let store = open_url(path.join("a").to_str().ok_or("UTF-8")?, &options)?;
/// assert_eq!(store.read(&Key::new("zarr.json")?)?.as_deref(), Some(&b"{}"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Opener: fmt::Debug + Send + Sync {
    /// Whether a file, object or folder may hold a store of this kind, by its name alone.
    fn recognises(&self, name: &str) -> bool;

    /// Whether a local path with a recognised name is a store of this kind, or may become one once
    /// it is created.
    fn is_at(&self, path: &Path) -> bool;

    /// The store in the file or folder at a local path.
    ///
    /// # Errors
    /// The store's errors.
    fn open_local(&self, path: &Path, options: &StoreOptions)
    -> Result<Arc<dyn Store>, StoreError>;

    /// The store in the object `key` of `store`, or below the prefix of that name; `url` is the URL of
    /// `store`. `None` if there is no such object: a prefix may have the name of a file.
    ///
    /// # Errors
    /// The errors of both stores.
    fn open_within(
        &self,
        store: Arc<dyn Store>,
        url: &str,
        key: &Key,
        options: &StoreOptions,
    ) -> Result<Option<Arc<dyn Store>>, StoreError>;
}
