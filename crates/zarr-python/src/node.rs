//! A node as Python passes it.

use pyo3::prelude::*;
use zarr_kit::Prefix;

use crate::array::PyArray;
use crate::conversion::error::Done;
use crate::group::PyGroup;
use crate::stores::node_store::{NodeStore, State};

/// A node: an open one, or the place of an existing or a new one.
#[derive(FromPyObject)]
pub(crate) enum At<'py> {
    Array(PyRef<'py, PyArray>),
    Group(PyRef<'py, PyGroup>),
    State(State),
    /// A path below a group.
    Below(PyRef<'py, PyGroup>, String),
}

impl At<'_> {
    /// Its store, and the path in it. With `create`, a missing folder is made.
    pub(crate) fn place(self, py: Python<'_>, create: bool) -> Done<(NodeStore, Prefix)> {
        let (place, prefix) = match self {
            At::Array(array) => (array.place.clone(), array.array().prefix().clone()),
            At::Group(group) => (group.place.clone(), group.prefix().clone()),
            At::Below(group, path) => {
                let path = path.trim_matches('/');
                let prefix = group.prefix();
                let prefix = if path.is_empty() { prefix.clone() } else { prefix.join(path)? };
                (group.place.clone(), prefix)
            }
            At::State(state) => NodeStore::open(py, state, create)?,
        };
        if create && let Err(refused) = place.check_writable() {
            place.abandon();
            return Err(refused.into());
        }
        Ok((place, prefix))
    }
}
