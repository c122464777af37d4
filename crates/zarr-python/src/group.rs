//! Groups.

use std::sync::Arc;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use zarr_kit::array::open_node;
use zarr_kit::array::store::LockScope;
use zarr_kit::codec::Options;
use zarr_kit::join::rearrange::refuse_half_rearranged;
use zarr_kit::metadata::NodeMetadata;
use zarr_kit::{Array, ArrayError, Group, Prefix};

use crate::array::PyArray;
use crate::conversion::error::{Done, Raised};
use crate::process::signals::Signals;
use crate::stores::node_store::{
    AttributeChanges, Described, NodeStore, Settings, State, borrowed, prefix,
};

/// A group of a store.
#[pyclass(frozen, name = "Group", module = "zarr_kit._native")]
pub(crate) struct PyGroup {
    group: Group,
    pub(crate) place: NodeStore,
    /// The group that was opened with its consolidated metadata: this one, or one around it.
    trusted: Option<Prefix>,
}

/// The node of a name in a group.
#[derive(IntoPyObject)]
pub(crate) enum PyNode {
    Array(PyArray),
    Group(PyGroup),
    /// Among the children of a group, the error of one that cannot be read.
    Unreadable(PyErr),
}

impl PyNode {
    /// The node of a store with this document.
    fn of(place: NodeStore, prefix: &Prefix, node: NodeMetadata) -> Result<Self, ArrayError> {
        Ok(match node {
            NodeMetadata::Array(metadata) => {
                let array = Array::with_metadata(&place.store, prefix, metadata, Options::new())?;
                Self::Array(PyArray::new(array, place))
            }
            NodeMetadata::Group(metadata) => Self::Group(PyGroup::new(
                Group::with_metadata(&place.store, prefix, metadata),
                place,
            )),
        })
    }
}

impl PyGroup {
    pub(crate) fn new(group: Group, place: NodeStore) -> Self {
        Self { group, place, trusted: None }
    }

    pub(crate) fn prefix(&self) -> &Prefix {
        self.group.prefix()
    }

    pub(crate) fn group(&self) -> &Group {
        &self.group
    }

    /// The path or URL of the group if it is one of a virtual join.
    pub(crate) fn virtual_join(&self) -> Option<String> {
        self.place.opened()?.is_virtual_join().then(|| self.place.url_of(self.prefix()))
    }

    /// The group with the writes of the `with` block. The GIL must be free.
    pub(crate) fn reading(&self) -> Group {
        self.group.clone().with_store(Arc::clone(&self.place.reading()))
    }

    /// Changes the group or its children.
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        work: impl Send + FnOnce(&Group) -> Result<T, ArrayError>,
    ) -> Done<T> {
        let change = |signals: &Arc<Signals>| {
            self.place.change(signals, |store| work(&self.group.clone().with_store(store)))
        };
        self.place.named(self.prefix(), py.detach(|| Signals::during(change)))
    }

    /// A group of the same store.
    fn with(&self, group: Group) -> Self {
        let trusted = self.trusted.clone().filter(|_| group.is_consolidated());
        let group = group.with_store(Arc::clone(&self.place.store));
        Self { group, place: self.place.clone(), trusted }
    }

    /// The node below the group with this document.
    fn child(&self, path: &str, prefix: &Prefix, node: NodeMetadata) -> Result<PyNode, ArrayError> {
        match node {
            // It trusts the consolidated metadata too.
            NodeMetadata::Group(_) if self.group.is_consolidated() => {
                Ok(PyNode::Group(self.with(self.group.group(path)?)))
            }
            node => PyNode::of(self.place.clone(), prefix, node),
        }
    }

    /// Opens the group at `prefix`, with the consolidated metadata of one around it if that is
    /// trusted.
    fn opened(
        place: &NodeStore,
        prefix: &Prefix,
        trusted: Option<&Prefix>,
    ) -> Result<Group, ArrayError> {
        let store = place.reading();
        let Some(root) = trusted else { return Group::open(store, prefix) };
        let group = Group::open_consolidated(store, root)?;
        match prefix.as_str().strip_prefix(root.as_str()).unwrap_or_default() {
            "" => Ok(group),
            below => group.group(below.trim_start_matches('/')),
        }
    }
}

#[pymethods]
impl PyGroup {
    /// With the path `trusted` of this group or a group around it, the nodes below come from that
    /// group's consolidated metadata.
    #[staticmethod]
    #[pyo3(signature = (state, trusted = None))]
    fn open(py: Python<'_>, state: State, trusted: Option<&str>) -> Done<Self> {
        let (place, path) = NodeStore::open(py, state, false)?;
        let trusted = trusted.map(prefix).transpose()?;
        let group = py.detach(|| Self::opened(&place, &path, trusted.as_ref()));
        Ok(Self { group: place.named(&path, group.map_err(Into::into))?, place, trusted })
    }

    /// The path of the group with the trusted consolidated metadata.
    #[getter]
    fn trusted(&self) -> Option<&str> {
        self.trusted.as_ref().map(Prefix::as_str)
    }

    /// The store, told apart from all others of this process.
    #[getter]
    fn identity(&self) -> String {
        self.place.identity()
    }

    fn version(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.place.version(self.prefix()))
    }

    /// The URL, which may hold a password.
    #[getter]
    fn url(&self) -> &str {
        self.place.url()
    }

    #[getter]
    fn settings(&self) -> Settings {
        self.place.settings.clone()
    }

    fn state(&self, py: Python<'_>) -> PyResult<State> {
        self.place.state(py, self.group.prefix())
    }

    /// Begins a `with` block.
    fn enter(&self, py: Python<'_>) {
        py.detach(|| self.place.block.enter());
    }

    /// Ends a `with` block, and commits its writes unless it `drops` them.
    fn exit(&self, py: Python<'_>, drops: bool) -> Done<()> {
        self.place.named(self.prefix(), py.detach(|| Ok(self.place.exit_block(drops)?)))
    }

    fn described(&self) -> Described {
        let (document, path) = (self.group.metadata().json(), self.group.prefix().as_str());
        (document.to_owned(), path.to_owned(), self.place.shown())
    }

    /// Whether the other handle refers to the same node.
    fn is_same(&self, other: &Self) -> bool {
        self.group.prefix() == other.group.prefix() && self.place.is_same(&other.place)
    }

    /// The group with its current document, which is read again.
    fn reopened(&self, py: Python<'_>) -> Done<Self> {
        let trusted = self.trusted.as_ref();
        Ok(self.with(py.detach(|| Self::opened(&self.place, self.prefix(), trusted))?))
    }

    /// Refuses a group in which some arrays may have been rearranged and others not.
    fn refuse_half_rearranged(&self, py: Python<'_>) -> Done<()> {
        let refused = py.detach(|| refuse_half_rearranged(&self.reading()));
        self.place.named(self.prefix(), refused.map_err(Into::into))
    }

    fn children(&self, py: Python<'_>) -> Done<Vec<String>> {
        self.place.check_thread()?;
        Ok(py.detach(|| self.reading().children())?)
    }

    /// The array or group at a place.
    #[staticmethod]
    fn open_node(py: Python<'_>, state: State) -> Done<PyNode> {
        let (place, prefix) = NodeStore::open(py, state, false)?;
        let open = |signals: &Arc<Signals>| open_node(&signals.guard_all(&place.store), &prefix);
        let node = place.named(&prefix, py.detach(|| Signals::during(open)))?;
        Ok(PyNode::of(place, &prefix, node)?)
    }

    /// The direct children with their names. One that cannot be read does not hide the others.
    fn nodes(&self, py: Python<'_>) -> Done<Vec<(String, PyNode)>> {
        self.place.check_thread()?;
        let nodes = py.detach(|| {
            let group = self.reading();
            let nodes = group.nodes()?.map(|(name, node)| {
                let prefix = self.prefix().join(&name)?;
                let node = node.and_then(|node| self.child(&name, &prefix, node));
                let unreadable = |error| PyNode::Unreadable(Raised::from(error).into());
                Ok::<_, ArrayError>((name, node.unwrap_or_else(unreadable)))
            });
            Ok(nodes.collect::<Result<_, _>>()?)
        });
        self.place.named(self.prefix(), nodes)
    }

    fn node(&self, py: Python<'_>, name: &str) -> Done<PyNode> {
        let missing = || PyKeyError::new_err(name.to_owned());
        let path = name.trim_matches('/');
        if path.is_empty() {
            return Ok(PyNode::Group(self.with(self.group.clone())));
        }
        let prefix = self.group.prefix().join(path).map_err(|_| missing())?;
        self.place.check_thread()?;
        let node = py.detach(|| self.child(path, &prefix, self.reading().node(path)?));
        match node {
            Err(ArrayError::NotFound { .. }) => Err(missing().into()),
            node => Ok(node?),
        }
    }

    /// Writes copies of all documents below the group into its own.
    fn consolidate(&self, py: Python<'_>) -> Done<Self> {
        Ok(self.with(self.change(py, Group::consolidate)?))
    }

    /// The group at a path of the same store.
    fn at(&self, py: Python<'_>, path: &str) -> Done<Self> {
        let prefix = prefix(path)?;
        let group = py.detach(|| Group::open(self.place.reading(), &prefix))?;
        Ok(self.with(group))
    }

    /// Whether writes to parts of one chunk exclude each other between processes.
    fn excludes_processes(&self, py: Python<'_>) -> Done<bool> {
        let (store, prefix) = (&self.place.store, self.group.prefix());
        py.detach(|| {
            let key = prefix.key("zarr.json")?;
            let has_condition = store.capabilities().conditional_put;
            Ok(has_condition || store.lock(&key)?.scope() == LockScope::AllProcesses)
        })
    }

    fn update_attributes(&self, py: Python<'_>, changes: AttributeChanges) -> Done<Self> {
        let changes = borrowed(&changes);
        Ok(self.with(self.change(py, |group| group.update_attributes(&changes))?))
    }
}
