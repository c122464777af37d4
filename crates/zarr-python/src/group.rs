//! Groups.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use zarr_kit::array::store::LockScope;
use zarr_kit::array::{Node, delete_node, open_node};
use zarr_kit::codec::Options;
use zarr_kit::{Array, ArrayError, ArrayMetadata, Group, GroupMetadata};

use crate::array::PyArray;
use crate::error::{raised, refused};
use crate::place::{Place, State, prefix};

/// A group of a store.
#[pyclass(frozen, name = "Group", module = "zarr_kit._native")]
pub(crate) struct PyGroup {
    group: Group,
    place: Place,
}

/// The node of a name in a group.
#[derive(IntoPyObject)]
pub(crate) enum PyNode {
    Array(PyArray),
    Group(PyGroup),
}

#[pymethods]
impl PyGroup {
    #[staticmethod]
    fn open(
        py: Python<'_>,
        url: String,
        path: &str,
        settings: BTreeMap<String, String>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let (prefix, place) = (prefix(path)?, Place::open(py, url, settings, threads, false)?);
        let group = py.detach(|| Group::open(Arc::clone(&place.store), &prefix));
        Ok(Self { group: group.map_err(|error| raised(&error))?, place })
    }

    #[staticmethod]
    fn create(
        py: Python<'_>,
        url: String,
        path: &str,
        settings: BTreeMap<String, String>,
        threads: Option<usize>,
        document: &str,
    ) -> PyResult<Self> {
        let metadata = GroupMetadata::from_json(document.as_bytes()).map_err(refused)?;
        let (prefix, place) = (prefix(path)?, Place::open(py, url, settings, threads, true)?);
        let group = py.detach(|| Group::create(Arc::clone(&place.store), &prefix, metadata));
        Ok(Self { group: group.map_err(|error| raised(&error))?, place })
    }

    #[staticmethod]
    fn restored(
        py: Python<'_>,
        url: String,
        path: &str,
        settings: BTreeMap<String, String>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        Self::open(py, url, path, settings, threads)
    }

    fn state(&self) -> PyResult<State> {
        self.place.state(self.group.prefix())
    }

    #[getter]
    fn document(&self) -> &str {
        self.group.metadata().json()
    }

    #[getter]
    fn path(&self) -> &str {
        self.group.prefix().as_str()
    }

    #[getter]
    fn shown_url(&self) -> String {
        self.place.shown()
    }

    fn children(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| self.group.children()).map_err(|error| raised(&error))
    }

    fn node(&self, py: Python<'_>, name: &str) -> PyResult<PyNode> {
        let path = match self.group.prefix().as_str() {
            "" => name.trim_matches('/').to_owned(),
            group => format!("{group}/{}", name.trim_matches('/')),
        };
        let prefix = prefix(&path).map_err(|_| PyKeyError::new_err(name.to_owned()))?;
        let store = &self.place.store;
        py.detach(|| match open_node(store, &prefix)? {
            Node::Array(metadata) => {
                let array =
                    Array::with_metadata(Arc::clone(store), &prefix, metadata, Options::new())?;
                Ok(PyNode::Array(PyArray::new(array, self.place.clone())))
            }
            Node::Group(_) => {
                let group = Group::open(Arc::clone(store), &prefix)?;
                Ok(PyNode::Group(Self { group, place: self.place.clone() }))
            }
        })
        .map_err(|error: ArrayError| match error {
            ArrayError::NotFound { .. } => PyKeyError::new_err(name.to_owned()),
            error => raised(&error),
        })
    }

    fn create_array(&self, py: Python<'_>, name: &str, document: &str) -> PyResult<PyArray> {
        let metadata = ArrayMetadata::from_json(document.as_bytes()).map_err(refused)?;
        let array = py.detach(|| self.group.create_array(name, metadata));
        Ok(PyArray::new(array.map_err(|error| raised(&error))?, self.place.clone()))
    }

    fn create_group(&self, py: Python<'_>, name: &str, document: &str) -> PyResult<Self> {
        let metadata = GroupMetadata::from_json(document.as_bytes()).map_err(refused)?;
        let group = py.detach(|| self.group.create_group(name, metadata));
        Ok(Self { group: group.map_err(|error| raised(&error))?, place: self.place.clone() })
    }

    /// Writes copies of all documents below the group into its own.
    fn consolidate(&self, py: Python<'_>) -> PyResult<Self> {
        let group = py.detach(|| self.group.consolidate()).map_err(|error| raised(&error))?;
        Ok(Self { group, place: self.place.clone() })
    }

    /// Deletes the group with all that is below it, and makes an empty one in its place.
    fn recreated(&self, py: Python<'_>, document: &str) -> PyResult<Self> {
        let metadata = GroupMetadata::from_json(document.as_bytes()).map_err(refused)?;
        let (store, prefix) = (&self.place.store, self.group.prefix());
        let group = py.detach(|| {
            delete_node(store, prefix)?;
            Group::create(Arc::clone(store), prefix, metadata)
        });
        Ok(Self { group: group.map_err(|error| raised(&error))?, place: self.place.clone() })
    }

    /// The group at a path of the same store.
    fn at(&self, py: Python<'_>, path: &str) -> PyResult<Self> {
        let prefix = prefix(path)?;
        let group = py.detach(|| Group::open(Arc::clone(&self.place.store), &prefix));
        Ok(Self { group: group.map_err(|error| raised(&error))?, place: self.place.clone() })
    }

    /// Whether writes to parts of one chunk exclude each other between processes.
    fn excludes_processes(&self, py: Python<'_>) -> PyResult<bool> {
        let (store, prefix) = (&self.place.store, self.group.prefix());
        py.detach(|| {
            let key = prefix.key("zarr.json")?;
            let has_condition = store.capabilities().conditional_put;
            Ok(has_condition || store.lock(&key)?.scope() == LockScope::AllProcesses)
        })
        .map_err(|error: ArrayError| raised(&error))
    }

    fn update_attributes(
        &self,
        py: Python<'_>,
        changes: Vec<(String, Option<String>)>,
    ) -> PyResult<Self> {
        let changes: Vec<_> =
            changes.iter().map(|(name, json)| (name.as_str(), json.as_deref())).collect();
        let group = py.detach(|| self.group.update_attributes(&changes));
        Ok(Self { group: group.map_err(|error| raised(&error))?, place: self.place.clone() })
    }
}
