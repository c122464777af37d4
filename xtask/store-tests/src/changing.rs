//! A store that changes while it is used.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use zarr_store::{
    AsyncStore, Key, Layer, Listing, ObjectMeta, Operation, Prefix, Store, StoreError,
    failed_listing,
};

/// A change of a store.
pub type Change = fn(&Arc<dyn Store>);

/// Changes the store before the operation of a number, once.
pub struct Changing {
    inner: Arc<dyn Store>,
    left: Mutex<(u64, Option<Change>)>,
    lists: bool,
    describes: bool,
}

impl Changing {
    /// Before the first operation if the number is 1.
    pub fn at(inner: &Arc<dyn Store>, number: u64, change: Change) -> Self {
        let left = Mutex::new((number, Some(change)));
        Self { inner: Arc::clone(inner), left, lists: true, describes: true }
    }

    /// Whether it can be listed, and whether its listings describe the objects.
    #[must_use]
    pub fn listing(self, lists: bool, describes: bool) -> Self {
        Self { lists, describes, ..self }
    }

    fn step(&self) {
        let change = {
            let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
            left.0 = left.0.saturating_sub(1);
            if left.0 == 0 { left.1.take() } else { None }
        };
        if let Some(change) = change {
            change(&self.inner);
        }
    }

    /// Whether the change was made.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).1.is_none()
    }
}

impl fmt::Debug for Changing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Changing")
    }
}

impl Layer for Changing {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn pass<T>(
        &self,
        _: Operation,
        _: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.step();
        work()
    }

    fn pass_listing<'s, T: Send + 's>(
        &'s self,
        prefix: &Prefix,
        list: impl FnOnce() -> Listing<'s, T>,
    ) -> Listing<'s, T> {
        self.step();
        match self.lists {
            true => list(),
            false => failed_listing(StoreError::unsupported(Operation::List, prefix, "listing")),
        }
    }

    fn list_described(&self, prefix: &Prefix) -> Option<Listing<'_, (Key, ObjectMeta)>> {
        let listed = (*self.inner).list_described(prefix).filter(|_| self.describes)?;
        Some(self.pass_listing(prefix, || listed))
    }

    fn around(&self, _: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        None
    }

    fn around_reads(&self, _: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        None
    }
}
