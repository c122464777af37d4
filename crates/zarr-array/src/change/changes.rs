//! Changes that take effect together.

use std::error::Error;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::store::{AsyncStore, FullMessage, Layer, Session, Store, StoreError};

/// Changes of a store that take effect together when they are [committed](Changes::commit), if the
/// store has sessions, and the reason why consolidated metadata could not follow them.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use zarr_array::store::{LocalStore, Prefix, Store};
/// use zarr_array::{Changes, Group};
/// use zarr_metadata::GroupMetadata;
///
/// let folder = tempfile::tempdir()?;
/// let store: Arc<dyn Store> = Arc::new(LocalStore::open(folder.path())?);
/// let changes = Changes::begin(&store)?;
/// Group::create(changes.store().clone(), &Prefix::root(), GroupMetadata::new())?;
/// assert_eq!(changes.commit()?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "what is changed in a session is lost unless it is committed"]
pub struct Changes {
    session: Session,
    store: Arc<dyn Store>,
    outdated: Arc<OnceLock<String>>,
}

impl Changes {
    /// Begins to change a store, in a session if it has sessions.
    ///
    /// # Errors
    /// As for [`Session::begin`].
    pub fn begin(store: &Arc<dyn Store>) -> Result<Self, StoreError> {
        Ok(Self::of(Session::begin(store)?))
    }

    /// The changes of a session that was begun.
    pub fn of(session: Session) -> Self {
        let (inner, outdated) = (Arc::clone(session.store()), Arc::default());
        let store = Arc::new(Noting { inner, outdated: Arc::clone(&outdated) });
        Self { session, store, outdated }
    }

    /// The store as the session sees and changes it.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Lets the changes take effect. Returns why the consolidated metadata of a group above them is
    /// out of date, if it could not be updated: a folder or a server above may not be writable, and
    /// an entry of an archive cannot be replaced.
    ///
    /// # Errors
    /// None of them has then taken effect, if the store has sessions.
    pub fn commit(self) -> Result<Option<String>, StoreError> {
        self.session.commit()?;
        Ok(self.outdated.get().cloned())
    }
}

/// Keeps the first reason why consolidated metadata is out of date.
struct Noting {
    inner: Arc<dyn Store>,
    outdated: Arc<OnceLock<String>>,
}

impl fmt::Debug for Noting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Layer for Noting {
    type Inner = dyn Store;

    fn inner(&self) -> &Self::Inner {
        &*self.inner
    }

    fn around(&self, inner: Arc<dyn Store>) -> Option<Arc<dyn Store>> {
        Some(Arc::new(Self { inner, outdated: Arc::clone(&self.outdated) }))
    }

    fn around_reads(&self, reads: Arc<dyn AsyncStore>) -> Option<Arc<dyn AsyncStore>> {
        Some(reads)
    }

    fn out_of_date(&self, cause: &(dyn Error + 'static)) {
        self.outdated.get_or_init(|| FullMessage(cause).to_string());
    }
}
