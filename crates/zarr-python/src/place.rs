//! The place of a node: the URL and the settings of a store, and a path in it.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarr_kit::array::store::{Prefix, Store, StoreOptions, open_url, shown_url};

use crate::error::raised_by_store;

/// The arguments with which a node was opened, so that another process can open it again.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) url: String,
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) threads: Option<NonZeroUsize>,
    pub(crate) store: Arc<dyn Store>,
}

/// The pickled form of a place.
pub(crate) type State = (String, String, BTreeMap<String, String>, Option<usize>);

impl Place {
    pub(crate) fn open(
        py: Python<'_>,
        url: String,
        settings: BTreeMap<String, String>,
        threads: Option<usize>,
        create: bool,
    ) -> PyResult<Self> {
        let threads = threads
            .map(|count| {
                NonZeroUsize::new(count)
                    .ok_or_else(|| PyValueError::new_err("threads: at least 1, or None"))
            })
            .transpose()?;
        let mut options = StoreOptions::new().create(create);
        for (name, value) in &settings {
            options = options.setting(name, value);
        }
        let store = py.detach(|| open_url(&url, &options)).map_err(|e| raised_by_store(&e))?;
        Ok(Self { url, settings, threads, store })
    }

    /// The URL without secrets.
    pub(crate) fn shown(&self) -> String {
        shown_url(&self.url)
    }

    /// The state that another process needs to open the node at this path.
    pub(crate) fn state(&self, path: &Prefix) -> PyResult<State> {
        if self.url.starts_with("memory:") {
            return Err(PyValueError::new_err(
                "a store in this process's memory cannot be sent to another",
            ));
        }
        let threads = self.threads.map(NonZeroUsize::get);
        Ok((self.url.clone(), path.as_str().to_owned(), self.settings.clone(), threads))
    }
}

/// A path in a store as Python's users write it; slashes at its ends are ignored.
pub(crate) fn prefix(path: &str) -> PyResult<Prefix> {
    Prefix::new(path.trim_matches('/')).map_err(|error| PyValueError::new_err(error.to_string()))
}
