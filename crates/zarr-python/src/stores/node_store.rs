//! The store of a node: its URL and settings, opened.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarr_kit::array::node::DOCUMENTS;
use zarr_kit::array::store::{
    Durability, Operation, StoreError, StoreOptions, Waiting, place_below, scheme, shown_url,
};
use zarr_kit::array::{Changes, Hierarchy, other_names};
use zarr_kit::metadata::Printable;
use zarr_kit::place::PlaceOptions;
use zarr_kit::virtual_join::AllowedMembers;
use zarr_kit::{Array, OPENERS, Opened, Prefix, Store};

use crate::conversion::error::Done;
use crate::process::signals::Signals;
use crate::process::writes::Counted;
use crate::stores::block::Block;
use crate::stores::of_python::PyStore;
use crate::stores::sole_writer::SoleWriter;

/// The setting that allows virtual joins to name members outside of their folders.
const OUTSIDE_MEMBERS: &str = "outside_members";

/// The setting that lets local stores follow symbolic links out of their folders.
const OUTSIDE_LINKS: &str = "outside_links";

/// The setting with the places to which reference files may lead.
const TARGETS: &str = "targets";

/// The setting that makes them the only ones.
const ONLY_TARGETS: &str = "only_targets";

/// The setting with which nothing is written.
const READ_ONLY: &str = "read_only";

/// The setting with the MiB that a document in an archive may have.
const MAX_DOCUMENT: &str = "max_document";

/// The setting for the durability of writes to local files.
const DURABILITY: &str = "durability";

/// The setting with the number of times that a failed request is repeated.
const MAX_RETRIES: &str = "max_retries";

/// The setting with the seconds after its start until which a request is repeated.
const RETRY_TIMEOUT: &str = "retry_timeout";

/// The setting with which locks of this process suffice.
const SOLE_WRITER: &str = "sole_writer";

/// The value of a setting of a store: text, or several places.
#[derive(Clone, PartialEq, Eq, FromPyObject, IntoPyObject)]
pub(crate) enum Setting {
    Text(String),
    Places(Vec<String>),
}

/// The settings of a store, by name.
pub(crate) type Settings = BTreeMap<String, Setting>;

/// The store of a node, and the arguments with which it was opened, so that another process can open
/// it again.
#[derive(Clone)]
pub(crate) struct NodeStore {
    /// The path or URL as it was given.
    pub(crate) given: String,
    pub(crate) settings: Settings,
    pub(crate) handling: Handling,
    /// As it was committed last.
    pub(crate) store: Hierarchy,
    pub(crate) block: Arc<Block>,
    pub(crate) source: Source,
}

/// What a store is.
#[derive(Clone)]
pub(crate) enum Source {
    /// What is at a path or URL. A local path does not depend on the current folder.
    Place(Arc<Opened>),
    /// A store of Python.
    Python(Arc<PyStore>),
}

/// How elements are read and written.
#[derive(Clone, Copy, Default)]
pub(crate) struct Handling {
    /// The largest number of threads, `None` for one per core.
    pub(crate) threads: Option<NonZeroUsize>,
    /// Whether chunks that hold only the fill value are stored.
    pub(crate) stores_empty: bool,
    /// Bytes of decoded chunks that each array keeps.
    pub(crate) cache: usize,
}

impl Handling {
    /// The array, handled so.
    pub(crate) fn of(self, array: Array) -> Array {
        let Self { threads, stores_empty, cache } = self;
        array.with_threads(threads).with_empty_chunks_stored(stores_empty).with_cache(cache)
    }
}

/// The parts of a place that Python pickles: URL, path, settings, threads, whether chunks of only
/// the fill value are stored, and the bytes of the cache.
pub(crate) type State = (String, String, Settings, Option<usize>, bool, usize);

impl NodeStore {
    /// Opens the store of a node. With `create`, a missing folder is made.
    pub(crate) fn open(py: Python<'_>, state: State, create: bool) -> Done<(Self, Prefix)> {
        let (given, path, settings, count, stores_empty, cache) = state;
        let handling = Handling { threads: threads(count)?, stores_empty, cache };
        let options = options(&settings)?;
        let (source, store, given) = if PyStore::is_named(&given) {
            let python = Arc::new(PyStore::open(py, &given)?);
            python.check()?;
            let store: Arc<dyn Store> = Arc::clone(&python) as _;
            (Source::Python(python), store.into(), given)
        } else {
            let url = absolute(&given)?;
            let opened = py.detach(|| match create {
                true => Opened::create(&url, &options),
                false => Opened::open(&url, &options),
            })?;
            // Without the slash or the document's name at its end.
            let given = match url.strip_prefix(opened.address()).map(|it| it.trim_end_matches('/'))
            {
                None | Some("") => given.trim_end_matches('/'),
                Some(end) => given.trim_end_matches('/').strip_suffix(end).unwrap_or_default(),
            };
            let given = if given.is_empty() { opened.address() } else { given }.to_owned();
            let hierarchy = opened.hierarchy().clone();
            (Source::Place(Arc::new(opened)), hierarchy, given)
        };
        let prefix = prefix(&path)?;
        let store = written_alone(store, &settings)?;
        Ok((Self { given, settings, handling, store, block: Arc::default(), source }, prefix))
    }

    /// The store of Python behind it, if it is one.
    pub(crate) fn python(&self) -> Option<&PyStore> {
        match &self.source {
            Source::Python(python) => Some(python),
            Source::Place(_) => None,
        }
    }

    /// What is at its path or URL, if it has one.
    pub(crate) fn opened(&self) -> Option<&Opened> {
        match &self.source {
            Source::Place(opened) => Some(opened),
            Source::Python(_) => None,
        }
    }

    /// The path or URL of its root. It may hold a password.
    pub(crate) fn url(&self) -> &str {
        self.opened().map_or(&self.given, Opened::address)
    }

    /// Removes the folders that were made for it, if they are empty.
    pub(crate) fn abandon(&self) {
        self.opened().into_iter().for_each(Opened::abandon);
    }

    /// Refuses a thread that would wait for the event loop that it runs.
    pub(crate) fn check_thread(&self) -> Result<(), StoreError> {
        self.python().map_or(Ok(()), PyStore::check)
    }

    /// The store for reads: in a `with` block, with the writes of the block.
    pub(crate) fn reading(&self) -> Hierarchy {
        let written = self.block.store();
        written.map_or_else(|| self.store.clone(), |store| self.store.with_store(store))
    }

    /// Changes the store, in the session of the `with` block or else in a separate session: if it
    /// fails, none of its writes takes effect, and folders that were made for it are removed. The GIL
    /// must be free.
    pub(crate) fn change<T, E: From<StoreError>>(
        &self,
        signals: &Arc<Signals>,
        work: impl FnOnce(Arc<dyn Store>) -> Result<T, E>,
    ) -> Result<T, E> {
        let changed = self.changed(signals, work);
        if changed.is_err() {
            self.abandon();
        }
        changed
    }

    fn changed<T, E: From<StoreError>>(
        &self,
        signals: &Arc<Signals>,
        work: impl FnOnce(Arc<dyn Store>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.check_thread()?;
        self.check_writable()?;
        let _counted = Counted;
        match self.block.store_to_change(&self.store)? {
            Some(store) => {
                let done = work(signals.guard(&store));
                if done.is_err() && signals.has_written() {
                    self.block.fail();
                }
                done
            }
            None => {
                let changes = Changes::begin(&self.store)?;
                let done = work(signals.guard(changes.store()))?;
                self.note_outdated(changes.commit()?);
                Ok(done)
            }
        }
    }

    /// Ends a `with` block, and commits its writes unless it `drops` them.
    pub(crate) fn exit_block(&self, drops: bool) -> Result<(), StoreError> {
        let outdated = self.block.exit(drops)?;
        self.note_outdated(outdated);
        Ok(())
    }

    /// Logs why the consolidated metadata of the groups around the node did not follow a change. The
    /// change is done.
    fn note_outdated(&self, outdated: Option<String>) {
        let Some(cause) = outdated else { return };
        Python::attach(|py| {
            let notes = py.import("zarr_kit._notes");
            // A handler of logs that fails does not undo the change.
            let _untold =
                notes.and_then(|it| it.call_method1("note_around", (self.shown(), cause)));
        });
    }

    /// An error if the node was opened to be read alone.
    pub(crate) fn check_writable(&self) -> Result<(), StoreError> {
        match self.settings.get(READ_ONLY) {
            Some(Setting::Text(value)) if is_true(READ_ONLY, value).unwrap_or(true) => {}
            _ => return Ok(()),
        }
        let cause =
            io::Error::new(io::ErrorKind::PermissionDenied, "it was opened with mode=\"r\"");
        Err(StoreError::io(Operation::Put, self.shown(), cause))
    }

    /// Warns of files of other programs at the place of a new node, before it is created.
    pub(crate) fn note_other_files(&self, py: Python<'_>, prefix: &Prefix) {
        // A store that fails says so when the node is created.
        let names = py.detach(|| other_names(&**self.store, prefix, 4)).unwrap_or_default();
        if !names.is_empty() {
            let place = self.shown_node(prefix);
            let notes = py.import("zarr_kit._notes");
            // A handler of logs that fails does not stop the creation.
            let _untold = notes.and_then(|it| it.call_method1("note_other_files", (place, names)));
        }
    }

    /// The URL without secrets.
    pub(crate) fn shown(&self) -> String {
        self.python().map_or_else(|| shown_url(&self.given), |it| it.shown().to_owned())
    }

    /// The store, told apart from all others of this process. It may hold a password.
    pub(crate) fn identity(&self) -> String {
        match self.python() {
            Some(python) => python.identity().to_owned(),
            // While one exists, no other is at its address.
            None if self.is_memory() => format!("memory:{:p}", Arc::as_ptr(self.store.store())),
            None => self.url().to_owned(),
        }
    }

    /// The version of the node's document that is stored now, if the store tells: another node in the
    /// same place has another one.
    pub(crate) fn version(&self, prefix: &Prefix) -> Option<String> {
        let store = self.reading();
        let version = |name: &&str| store.head(&prefix.key(name).ok()?).ok()??.version;
        DOCUMENTS.iter().find_map(version).map(|version| format!("{version:?}"))
    }

    /// Whether the store knows the size of an object without a request.
    pub(crate) fn is_quick(&self) -> bool {
        match &self.source {
            Source::Python(python) => python.is_quick(),
            Source::Place(opened) => opened.is_quick(),
        }
    }

    /// Whether the other place is in the same store.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.store, &other.store)
            || (!self.is_memory()
                && self.identity() == other.identity()
                && self.settings == other.settings)
    }

    /// The URL and path of a node without secrets, for messages.
    pub(crate) fn shown_node(&self, prefix: &Prefix) -> String {
        below(self.shown(), prefix)
    }

    /// The URL of a node. It may hold a password.
    pub(crate) fn url_of(&self, prefix: &Prefix) -> String {
        below(self.url().to_owned(), prefix)
    }

    /// The array with this name in the group of the one at `prefix`, which may be outside of the store.
    pub(crate) fn beside(&self, store: &Hierarchy, prefix: &Prefix, name: &str) -> Option<Array> {
        if let Some(parent) = prefix.parent() {
            return Array::open(store.clone(), &parent.join(name).ok()?).ok();
        }
        self.opened()?.neighbour(name)
    }

    /// The result, with an error that names the node.
    pub(crate) fn named<T>(&self, prefix: &Prefix, done: Done<T>) -> Done<T> {
        done.map_err(|raised| {
            Python::attach(|py| raised.at(py, &Printable(&self.shown_node(prefix)).to_string()))
        })
    }

    pub(crate) fn is_memory(&self) -> bool {
        scheme(self.url()).as_deref() == Some("memory")
    }

    /// The data that another process needs to open the node at this path.
    pub(crate) fn state(&self, py: Python<'_>, path: &Prefix) -> PyResult<State> {
        if self.is_memory() {
            return Err(PyValueError::new_err(
                "a store in this process's memory cannot be sent to another",
            ));
        }
        if py.detach(|| self.block.store().is_some()) {
            return Err(PyValueError::new_err(
                "what was written in a `with` block cannot be sent to another process before its \
                 end, and another process could not write meanwhile",
            ));
        }
        let Handling { threads, stores_empty, cache } = self.handling;
        let (url, path) = (self.url().to_owned(), path.as_str().to_owned());
        let threads = threads.map(NonZeroUsize::get);
        Ok((url, path, self.settings.clone(), threads, stores_empty, cache))
    }
}

/// The options that settings stand for.
pub(crate) fn options(settings: &Settings) -> PyResult<PlaceOptions> {
    let (store, members) = stores_and_members(settings)?;
    Ok(PlaceOptions::new().store(store).allowed_members(members))
}

/// The options of stores, and which members virtual joins may name, that settings stand for.
pub(crate) fn stores_and_members(settings: &Settings) -> PyResult<(StoreOptions, AllowedMembers)> {
    let mut options = StoreOptions::new().openers(OPENERS).on_wait(note_lock);
    let mut members = AllowedMembers::Below;
    let (mut retries, mut patience) = options.retry_limits();
    for (name, value) in settings {
        match (name.as_str(), value) {
            (TARGETS, Setting::Places(places)) => {
                options = places.iter().fold(options, |options, place| options.target(place));
            }
            (ONLY_TARGETS, Setting::Text(value)) => {
                options = options.only_targets(is_true(name, value)?);
            }
            (OUTSIDE_MEMBERS, Setting::Text(value)) => {
                if is_true(name, value)? {
                    members = AllowedMembers::Anywhere;
                }
            }
            (OUTSIDE_LINKS, Setting::Text(value)) => {
                options = options.outside_links(is_true(name, value)?);
            }
            (MAX_DOCUMENT, Setting::Text(value)) => {
                let mebibytes: u32 = value.parse().map_err(|_| {
                    PyValueError::new_err(format!("{MAX_DOCUMENT}: a whole number of MiB"))
                })?;
                options = options.max_document(u64::from(mebibytes) << 20);
            }
            (DURABILITY, Setting::Text(value)) => {
                options = options.durability(durability(value)?);
            }
            (MAX_RETRIES, Setting::Text(value)) => {
                retries = value.parse().map_err(|_| {
                    PyValueError::new_err(format!("{MAX_RETRIES}: a whole number, not {value:?}"))
                })?;
            }
            (RETRY_TIMEOUT, Setting::Text(value)) => {
                let seconds = value.parse().ok();
                patience = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok()).ok_or_else(
                    || PyValueError::new_err(format!("{RETRY_TIMEOUT}: seconds, not {value:?}")),
                )?;
            }
            (READ_ONLY | SOLE_WRITER, Setting::Text(value)) => {
                is_true(name, value)?;
            }
            (name, Setting::Text(value)) => options = options.setting(name, value),
            (name, Setting::Places(_)) => {
                let message = format!("the setting {name} is text, not a list");
                return Err(PyValueError::new_err(message));
            }
        }
    }
    Ok((options.retries(retries, patience), members))
}

/// Logs that another process holds a lock. Servers are waited for in silence, as other clients do.
fn note_lock(waiting: &Waiting) {
    if waiting.operation == Operation::Lock {
        Python::attach(|py| {
            let notes = py.import("zarr_kit._notes");
            // A handler of logs that fails does not end the wait.
            let _untold = notes.and_then(|it| it.call_method1("note_lock", (waiting.to_string(),)));
        });
    }
}

/// The store, with locks that suffice if the settings say that nobody else writes.
fn written_alone(store: Hierarchy, settings: &Settings) -> PyResult<Hierarchy> {
    let is_alone = match settings.get(SOLE_WRITER) {
        Some(Setting::Text(value)) => is_true(SOLE_WRITER, value)?,
        _ => false,
    };
    let alone = || store.with_store(Arc::new(SoleWriter(Arc::clone(&store))));
    Ok(if is_alone { alone() } else { store })
}

/// By the names of the command line's `--durability`.
fn durability(value: &str) -> PyResult<Durability> {
    match value {
        "process-end" => Ok(Durability::ProcessEnd),
        "power-failure" => Ok(Durability::PowerFailure),
        _ => Err(PyValueError::new_err(format!(
            "{DURABILITY}: \"process-end\" or \"power-failure\", not {value:?}"
        ))),
    }
}

fn is_true(name: &str, value: &str) -> PyResult<bool> {
    value
        .to_ascii_lowercase()
        .parse()
        .map_err(|_| PyValueError::new_err(format!("{name}: True or False, not {value:?}")))
}

/// A local path that does not depend on the current folder; URLs as they are.
pub(crate) fn absolute(url: &str) -> PyResult<String> {
    match std::path::absolute(url) {
        _ if scheme(url).is_some() => Ok(url.to_owned()),
        Ok(path) => path.into_os_string().into_string().map_err(|_| {
            PyValueError::new_err("the current folder has a name that is not Unicode")
        }),
        Err(_) => Ok(url.to_owned()),
    }
}

/// A number of threads, `None` for one per core.
pub(crate) fn threads(count: Option<usize>) -> PyResult<Option<NonZeroUsize>> {
    match count.map(NonZeroUsize::new) {
        Some(None) => Err(PyValueError::new_err("threads: at least 1, or None")),
        found => Ok(found.flatten()),
    }
}

/// A path in a store as users write it: slashes at its ends are ignored.
pub(crate) fn prefix(path: &str) -> Done<Prefix> {
    Ok(Prefix::new(path.trim_matches('/'))?)
}

/// The public data of a handle: the document, its path, and the URL without secrets.
pub(crate) type Described = (String, String, String);

/// Changes of attributes: names with JSON, or with `None` for those to remove.
pub(crate) type AttributeChanges = Vec<(String, Option<String>)>;

pub(crate) fn borrowed(changes: &AttributeChanges) -> Vec<(&str, Option<&str>)> {
    changes.iter().map(|(name, json)| (name.as_str(), json.as_deref())).collect()
}

/// The path or URL of a node in the store at this one.
fn below(url: String, prefix: &Prefix) -> String {
    if prefix.is_root() { url } else { place_below(url.trim_end_matches('/'), prefix.as_str()) }
}
