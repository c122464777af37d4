//! Reads the JSON of markers. Anybody may have put something else in their place.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use zarr_array::ArrayError;
use zarr_array::store::{Prefix, Store, StoreExt as _};
use zarr_array::unfinished::{MARKER_VERSION, REARRANGE_MARKER as MARKER};

use crate::error::rearrange::{RearrangeError, refused};

/// The members of a marker, each with its text: documents are read from their own.
pub(super) type Members = BTreeMap<String, Box<RawValue>>;

/// A marker has fewer bytes: it may contain a document.
const LONGEST: u64 = 1 << 26;

/// The result of `read` for the members of the object `name` in the marker at `prefix`, if there is
/// one.
///
/// # Errors
/// [`ArrayError::Refused`] if its version is another, or if `read` makes nothing of it.
pub(super) fn marker_at<M>(
    store: &dyn Store,
    prefix: &Prefix,
    name: &str,
    read: impl FnOnce(&Members) -> Option<M>,
) -> Result<Option<M>, ArrayError> {
    // If the key would be too long, there is no marker: none could have been put.
    let Ok(key) = prefix.key(MARKER) else { return Ok(None) };
    let Some(size) = store.size(&key)? else { return Ok(None) };
    let json = if size > LONGEST { None } else { store.read(&key)? };
    let objects: Option<BTreeMap<String, Members>> =
        json.and_then(|json| serde_json::from_slice(&json).ok());
    let members = objects.as_ref().filter(|objects| objects.len() == 1);
    let members = members.and_then(|objects| objects.get(name));
    let version = members.and_then(|members| integer(members, "version"));
    let marker = members.filter(|_| version == Some(MARKER_VERSION)).and_then(read);
    marker.map(Some).ok_or_else(|| {
        let cause = match version.filter(|version| *version != MARKER_VERSION) {
            Some(found) => RearrangeError::new(format_args!(
                "{key} has version {found}, and version {MARKER_VERSION} is known: repair it with the \
                 release that began to rearrange it"
            )),
            None => RearrangeError::marker(&key),
        };
        refused(prefix, cause)
    })
}

/// A member that is a string.
pub(super) fn string(members: &Members, name: &str) -> Option<String> {
    serde_json::from_str(members.get(name)?.get()).ok()
}

/// A member that is an integer.
pub(super) fn integer(members: &Members, name: &str) -> Option<u64> {
    serde_json::from_str(members.get(name)?.get()).ok()
}
