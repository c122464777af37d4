//! The store through which a copy reads its source: it passes on one state of it.

use std::sync::Arc;

use zarr_array::Hierarchy;
use zarr_store::{
    AsyncStore, GetInto, Key, Layer, ObjectMeta, Operation, ReadRange, Store, StoreError,
};

use crate::CopyOptions;
use crate::endpoint::Endpoint;
use crate::error::TransferError;
use crate::source_state::SourceState;

/// A source with its state, and the options of its copy.
pub(crate) struct OneState {
    store: Hierarchy,
    state: Arc<SourceState>,
    pub(crate) options: CopyOptions,
}

impl OneState {
    pub(crate) fn of(from: Endpoint<'_>, options: &CopyOptions) -> Result<Self, TransferError> {
        let state = Arc::new(SourceState::of(from.store, from.prefix, options.memory)?);
        let store: Arc<dyn Store> = Arc::new(SourceStore(Arc::clone(&state)));
        // What an earlier run stored may be of another state, which it was killed before noticing.
        let compares = !state.compares_at_once() && (options.resume || options.part.is_some());
        let options = options.clone().verify(options.verify || compares);
        Ok(Self { store: from.hierarchy().with_store(store), state, options })
    }

    /// The source, of which only this state is read.
    pub(crate) fn endpoint<'a>(&'a self, from: Endpoint<'a>) -> Endpoint<'a> {
        from.of_state(&self.store, &self.state)
    }
}

/// A source from which only one state is read.
#[derive(Debug)]
pub(crate) struct SourceStore(Arc<SourceState>);

#[cfg(test)]
impl SourceStore {
    pub(crate) fn new(state: Arc<SourceState>) -> Self {
        Self(state)
    }

    pub(crate) fn state(&self) -> &SourceState {
        &self.0
    }
}

impl Layer for SourceStore {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &**self.0.store()
    }

    /// A source is not written.
    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    /// Copies read on threads.
    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }

    fn get(
        &self,
        key: &Key,
        range: ReadRange<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ObjectMeta>, StoreError> {
        let found = self.inner().get(key, range, out)?;
        self.0.check(Operation::Get, key, found.as_ref())?;
        Ok(found)
    }

    fn get_into(&self, key: &Key, out: &mut [u8]) -> Result<GetInto, StoreError> {
        let read = self.inner().get_into(key, out)?;
        match &read {
            GetInto::Unsupported => {}
            GetInto::Missing => self.0.check(Operation::Get, key, None)?,
            GetInto::Read(meta) => self.0.check(Operation::Get, key, Some(meta))?,
        }
        Ok(read)
    }

    fn head(&self, key: &Key) -> Result<Option<ObjectMeta>, StoreError> {
        let found = self.inner().head(key)?;
        self.0.check(Operation::Head, key, found.as_ref())?;
        Ok(found)
    }
}
