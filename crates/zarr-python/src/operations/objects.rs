//! The objects of a store, for programs that read Zarr by themselves.

use std::ops::Range;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarr_kit::array::store::{DirEntry, Key, Links, ReadRange, StoreError};
use zarr_kit::references::export;
use zarr_kit::{Prefix, Store as _};

use crate::conversion::error::Done;
use crate::node::At;
use crate::process::signals::Signals;
use crate::stores::node_store::{NodeStore, State};

/// The documents and chunks below a node.
#[pyclass(frozen, name = "Objects", module = "zarr_kit._native")]
pub(crate) struct PyObjects {
    place: NodeStore,
    prefix: Prefix,
}

#[pymethods]
impl PyObjects {
    #[new]
    fn new(py: Python<'_>, state: State) -> Done<Self> {
        let (place, prefix) = NodeStore::open(py, state, false)?;
        Ok(Self { place, prefix })
    }

    /// The place without secrets.
    #[getter]
    fn shown(&self) -> String {
        self.place.shown_node(&self.prefix)
    }

    /// The data that another process needs to open it.
    fn state(&self, py: Python<'_>) -> PyResult<State> {
        self.place.state(py, &self.prefix)
    }

    /// The bytes of an object, all, from `start` to `end`, or the last `suffix`; `None` if there is none.
    /// Ranges end with the object.
    fn get<'py>(
        &self,
        py: Python<'py>,
        key: &str,
        range: Option<(u64, u64)>,
        suffix: Option<u64>,
    ) -> Done<Option<Bound<'py, PyBytes>>> {
        let key = self.key(key)?;
        let found = py.detach(|| -> Result<_, StoreError> {
            let mut out = Vec::new();
            let size = match (range, suffix) {
                (None, None) => None,
                _ => match self.place.store.head(&key)? {
                    None => return Ok(None),
                    Some(meta) => Some(meta.size),
                },
            };
            let size = size.unwrap_or(u64::MAX);
            let part = |range: Range<u64>| range.start.min(size)..range.end.min(size);
            let ranges = range.map(|(start, end)| part(start..end.max(start)));
            let range = match (&ranges, suffix) {
                (Some(range), _) => ReadRange::Ranges(std::slice::from_ref(range)),
                (None, Some(suffix)) => ReadRange::Suffix(suffix.min(size)),
                (None, None) => ReadRange::All,
            };
            Ok(self.place.store.get(&key, range, &mut out)?.map(|_| out))
        })?;
        Ok(found.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// The size of an object in bytes; `None` if there is none.
    fn size(&self, py: Python<'_>, key: &str) -> Done<Option<u64>> {
        let key = self.key(key)?;
        Ok(py.detach(|| self.place.store.head(&key))?.map(|meta| meta.size))
    }

    /// The keys of all objects below a prefix.
    fn keys(&self, py: Python<'_>, prefix: &str) -> Done<Vec<String>> {
        let prefix = self.below(prefix)?;
        py.detach(|| {
            let keys = self.place.store.list(&prefix, Links::Follow);
            let start = self.prefix.key_start();
            let own = |key: Key| key.as_str().get(start..).unwrap_or_default().to_owned();
            keys.map(|key| Ok(own(key?))).collect()
        })
    }

    /// The names directly below a prefix.
    fn children(&self, py: Python<'_>, prefix: &str) -> Done<Vec<String>> {
        let prefix = self.below(prefix)?;
        py.detach(|| {
            let entries = self.place.store.list_dir(&prefix);
            let name = |entry: Result<DirEntry, StoreError>| {
                Ok(match entry? {
                    DirEntry::Object(key) => key.name().to_owned(),
                    DirEntry::Prefix(prefix) => {
                        prefix.segments().last().unwrap_or_default().to_owned()
                    }
                })
            };
            entries.map(name).collect()
        })
    }
}

impl PyObjects {
    fn key(&self, key: &str) -> Done<Key> {
        Ok(self.prefix.key(key)?)
    }

    fn below(&self, prefix: &str) -> Done<Prefix> {
        match prefix.trim_matches('/') {
            "" => Ok(self.prefix.clone()),
            prefix => Ok(self.prefix.join(prefix)?),
        }
    }
}

/// The file of references to the chunks of a node, as JSON.
#[pyfunction]
pub(crate) fn references(py: Python<'_>, node: At<'_>) -> Done<String> {
    let (place, prefix) = node.place(py, false)?;
    let done =
        py.detach(|| Signals::during(|signals| export(&*signals.guard(&place.reading()), &prefix)));
    place.named(&prefix, done.map(|exported| exported.json))
}

/// The bytes of all objects below a node.
#[pyfunction]
pub(crate) fn stored_bytes(py: Python<'_>, node: At<'_>) -> Done<u64> {
    let (place, prefix) = node.place(py, false)?;
    let total = |signals: &Arc<Signals>| -> Result<u64, StoreError> {
        let store = signals.guard(&place.reading());
        if let Some(mut listed) = store.list_described(&prefix) {
            return listed.try_fold(0, |sum: u64, found| Ok(sum.saturating_add(found?.1.size)));
        }
        let mut keys = store.list(&prefix, Links::Follow);
        keys.try_fold(0, |sum: u64, key| {
            let found = store.head(&key?)?;
            Ok(sum.saturating_add(found.map_or(0, |found| found.size)))
        })
    };
    place.named(&prefix, py.detach(|| Signals::during(total)))
}
