//! Where references lead, and where they may.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use zarr_store::{
    DocumentLimit, Key, LocalStore, Location, ObjectMeta, Operation, Place, PlaceKind, Remedy,
    Service, Store, StoreError, StoreOptions, has_bucket_in_path, names_in, open_url, place_below,
    shown_url,
};

/// Opens the objects to which references lead.
#[derive(Debug)]
pub(super) struct Targets {
    /// The folder of the reference file, which relative references start from.
    home: Home,
    options: StoreOptions,
    /// The stores of other places, by URL.
    others: Mutex<HashMap<String, Arc<dyn Store>>>,
    targets: RwLock<Known>,
}

/// The paths and URLs to which references lead, each once.
#[derive(Default)]
struct Known {
    targets: Vec<Arc<TargetUrl>>,
    /// The most requests that one of them takes at once.
    requests: Option<NonZeroUsize>,
    numbers: HashMap<String, usize>,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.targets).finish()
    }
}

/// The folder or prefix that holds the reference file.
#[derive(Debug)]
pub(super) struct Home {
    pub(super) store: Arc<dyn Store>,
    pub(super) base: Base,
}

/// The base of relative references: an absolute path without links, or a URL.
#[derive(Debug)]
pub(super) enum Base {
    Folder(PathBuf),
    Url(String),
}

/// A path or URL to which references lead. It may be signed, so that it is not shown.
struct TargetUrl {
    url: String,
    /// Set by the first read.
    object: OnceLock<Arc<TargetObject>>,
}

impl fmt::Debug for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TargetUrl").field(&shown_url(&self.url)).finish()
    }
}

/// The object that a target is, as the first read found it.
#[derive(Debug)]
pub(super) struct TargetObject {
    pub(super) store: Arc<dyn Store>,
    pub(super) key: Key,
    pub(super) meta: ObjectMeta,
}

impl Targets {
    pub(super) fn new(home: Home, options: &StoreOptions) -> Self {
        let (others, targets) = (Mutex::default(), RwLock::default());
        Self { home, options: options.clone().create(false), others, targets }
    }

    /// The number of a path or URL.
    pub(super) fn number(&self, url: &str) -> usize {
        let mut known = self.targets.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = known.numbers.get(url) {
            return *number;
        }
        let number = known.targets.len();
        known.requests = known.requests.max(Some(self.options.requests_at(url)));
        known.targets.push(Arc::new(TargetUrl { url: url.to_owned(), object: OnceLock::new() }));
        known.numbers.insert(url.to_owned(), number);
        number
    }

    /// The most requests that a known target takes at once; `None` if none is known.
    pub(super) fn requests(&self) -> Option<NonZeroUsize> {
        self.targets.read().unwrap_or_else(PoisonError::into_inner).requests
    }

    fn target(&self, number: usize) -> Option<Arc<TargetUrl>> {
        let known = self.targets.read().unwrap_or_else(PoisonError::into_inner);
        known.targets.get(number).cloned()
    }

    pub(super) fn home(&self) -> &Arc<dyn Store> {
        &self.home.store
    }

    /// The most bytes of a document to which a reference leads.
    pub(super) fn document_limit(&self) -> DocumentLimit {
        self.options.document_limit()
    }

    /// A target's URL without secrets.
    pub(super) fn shown(&self, number: usize) -> String {
        self.target(number).map(|target| shown_url(&target.url)).unwrap_or_default()
    }

    /// The target of a reference, which must be there.
    pub(super) fn find(&self, number: usize) -> Result<Arc<TargetObject>, StoreError> {
        let Some(target) = self.target(number) else {
            return Err(refused("", "there is no such target"));
        };
        if let Some(object) = target.object.get() {
            return Ok(Arc::clone(object));
        }
        let (store, key) = self.locate(&target.url)?;
        let meta = store.head(&key)?;
        let meta = meta.ok_or_else(|| refused(&target.url, self.missing(&target.url)))?;
        let object = Arc::new(TargetObject { store, key, meta });
        Ok(Arc::clone(target.object.get_or_init(|| object)))
    }

    /// Why a target was not found, and where it was looked for.
    fn missing(&self, url: &str) -> &'static str {
        let place = Place::parse(url, &StoreOptions::new());
        let is_relative = place.is_ok_and(
            |place| matches!(place.kind(), PlaceKind::Local(path) if path.is_relative()),
        );
        match &self.home.base {
            Base::Folder(_) if is_relative => {
                "a reference leads to it, and it is not there: neither in the folder of the reference \
                 file, nor in the current folder, where fsspec looks"
            }
            _ => "a reference leads to it, and it is not there",
        }
    }

    /// Whether a target is an object at this place.
    pub(super) fn lies_in(&self, number: usize, place: &Location) -> Result<bool, StoreError> {
        let Some(target) = self.target(number) else { return Ok(false) };
        let (store, key) = match self.locate(&target.url) {
            // A file that is not there is nowhere.
            Err(StoreError::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => {
                return Ok(false);
            }
            found => found?,
        };
        Ok(store.location(&key.into()).is_some_and(|own| own.overlaps(place)))
    }

    /// The store and key of a path or URL.
    ///
    /// A reference file may come from anybody. So local files are read only in its own folder, and
    /// servers only without credentials, unless the options allow more. They may also allow less: the
    /// named targets alone.
    fn locate(&self, url: &str) -> Result<(Arc<dyn Store>, Key), StoreError> {
        match Place::parse(url, &StoreOptions::new())?.kind() {
            PlaceKind::Memory => Err(refused(url, "a reference cannot lead into memory")),
            PlaceKind::Local(path) if path.is_absolute() => self.file(url, path),
            PlaceKind::Local(path) => {
                let text = path.to_str().unwrap_or_default();
                let text = text.strip_prefix("./").unwrap_or(text);
                match (Key::new(text), &self.home.base) {
                    (Ok(_), Base::Url(home))
                        if text.contains('?') && Service::of(home) == Some(Service::Http) =>
                    {
                        Err(refused(&format!("{home}/{text}"), QUERY))
                    }
                    (Ok(key), Base::Url(home)) => {
                        let options = &self.options;
                        if options.has_only_targets()
                            && !options.is_target(&place_below(home, text))
                        {
                            return Err(refused(url, NO_TARGET));
                        }
                        Ok((Arc::clone(&self.home.store), key))
                    }
                    (key, Base::Folder(home)) => match (in_current_folder(home, path), key) {
                        (Some(there), _) => self.file(url, &there),
                        (None, Ok(key)) if !self.options.has_only_targets() => {
                            Ok((Arc::clone(&self.home.store), key))
                        }
                        // A path that leaves the folder, which may be allowed.
                        (None, _) => self.file(url, &home.join(path)),
                    },
                    (Err(error), Base::Url(_)) => Err(error.into()),
                }
            }
            _ => self.remote(url),
        }
    }

    fn file(&self, url: &str, path: &Path) -> Result<(Arc<dyn Store>, Key), StoreError> {
        let real = dunce::canonicalize(path)
            .map_err(|cause| StoreError::io(Operation::Open, shown_url(url), cause))?;
        let allowed = self.options.targets().iter().any(|allowed| {
            let allowed = Place::parse(allowed, &StoreOptions::new()).ok();
            let folder = allowed.and_then(|allowed| dunce::canonicalize(allowed.folder()?).ok());
            folder.is_some_and(|folder| real.starts_with(folder))
        });
        let is_only = self.options.has_only_targets();
        if let Base::Folder(home) = &self.home.base
            && let Ok(below) = real.strip_prefix(home)
            && (!is_only || allowed)
        {
            let below = below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
            return Ok((Arc::clone(&self.home.store), Key::new(below)?));
        }
        let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(refused(url, "it is not a file"));
        };
        if !allowed {
            if is_only {
                return Err(not_allowed(url, NO_TARGET));
            }
            return Err(not_allowed(
                url,
                "a reference leads to it, out of the folder of the reference file",
            ));
        }
        let key = Key::new(name.to_string_lossy())?;
        let store = self.store(&folder.to_string_lossy(), || {
            Ok(Arc::new(LocalStore::open(folder)?) as Arc<dyn Store>)
        })?;
        Ok((store, key))
    }

    fn remote(&self, url: &str) -> Result<(Arc<dyn Store>, Key), StoreError> {
        if url.contains('?') {
            return Err(refused(url, QUERY));
        }
        let home = match &self.home.base {
            Base::Url(home) => home.as_str(),
            Base::Folder(_) => "",
        };
        let options = self.options.following(home, url)?;
        if let Some(key) = below(url, home).filter(|_| !home.is_empty()) {
            return Ok((Arc::clone(&self.home.store), key?));
        }
        let (_, rest) = url.split_once("://").unwrap_or_default();
        let start = url.len() - rest.len();
        // One store for each server or bucket.
        let Some(slash) = rest.find('/').and_then(|at| start.checked_add(at)) else {
            return Err(refused(url, "it names no object"));
        };
        let (server, path) = url.split_at_checked(slash).unwrap_or_default();
        let path = path.trim_start_matches('/');
        // No segment leads elsewhere.
        let key = Key::new(names_in(url, path)?)?;
        // A client with credentials looks for the bucket in a path, as in `https://s3.amazonaws.com/b`.
        let bucket =
            path.split_once('/').filter(|_| has_bucket_in_path(server) && !options.is_anonymous());
        let (root, key) = match bucket {
            Some((bucket, path)) => (format!("{server}/{bucket}"), Key::new(names_in(url, path)?)?),
            None => (server.to_owned(), key),
        };
        // Those of one bucket with and without credentials are different stores.
        let name = format!("{} {root}", options.is_anonymous());
        // The name of a bucket may end as that of an archive.
        let store = self.store(&name, || open_url(&root, &options.openers(&[])))?;
        Ok((store, key))
    }

    /// The store of this name, opened once.
    fn store(
        &self,
        name: &str,
        open: impl FnOnce() -> Result<Arc<dyn Store>, StoreError>,
    ) -> Result<Arc<dyn Store>, StoreError> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = others.get(name) {
            return Ok(Arc::clone(store));
        }
        let store = open()?;
        others.insert(name.to_owned(), Arc::clone(&store));
        Ok(store)
    }
}

/// A relative path in the current folder, from which fsspec starts, if it is not in the folder of the
/// reference file, from which all other programs do.
fn in_current_folder(home: &Path, path: &Path) -> Option<PathBuf> {
    if home.join(path).exists() {
        return None;
    }
    let there = std::env::current_dir().ok()?.join(path);
    there.exists().then_some(there)
}

/// Why a target is refused if only some places are allowed.
const NO_TARGET: &str = "a reference leads to it, and only the named targets are allowed";

/// Why a URL with a query is refused. It may be a signature, which would be shown with the name of an
/// object, and which counts for one method of HTTP alone.
const QUERY: &str = "a reference leads to a URL with a query, such as a signed one, and these are not \
                     read; a '?' in the name of an object is written %3F";

/// The key of a URL below another.
fn below(url: &str, above: &str) -> Option<Result<Key, StoreError>> {
    let rest = url.strip_prefix(above.trim_end_matches('/'))?.strip_prefix('/')?;
    // Dots would lead elsewhere.
    Some(names_in(url, rest).and_then(|rest| Ok(Key::new(rest)?)))
}

/// An error that concerns a target.
pub(super) fn refused(url: &str, reason: &str) -> StoreError {
    StoreError::container(Operation::Get, shown_url(url), reason)
}

/// An error that concerns a target that is not allowed.
fn not_allowed(url: &str, reason: &str) -> StoreError {
    StoreError::not_allowed(Operation::Get, shown_url(url), reason, Remedy::Target)
}

impl Home {
    /// The folder of a file; it is a folder by name there.
    pub(super) fn of_file(path: &Path, options: &StoreOptions) -> Result<(Self, Key), StoreError> {
        let fail = |cause| StoreError::io(Operation::Open, path.display(), cause);
        let path = dunce::canonicalize(path).map_err(fail)?;
        let folder = path.parent().unwrap_or(&path).to_owned();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let store = Arc::new(options.open_folder(&folder)?);
        Ok((Self { store, base: Base::Folder(folder) }, Key::new(name)?))
    }
}
