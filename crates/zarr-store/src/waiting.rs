//! Reporting servers that do not respond, and locks that others hold.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Operation;

/// A request to a remote store that has had no response for some time, or a lock of a local store
/// that another process holds; see [`StoreOptions::on_wait`](super::StoreOptions::on_wait).
///
/// Displayed, it is one line without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Waiting {
    /// The requested operation; [`Operation::Lock`] if another process holds a lock.
    pub operation: Operation,
    /// Key or prefix concerned.
    pub key: String,
    /// The server: a host with its port, or a bucket. For a lock, the path of its file.
    pub place: String,
    /// The time without a response, retries included.
    pub waited: Duration,
    /// The time after which there are no more retries; [`Duration::MAX`] for a lock.
    pub limit: Duration,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, key, place, waited, limit } = self;
        let (waited, limit) = (waited.as_secs(), limit.as_secs());
        if *operation == Operation::Lock {
            return write!(f, "another process has held the lock {place:?} for {waited} s");
        }
        write!(f, "{place} has not answered for {waited} s, asked to {operation} {key:?}; ")?;
        write!(f, "tried again for up to {limit} s")
    }
}

/// The callback for such requests.
#[derive(Clone)]
pub(super) struct OnWait(Arc<dyn Fn(&Waiting) + Send + Sync>);

impl OnWait {
    pub(super) fn new(told: impl Fn(&Waiting) + Send + Sync + 'static) -> Self {
        Self(Arc::new(told))
    }

    pub(super) fn tell(&self, waiting: &Waiting) {
        (self.0)(waiting);
    }
}

impl fmt::Debug for OnWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnWait")
    }
}
