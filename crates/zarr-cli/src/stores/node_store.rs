//! Opens the folders and URLs in arguments as stores.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use zarr_kit::array::node::{self, DOCUMENTS};
use zarr_kit::array::store::{self, DirEntry, UpdatePolicy};
use zarr_kit::array::{
    Changes, ChunkLayout, Hierarchy, HierarchyAround, hierarchies_around, open_node,
    refresh_consolidated,
};
use zarr_kit::metadata::NodeMetadata;
use zarr_kit::place::PlaceError;
use zarr_kit::{Array, ArrayError, ArrayMetadata, Group, Opened, Prefix, Store as _};

use zarr_kit::codec::Options;
use zarr_kit::report::ReportError;
use zarr_kit::virtual_join;

use crate::error::{CliError, nearest, remedy};
use crate::output::print;
use crate::stores::access::{place_options, store_options};
use crate::stores::watched_store::{Watch, WatchedStore};

/// A folder or URL, opened as a store with the node as its root.
#[derive(Debug)]
pub(crate) struct NodeStore {
    /// The place as the user wrote it, without secrets.
    pub(crate) shown: String,
    /// Its store; in a session, if it is changed.
    pub(crate) store: Hierarchy,
    pub(crate) opened: Opened,
    /// Its changes, until they are complete.
    changes: Mutex<Option<Changes>>,
}

impl NodeStore {
    pub(crate) fn open(path: &str) -> Result<Self, CliError> {
        Self::of(path, Opened::open(path, &place_options()))
    }

    /// Opens it in a session: all writes take effect together, when it is [finished](Self::finish).
    pub(crate) fn to_change(path: &str) -> Result<Self, CliError> {
        Self::open(path)?.in_session()
    }

    /// As [`to_change`](Self::to_change); creates the folder if there is none.
    pub(crate) fn create(path: &str) -> Result<Self, CliError> {
        if virtual_join::is_virtual_join(path) {
            return Err(CliError::VirtualTarget { place: store::shown_url(path) });
        }
        Self::of(path, Opened::create(path, &place_options()))?.in_session()
    }

    fn in_session(mut self) -> Result<Self, CliError> {
        let changes = self.opened.change().map_err(|cause| self.failed(cause))?;
        self.store = self.store.with_store(Arc::clone(changes.store()));
        self.changes = Mutex::new(Some(changes));
        Ok(self)
    }

    /// Tells of reads and writes from now on.
    pub(crate) fn watch(&mut self, watch: Arc<dyn Watch>) {
        let inner = Arc::clone(self.store.store());
        self.store = self.store.with_store(Arc::new(WatchedStore { inner, watch }));
    }

    /// The topmost group around the node, and where in it the node is; or the node itself.
    pub(crate) fn hierarchy(&self) -> Result<Around, CliError> {
        match around(self.opened.address())? {
            Some(around) => Ok(around),
            None => {
                let top = Self::to_change(self.opened.address())?;
                Ok(Around { top, prefix: Prefix::root() })
            }
        }
    }

    /// Commits the writes. If the consolidated metadata of a group around them could not be written,
    /// they stay and a note reports it.
    pub(crate) fn finish(&self) -> Result<(), CliError> {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner).take();
        let outdated = changes.map_or(Ok(None), Changes::commit);
        if let Some(cause) = outdated.map_err(|cause| self.failed(cause))? {
            print::note(format_args!(
                "the consolidated metadata of the groups around it may be out of date: {cause}"
            ));
        }
        Ok(())
    }

    fn of(path: &str, opened: Result<Opened, PlaceError>) -> Result<Self, CliError> {
        let opened = opened.map_err(|cause| not_opened(path, cause))?;
        let (shown, store) = (opened.to_string(), opened.hierarchy().clone());
        Ok(Self { shown, store, opened, changes: Mutex::default() })
    }

    pub(crate) fn node(&self) -> Result<NodeMetadata, CliError> {
        open_node(&self.store, &Prefix::root()).map_err(|cause| self.failed(cause))
    }

    pub(crate) fn array(&self) -> Result<Array, CliError> {
        self.array_with(Options::new())
    }

    pub(crate) fn array_with(&self, options: Options) -> Result<Array, CliError> {
        self.bind_with(self.metadata()?, options).map_err(|cause| self.failed(cause))
    }

    /// The layout of the chunks of the array with this document, whatever their content.
    pub(crate) fn layout(&self, metadata: &ArrayMetadata) -> Result<ChunkLayout, CliError> {
        ChunkLayout::new(&Prefix::root(), metadata).map_err(|cause| self.failed(cause))
    }

    /// The document of the array, which may be unsupported.
    pub(crate) fn metadata(&self) -> Result<ArrayMetadata, CliError> {
        match self.node()? {
            NodeMetadata::Array(metadata) => Ok(metadata),
            NodeMetadata::Group(_) => Err(CliError::Group {
                place: self.shown.clone(),
                children: self.children_in_words(),
            }),
        }
    }

    pub(crate) fn bind(&self, metadata: ArrayMetadata) -> Result<Array, ArrayError> {
        self.bind_with(metadata, Options::new())
    }

    fn bind_with(&self, metadata: ArrayMetadata, options: Options) -> Result<Array, ArrayError> {
        Array::with_metadata(self.store.clone(), &Prefix::root(), metadata, options)
    }

    pub(crate) fn failed(&self, cause: impl Into<ArrayError>) -> CliError {
        match cause.into() {
            ArrayError::Exists { .. } => CliError::Exists { place: self.shown.clone() },
            ArrayError::NotFound { .. } => {
                CliError::NotFound { place: self.shown.clone(), hint: self.hint() }
            }
            cause => CliError::Node { place: self.shown.clone(), cause },
        }
    }

    /// The error of a report on the node.
    pub(crate) fn not_reported(&self, cause: ReportError) -> CliError {
        match cause {
            ReportError::Array(cause) => self.failed(cause),
            ReportError::Element(cause) => cause.into(),
            ReportError::Parts(message) | ReportError::Region(message) => {
                CliError::Usage { message }
            }
            ReportError::Png(cause) => CliError::Output(cause),
            ReportError::Times { reason } => CliError::argument("--decode", &self.shown, reason),
            ReportError::Plane { axes, example } => CliError::Plane { axes, example },
            cause => CliError::Report { place: self.shown.clone(), cause },
        }
    }

    /// A suggestion where there is no node: one directly below, or the one to which a folder
    /// within an array belongs.
    fn hint(&self) -> String {
        if let Some(icechunk) = self.icechunk() {
            return icechunk;
        }
        // A store that cannot be listed gives no hint.
        let nodes = self.store.list_dir(&Prefix::root()).filter_map(|entry| {
            let Ok(DirEntry::Prefix(prefix)) = entry else { return None };
            let found = DOCUMENTS.iter().any(|name| {
                let key = prefix.key(name).ok();
                key.is_some_and(|key| self.store.head(&key).is_ok_and(|found| found.is_some()))
            });
            found.then(|| prefix.to_string())
        });
        let mut below: Vec<String> = nodes.take(3).collect();
        below.sort();
        if let Some(first) = below.first() {
            return format!("; did you mean {}?", store::place_below(&self.shown, first));
        }
        let above = self
            .opened
            .folder()
            .and_then(|folder| folder.ancestors().skip(1).take(8).find(|folder| is_node(folder)));
        above.map_or_else(String::new, |node| match node.display().to_string() {
            path if path.is_empty() => "; did you mean the folder above?".to_owned(),
            path => format!("; did you mean {path}?"),
        })
    }

    /// How an Icechunk repository is opened, if this is one.
    fn icechunk(&self) -> Option<String> {
        let has = |name: &str| {
            let key = Prefix::root().key(name).ok()?;
            self.store.head(&key).ok()?
        };
        // The reference of version 1, and the object of version 2, which is beside the snapshots.
        let is_first = has("refs/branch.main/ref.json").is_some();
        let snapshots = DirEntry::Prefix(Prefix::new("snapshots").ok()?);
        let mut entries = self.store.list_dir(&Prefix::root()).map_while(Result::ok);
        let mut is_second = || has("repo").is_some() && entries.any(|entry| entry == snapshots);
        if !(is_first || is_second()) {
            return None;
        }
        let storage = match self.opened.folder() {
            Some(_) => format!("icechunk.local_filesystem_storage({:?})", self.shown),
            None => "STORAGE".to_owned(),
        };
        Some(format!(
            "; this is an Icechunk repository, which opens in Python: `import icechunk, zarr_kit; \
             repository = icechunk.Repository.open({storage}); \
             zarr_kit.open(repository.readonly_session(\"main\").store)`"
        ))
    }

    fn children_in_words(&self) -> String {
        const SHOWN: usize = 8;
        let children = Group::open(self.store.clone(), &Prefix::root())
            .and_then(|group| group.children())
            .unwrap_or_default();
        match children.as_slice() {
            [] => "nothing was found in it".to_owned(),
            names => {
                let mut text = format!("in it: {}", names[..names.len().min(SHOWN)].join(", "));
                if names.len() > SHOWN {
                    text.push_str(", ...");
                }
                text
            }
        }
    }
}

/// Whether a folder has a document of a node.
pub(crate) fn is_node(folder: &Path) -> bool {
    DOCUMENTS.iter().any(|name| folder.join(name).is_file())
}

/// A place in a hierarchy that is to be changed.
pub(crate) struct Around {
    /// The topmost node of the hierarchy, in a session.
    pub(crate) top: NodeStore,
    /// Where in it the place is.
    pub(crate) prefix: Prefix,
}

impl Around {
    pub(crate) fn open(found: &HierarchyAround) -> Result<Self, CliError> {
        Ok(Self { top: NodeStore::to_change(&found.top)?, prefix: found.prefix.clone() })
    }

    /// Brings the consolidated metadata of the groups above the place up to date. If it cannot be
    /// written, a note reports it.
    pub(crate) fn refresh(&self) -> Result<(), CliError> {
        // The note is that of the store, which is told.
        let _outdated =
            refresh_consolidated(&self.top.store, &self.prefix, UpdatePolicy::default());
        self.top.finish()
    }
}

/// The hierarchies around the place at `path`.
pub(crate) fn hierarchies(path: &str) -> Result<Vec<HierarchyAround>, CliError> {
    hierarchies_around(path, &store_options()).map_err(CliError::Store)
}

/// Refuses a new node in an array or in a group of version 2, or with a name in the hierarchy around it that
/// no node can have.
pub(crate) fn refuse_place(path: &str) -> Result<(), CliError> {
    let Some(Around { top, prefix }) = around(path)? else { return Ok(()) };
    let place = store::shown_url(path);
    match node::refuse_place(&top.store, &prefix) {
        Err(ArrayError::NotGroup { .. }) => Err(CliError::InArray { place }),
        Err(cause @ ArrayError::Version2 { .. }) => Err(CliError::Node { place, cause }),
        Err(cause @ ArrayError::NodeName { .. }) => Err(top.failed(cause)),
        _ => Ok(()),
    }
}

/// The hierarchy around the place at `path`: its topmost node, in a session, and where in it the place
/// is. `None` if no node is around it.
pub(crate) fn around(path: &str) -> Result<Option<Around>, CliError> {
    hierarchies(path)?.first().map(Around::open).transpose()
}

/// A new store for the hierarchy of a new node at `path`, and the node's path in it. The hierarchy
/// begins at a name that ends in `.zarr`, or at an archive.
pub(crate) fn around_new(path: &str) -> Result<Around, CliError> {
    let path = path.trim_end_matches('/');
    let archive = store::archive_of(path, &store_options());
    let mut names: Vec<String> = Vec::new();
    let mut rest = path;
    while let Some((parent, name)) = rest.rsplit_once('/') {
        if name.is_empty() {
            break;
        }
        names.push(name_in(path, name)?);
        rest = parent;
        if rest.ends_with(".zarr") || archive == Some(rest) {
            let top = NodeStore::create(rest)?;
            return Ok(Around { top, prefix: prefix_of(path, names)? });
        }
    }
    Err(CliError::NoRoot { place: store::shown_url(path) })
}

/// The name that a part of a path or URL stands for.
fn name_in(path: &str, part: &str) -> Result<String, CliError> {
    store::names_in(path, part).map_err(CliError::Store)
}

/// The prefix of these names, the innermost first.
fn prefix_of(path: &str, mut names: Vec<String>) -> Result<Prefix, CliError> {
    names.reverse();
    Prefix::new(names.join("/"))
        .map_err(|cause| CliError::Node { place: store::shown_url(path), cause: cause.into() })
}

/// Why there is no store at a path or URL.
fn not_opened(path: &str, cause: PlaceError) -> CliError {
    let place = store::shown_url(path.trim_end_matches('/'));
    match cause {
        PlaceError::NotFound { place } => {
            let near = nearest::neighbour(&place, is_node);
            CliError::Missing { place, near }
        }
        PlaceError::VirtualJoin(cause) => CliError::VirtualJoin(cause),
        PlaceError::Folder { folder, cause } => CliError::Folder { place, folder, cause },
        _ if !cfg!(feature = "remote") && store::Service::of(path).is_some() => {
            CliError::NotRemote { place }
        }
        // The error contains the place, as a URL without secrets.
        PlaceError::Store(cause) => CliError::Store(cause),
        cause => CliError::Usage { message: remedy::with(&cause, cause.remedy()) },
    }
}

/// Whether a path or URL leads to or into a file that holds a store.
pub(crate) fn is_in_file(path: &str) -> bool {
    store::Place::parse(path, &store_options()).is_ok_and(|place| place.is_in_file())
}
