//! Sessions, for stores that have them.

use std::sync::Arc;

use super::operations::{found, key, put, read};
use crate::{Session, Store, StoreError};

/// Tests that puts of a session take effect when it is committed, and not at all if it is dropped.
/// Does nothing for a store without sessions. The object `sessions/c/0` remains if the store cannot
/// delete.
///
/// # Panics
/// If the store behaves differently.
pub fn sessions(store: &Arc<dyn Store>) {
    let a = key("sessions/c/0");
    let begin = || found("session", store.session());
    let Some(dropped) = begin() else { return };
    put(&**dropped.store(), &a, b"1");
    assert_eq!(read(&**dropped.store(), &a).as_deref(), Some(&b"1"[..]), "what a session has put");
    assert_eq!(read(&**store, &a), None, "what a session has put, before it is committed");
    drop(dropped);
    assert_eq!(read(&**store, &a), None, "what a session has put that was dropped");
    let session = found("session", Session::begin(store));
    put(&**session.store(), &a, b"2");
    found("commit", session.commit());
    assert_eq!(read(&**store, &a).as_deref(), Some(&b"2"[..]), "what a session has committed");
    let session = found("session", Session::begin(store));
    match session.store().delete(&a) {
        // An archive may be added to only.
        Err(StoreError::Unsupported { .. }) => return,
        deleted => found("delete in a session", deleted),
    }
    found("commit", session.commit());
    assert_eq!(read(&**store, &a), None, "what a session has deleted");
}
