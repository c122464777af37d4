//! The hold of a run on its marker.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zarr_store::{Key, LockGuard, LockScope, Operation, Store, StoreError, StoreExt as _};

/// Puts on a condition, of which the first of so many reads the marker: a run that was overtaken stops
/// after so many, though none of them replaces anything.
const PUTS_PER_LOOK: u64 = 64;

/// The run of a marker, which may change objects as long as the marker has its text.
///
/// The marker is put, replaced and removed by the caller, under its lock alone where the store has
/// shared locks. See the [crate](crate) for what each store promises.
#[derive(Debug)]
pub struct Hold {
    store: Arc<dyn Store>,
    marker: Key,
    texts: Vec<Vec<u8>>,
    pub(crate) means: Means,
    puts: AtomicU64,
    puts_per_look: u64,
}

/// What keeps a run that was overtaken from changing objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    /// The marker's lock, shared.
    Lock,
    /// The conditions of puts.
    Conditions,
    /// Nobody else sees the store before its session is committed.
    Session,
    /// A look before each change, which another process may follow.
    Look,
}

impl Hold {
    /// The run that holds `marker` in `store` while it has one of these texts: one for each step of the
    /// run, all with its number.
    ///
    /// # Errors
    /// Errors of locking: the store is asked for a shared lock.
    pub fn new(
        store: &Arc<dyn Store>,
        marker: Key,
        texts: Vec<Vec<u8>>,
    ) -> Result<Arc<Self>, StoreError> {
        Self::with_looks(store, marker, texts, PUTS_PER_LOOK)
    }

    /// As [`new`](Self::new), for work with few puts: the marker is read after each one on a condition.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn looking_after_each_put(
        store: &Arc<dyn Store>,
        marker: Key,
        texts: Vec<Vec<u8>>,
    ) -> Result<Arc<Self>, StoreError> {
        Self::with_looks(store, marker, texts, 1)
    }

    fn with_looks(
        store: &Arc<dyn Store>,
        marker: Key,
        texts: Vec<Vec<u8>>,
        puts_per_look: u64,
    ) -> Result<Arc<Self>, StoreError> {
        let can = store.capabilities();
        let means = if can.uncommitted {
            Means::Session
        } else if excludes(store.lock_shared(&marker)?) {
            Means::Lock
        } else if can.conditional_put {
            Means::Conditions
        } else {
            Means::Look
        };
        let store = Arc::clone(store);
        Ok(Arc::new(Self { store, marker, texts, means, puts: AtomicU64::new(0), puts_per_look }))
    }

    /// Whether no object of an overtaken run can come after another run has taken over. Otherwise an
    /// object that is found may be one, and has to be compared before it counts.
    #[must_use]
    pub fn excludes_late_puts(&self) -> bool {
        matches!(self.means, Means::Lock | Means::Session)
    }

    /// Refuses to change `name`, a key or prefix, unless the marker is this run's. Another process may
    /// take over at once after it: use it before reads that depend on objects of the run.
    ///
    /// # Errors
    /// [`StoreError::Overtaken`], or errors of reading the marker.
    pub fn check(&self, name: &str) -> Result<(), StoreError> {
        let found = self.store.read(&self.marker)?;
        if found.is_some_and(|found| self.texts.contains(&found)) {
            return Ok(());
        }
        zarr_store::reached!("journal: a run was overtaken");
        Err(StoreError::Overtaken { key: name.to_owned(), marker: self.marker.to_string() })
    }

    /// Changes an object by `work`, which nobody who takes over interrupts if the store has locks.
    pub(crate) fn change<T>(
        &self,
        name: &str,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _shared = match self.means {
            Means::Lock if zarr_store::step!("journal: shared lock of the marker") => {
                self.store.lock_shared(&self.marker)?
            }
            _ => None,
        };
        if self.means != Means::Session
            && zarr_store::step!("journal: look at the marker before a change")
        {
            self.check(name)?;
        }
        work()
    }

    /// Looks at the marker once in a while.
    pub(crate) fn look_sometimes(&self, name: &str) -> Result<(), StoreError> {
        match self.puts.fetch_add(1, Ordering::Relaxed).checked_rem(self.puts_per_look) {
            Some(0) if zarr_store::step!("journal: look after puts on a condition") => {
                self.check(name)
            }
            _ => Ok(()),
        }
    }

    /// The error for an object that other writers change again and again.
    pub(crate) fn contention(key: &Key, attempts: u32) -> StoreError {
        StoreError::Contention { key: key.to_string(), attempts }
    }

    /// The error of a put on no condition that was refused.
    pub(crate) fn unwritten(key: &Key) -> StoreError {
        StoreError::unsupported(Operation::Put, key, "puts without a condition")
    }
}

fn excludes(shared: Option<LockGuard>) -> bool {
    shared.is_some_and(|shared| shared.scope() == LockScope::AllProcesses)
}
