//! The run of a rearrangement, which changes the arrays as long as the marker is its own.

use std::sync::Arc;

use zarr_array::store::{Key, LockScope, Prefix, Store, StoreError, StoreExt as _};
use zarr_array::unfinished::{Hold, REARRANGE_MARKER as MARKER, replace_marker, run_number};
use zarr_array::{Array, ArrayError};
use zarr_metadata::ChunkKeyEncoding;

use super::array_marker::{ArrayMarker, Step};
use super::group::GroupMarker;
use crate::error::rearrange::{UNFINISHED, refused};

/// A run of the marker at an array or group, which may have slept while another run settled its work.
///
/// Where the locks of the documents exclude other processes, nobody takes over while they are held: the
/// run looks at the marker after each time it takes them. Elsewhere it looks before each change.
pub(super) struct Run {
    store: Arc<dyn Store>,
    prefix: Prefix,
    marker: Key,
    number: String,
    /// Its marker at each step.
    texts: Vec<Vec<u8>>,
    /// If no lock excludes other processes.
    hold: Option<Arc<Hold>>,
}

impl Run {
    /// A run on one array. No document may be locked.
    pub(super) fn of_array(array: &Array, home: &ChunkKeyEncoding) -> Result<Self, ArrayError> {
        let text = |run: &str| {
            [Step::Leaving, Step::Returning]
                .map(|step| ArrayMarker::alone(home, step).text(Some(run)))
        };
        Self::new(array.store(), array.prefix(), |run| text(run).into())
    }

    /// A run on the arrays of a group. No document may be locked.
    pub(super) fn of_group(store: &Arc<dyn Store>, group: &Prefix) -> Result<Self, ArrayError> {
        Self::new(store, group, |run| GroupMarker::ALL.map(|step| step.text(Some(run))).into())
    }

    fn new(
        store: &Arc<dyn Store>,
        prefix: &Prefix,
        texts: impl FnOnce(&str) -> Vec<String>,
    ) -> Result<Self, ArrayError> {
        let (marker, number) = (prefix.key(MARKER)?, run_number());
        let texts: Vec<_> = texts(&number).into_iter().map(String::into_bytes).collect();
        let hold = match store.lock(&marker)?.scope() {
            LockScope::AllProcesses => None,
            _ => Some(Hold::looking_after_each_put(store, marker.clone(), texts.clone())?),
        };
        Ok(Self { store: Arc::clone(store), prefix: prefix.clone(), marker, number, texts, hold })
    }

    /// Puts the first marker.
    pub(super) fn begin(
        &self,
        text: impl FnOnce(Option<&str>) -> String,
    ) -> Result<(), ArrayError> {
        match self.replace(None, text)? {
            true => Ok(()),
            false => Err(refused(&self.prefix, UNFINISHED)),
        }
    }

    /// Makes the marker that is there, of an interrupted run, this run's.
    pub(super) fn take_over(
        &self,
        text: impl FnOnce(Option<&str>) -> String,
    ) -> Result<(), ArrayError> {
        let before = self.store.read(&self.marker)?;
        match before.is_some() && self.replace(before.as_deref(), text)? {
            true => Ok(()),
            false => Err(self.overtaken()),
        }
    }

    /// Puts the marker of the next step.
    pub(super) fn step(&self, text: impl FnOnce(Option<&str>) -> String) -> Result<(), ArrayError> {
        let before = self.store.read(&self.marker)?;
        let is_own = before.as_ref().is_some_and(|before| self.texts.contains(before));
        match is_own && self.replace(before.as_deref(), text)? {
            true => Ok(()),
            false => Err(self.overtaken()),
        }
    }

    fn replace(
        &self,
        before: Option<&[u8]>,
        text: impl FnOnce(Option<&str>) -> String,
    ) -> Result<bool, ArrayError> {
        let text = text(Some(&self.number));
        Ok(replace_marker(&*self.store, &self.marker, before, text.as_bytes())?)
    }

    /// Whether the work is still to be done; false if another process has completed it.
    ///
    /// # Errors
    /// [`StoreError::Overtaken`] if another process works on it, or on later work.
    pub(super) fn goes_on(&self) -> Result<bool, ArrayError> {
        match self.store.read(&self.marker)? {
            None => Ok(false),
            Some(text) if self.texts.contains(&text) => Ok(true),
            Some(_) => Err(self.overtaken()),
        }
    }

    /// Refuses to put a document if another process has taken over; under a lock nobody has.
    pub(super) fn check(&self) -> Result<(), ArrayError> {
        match &self.hold {
            Some(hold) => Ok(hold.check(self.marker.as_str())?),
            None => Ok(()),
        }
    }

    /// Removes the marker.
    pub(super) fn end(&self) -> Result<(), ArrayError> {
        if self.goes_on()? {
            self.store.delete(&self.marker)?;
        }
        Ok(())
    }

    /// The array with objects that only this run changes.
    pub(super) fn held(&self, array: &Array) -> Array {
        match &self.hold {
            Some(hold) => array.clone().with_store(hold.store(array.store())),
            None => array.clone(),
        }
    }

    /// Whether this is the marker of the run.
    pub(super) fn is_at(&self, marker: &Key) -> bool {
        self.marker == *marker
    }

    fn overtaken(&self) -> ArrayError {
        zarr_array::store::reached!("rearrange: a run was overtaken");
        let marker = self.marker.to_string();
        StoreError::Overtaken { key: marker.clone(), marker }.into()
    }
}
