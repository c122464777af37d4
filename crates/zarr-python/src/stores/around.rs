//! The groups around a store.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use zarr_kit::array::node::METADATA_KEY;
use zarr_kit::array::store::{Place, Session, StoreError, StoreOptions, UpdatePolicy, open_url};
use zarr_kit::array::{HierarchyAround, hierarchies_around, refresh_consolidated_of};
use zarr_kit::{Prefix, Store};

use crate::conversion::error::{Done, Raised};

/// The hierarchies around a store, each with the place of the store in it.
type Hierarchies = Arc<[(Arc<dyn Store>, Prefix)]>;

/// The hierarchies around a store as the first change in a `with` block found them. Finding costs
/// requests, and blocks may change many documents. Outside of blocks each change finds them again:
/// others may have made groups around the store since.
#[derive(Default)]
pub(crate) struct Around(Mutex<Option<Hierarchies>>);

impl Around {
    /// Brings the consolidated metadata of the groups around the store at `url` up to date, after
    /// the documents of these nodes in it changed, perhaps in a block.
    pub(crate) fn refresh(
        &self,
        store: &Arc<dyn Store>,
        url: &str,
        options: &StoreOptions,
        nodes: &BTreeSet<Prefix>,
        in_block: bool,
    ) -> Done<()> {
        let policy = UpdatePolicy::RequireExclusion;
        // An archive cannot replace the documents of its own groups.
        if Place::parse(url, options)?.is_in_file() {
            let nodes: Vec<&Prefix> = nodes.iter().collect();
            refresh_consolidated_of(store, &nodes, policy)?;
        }
        let kept = if in_block { self.kept().clone() } else { None };
        let hierarchies = kept.map_or_else(|| hierarchies(url, options), Ok)?;
        if in_block {
            *self.kept() = Some(Arc::clone(&hierarchies));
        }
        for (top, prefix) in &*hierarchies {
            let nodes = nodes.iter().map(|node| prefix.join(node.as_str()));
            let nodes: Vec<Prefix> = nodes.collect::<Result<_, _>>()?;
            let nodes: Vec<&Prefix> = nodes.iter().collect();
            let session = Session::begin(top)?;
            refresh_consolidated_of(session.store(), &nodes, policy)?;
            session.commit()?;
        }
        Ok(())
    }

    /// Ends a block.
    pub(crate) fn forget(&self) {
        *self.kept() = None;
    }

    fn kept(&self) -> MutexGuard<'_, Option<Hierarchies>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The hierarchy around the store at `url` that is there without links if one is, and the place of the
/// store in it. `None` if no hierarchy is around it from which it can be read, and for a store in a file.
pub(crate) fn top(url: &str, options: &StoreOptions) -> Done<Option<(Arc<dyn Store>, Prefix)>> {
    if Place::parse(url, options)?.is_in_file() {
        return Ok(None);
    }
    let is_read = |(store, place): &&(Arc<dyn Store>, Prefix)| {
        place.key(METADATA_KEY).is_ok_and(|key| store.head(&key).is_ok())
    };
    Ok(hierarchies(url, options)?.iter().rev().find(is_read).cloned())
}

fn hierarchies(url: &str, options: &StoreOptions) -> Done<Hierarchies> {
    let open = |HierarchyAround { top, prefix, .. }| Ok((open_url(&top, options)?, prefix));
    let found = hierarchies_around(url, options)?.into_iter().map(open);
    Ok(found.collect::<Result<_, StoreError>>()?)
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
