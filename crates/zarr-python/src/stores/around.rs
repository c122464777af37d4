//! The groups around a store.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use zarr_kit::array::store::{Place, Session, StoreOptions, UpdatePolicy};
use zarr_kit::array::{HierarchyAround, hierarchies_around, refresh_consolidated_of};
use zarr_kit::{Prefix, Store};

use crate::conversion::error::Done;
use crate::stores::node_store::{NodeStore, options};

/// The hierarchies around a store, found at its first change: finding them costs requests.
#[derive(Default)]
pub(crate) struct Around(OnceLock<Vec<HierarchyAround>>);

impl Around {
    /// Brings the consolidated metadata of the groups around the store up to date, after the
    /// documents of these nodes in it changed. The change is done: a failure is logged.
    pub(crate) fn refresh(&self, place: &NodeStore, nodes: &BTreeSet<Prefix>) {
        if nodes.is_empty() || place.is_memory() {
            return;
        }
        if let Err(raised) = self.try_refresh(place, nodes) {
            Python::attach(|py| {
                let error = PyErr::from(raised);
                let notes = py.import("zarr_kit._notes");
                let said = notes.and_then(|notes| {
                    notes.call_method1("note_around", (place.shown(), error.value(py).str()?))
                });
                // A handler of logs that fails does not undo the change.
                drop(said);
            });
        }
    }

    fn try_refresh(&self, place: &NodeStore, nodes: &BTreeSet<Prefix>) -> Done<()> {
        let (options, _) = options(&place.settings)?;
        let policy = UpdatePolicy::RequireExclusion;
        // An archive cannot replace the documents of its own groups.
        if Place::parse(&place.url, &options)?.is_in_file() {
            let nodes: Vec<&Prefix> = nodes.iter().collect();
            refresh_consolidated_of(&place.store, &nodes, policy)?;
        }
        for HierarchyAround { top, prefix, .. } in self.hierarchies(&place.url, &options)? {
            let nodes = nodes.iter().map(|node| prefix.join(node.as_str()));
            let nodes: Vec<Prefix> = nodes.collect::<Result<_, _>>()?;
            let nodes: Vec<&Prefix> = nodes.iter().collect();
            let top: Arc<dyn Store> = Place::parse(top, &options)?.open(&options)?;
            let session = Session::begin(&top)?;
            refresh_consolidated_of(session.store(), &nodes, policy)?;
            session.commit()?;
        }
        Ok(())
    }

    fn hierarchies(&self, url: &str, options: &StoreOptions) -> Done<&[HierarchyAround]> {
        if let Some(found) = self.0.get() {
            return Ok(found);
        }
        let found = hierarchies_around(url, options)?;
        Ok(self.0.get_or_init(|| found))
    }
}
