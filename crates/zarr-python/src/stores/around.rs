//! The groups around a store.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use zarr_kit::array::node::METADATA_KEY;
use zarr_kit::array::store::{Place, Session, StoreError, StoreOptions, UpdatePolicy, open_url};
use zarr_kit::array::{HierarchyAround, hierarchies_around, refresh_consolidated_of};
use zarr_kit::{Prefix, Store};

use crate::conversion::error::{Done, Raised};

/// The hierarchies around a store, each with the place of the store in it. They are found and opened at
/// the first change, which costs requests.
#[derive(Default)]
pub(crate) struct Around(OnceLock<Vec<(Arc<dyn Store>, Prefix)>>);

impl Around {
    /// Brings the consolidated metadata of the groups around the store at `url` up to date, after
    /// the documents of these nodes in it changed.
    pub(crate) fn refresh(
        &self,
        store: &Arc<dyn Store>,
        url: &str,
        options: &StoreOptions,
        nodes: &BTreeSet<Prefix>,
    ) -> Done<()> {
        let policy = UpdatePolicy::RequireExclusion;
        // An archive cannot replace the documents of its own groups.
        if Place::parse(url, options)?.is_in_file() {
            let nodes: Vec<&Prefix> = nodes.iter().collect();
            refresh_consolidated_of(store, &nodes, policy)?;
        }
        for (top, prefix) in self.hierarchies(url, options)? {
            let nodes = nodes.iter().map(|node| prefix.join(node.as_str()));
            let nodes: Vec<Prefix> = nodes.collect::<Result<_, _>>()?;
            let nodes: Vec<&Prefix> = nodes.iter().collect();
            let session = Session::begin(top)?;
            refresh_consolidated_of(session.store(), &nodes, policy)?;
            session.commit()?;
        }
        Ok(())
    }

    /// The hierarchy around the store that is there without links if one is, and the place of the store
    /// in it. `None` if no hierarchy is around it from which it can be read, and for a store in a file.
    pub(crate) fn top(
        &self,
        url: &str,
        options: &StoreOptions,
    ) -> Done<Option<&(Arc<dyn Store>, Prefix)>> {
        if Place::parse(url, options)?.is_in_file() {
            return Ok(None);
        }
        let is_read = |(store, place): &&(Arc<dyn Store>, Prefix)| {
            place.key(METADATA_KEY).is_ok_and(|key| store.head(&key).is_ok())
        };
        Ok(self.hierarchies(url, options)?.iter().rev().find(is_read))
    }

    fn hierarchies(&self, url: &str, options: &StoreOptions) -> Done<&[(Arc<dyn Store>, Prefix)]> {
        if let Some(found) = self.0.get() {
            return Ok(found);
        }
        let open = |HierarchyAround { top, prefix, .. }| Ok((open_url(&top, options)?, prefix));
        let found = hierarchies_around(url, options)?.into_iter().map(open);
        let found = found.collect::<Result<Vec<_>, StoreError>>()?;
        Ok(self.0.get_or_init(|| found))
    }
}

/// Logs why the consolidated metadata of the groups around a place did not follow a change. The
/// change is done.
pub(crate) fn note(place: String, raised: Raised) {
    Python::attach(|py| {
        let error = PyErr::from(raised);
        let notes = py.import("zarr_kit._notes");
        let said = notes
            .and_then(|notes| notes.call_method1("note_around", (place, error.value(py).str()?)));
        // A handler of logs that fails does not undo the change.
        drop(said);
    });
}
