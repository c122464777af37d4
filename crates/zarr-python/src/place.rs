//! The place of a node: the URL and the settings of a store, and a path in it.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarr_kit::array::UnlistedStore;
use zarr_kit::array::store::{StoreOptions, archive_of, local_path, shown_url};
use zarr_kit::join::{self, OpenOptions, References};
use zarr_kit::{Prefix, Store};

use crate::error::Done;

/// The setting that allows virtual joins to name members outside of their folders.
const OUTSIDE_MEMBERS: &str = "outside_members";

/// The arguments with which a node was opened, so that another process can open it again.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) url: String,
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) threads: Option<NonZeroUsize>,
    pub(crate) store: Arc<dyn Store>,
}

/// The parts of a place that Python pickles: URL, path, settings, threads.
pub(crate) type State = (String, String, BTreeMap<String, String>, Option<usize>);

impl Place {
    /// Opens the store of a node. With `create`, a missing folder is made.
    pub(crate) fn open(py: Python<'_>, state: State, create: bool) -> Done<(Self, Prefix)> {
        let (url, path, settings, count) = state;
        let (prefix, threads) = (prefix(&path)?, threads(count)?);
        let mut options = StoreOptions::new().create(create);
        let mut references = References::Below;
        for (name, value) in &settings {
            match (name.as_str(), value.to_ascii_lowercase().as_str()) {
                (OUTSIDE_MEMBERS, "true") => references = References::Anywhere,
                (OUTSIDE_MEMBERS, "false") => {}
                (OUTSIDE_MEMBERS, _) => {
                    let message = format!("{OUTSIDE_MEMBERS}: True or False");
                    return Err(PyValueError::new_err(message).into());
                }
                (name, _) => options = options.setting(name, value),
            }
        }
        let options = OpenOptions::new().store(options).references(references);
        let store = py.detach(|| join::open_store(&url, &options))?;
        let is_http = url.starts_with("http://") || url.starts_with("https://");
        let store: Arc<dyn Store> = match is_http {
            // Most servers do not list: nodes are then those of the consolidated metadata.
            true => Arc::new(UnlistedStore::new(store, || ())),
            false => store,
        };
        Ok((Self { url, settings, threads, store }, prefix))
    }

    /// The URL without secrets.
    pub(crate) fn shown(&self) -> String {
        shown_url(&self.url)
    }

    /// Whether the store knows the size of an object without a request.
    pub(crate) fn is_quick(&self) -> bool {
        let is_archive = archive_of(&self.url).is_some() && !self.url.contains("://");
        let is_local = local_path(&self.url).is_some() && !join::is_virtual_join(&self.url);
        self.is_memory() || is_archive || is_local
    }

    /// Whether the other place is in the same store.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.store, &other.store)
            || (!self.is_memory() && self.url == other.url && self.settings == other.settings)
    }

    fn is_memory(&self) -> bool {
        self.url.starts_with("memory:")
    }

    /// What another process needs to open the node at this path.
    pub(crate) fn state(&self, path: &Prefix) -> PyResult<State> {
        if self.is_memory() {
            return Err(PyValueError::new_err(
                "a store in this process's memory cannot be sent to another",
            ));
        }
        let threads = self.threads.map(NonZeroUsize::get);
        Ok((self.url.clone(), path.as_str().to_owned(), self.settings.clone(), threads))
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

/// What a handle tells about its node: the document, its path, and the URL without secrets.
pub(crate) type Described = (String, String, String);

/// Changes of attributes: names with JSON, or with `None` for those to remove.
pub(crate) type Changes = Vec<(String, Option<String>)>;

pub(crate) fn borrowed(changes: &Changes) -> Vec<(&str, Option<&str>)> {
    changes.iter().map(|(name, json)| (name.as_str(), json.as_deref())).collect()
}
