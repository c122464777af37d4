//! Puts that take effect together.

use std::fmt;
use std::sync::Arc;

use crate::{Store, StoreError};

/// Puts into a store that take effect together when the session is [committed](Session::commit). If
/// it is dropped before, for example after an error, none of them takes effect.
///
/// Reads of the session's [store](Session::store) see its puts, and otherwise the state when it
/// began. Other readers see the last commit. Threads may share a session.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_store::{Key, MemoryStore, Session, Store, StoreError, StoreExt};
///
/// fn put_both(store: &Arc<dyn Store>) -> Result<(), StoreError> {
///     let session = Session::begin(store)?;
///     session.store().put(&Key::new("a")?, b"1")?;
///     session.store().put(&Key::new("b")?, b"2")?;
///     session.commit()
/// }
///
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// put_both(&store)?;
/// assert_eq!(store.read(&Key::new("b")?)?.as_deref(), Some(&b"2"[..]));
/// # Ok::<(), StoreError>(())
/// ```
#[must_use = "what is put in a session is lost unless it is committed"]
pub struct Session {
    store: Arc<dyn Store>,
    commit: Commit,
}

type Commit = Box<dyn FnOnce() -> Result<(), StoreError> + Send + Sync>;

impl Session {
    /// Begins a session of `store`. In a store without sessions each put takes effect by itself, and
    /// committing does nothing.
    ///
    /// # Errors
    /// As for [`Store::session`].
    pub fn begin(store: &Arc<dyn Store>) -> Result<Self, StoreError> {
        let session = store.session()?;
        Ok(session.unwrap_or_else(|| Self::new(Arc::clone(store), || Ok(()))))
    }

    /// A session with reads and puts that go to `store`, for implementations of [`Store::session`].
    ///
    /// `commit` lets all puts take effect, or none. A session that is dropped drops it uncalled.
    pub fn new(
        store: Arc<dyn Store>,
        commit: impl FnOnce() -> Result<(), StoreError> + Send + Sync + 'static,
    ) -> Self {
        Self { store, commit: Box::new(commit) }
    }

    /// The same session for a store that wraps another: `wrap` is given the session's store, and
    /// `None` ends the session.
    pub fn wrapped(
        self,
        wrap: impl FnOnce(Arc<dyn Store>) -> Option<Arc<dyn Store>>,
    ) -> Option<Self> {
        let commit = self.commit;
        wrap(self.store).map(|store| Self { store, commit })
    }

    /// The store as the session sees and changes it.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Lets all puts take effect at once. Afterwards the session's store can still be read.
    ///
    /// # Errors
    /// None of them has then taken effect.
    pub fn commit(self) -> Result<(), StoreError> {
        (self.commit)()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("store", &self.store).finish_non_exhaustive()
    }
}
