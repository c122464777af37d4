//! Markers change on the condition of what was there.

use zarr_store::{
    Key, LockGuard, LockScope, PutOutcome, ReadRange, Store, StoreError, StoreExt as _,
};

/// Puts a marker in place of `before`, which is `None` where there is none and empty for an object that
/// is [too long](crate::read_marker) for a marker. The caller has the lock of the marker. Where only
/// conditions exclude others, the version of `before` is one.
///
/// Returns false if another object is there, or none: nothing is then put.
///
/// # Errors
/// Errors of the store.
pub fn replace_marker(
    store: &dyn Store,
    key: &Key,
    before: Option<&[u8]>,
    marker: &[u8],
) -> Result<bool, StoreError> {
    let mut there = Vec::new();
    let meta = store.get(key, ReadRange::All, &mut there)?;
    let found = meta.as_ref().map(|_| there.as_slice());
    let is_compared = zarr_store::step!("marker: comparison with what was there");
    if is_compared && found != before && before.is_none_or(|before| !before.is_empty()) {
        return Ok(false);
    }
    let version = meta.and_then(|meta| meta.version);
    let can =
        store.capabilities().conditional_put && zarr_store::step!("marker: condition of the put");
    if !can || (before.is_some() && version.is_none()) {
        store.put(key, marker)?;
        return Ok(true);
    }
    let put = store.put_if(key, marker, version.as_ref())?;
    Ok(put == PutOutcome::Written)
}

/// Ends the work of a marker, if it is still there: under a lock that excludes all others, it is
/// removed. Where only conditions do, it becomes `ended`, because no server removes on a condition: a
/// removal that is late would remove the marker of another run.
///
/// `lock` is that of the marker. Returns false if another marker is there, or none: nothing is then
/// changed.
///
/// # Errors
/// Errors of the store.
pub fn end_marker(
    store: &dyn Store,
    lock: &LockGuard,
    key: &Key,
    marker: &[u8],
    ended: &[u8],
) -> Result<bool, StoreError> {
    let can = store.capabilities();
    // Nobody else sees a session before it is committed.
    let excludes = lock.scope() == LockScope::AllProcesses || can.uncommitted;
    if can.conditional_put && !excludes && zarr_store::step!("marker: an end on a condition") {
        return replace_marker(store, key, Some(marker), ended);
    }
    if zarr_store::step!("marker: look before its removal")
        && store.read(key)?.as_deref() != Some(marker)
    {
        return Ok(false);
    }
    store.delete(key)?;
    Ok(true)
}
